"""The exam of one program: rewritten, run before and after, plain and compiled, with its graphs counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fullgraph import Codemod
from fullgraph.validate.worker.graphs import counting, dynamo
from fullgraph.validate.worker.recording.record import silenced
from tests.breaks.comparing import compare_compiled, compare_plain
from tests.breaks.programs import PLAIN, Program, opened
from tests.breaks.recording import Record, record_program
from tests.breaks.rewriting import Rewritten, rewrite

CHECKS = "check_without_branch"
"""The codemod whose checks raise a RuntimeError from inside a graph."""

TOLD_WHILE_TRACED = re.compile(r'(?<![\w.])_\w+_once\("([^"]*)"\)')
"""Texts that `log_without_break` lets be said while code is traced, as nothing in their function comes before."""

RAISED = "GB0088"
"""An exception that leaves the compiled function: the call ends there, with or without a graph."""


@dataclass(frozen=True)
class Graphs:
    """How often a program breaks, and the graphs that were captured. Without a graph, no breaks mean nothing.

    A place breaks once for each way that leads to it, and a guard makes two ways of one: `places` are those by line.
    """

    breaks: int
    graphs: int
    places: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        return not self.breaks and self.graphs > 0


@dataclass(frozen=True)
class Result:
    """What came of a program. `own`: what torch.compile does to it without any rewrite, which decides nothing."""

    after: Program
    rewritten: Rewritten
    differences: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    before_graphs: Graphs | None = None
    after_graphs: Graphs | None = None

    @property
    def is_changed(self) -> bool:
        return bool(self.rewritten.by)


def examine(
    program: Program, codemods: Sequence[Codemod], folder: Path, *, unsafe: bool = False, backend: str = "eager"
) -> Result:
    """What the codemods make of a program, examined."""
    return examine_rewritten(program, rewrite(program.files, codemods, unsafe=unsafe), folder, backend)


def examine_rewritten(program: Program, rewritten: Rewritten, folder: Path, backend: str = "eager") -> Result:
    """A program that no codemod changes is not run: it does what it did."""
    after = program.with_files(rewritten.files)
    if not rewritten.by:
        return Result(after, rewritten)
    return compare_sides(program, after, rewritten, folder, backend)


def compare_sides(program: Program, after: Program, rewritten: Rewritten, folder: Path, backend: str) -> Result:
    """Both texts, plain and compiled."""
    return judge(program, Runs(program, after, folder, backend), rewritten, folder)


class Runs:
    """The runs that every exam needs: both texts plain, and the new one compiled."""

    def __init__(self, program: Program, after: Program, folder: Path, backend: str) -> None:
        self.after, self.backend = after, backend
        self.plain = record_program(program, folder, PLAIN)
        self.differences = compare_plain(self.plain, record_program(after, folder, PLAIN))
        self.compiled, self.graphs = record_compiled(after, folder, backend)

    def found(self, rewritten: Rewritten) -> list[str]:
        """What compiled code does otherwise."""
        early = TOLD_WHILE_TRACED.findall(self.after.text)
        checks = CHECKS in rewritten.by
        return compare_compiled(self.plain, self.compiled, self.backend, checks=checks, early=early)


def judge(program: Program, runs: Runs, rewritten: Rewritten, folder: Path) -> Result:
    """With the old text compiled, too: what compiling alone changes, in the same way, is torch's own affair."""
    compiled, before = record_compiled(program, folder, runs.backend)
    known = set(compare_compiled(runs.plain, compiled, runs.backend))
    told = [f"compiled: {one}" for one in runs.found(rewritten) if one not in known]
    if len(runs.graphs.places) > len(before.places) and has_new_line(program, runs):
        places = f"{len(before.places)} > {len(runs.graphs.places)}: {'; '.join(runs.graphs.places)}"
        told.append(f"breaks: {places}")
    return Result(runs.after, rewritten, (*runs.differences, *told), tuple(sorted(known)), before, runs.graphs)


def has_new_line(program: Program, runs: Runs) -> bool:
    """Whether a line breaks that was not there: old ones may only have stood behind what torch gave up at."""
    old = {line.strip() for line in program.text.splitlines()}
    new = runs.after.text.splitlines()
    return any(line > len(new) or new[line - 1].strip() not in old for line in runs.graphs.lines)


def glance(program: Program, codemods: Sequence[Codemod], folder: Path) -> Result:
    """The same exam in less time: the old text is compiled only where that can make a difference."""
    rewritten = rewrite(program.files, codemods)
    after = program.with_files(rewritten.files)
    if not rewritten.by:
        return Result(after, rewritten)
    runs = Runs(program, after, folder, "eager")
    if runs.differences or runs.graphs.breaks or runs.found(rewritten):
        return judge(program, runs, rewritten, folder)
    return Result(after, rewritten, after_graphs=runs.graphs)


def record_compiled(program: Program, folder: Path, backend: str) -> tuple[list[Record], Graphs]:
    with counting.watching(times_guards=False) as seen:
        records = record_program(program, folder, backend)
    told = [one for one in seen.breaks if one.id != RAISED]
    places = tuple(f"line {one.line}: {one.id} {one.reason}" for one in told)
    lines = tuple(one.line for one in told)
    return records, Graphs(sum(one.frames for one in seen.breaks), len(seen.graphs), places, lines)


def refusals(program: Program, folder: Path) -> list[str]:
    """What torch says where a break is an error. What the program raises itself is no refusal."""
    found = []
    with dynamo.forbid_breaks(), silenced(), opened(program, folder, "eager") as subject:
        for case in subject.cases:
            try:
                subject.call(*case.args, **case.kwargs)
            except Exception as error:
                found += [f"{case.name}: {error}"] if dynamo.is_refusal(error) else []
    return found
