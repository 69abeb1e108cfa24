"""Take back what a run wrote: byte for byte where nobody has touched the file since, by three-way merge elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence

from fullgraph.codemods.model import Change, FullgraphError
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.rewrite.folder import BarredError
from fullgraph.codemods.rewrite.inside import read_inside
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.merge import Conflict, merge
from fullgraph.codemods.rewrite.needed import importers
from fullgraph.codemods.source import decode

LONGEST = 20
Step = tuple[str, bytes | None, bytes | None]
"""A file, what stood there, and what should stand there instead; None is no file."""


class UndoConflictError(FullgraphError):
    """The undo would have to guess; nothing was changed."""

    def __init__(self, conflicts: Sequence[Conflict], later: Sequence[int] = ()) -> None:
        """`later` are runs of this tool that have written in the same files since."""
        self.conflicts = tuple(conflicts)
        edited = [str(one) for one in conflicts if not one.needed]
        said = [f"edited since at {', '.join(edited)}"] if edited else []
        said += [f"{one} would be removed, and {one.needed} imports it" for one in conflicts if one.needed]
        ways = {False: "writes both versions there", True: "leaves a file that would have to come or go as it is"}
        way = " and ".join(ways[is_whole] for is_whole in sorted({one.is_whole for one in conflicts}))
        first = f"`undo {' '.join(map(str, later))}` takes back what was fixed there since; " if later else ""
        super().__init__(f"{'; '.join(said)}; nothing was changed. {first}`--conflict markers` {way}")


def undone_findings(journal: Journal) -> dict[int, set[int]]:
    """For each run, the indexes of its findings that are taken back at the moment."""
    return taken_back(journal.runs())


def taken_back(runs: Sequence[Run]) -> dict[int, set[int]]:
    undone: dict[int, set[int]] = {}
    sizes = {run.number: len(run.findings) for run in runs}
    for run in runs:
        if run.kind == "undo" and is_in_force(run, runs):
            for name in run.undoes:
                number, index = split_name(name)
                indexes = range(sizes.get(number, 0)) if index is None else [index]
                undone.setdefault(number, set()).update(indexes)
    return {number: indexes for number, indexes in undone.items() if indexes}


def split_name(name: str) -> tuple[int, int | None]:
    """`3` is run 3; `3.1` is its finding with index 0."""
    number, _, index = name.partition(".")
    if not number.isdecimal() or (index and not index.isdecimal()) or len(name) > LONGEST:
        raise FullgraphError(f"{name!r} names no run (3) and no finding of a run (3.1); `fullgraph log` lists them")
    return int(number), int(index) - 1 if index else None


def is_in_force(run: Run, runs: Sequence[Run]) -> bool:
    """Whether what the run did still stands: no later run, itself in force, has taken it back."""
    later = [other for other in runs if other.number > run.number and str(run.number) in other.undoes]
    return not any(is_in_force(other, runs) for other in later)


def undo(journal: Journal, names: Sequence[str], *, markers: bool = False) -> Run:
    """Take back runs (`3`) or findings (`3.1`). An undo is a run like any other, and can itself be undone."""
    return undo_what_can_be(journal, names, markers)[0]


def undo_what_can_be(journal: Journal, names: Sequence[str], markers: bool) -> tuple[Run, list[Conflict]]:
    """The undo, and with `markers` the places where it could not be made."""
    names = list(dict.fromkeys(exact for name in names for exact in exact_names(journal, name)))
    return step_back(journal, names, steps_back(journal, names), markers)


def undo_foreign(journal: Journal, name: str, paths: Sequence[str], markers: bool) -> tuple[Run, list[Conflict]]:
    """Take a run that was not written here out of the files that are named, and of no other."""
    number, index = split_name(name)
    held = next((one for one in journal.foreign() if one.number == number), None)
    if not held or index is not None:
        raise FullgraphError(f"{name} is no run that was not written here; `fullgraph log` lists them")
    if not (run := held.run):
        raise FullgraphError(f"run {number} was {held.problem}; nothing was changed")
    if others := [path for path in paths if path not in run.paths]:
        raise FullgraphError(f"run {number} has not written {', '.join(map(repr, others))}; nothing was changed")
    steps = ((path, journal.bytes_of(run, "after", path), journal.bytes_of(run, "before", path)) for path in paths)
    return step_back(journal, [name], steps, markers)


def step_back(
    journal: Journal, names: Sequence[str], steps: Iterable[Step], markers: bool
) -> tuple[Run, list[Conflict]]:
    """Make the steps in the files as they are now, as a run of its own."""
    current: dict[str, bytes | None] = {}
    result: dict[str, bytes | None] = {}
    conflicts: list[Conflict] = []
    for path, base, wanted in steps:
        current.setdefault(path, read(journal, path, base is None or wanted is None))
        result[path], found = merge(path, base, result.get(path, current[path]), wanted)
        conflicts += found
    for path, place in importers(journal.root, result).items():
        result[path] = current[path]
        conflicts.append(Conflict(path, needed=place))
    if conflicts and not markers:
        raise UndoConflictError(conflicts, fixed_since(journal, names, {one.path for one in conflicts}))
    changed = {path: data for path, data in result.items() if data != current[path]}
    before = {path: current[path] for path in changed}
    return journal.write(Change(before, changed), "undo", tuple(names)), conflicts


def fixed_since(journal: Journal, names: Sequence[str], paths: set[str]) -> list[int]:
    """The later runs that wrote in these files and still stand, newest first."""
    runs = journal.runs()
    asked = {split_name(name)[0] for name in names}
    later = [run for run in reversed(runs) if run.kind == "fix" and run.number > min(asked) and run.number not in asked]
    gone = taken_back(runs)
    return [r.number for r in later if paths & {*r.paths} and len(gone.get(r.number, ())) < len(r.findings)]


def exact_names(journal: Journal, name: str) -> list[str]:
    """What a name takes back: of a run that has lost some of its findings already, those that are left."""
    number, index = split_name(name)
    if index is not None:
        return [f"{number}.{index + 1}"]
    run = journal.run(number)
    gone = undone_findings(journal).get(number, set())
    left = [run.finding_name(index) for index in range(len(run.findings)) if index not in gone]
    return left if gone and left else [str(number)]


def read(journal: Journal, path: str, may_be_absent: bool = False) -> bytes | None:
    try:
        data = read_inside(journal.root, path)
    except BarredError as error:
        raise FullgraphError(f"{error}; nothing was changed") from error
    except OSError as error:
        raise FullgraphError(f"{path}: {error.strerror}; nothing was changed") from error
    if data is None and not may_be_absent:
        raise FullgraphError(f"{path}: {os.strerror(errno.ENOENT)}; nothing was changed")
    return data


def steps_back(journal: Journal, names: Sequence[str]) -> Iterator[Step]:
    """What to do to which file, the newest run first.

    What stands is a set of findings for each run. An undo makes some sets smaller, or larger when it takes an undo
    back; each step leads from the file with the one set to the file with the other.
    """
    runs = journal.runs()
    for name in names:
        check_name(name, journal, runs)
    future = Run(runs[-1].number + 1, "undo", "", "", undoes=tuple(names))
    now, then = taken_back(runs), taken_back([*runs, future])
    exact = {path: (left, found) for path, left, found in as_before_undo(journal, names, then)}
    yield from ((path, left, found) for path, (left, found) in exact.items())
    for run in reversed(runs):
        gone, going = now.get(run.number, set()), then.get(run.number, set())
        if run.kind != "undo" and gone != going:
            for path in (path for path in run.paths if path not in exact):
                step = path, rebuild(journal, run, path, gone), rebuild(journal, run, path, going)
                if step[1] != step[2]:
                    yield step


def check_name(name: str, journal: Journal, runs: Sequence[Run]) -> None:
    """A name must mean something that still stands."""
    number, index = split_name(name)
    run = journal.run(number)
    everything = set(range(len(run.findings)))
    if index is not None and index not in everything:
        raise FullgraphError(f"run {number} has no finding {name}; `fullgraph log` lists them")
    wanted = everything if index is None else {index}
    stands = is_in_force(run, runs) if run.kind == "undo" else wanted - taken_back(runs).get(number, set())
    if not stands:
        raise FullgraphError(f"{name} has been taken back already")


def as_before_undo(journal: Journal, names: Sequence[str], then: dict[int, set[int]]) -> Iterator[Step]:
    """For the undo of one undo: the files that are still as it left them, and the very bytes that it found.

    Only if what stands `then` is what stood when it came: another undo may have taken the same back. What an undo took
    out of a run that was not written here is known from its own copies alone.
    """
    run = journal.run(split_name(names[0])[0])
    earlier = taken_back([other for other in journal.runs() if other.number < run.number])
    known = {other.number for other in journal.runs()}
    is_foreign = any(split_name(name)[0] not in known for name in run.undoes)
    if run.kind == "undo" and len(names) == 1 and then == earlier:
        for path in run.paths:
            left = journal.bytes_of(run, "after", path)
            may_be_absent = path in (*run.created, *run.removed)
            if is_foreign or read(journal, path, may_be_absent) == left:
                yield path, left, journal.bytes_of(run, "before", path)


def rebuild(journal: Journal, run: Run, path: str, gone: set[int]) -> bytes | None:
    """A file as the run would have left it without some of its findings."""
    if not gone:
        return journal.bytes_of(run, "after", path)
    before = journal.bytes_of(run, "before", path)
    kept = [finding for index, finding in enumerate(run.findings) if index not in gone]
    edits = [edit for finding in kept for edit in finding.edits if edit.path == path]
    return decode(path, before or b"").splice(edits) if edits else before
