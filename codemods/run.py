"""The main flow: find, choose, plan, write. What is shown, asked and journaled is somebody else's work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from codemods.codemod import Codemod
from codemods.model import Change, Finding
from codemods.project import Project
from codemods.rewrite.find import FileResult, find
from codemods.rewrite.journal import Journal, Run
from codemods.rewrite.plan import OVERLAPS, identity, plan
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


def fix(tree: Tree, codemods: Sequence[Codemod], scanner: Scanner, reviewer: Reviewer, write: Writer) -> list[Round]:
    """Find, choose, plan and write; then meet again what could not be written in the same pass.

    A dry run is the same with a `write` that writes nothing: later rounds then see the change laid over the files.
    """
    rounds: list[Round] = []
    project = Project(tree.root, tree.entries)
    results = scanner(tree)
    chosen = reviewer.choose([finding for result in results for finding in result.findings], project)
    while True:
        change = plan(chosen, project, codemods)
        run = write(change) if change.applied else None
        rounds.append(Round(results, change, run))
        waiting = [finding for finding, reason in change.left_out if reason.startswith(OVERLAPS)]
        if not change.applied or not waiting or len(rounds) == ROUNDS:
            return rounds
        project = project.laid_over(change.after)
        results = [find(project, path, codemods) for path in sorted({finding.path for finding in waiting})]
        known = {identity(finding) for finding in waiting}
        chosen = [f for result in results for f in result.findings if f.is_fixable and identity(f) in known]


def filtered(results: Sequence[FileResult], wanted: Filter) -> list[FileResult]:
    return [replace(result, findings=tuple(filter(wanted.admits, result.findings))) for result in results]


def respecting(results: Sequence[FileResult], exclude: Sequence[str]) -> list[FileResult]:
    """The results, with every finding left alone that would have to change an excluded file."""
    if not exclude:
        return list(results)
    touched = {edit.path for result in results for finding in result.findings for edit in finding.edits}
    barred = set(matching(touched, exclude))
    return [replace(r, findings=tuple(leave_barred(finding, barred) for finding in r.findings)) for r in results]


def leave_barred(finding: Finding, barred: set[str]) -> Finding:
    hit = sorted(barred & {edit.path for edit in finding.edits})
    if not hit:
        return finding
    return replace(finding, edits=(), left_alone=f"would have to change {hit[0]}, which is excluded")


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
    """Writes through the journal; without one, nowhere."""
    if journal is None:
        return lambda change: None
    return journal.write
