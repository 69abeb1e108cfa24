"""The main flow: find, choose, plan, prove, write. What is shown, asked and journaled is somebody else's work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from codemods.codemod import Codemod
from codemods.model import Change, Edit, Finding, Span
from codemods.project import Project
from codemods.rewrite.atomic import is_writable
from codemods.rewrite.find import FileResult, find
from codemods.rewrite.journal import Journal, Run
from codemods.rewrite.plan import OVERLAPS, identity, plan, touched
from codemods.rewrite.scan import Progress, scan
from codemods.rewrite.walk import Tree, matching

ROUNDS = 5
"""How often findings that overlapped are met again before the rest is named and left."""


@dataclass(frozen=True)
class Filter:
    """Which findings the user wants to see, by symbol and by lines."""

    symbols: tuple[str, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()

    def admits(self, finding: Finding) -> bool:
        return self._admits_symbol(finding.symbol) and self._admits_lines(finding)

    def _admits_symbol(self, symbol: str) -> bool:
        dotted = f".{symbol}."
        return not self.symbols or any(f".{wanted}." in dotted for wanted in self.symbols)

    def _admits_lines(self, finding: Finding) -> bool:
        return not self.lines or any(first <= finding.last_line and finding.line <= last for first, last in self.lines)


class Reviewer(Protocol):
    """Decides which findings are applied."""

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]: ...


@dataclass(frozen=True)
class Round:
    """One pass of `fix` over a project: what was found, what of it was chosen, what became of that."""

    results: Sequence[FileResult]
    change: Change
    run: Run | None


Scanner = Callable[[Tree], list[FileResult]]
Writer = Callable[[Change], Run | None]
Planner = Callable[[Sequence[Finding]], Change]
Settler = Callable[[Change, Planner, Project], Change]
"""Keeps of a change what may be written; it can plan parts of it anew."""


def keep_all(change: Change, plan: Planner, project: Project) -> Change:
    return change


def fix(
    tree: Tree,
    codemods: Sequence[Codemod],
    scanner: Scanner,
    reviewer: Reviewer,
    write: Writer,
    settle: Settler = keep_all,
) -> Iterator[Round]:
    """Find, choose, plan, prove and write; then meet again what could not be written in the same pass.

    A dry run is the same with a `write` that writes nothing: later rounds then see the change laid over the files.
    """
    project = Project(tree.root, tree.entries)
    results = scanner(tree)
    chosen = reviewer.choose([finding for result in results for finding in result.findings], project)
    for _ in range(ROUNDS):
        planner = partial(plan_unchanged, project=project, codemods=codemods, tree=tree)
        change = settle(planner(chosen), planner, project)
        yield Round(results, change, write(change) if change.applied else None)
        waiting = [finding for finding, reason in change.left_out if reason.startswith(OVERLAPS)]
        if not change.applied or not waiting:
            return
        project = project.laid_over(change.after)
        found = [find(project, path, codemods) for path in sorted({finding.path for finding in waiting})]
        edits = {edit for finding in change.applied for edit in finding.edits}
        results = [replace(result, findings=met_again(waiting, result.findings, edits)) for result in found]
        chosen = [finding for result in results for finding in result.findings]


def plan_unchanged(chosen: Sequence[Finding], project: Project, codemods: Sequence[Codemod], tree: Tree) -> Change:
    """The plan, without the findings in files that have changed since they were looked at: spans count in old text."""
    change = plan(chosen, project, codemods)
    stale = {path for path in touched(chosen) if path not in project.overlay and tree.has_changed(path)}
    if not stale:
        return change
    kept = [finding for finding in chosen if stale.isdisjoint(finding.paths())]
    lost = [(f, f"{min(stale & {*f.paths()})} has changed since it was looked at") for f in chosen if f not in kept]
    rest = plan_unchanged(kept, project, codemods, tree)
    return replace(rest, left_out=(*rest.left_out, *lost))


def met_again(waiting: Sequence[Finding], found: Sequence[Finding], edits: Iterable[Edit]) -> tuple[Finding, ...]:
    """The findings that were chosen before, as they are now; none where others that were declined look the same."""
    again: list[Finding] = []
    left = list(waiting)
    for finding in filter(lambda finding: finding.is_fixable, found):
        mine = [other for other in left if is_same(other, finding, edits)]
        rivals = [other for other in found if mine and other.is_fixable and is_same(mine[0], other, edits)]
        if mine and len(rivals) <= sum(is_same(other, finding, edits) for other in waiting):
            left.remove(mine[0])
            again.append(replace(finding, key=mine[0].key))
    return tuple(again)


def is_same(earlier: Finding, now: Finding, edits: Iterable[Edit]) -> bool:
    """Whether a finding is an earlier one after some edits: the same in words, and where that one has gone."""
    here = [edit for edit in edits if edit.path == earlier.path]
    return identity(earlier) == identity(now) and moved(earlier.span, here).overlaps(now.span)


def moved(span: Span, edits: Sequence[Edit]) -> Span:
    """Where the text of a span stands after the edits, together with all that was written over a part of it."""
    over = [edit for edit in edits if edit.span.overlaps(span)]
    start = min([span.start, *(edit.span.start for edit in over)])
    end = max([span.end, *(edit.span.end for edit in over)])
    earlier = [edit for edit in edits if edit.span.end <= start]
    return Span(start + growth(earlier), end + growth(earlier) + growth(over))


def growth(edits: Iterable[Edit]) -> int:
    return sum(len(edit.new_text) - (edit.span.end - edit.span.start) for edit in edits)


def filtered(results: Sequence[FileResult], wanted: Filter) -> list[FileResult]:
    return [replace(result, findings=tuple(filter(wanted.admits, result.findings))) for result in results]


def respecting(results: Sequence[FileResult], exclude: Sequence[str]) -> list[FileResult]:
    """The results, with every finding left alone that would have to change an excluded file."""
    if not exclude:
        return list(results)
    touched = {edit.path for result in results for finding in result.findings for edit in finding.edits}
    barred = set(matching(touched, exclude))
    return [
        replace(r, findings=tuple(leave_barred(finding, barred, "excluded") for finding in r.findings)) for r in results
    ]


def leave_unwritable(results: Sequence[FileResult], root: Path) -> tuple[list[FileResult], list[str]]:
    """The results, with every finding left alone that would have to change a file which is not writable; and these."""
    touched = {edit.path for result in results for finding in result.findings for edit in finding.edits}
    barred = {path for path in touched if not is_writable(root / path)}
    left = [
        replace(r, findings=tuple(leave_barred(finding, barred, "not writable") for finding in r.findings))
        for r in results
    ]
    return left, sorted(barred)


def leave_barred(finding: Finding, barred: set[str], why: str) -> Finding:
    hit = sorted(barred & {edit.path for edit in finding.edits})
    if not hit:
        return finding
    return replace(finding, edits=(), left_alone=f"would have to change {hit[0]}, which is {why}")


def scanner_for(
    codemods: Sequence[Codemod],
    wanted: Filter,
    exclude: Sequence[str],
    jobs: int,
    use_cache: bool,
    progress: Progress,
) -> Scanner:
    """The scan that check and fix share."""

    def look(tree: Tree) -> list[FileResult]:
        results = scan(tree, codemods, jobs=jobs, use_cache=use_cache, progress=progress)
        return respecting(filtered(results, wanted), exclude)

    return look


def writer_for(journal: Journal | None) -> Writer:
    """Writes through the journal, all of it as one command; without a journal, nowhere."""
    if journal is None:
        return lambda change: None
    runs: list[Run] = []

    def write(change: Change) -> Run:
        runs.append(journal.write(change, command=runs[0].number if runs else 0))
        return runs[-1]

    return write
