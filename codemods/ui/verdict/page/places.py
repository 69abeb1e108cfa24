"""The places of a verdict as lists: what differs, how a side failed, breaks, recompiles, host reads, copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fullgraph.codemods.ui.verdict.page.markup import Child, Html, element, markup
from fullgraph.codemods.ui.verdict.places import (
    breaks_by_fate,
    count_lines,
    count_of,
    kind_labels,
    labels_of,
    place_of,
    repeated,
)
from fullgraph.validate.model import Break, Difference, Measurement, Sync, Verdict, count_breaks

FOLDED = 12
"""Entries of one list from which on it is folded."""


def titled(title: str, entries: Sequence[Child], kind: str = "", number: int | str | None = None) -> Html | None:
    """A list below its title; a long one is folded, an empty one left out. An entry may stand for several."""
    if not entries:
        return None
    shown = str(len(entries) if number is None else number)
    head = [element("span", title, class_="list-title"), " ", element("span", shown, class_="quiet")]
    body = element("ul", (element("li", entry) for entry in entries), class_="places")
    return element(
        "details", element("summary", head), body, class_=f"list {kind}".strip(), open=len(entries) <= FOLDED
    )


def differences_section(differences: Sequence[Difference]) -> Html:
    first, *others = differences
    return markup(
        difference_block(first, "first"),
        titled("Other differences", [difference_block(one) for one in others]),
    )


def difference_block(one: Difference, kind: str = "") -> Html:
    title, first, second = labels_of(one.between)
    values = [
        (label, value) for label, value in ((first, one.first), (second, one.second), ("error", one.error)) if value
    ]
    return element(
        "div",
        element("p", element("code", one.path), f" differs: {one.what}", class_="path"),
        element("p", f"{title}, in {one.case}", class_="quiet"),
        element("dl", ((element("dt", label), element("dd", element("pre", value))) for label, value in values)),
        class_=f"difference {kind}".strip(),
    )


def outcome_block(side: Measurement) -> Html | None:
    """How a side ended that did not end well."""
    if side.outcome.kind == "ok":
        return None
    stage = f" in the stage {side.outcome.stage}" if side.outcome.stage else ""
    return element(
        "div",
        element("p", element("b", f"{side.side}: {side.outcome.kind}"), stage, class_="path"),
        element("pre", side.outcome.text, tabindex=0),
        class_="outcome",
    )


def places_section(verdict: Verdict) -> Html:
    shown = markup(
        break_lists(verdict),
        [fullgraph_reason(side) for side in (verdict.before, verdict.after)],
        [recompile_list(side) for side in (verdict.before, verdict.after)],
        read_list("Host reads", verdict, verdict.before.syncs, verdict.after.syncs),
        read_list("Device copies", verdict, verdict.before.moves, verdict.after.moves),
    )
    return shown or element("p", nothing_to_list(verdict), class_="quiet")


def nothing_to_list(verdict: Verdict) -> str:
    """Of what was counted, that there is none; of what was not, nothing."""
    sides = (verdict.before, verdict.after)
    counted = [
        name
        for name, lists in (
            ("breaks", [side.breaks for side in sides]),
            ("recompiles", [side.recompiles for side in sides]),
            ("host reads", [side.syncs for side in sides]),
        )
        if None not in lists
    ]
    return f"No {', no '.join(counted)}." if counted else "Not measured."


def break_lists(verdict: Verdict) -> Iterator[Html | None]:
    fates = breaks_by_fate(verdict)
    if fates:
        yield titled("Breaks that went", [break_entry(one) for one in fates.went], "went", count_breaks(fates.went))
        yield titled("Breaks that came", [break_entry(one) for one in fates.came], "came", count_breaks(fates.came))
        yield titled("Breaks that stayed", [break_entry(*pair) for pair in fates.stayed], number=fates.stayed_count)
        return
    for side in (verdict.before, verdict.after):
        yield titled(f"Breaks {side.side}", [break_entry(one) for one in side.breaks or ()], number=side.break_count)


def break_entry(one: Break, after: Break | None = None) -> Html:
    moved = f" > {after.line}" if after and after.line != one.line else ""
    labels = [one.id, *kind_labels(one), f"{one.count} times" if one.count > 1 else ""]
    return markup(
        element("code", f"{place_of(one)}{moved}"),
        f" in {one.function} ",
        [element("span", label, class_="label") for label in labels if label],
        element("p", one.reason),
        element("p", f"Hint: {one.hint}", class_="quiet") if one.hint else None,
    )


def fullgraph_reason(side: Measurement) -> Html | None:
    if not side.fullgraph_reason:
        return None
    return element("p", element("code", "fullgraph=True"), f" does not compile {side.side}: {side.fullgraph_reason}")


def recompile_list(side: Measurement) -> Html | None:
    entries = [
        markup(
            element("code", place_of(graph)),
            f" in {graph.function} ",
            element("span", f"{number} times", class_="label") if number > 1 else None,
            element("p", element("code", graph.recompile)),
        )
        for graph, number in repeated(side.recompiles or ())
    ]
    return titled(f"Recompiles {side.side}, by the guard that failed", entries)


def read_list(title: str, verdict: Verdict, before: Sequence[Sync] | None, after: Sequence[Sync] | None) -> Html | None:
    counts = count_lines(verdict, before or (), after or ())
    if not counts:
        return None
    rows: Iterable[Html] = (
        element(
            "tr",
            element("th", element("code", one.place), scope="row"),
            element("td", element("code", one.call)),
            element("td", str(one.before), class_="number"),
            element("td", str(one.after), class_="number"),
        )
        for one in counts
    )
    heads = [element("th", head, scope="col") for head in ("line", "call", "before", "after")]
    table = element("table", element("thead", element("tr", heads)), element("tbody", rows), class_="reads")
    summary = [element("span", f"{title} by line", class_="list-title"), " "]
    shown = element("span", count_of(len(counts), "line"), class_="quiet")
    return element("details", element("summary", summary, shown), table, class_="list", open=len(counts) <= FOLDED)
