"""Verdicts as one page that opens anywhere, offline: the ruling, the evidence, and at the foot where it ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fullgraph.codemods.ui.pages.render import render
from fullgraph.codemods.ui.verdict.as_text import short_sentence, where
from fullgraph.codemods.ui.verdict.page.change import Change, change_of
from fullgraph.codemods.ui.verdict.page.graphs import Graphs, graphs_of
from fullgraph.codemods.ui.verdict.page.places import Places, ShownDifference, places_of, show_difference
from fullgraph.codemods.ui.verdict.page.plots import Speed, speed_of
from fullgraph.codemods.ui.verdict.places import count_of
from fullgraph.codemods.ui.verdict.rows import WORDS, Row, rows
from fullgraph.validate.judge import combined
from fullgraph.validate.model import Measurement, Ruling, Verdict

SAME = "Before and after are equivalent"
MEANINGS = {
    Ruling.PROVEN: f"{SAME}, and after is better in a number that is named here.",
    Ruling.NEUTRAL: f"{SAME}, and nothing is better: what was found does not show here.",
    Ruling.WORSE: f"{SAME}, but a number got worse.",
    Ruling.DIFFERENT: "Before and after are not equivalent.",
    Ruling.UNDECIDED: "It could not be told whether before and after are equivalent.",
}
SECTIONS = ("change", "graphs", "speed", "numbers", "places")

Link = tuple[str, str]
"""The place on the page that it leads to, and its text."""


@dataclass(frozen=True)
class Shown:
    """One verdict, as the template shows it. `same_as`: the place of a verdict above with the same change."""

    place: str
    verdict: Verdict
    ruling: str
    meaning: str
    sentence: str
    where: str
    failed: list[Measurement]
    differences: list[ShownDifference]
    change: Change
    same_as: str
    graphs: Graphs
    speed: Speed
    rows: list[Row]
    places: Places


def verdict_html(verdicts: Sequence[Verdict], title: str = "") -> str:
    return render(
        "verdict.html",
        subject="proof of a change",
        title=title or default_title(verdicts),
        links=links_of(verdicts),
        together=together(verdicts),
        verdicts=[show(verdict, number, verdicts) for number, verdict in enumerate(verdicts, 1)],
        environments=environments(verdicts),
        words=WORDS,
    )


def default_title(verdicts: Sequence[Verdict]) -> str:
    if len(verdicts) == 1:
        return f"{verdicts[0].scenario.name}: before and after"
    return f"{count_of(len(verdicts), 'scenario')}: before and after"


def links_of(verdicts: Sequence[Verdict]) -> list[Link]:
    """Of one verdict its sections; of several the overview, which leads to each."""
    sections = [("v1", "Verdict"), *((f"v1-{name}", name.capitalize()) for name in SECTIONS)]
    return [*(sections if len(verdicts) == 1 else [("overview", "All verdicts")]), ("environment", "Environment")]


def together(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Of several verdicts: what they say together."""
    if len(verdicts) == 1:
        return {}
    counts = Counter(verdict.ruling for verdict in verdicts)
    told = ", ".join(f"{counts[one]} {one.value}" for one in Ruling if counts[one])
    return {"ruling": combined(verdicts).value, "counts": told}


def show(verdict: Verdict, number: int, verdicts: Sequence[Verdict]) -> Shown:
    same = (n for n, one in enumerate(verdicts[: number - 1], 1) if one.diff and one.diff == verdict.diff)
    return Shown(
        place=f"v{number}",
        verdict=verdict,
        ruling=verdict.ruling.value,
        meaning=meaning_of(verdict),
        sentence=short_sentence(verdict),
        where=where(verdict),
        failed=[side for side in (verdict.before, verdict.after) if side.outcome.kind != "ok"],
        differences=[show_difference(one) for one in verdict.differences],
        change=change_of(verdict),
        same_as=next((f"v{n}" for n in same), ""),
        graphs=graphs_of(verdict),
        speed=speed_of(verdict),
        rows=list(rows(verdict)),
        places=places_of(verdict),
    )


def meaning_of(verdict: Verdict) -> str:
    """The ruling in a sentence; it claims no equivalence that no reason names."""
    text = MEANINGS[verdict.ruling]
    if any(reason.name == "equivalence" and reason.tendency == "same" for reason in verdict.reasons):
        return text
    return text.replace(SAME, "What before and after return was not compared")


def environments(verdicts: Sequence[Verdict]) -> list[tuple[str, dict[str, str]]]:
    """Where it ran and how it was asked for: once and without a name, if it was the same for all."""
    facts = [facts_of(verdict) for verdict in verdicts]
    if all(one == facts[0] for one in facts):
        return [("", one) for one in facts[:1]]
    return [(verdict.scenario.name, one) for verdict, one in zip(verdicts, facts, strict=True)]


def facts_of(verdict: Verdict) -> dict[str, str]:
    known = {**verdict.environment}
    order = ["torch", "python", "device", "name", "driver", "platform", "threads", "cannot_show", "command"]
    names = [*(name for name in order if name in known), *sorted(set(known) - set(order))]
    facts = {name.replace("_", " "): fact_text(known[name]) for name in names}
    facts["settings"] = fact_text({k: v for k, v in asdict(verdict.settings).items() if v not in ("", None)})
    return {name: text for name, text in facts.items() if text}


def fact_text(fact: Any) -> str:
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, Mapping):
        return ", ".join(f"{name} {fact_text(one)}" for name, one in fact.items() if one is not None)
    if isinstance(fact, list | tuple):
        return ", ".join(map(fact_text, fact))
    return "" if fact is None else str(fact)
