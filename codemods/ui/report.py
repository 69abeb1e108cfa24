"""What a command has to tell, before it is text or JSON. The report owns the exit code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codemods.model import Finding, Safety
from codemods.rewrite.diff import patch
from codemods.rewrite.find import FileResult
from codemods.rewrite.walk import Tree
from codemods.run import Round


@dataclass(frozen=True)
class Line:
    """One finding with what became of it. `place` is where it stands, as people write it."""

    root: Path
    place: str
    finding: Finding
    outcome: str
    reason: str = ""


FOUND, FIXED, LEFT = "found", "fixed", "left"


@dataclass
class Report:
    """Collects what all projects of one command have to tell."""

    is_dry: bool = False
    lines: list[Line] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    runs: list[tuple[Path, int, int, int]] = field(default_factory=list)
    patch: bytes = b""
    files: int = 0
    suppressed: int = 0

    @property
    def exit_code(self) -> int:
        if self.errors:
            return 2
        is_open = any(line.outcome != FIXED for line in self.lines) or bool(self.is_dry and self.patch)
        return 1 if is_open else 0

    def add_results(self, tree: Tree, results: Sequence[FileResult]) -> None:
        """The findings of `check`."""
        self._add_files(tree, results)
        for result in results:
            self.lines += [self._line(tree, finding, FOUND, finding.left_alone) for finding in result.findings]

    def add_round(self, tree: Tree, done: Round) -> None:
        """What one round of `fix` wrote, and what it left for which reason."""
        is_first = not any(line.root == tree.root for line in self.lines)
        if is_first:
            self._add_files(tree, done.results)
        change = done.change
        if change.applied and done.run:
            self.runs.append((tree.root, done.run.number, len(change.applied), len(change.after)))
        self.patch += patch(change.before, change.after)
        self._add_outcomes(tree, done)

    def _add_outcomes(self, tree: Tree, done: Round) -> None:
        """A finding that an earlier round had left out may be fixed now; the last word counts."""
        refused = {finding.key: reason for finding, reason in done.change.left_out}
        applied = {finding.key: finding for finding in done.change.applied}
        known = {line.finding.key: number for number, line in enumerate(self.lines) if line.root == tree.root}
        for result in done.results:
            for finding in result.findings:
                outcome = FIXED if finding.key in applied else LEFT
                line = self._line(tree, finding, outcome, refused.get(finding.key) or why_left(finding))
                if finding.key not in known:
                    self.lines.append(line)
                elif outcome == FIXED or finding.key in refused:
                    self.lines[known[finding.key]] = line

    def _add_files(self, tree: Tree, results: Sequence[FileResult]) -> None:
        self.files += len(results)
        for result in results:
            place = shown_path(tree.root, result.path)
            if result.error:
                self.errors.append((place, result.error))
            self.suppressed += result.suppressed
            for item in result.unused:
                self.warnings.append((f"{place}:{item.line}", f"ignore[{item.name}] silences nothing"))

    def _line(self, tree: Tree, finding: Finding, outcome: str, reason: str) -> Line:
        return Line(tree.root, place_of(tree.root, finding), finding, outcome, reason)


def why_left(finding: Finding) -> str:
    if finding.left_alone:
        return finding.left_alone
    return f"unsafe: {finding.caveat}" if finding.safety is Safety.UNSAFE else "declined"


def place_of(root: Path, finding: Finding) -> str:
    """`pkg/a.py:12:5`, or the cell and line of a notebook."""
    path = shown_path(root, finding.path)
    if not finding.path.endswith(".ipynb"):
        return f"{path}:{finding.line}:{finding.column}"
    from codemods.notebook import place
    from codemods.source import decode

    cell, line = place(decode(finding.path, (root / finding.path).read_bytes()), finding.span.start)
    return f"{path}:cell {cell}:{line}"


def shown_path(root: Path, path: str) -> str:
    """Relative to where the user stands, if that is shorter than the whole path."""
    full = root / path
    try:
        relative = os.path.relpath(full)
    except ValueError:
        return str(full)
    return relative if not relative.startswith(os.pardir) else str(full)
