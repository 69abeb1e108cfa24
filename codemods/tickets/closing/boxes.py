"""Which boxes of a check-list a measurement ticks. What asks for more than was measured stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from fullgraph.codemods.tickets.closing.model import Measured
from fullgraph.codemods.tickets.model import CheckItem

NONE = r"\b(?:no|zero|0|without(?: an?| any)?) (?:more |new |extra |unexpected )?"
VALUES = r"(?:outputs?|results?|numbers|values|behaviou?r)"

FILLER = {
    *("verify", "verified", "verifies", "check", "ensure", "confirm", "confirmed", "make", "sure", "test", "that"),
    *("a", "an", "the", "is", "are", "be", "it", "this", "there", "still", "now", "any", "more", "left", "remain"),
    *("remains", "as", "before", "after", "fix", "change", "show", "shows", "report", "reports", "reported", "code"),
    *("compiles", "compile", "compiled", "runs", "expected", "all"),
}
"""Words that add nothing to what a check asks for. Any other, as a condition or a number, asks for more."""

LOGGED = re.compile(r"(?:profile|run|check)\w* with (?=TORCH_LOGS)|(?<=graph_breaks) to \w+ issues$", re.IGNORECASE)
"""A common way to ask for breaks to be counted."""


def why_ticked(check: CheckItem, measured: Measured) -> str:
    """What was measured that shows a check, or nothing: then its box is not ticked."""
    text = LOGGED.sub("", check.text.replace("`", ""))
    asked = [(pattern, show) for pattern, show in RULES if re.search(pattern, text, re.IGNORECASE)]
    for pattern, _ in asked:
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    if not asked or re.search(r"[?%~:]", text) or not {*re.findall(r"[^\W_]\w*", text.casefold())} <= FILLER:
        return ""
    shown = [show(measured) for _, show in asked]
    return "; ".join(dict.fromkeys(shown)) if all(shown) else ""


def no_breaks(measured: Measured) -> str:
    is_shown = all(side.graphs and side.break_count == 0 for side in measured.sides)
    return "graph breaks counted: 0" if measured.sides and is_shown else ""


def compiles_whole(measured: Measured) -> str:
    is_shown = measured.sides and all(side.fullgraph for side in measured.sides)
    return "fullgraph=True compiles" if is_shown else ""


def no_recompiles(measured: Measured) -> str:
    is_shown = all(side.graphs and side.recompiles == () for side in measured.sides)
    return "recompiles counted: 0" if measured.sides and is_shown else ""


def no_reads(measured: Measured) -> str:
    return "host reads counted: 0" if measured.sides and all(side.syncs == () for side in measured.sides) else ""


def stays_equal(measured: Measured) -> str:
    """Of a change that was written, and on every case: values were compared, and nothing but a warning is new."""
    if not measured.is_written or not measured.verdicts or measured.has_other_changes:
        return ""
    reasons = [[one for one in verdict.reasons if one.name == "equivalence"] for verdict in measured.verdicts]
    is_shown = all(found and found[0].tendency == "same" for found in reasons)
    return reasons[0][0].text if is_shown and not any(v.differences for v in measured.verdicts) else ""


def is_warned(measured: Measured) -> str:
    return "the warning was given in the proof" if measured.is_written and measured.has_warned else ""


def has_test(measured: Measured) -> str:
    return f"added: {', '.join(measured.tests)}" if measured.is_written and measured.tests else ""


RULES: tuple[tuple[str, Callable[[Measured], str]], ...] = (
    (rf"{NONE}\b(?:graph )?breaks?\b|TORCH_LOGS\W{{0,3}}[\w,+]*graph_breaks", no_breaks),
    (r"\b(?:under |with )?fullgraph ?= ?True\b", compiles_whole),
    (rf"{NONE}\brecompil(?:es?|ations?|ing)\b", no_recompiles),
    (rf"{NONE}\bhost (?:reads?|syncs?)\b", no_reads),
    (
        rf"{NONE}\b(?:functional|behaviou?ral|numerical) changes?\b|{NONE}\bchanges? (?:in|to|of) (?:the )?{VALUES}\b|"
        rf"\b(?:same|identical|equal|unchanged) {VALUES}\b|"
        rf"\b{VALUES} (?:(?:are|is|stay|stays|remain|remains) )?(?:the )?(?:same|identical|equal|unchanged)\b",
        stays_equal,
    ),
    (
        r"^(?!.*(?:\b(?:no|not|never|without|stops?)\b|n't))(?:test that )?(?:the |a )?\bwarnings? (?:is |was |are )?"
        r"(?:seen|appears?|emitted|raised|shown|issued|given|fires?)\b"
        r"(?: when (?:expected|[\w ]*\b(?:moved|moves|migrates|migrated|devices differ)))?",
        is_warned,
    ),
    (
        r"\b(?:add|write|added|wrote)\b (?:\w+ ){0,3}tests?\b(?:(?!\band\b|\bor\b)[^,;?%])*|"
        r"\btests? (?:is |are |was |were )?(?:added|written)\b",
        has_test,
    ),
)
"""How checks are worded, and what shows them."""
