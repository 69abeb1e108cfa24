"""The main flow: find, choose, plan, prove, write. What is shown, asked and journaled is somebody else's work."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.model import Change, Edit, Finding, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.again import met_again
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.rewrite.find import FileResult, find
from fullgraph.codemods.rewrite.folder import Identity, pinned
from fullgraph.codemods.rewrite.inside import OWN_REPOSITORY, why_not_creatable, why_not_writable
from fullgraph.codemods.rewrite.journal import Journal, Sign
from fullgraph.codemods.rewrite.order import Disagreement, disagreements
from fullgraph.codemods.rewrite.plan import OVERLAPS, moved_along, plan, touched
from fullgraph.codemods.rewrite.scan import Asker, Each, Progress, Stopped, checked, scan
from fullgraph.codemods.rewrite.walk import Tree, matching

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
    disagreements: tuple[Disagreement, ...] = ()


class Writer(Protocol):
    """Writes a change, and what names its own run once that has a number."""

    def __call__(self, change: Change, sign: Sign | None = None) -> Run | None: ...


Scanner = Callable[[Tree], list[FileResult]]
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
    project: Project | None = None,
) -> Iterator[Round]:
    """Find, choose, plan, prove and write; then meet again what could not be written in the same pass.

    A dry run is the same with a `write` that writes nothing: later rounds then see the change laid over the files.
    `project` is the tree's, where an editor's buffers are laid over it.
    """
    project = project or Project(tree.root, tree.entries)
    results = scanner(tree)
    chosen = reviewer.choose([finding for result in results for finding in result.findings], project)
    for _ in range(ROUNDS):
        planner = partial(plan_unchanged, project=project, codemods=codemods, tree=tree)
        change = settle(planner(chosen), planner, project)
        clashing = tuple(disagreements(change, project, codemods))
        yield Round(results, change, write(change) if change.applied else None, clashing)
        overlapping = [finding for finding, reason in change.left_out if reason.startswith(OVERLAPS)]
        waiting = [finding for finding in overlapping if not finding.is_ignored]  # met again it would be a rewrite
        if not change.applied or not waiting:
            return
        codemods = moved_along(codemods, change.applied, project, change.written)
        project = project.laid_over(change.written)
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


def filtered(results: Sequence[FileResult], wanted: Filter) -> list[FileResult]:
    return [replace(result, findings=tuple(filter(wanted.admits, result.findings))) for result in results]


def respecting(results: Sequence[FileResult], exclude: Sequence[str]) -> list[FileResult]:
    """The results, with every finding left alone that would have to change an excluded file."""
    if not exclude:
        return list(results)
    edits = {edit for result in results for finding in result.findings for edit in finding.edits}
    barred = set(matching({edit.path for edit in edits if not edit.creates}, exclude))
    return [
        replace(r, findings=tuple(leave_barred(finding, barred, "excluded") for finding in r.findings)) for r in results
    ]


def leave_unwritable(results: Sequence[FileResult], root: Path) -> tuple[list[FileResult], list[str]]:
    """The results, with every finding left alone that would have to change a file which no run may change.

    And those of the files that a user may have meant to be changed: what is in a repository of its own is not.
    """
    edits = {edit for result in results for finding in result.findings for edit in finding.edits}
    barred = {edit.path: reason for edit in edits if (reason := why_not(root, edit))}

    def leave(finding: Finding) -> Finding:
        hit = min(barred.keys() & {edit.path for edit in finding.edits}, default="")
        return leave_barred(finding, {hit}, barred[hit]) if hit else finding

    left = [replace(result, findings=tuple(map(leave, result.findings))) for result in results]
    return left, sorted(path for path, reason in barred.items() if reason != OWN_REPOSITORY)


def why_not(root: Path, edit: Edit) -> str:
    return why_not_creatable(root, edit.path) if edit.creates else why_not_writable(root, edit.path)


def leave_barred(finding: Finding, barred: set[str], why: str) -> Finding:
    hit = sorted(barred & {edit.path for edit in finding.edits})
    if not hit:
        return finding
    return replace(finding, edits=(), left_alone=f"would have to change {hit[0]}, which is {why}")


def scanner_for(
    codemods: Sequence[Codemod],
    wanted: Filter,
    exclude: Sequence[str],
    ask: Asker,
    use_cache: bool,
    progress: Progress,
    each: Each | None = None,
) -> Scanner:
    """The scan that check and fix share. `each` is told of every file as its answer comes."""

    def tell(result: FileResult) -> None:
        if each:
            each(*respecting(filtered([result], wanted), exclude))

    def look(tree: Tree) -> list[FileResult]:
        try:
            results = scan(tree, codemods, ask=ask, use_cache=use_cache, progress=progress, each=tell)
        except Stopped as stopped:
            raise Stopped(respecting(filtered(stopped.results, wanted), exclude), stopped.unseen) from None
        return respecting(filtered(results, wanted), exclude)

    return look


def look_at(
    project: Project,
    path: str,
    codemods: Sequence[Codemod],
    exclude: Sequence[str] = (),
    near: Span | None = None,
    expected: Collection[str] = (),
) -> FileResult:
    """What `check` says of one file that was named, for whoever has no tree to scan: an editor, with its buffers.

    With `near`, of what does not stand there some may be missing. `expected`: who found something there before.
    """
    try:
        result = find(project, path, codemods, near=near, expected=expected)
    except Exception as error:
        result = FileResult(path, error=in_one_line(error))
    return respecting([checked(project, result)], exclude)[0]


def writer_for(journal: Journal | None, identity: Identity | None = None) -> Writer:
    """Writes through the journal, all of it as one command; without a journal, nowhere.

    `identity` is that of the root when it was looked at.
    """
    if journal is None:
        return lambda change, sign=None: None
    runs: list[Run] = []

    def write(change: Change, sign: Sign | None = None) -> Run:
        with pinned(journal.root, identity):
            runs.append(journal.write(change, command=runs[0].number if runs else 0, sign=sign))
        return runs[-1]

    return write
