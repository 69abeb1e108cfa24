"""The places of a verdict as lists: what differs, breaks, recompiles, host reads, copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fullgraph.codemods.ui.verdict.places import (
    LineCount,
    breaks_by_fate,
    count_lines,
    kind_labels,
    labels_of,
    place_of,
    repeated,
)
from fullgraph.validate.model import Break, Difference, Measurement, Verdict, count_breaks


@dataclass(frozen=True)
class ShownDifference:
    path: str
    what: str
    where: str
    sides: list[tuple[str, str]]


@dataclass(frozen=True)
class ShownBreak:
    place: str
    function: str
    labels: list[str]
    reason: str
    hint: str


@dataclass(frozen=True)
class BreakList:
    """An entry may stand for several breaks, so that their number is told apart."""

    title: str
    entries: list[ShownBreak]
    kind: str
    number: int | str | None


@dataclass(frozen=True)
class ShownRecompile:
    place: str
    function: str
    guard: str
    number: int


@dataclass(frozen=True)
class Places:
    breaks: list[BreakList]
    fullgraph: list[tuple[str, str]]
    recompiles: list[tuple[str, list[ShownRecompile]]]
    reads: list[LineCount]
    copies: list[LineCount]
    nothing: str = ""


def show_difference(one: Difference) -> ShownDifference:
    title, first, second = labels_of(one.between)
    values = ((first, one.first), (second, one.second), ("error", one.error))
    return ShownDifference(
        one.path, one.what, f"{title}, in {one.case}", [(label, value) for label, value in values if value]
    )


def places_of(verdict: Verdict) -> Places:
    before, after = sides = (verdict.before, verdict.after)
    breaks = [one for one in break_lists(verdict) if one.entries]
    reasons = [(side.side, side.fullgraph_reason) for side in sides if side.fullgraph_reason]
    recompiles = [(side.side, recompiles_of(side)) for side in sides]
    reads = count_lines(verdict, before.syncs or (), after.syncs or ())
    copies = count_lines(verdict, before.moves or (), after.moves or ())
    has_any = breaks or reasons or reads or copies or any(found for _, found in recompiles)
    return Places(breaks, reasons, recompiles, reads, copies, "" if has_any else nothing_to_list(verdict))


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


def break_lists(verdict: Verdict) -> Iterator[BreakList]:
    fates = breaks_by_fate(verdict)
    if fates:
        yield BreakList("Breaks that went", shown_breaks(fates.went), "went", count_breaks(fates.went))
        yield BreakList("Breaks that came", shown_breaks(fates.came), "came", count_breaks(fates.came))
        stayed = [show_break(*pair) for pair in fates.stayed]
        yield BreakList("Breaks that stayed", stayed, "", fates.stayed_count)
        return
    for side in (verdict.before, verdict.after):
        yield BreakList(f"Breaks {side.side}", shown_breaks(side.breaks or ()), "", side.break_count)


def shown_breaks(breaks: Iterable[Break]) -> list[ShownBreak]:
    return [show_break(one) for one in breaks]


def show_break(one: Break, after: Break | None = None) -> ShownBreak:
    moved = f" > {after.line}" if after and after.line != one.line else ""
    labels = [one.id, *kind_labels(one), f"{one.count} times" if one.count > 1 else ""]
    return ShownBreak(f"{place_of(one)}{moved}", one.function, labels, one.reason, one.hint)


def recompiles_of(side: Measurement) -> list[ShownRecompile]:
    return [
        ShownRecompile(place_of(graph), graph.function, graph.recompile, number)
        for graph, number in repeated(side.recompiles or ())
    ]
