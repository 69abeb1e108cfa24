"""Graphs before and after as a picture: boxes in the order of capture, and a gap wherever a break tears them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.ui.verdict.page.frames import Captured, Frame, frames_of
from fullgraph.codemods.ui.verdict.places import count_of, place_of
from fullgraph.validate.model import Break, Graph, Measurement, Verdict

ROOMY = 14
"""Boxes up to which each has room for words; more are drawn small."""


@dataclass(frozen=True)
class GraphTile:
    operators: int
    share: int
    repeats: int
    title: str
    kind: str = "graph"


@dataclass(frozen=True)
class GapTile:
    """A break, or a function that was not compiled. Without a line, no list names it."""

    kind: str
    label: str
    id: str = ""
    line: int = 0
    title: str = ""


@dataclass(frozen=True)
class ShownFrame:
    function: str
    place: str
    tiles: list[GraphTile | GapTile]


@dataclass(frozen=True)
class Lane:
    title: str
    totals: str
    is_measured: bool
    frames: list[ShownFrame]


@dataclass(frozen=True)
class Graphs:
    """`key`: what the boxes mean, as far as they occur."""

    lanes: list[Lane]
    is_small: bool
    key: list[tuple[str, str]]


def graphs_of(verdict: Verdict) -> Graphs:
    sides = (verdict.before, verdict.after)
    most = max((graph.operators for side in sides for graph in side.graphs or ()), default=0)
    is_small = any(len(side.graphs or ()) + len(side.breaks or ()) > 2 * ROOMY for side in sides)
    return Graphs([lane_of(side, most) for side in sides], is_small, list(key_of(verdict)))


def key_of(verdict: Verdict) -> Iterator[tuple[str, str]]:
    graphs = [graph for side in (verdict.before, verdict.after) for graph in side.graphs or ()]
    breaks = [gap for side in (verdict.before, verdict.after) for gap in side.breaks or ()]
    if graphs:
        yield "graph", "a graph with its number of operators"
    if any(gap.kind == "break" for gap in breaks):
        yield "gap", "a break"
    if any(graph.recompile for graph in graphs):
        yield "graph again", "compiled again for other inputs"
    if any(gap.kind != "break" for gap in breaks):
        yield "skipped", "a function that was not compiled at all"


def lane_of(side: Measurement, most: int) -> Lane:
    frames = [] if side.graphs is None else [show_frame(frame, most) for frame in frames_of(side)]
    return Lane(side.side.capitalize(), totals(side), side.graphs is not None, frames)


def totals(side: Measurement) -> str:
    parts = []
    if side.graphs is not None:
        parts += [count_of(len(side.graphs), "graph"), count_of(len(side.recompiles or ()), "recompile")]
    if side.break_count is not None:
        parts.insert(1, count_of(side.break_count, "break"))
    return ", ".join(parts)


def show_frame(frame: Frame, most: int) -> ShownFrame:
    tiles: list[GraphTile | GapTile] = []
    for one in frame.captured:
        tiles.append(graph_tile(one, most))
        if one.is_broken:
            tiles.append(gap_tile(one.gap))
    tiles += map(gap_tile, frame.others)
    return ShownFrame(frame.function, f"{frame.file}:{frame.line}", tiles)


def graph_tile(one: Captured, most: int) -> GraphTile:
    share = round(100 * one.graph.operators / most) if most else 0
    return GraphTile(one.graph.operators, share, 1 + len(one.again) if one.again else 0, graph_title(one))


def graph_title(one: Captured) -> str:
    again = [f"compiled again as graph {number}: {graph.recompile}" for number, graph in one.again]
    return "\n".join([f"graph {one.number}, {graph_numbers(one.graph)}", *again])


def graph_numbers(graph: Graph) -> str:
    place = f"{graph.function} ({place_of(graph)})"
    return f"{place}: {count_of(graph.operators, 'operator')}, {count_of(graph.guards, 'guard')}"


def gap_tile(gap: Break | None) -> GapTile:
    if gap is None:
        return GapTile("gap", "break")
    title = f"{gap.id} {place_of(gap)} in {gap.function}: {gap.reason}".strip()
    if gap.kind == "break":
        return GapTile("gap", gap.id or "break", "", gap.line, title)
    return GapTile("skipped", "not compiled", gap.id, gap.line, title)
