"""The places of a verdict: which breaks went, came and stayed, and how often each line waits before and after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fullgraph.codemods.ui.verdict.diff import FileDiff, read_diff
from fullgraph.validate.model import Break, Graph, Sync, Verdict, count_breaks

BETWEEN = {
    "eager": ("eager, before against after", "before", "after"),
    "compiled": ("compiled, before against after", "before", "after"),
    "before": ("before, eager against compiled", "eager", "compiled"),
    "after": ("after, eager against compiled", "eager", "compiled"),
}
"""What the two records of a difference are: in one line, and one word for each."""

Stayed = tuple[Break, Break]


@dataclass(frozen=True)
class Fates:
    """What became of the breaks. A break that stayed is there twice: as it was, and as it is."""

    went: tuple[Break, ...]
    came: tuple[Break, ...]
    stayed: tuple[Stayed, ...]

    @property
    def stayed_count(self) -> str:
        """`3`, or `3 > 1` where the same places end fewer graphs."""
        before, after = (count_breaks(found) for found in (zip(*self.stayed, strict=True) if self.stayed else ((), ())))
        return str(before) if before == after else f"{before} > {after}"


@dataclass(frozen=True)
class LineCount:
    """How often one source line reads or copies device data. A number of 0 is a line that the side does not have."""

    file: str
    before_line: int
    after_line: int
    call: str
    before: int
    after: int

    @property
    def place(self) -> str:
        first, second = self.before_line, self.after_line
        moved = first and second and first != second
        return f"{self.file}:{first} > {second}" if moved else f"{self.file}:{first or second}"


def labels_of(between: str) -> tuple[str, str, str]:
    return BETWEEN.get(between, (between, "first", "second"))


def place_of(one: Break | Sync | Graph) -> str:
    return f"{one.file}:{one.line}"


def kind_labels(one: Break) -> list[str]:
    """What to say of a break that is more than one; it counts once for every function whose graph it ends."""
    kind = {"break": "", "skipped": "not compiled at all"}.get(one.kind, one.kind)
    return [label for label in (kind, f"in {one.frames} functions" if one.frames > 1 else "") if label]


def count_of(number: int, noun: str) -> str:
    """`1 case`, `2 cases`, `2 copies`."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else many}"


def repeated(recompiles: Sequence[Graph]) -> list[tuple[Graph, int]]:
    """Each function with each guard that failed in it, and how often it did."""
    found: dict[tuple[str, str, str], list[Graph]] = defaultdict(list)
    for graph in recompiles:
        found[place_of(graph), graph.function, graph.recompile].append(graph)
    return [(graphs[0], len(graphs)) for graphs in found.values()]


class Lines:
    """Where a line of before stands after, by the diff between the two."""

    def __init__(self, files: Iterable[FileDiff]) -> None:
        self.files = [file for file in files if file.before]

    def after(self, path: str, line: int) -> int | None:
        for file in self.files:
            if path == file.before or path.replace("\\", "/").endswith("/" + file.before):
                return file.line_after(line)
        return line


def breaks_by_fate(verdict: Verdict) -> Fates | None:
    """A break stayed if its line did, or if another of its kind came in its function. None: a side was not measured."""
    if verdict.before.breaks is None or verdict.after.breaks is None:
        return None
    lines = Lines(read_diff(verdict.diff))
    came = list(verdict.after.breaks)
    left: list[Break] = []
    stayed: list[Stayed] = []
    for one in verdict.before.breaks:
        line = lines.after(one.file, one.line)
        match_up(one, [new for new in came if (new.line, kind_of(new)) == (line, kind_of(one))], came, stayed, left)
    went: list[Break] = []
    for one in left:
        alike = [new for new in came if (new.function, kind_of(new)) == (one.function, kind_of(one))]
        match_up(one, alike, came, stayed, went)
    order = {id(one): number for number, one in enumerate(verdict.before.breaks)}
    return Fates(tuple(went), tuple(came), tuple(sorted(stayed, key=lambda pair: order[id(pair[0])])))


def match_up(one: Break, found: Sequence[Break], came: list[Break], stayed: list[Stayed], left: list[Break]) -> None:
    if found:
        came.remove(found[0])
        stayed.append((one, found[0]))
    else:
        left.append(one)


def kind_of(one: Break) -> tuple[str, str, str]:
    return one.file, one.kind, one.id or one.reason


def count_lines(verdict: Verdict, before: Sequence[Sync], after: Sequence[Sync]) -> list[LineCount]:
    """Each line and call once, with its count on both sides; most frequent before first."""
    lines = Lines(read_diff(verdict.diff))
    old: dict[tuple[str, int, str], int] = defaultdict(int)
    new: dict[tuple[str, int, str], int] = defaultdict(int)
    for sync in before:
        old[sync.file, sync.line, sync.call] += sync.count
    for sync in after:
        new[sync.file, sync.line, sync.call] += sync.count
    counts = []
    for (file, line, call), number in old.items():
        line_after = lines.after(file, line) or 0
        counts.append(LineCount(file, line, line_after, call, number, new.pop((file, line_after, call), 0)))
    counts += [LineCount(file, 0, line, call, 0, number) for (file, line, call), number in new.items()]
    return sorted(counts, key=lambda one: (-max(one.before, one.after), one.file, one.before_line or one.after_line))
