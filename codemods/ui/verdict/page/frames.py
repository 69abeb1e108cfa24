"""The graphs of one side in the order of capture, function by function, with the break after each that ended in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fullgraph.validate.model import Break, Graph, Measurement


@dataclass
class Captured:
    """One graph, the graphs that replaced it for other inputs, and the break that ended it, if one did.

    `gap` is None for a graph that ended in a break which no list names.
    """

    number: int
    graph: Graph
    again: list[tuple[int, Graph]] = field(default_factory=list)
    gap: Break | None = None

    @property
    def is_broken(self) -> bool:
        return self.graph.ended == "break"


@dataclass
class Frame:
    """A function with what was captured of it. `others`: breaks that ended no graph, and skipped frames."""

    function: str
    file: str
    line: int
    captured: list[Captured] = field(default_factory=list)
    others: list[Break] = field(default_factory=list)


def frames_of(side: Measurement) -> list[Frame]:
    """All graphs and all breaks, each once."""
    captured = capture_order(side.graphs or ())
    left = place_breaks(captured, side.breaks or ())
    frames: list[Frame] = []
    for one in captured:
        graph = one.graph
        if not frames or (frames[-1].function, frames[-1].file) != (graph.function, graph.file):
            frames.append(Frame(graph.function, graph.file, graph.line))
        frames[-1].captured.append(one)
    for gap in left:
        home = next((frame for frame in frames if (frame.function, frame.file) == (gap.function, gap.file)), None)
        if home is None:
            home = Frame(gap.function, gap.file, gap.line)
            frames.append(home)
        home.others.append(gap)
    return frames


def capture_order(graphs: Sequence[Graph]) -> list[Captured]:
    """Recompiled graphs lie on the graph that they replace: of several in one place, the one replaced least."""
    captured: list[Captured] = []
    for number, graph in enumerate(graphs, 1):
        place = (graph.file, graph.function, graph.line)
        homes = [one for one in captured if (one.graph.file, one.graph.function, one.graph.line) == place]
        if graph.recompile and homes:
            min(homes, key=lambda one: len(one.again)).again.append((number, graph))
        else:
            captured.append(Captured(number, graph))
    return captured


def place_breaks(captured: Sequence[Captured], breaks: Sequence[Break]) -> list[Break]:
    """Give every broken graph its break; returns the breaks that ended none."""
    functions = {(one.graph.file, one.graph.function) for one in captured}
    uses: Counter[Break] = Counter()
    for one in captured:
        if one.is_broken:
            one.gap = break_of(one.graph, breaks, functions, uses)
            uses.update([one.gap] if one.gap else [])
    return [gap for gap in breaks if not uses[gap]]


def break_of(
    graph: Graph, breaks: Sequence[Break], functions: set[tuple[str, str]], uses: Counter[Break]
) -> Break | None:
    """The next break of the function that ended no graph yet; else one of code that was inlined into it."""
    free = [gap for gap in breaks if gap.kind == "break" and uses[gap] < gap.count]
    own = [gap for gap in free if (gap.file, gap.function) == (graph.file, graph.function)]
    inlined = [gap for gap in free if (gap.file, gap.function) not in functions]
    return min(own or inlined, key=lambda gap: (uses[gap], gap.line < graph.line, gap.line), default=None)
