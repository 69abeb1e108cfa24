"""Take back what a run wrote: byte for byte where nobody has touched the file since, by three-way merge elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codemods.model import Change, FullgraphError
from codemods.rewrite.journal import Journal, Run
from codemods.source import decode


@dataclass(frozen=True)
class Conflict:
    """Lines of a file, as it is now, that were edited both by the run and since."""

    path: str
    first: int
    last: int


class UndoConflictError(FullgraphError):
    """The undo would have to guess; nothing was changed."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        places = ", ".join(f"{c.path}:{c.first}" + (f"-{c.last}" if c.last > c.first else "") for c in conflicts)
        super().__init__(
            f"edited since at {places}; nothing was changed. `--conflict markers` writes both versions there"
        )


def undone_findings(journal: Journal) -> dict[int, set[int]]:
    """For each run, the indexes of its findings that are taken back at the moment."""
    undone: dict[int, set[int]] = {}
    runs = journal.runs()
    sizes = {run.number: len(run.findings) for run in runs}
    for run in runs:
        if run.kind == "undo" and is_in_force(run, runs):
            for name in run.undoes:
                number, index = split_name(name)
                indexes = range(sizes[number]) if index is None else [index]
                undone.setdefault(number, set()).update(indexes)
    return undone


def split_name(name: str) -> tuple[int, int | None]:
    """`3` is run 3; `3.1` is its finding with index 0."""
    number, _, index = name.partition(".")
    if not number.isdigit() or (index and not index.isdigit()):
        raise FullgraphError(f"{name!r} names no run (3) and no finding of a run (3.1); `fullgraph log` lists them")
    return int(number), int(index) - 1 if index else None


def is_in_force(run: Run, runs: Sequence[Run]) -> bool:
    """Whether what the run did still stands: no later run, itself in force, has taken it back."""
    later = [other for other in runs if other.number > run.number and str(run.number) in other.undoes]
    return not any(is_in_force(other, runs) for other in later)


def undo(journal: Journal, names: Sequence[str], *, markers: bool = False) -> Run:
    """Take back runs (`3`) or findings (`3.1`). An undo is a run like any other, and can itself be undone."""
    current: dict[str, bytes] = {}
    result: dict[str, bytes] = {}
    conflicts: list[Conflict] = []
    for name in names:
        for path, base, wanted in sides(journal, name):
            current.setdefault(path, read(journal, path))
            merged, found = merge(path, base, result.get(path, current[path]), wanted)
            result[path] = merged
            conflicts += found
    if conflicts and not markers:
        raise UndoConflictError(conflicts)
    changed = {path: data for path, data in result.items() if data != current[path]}
    before = {path: current[path] for path in changed}
    return journal.write(Change(before, changed), "undo", tuple(names))


def read(journal: Journal, path: str) -> bytes:
    try:
        return (journal.root / path).read_bytes()
    except OSError as error:
        raise FullgraphError(f"{path}: {error.strerror}; nothing was changed") from error


def sides(journal: Journal, name: str) -> list[tuple[str, bytes, bytes]]:
    """For each file: its path, what the run left there, and what should be there instead."""
    number, index = split_name(name)
    run = journal.run(number)
    if run.kind == "undo":
        if not is_in_force(run, journal.runs()):
            raise FullgraphError(f"{name} has been taken back already")
        return [(p, journal.bytes_of(run, "after", p), journal.bytes_of(run, "before", p)) for p in run.paths]
    everything = set(range(len(run.findings)))
    if index is not None and index not in everything:
        raise FullgraphError(f"run {number} has no finding {name}; `fullgraph log` lists them")
    remaining = everything - undone_findings(journal).get(number, set())
    kept = remaining - (everything if index is None else {index})
    if kept == remaining:
        raise FullgraphError(f"{name} has been taken back already")
    return [(p, rebuild(journal, run, p, remaining), rebuild(journal, run, p, kept)) for p in run.paths]


def rebuild(journal: Journal, run: Run, path: str, indexes: set[int]) -> bytes:
    """A file as the run would have left it with only some of its findings."""
    if len(indexes) == len(run.findings):
        return journal.bytes_of(run, "after", path)
    before = journal.bytes_of(run, "before", path)
    edits = [edit for index in sorted(indexes) for edit in run.findings[index].edits if edit.path == path]
    return decode(path, before).splice(edits) if edits else before


def merge(path: str, base: bytes, current: bytes, wanted: bytes) -> tuple[bytes, list[Conflict]]:
    """The current bytes with the step from `base` to `wanted` made in them, and the places where that cannot be."""
    if current == base:
        return wanted, []
    from merge3 import Merge3

    old, mine, theirs = (data.splitlines(keepends=True) for data in (base, current, wanted))
    merged: list[bytes] = []
    conflicts: list[Conflict] = []
    for kind, *region in Merge3(old, mine, theirs).merge_regions():
        if kind == "conflict":
            _, _, start, stop, their_start, their_stop = region
            conflicts.append(Conflict(path, start + 1, max(start + 1, stop)))
            merged += with_markers(mine[start:stop], theirs[their_start:their_stop])
        else:
            lines = {"unchanged": old, "a": mine, "same": mine, "b": theirs}[kind]
            merged += lines[region[0] : region[1]]
    return b"".join(merged), conflicts


def with_markers(mine: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Both versions, marked as git marks them."""
    newline = b"\r\n" if any(line.endswith(b"\r\n") for line in (*mine, *theirs)) else b"\n"

    def whole(lines: list[bytes]) -> list[bytes]:
        return [line if line.endswith((b"\n", b"\r")) else line + newline for line in lines]

    marks = [mark + newline for mark in (b"<<<<<<< now", b"=======", b">>>>>>> undone")]
    return [marks[0], *whole(mine), marks[1], *whole(theirs), marks[2]]
