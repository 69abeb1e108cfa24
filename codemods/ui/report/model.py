"""What a command has to tell, before it is text or JSON. The report owns the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.codemod import suggest
from fullgraph.codemods.model import Finding
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.diff import patch
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.run import Round
from fullgraph.validate.judge import combined, exit_code
from fullgraph.validate.model import Verdict

if TYPE_CHECKING:
    from fullgraph.codemods.ui.breaks.ends import End
    from fullgraph.codemods.ui.breaks.ground import Ground
    from fullgraph.codemods.ui.breaks.nearest import Nearest
    from fullgraph.codemods.ui.observed.join import Observation, Place


@dataclass(frozen=True)
class Line:
    """One finding with what became of it. `place` is where it stands, as people write it."""

    root: Path
    place: str
    finding: Finding
    outcome: str
    reason: str = ""
    observed: Observation | None = None
    """What a run of the program showed of it, where one was given."""


STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""

FOUND, FIXED, IGNORED, LEFT, REPAIRED = "found", "fixed", "ignored", "left", "repaired"
CLOSED = (FIXED, IGNORED)
DECLINED, NOT_ASKED = "declined", "not asked about"


@dataclass
class Report:
    """Collects what all projects of one command have to tell."""

    is_dry: bool = False
    is_reviewed: bool = False
    """Whether a person has seen each finding that was fixed."""

    lines: list[Line] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    runs: list[tuple[Path, int, int, int, tuple[str, ...]]] = field(default_factory=list)
    """Each run with its project, and how many findings it wrote in how many files, and which of these are new."""
    before: dict[Path, bytes | None] = field(default_factory=dict)
    after: dict[Path, bytes | None] = field(default_factory=dict)
    files: int = 0
    suppressed: int = 0
    unfollowed: list[str] = field(default_factory=list)
    """What is compiled and could not be followed, each as `place: what`."""

    compiles: int = 0
    """How many places of the files ask torch to compile something."""

    follows: bool = False
    """Whether a codemod was asked that follows what is compiled."""

    gains: dict[str, str] = field(default_factory=dict)
    """Every codemod that was asked, with what its rewrite is for."""

    tests: int = 0
    """How many files were not looked at because they are tests."""

    verdicts: list[Verdict] = field(default_factory=list)
    keep_neutral: bool = False
    is_complete: bool = True
    """False after Ctrl-C: there is more to find than what is told."""

    observed: Mapping[str, Any] | None = None
    """The report of an observed run, as `--observed` names it."""

    ground: Ground | None = None
    nearest: Nearest | None = None
    ends: list[End] = field(default_factory=list)
    """How each observed break ended."""

    written_in: dict[Path, Path] = field(default_factory=dict)
    """By the root of a tree, the folder that holds what is written instead, where that is another."""

    tell: Callable[[Tree, FileResult], None] | None = None
    """Who is told of each file as its answer comes."""

    unexplained: list[Place] = field(default_factory=list)
    unexplained_title: str = ""

    @property
    def exit_code(self) -> int:
        if not self.is_complete:
            return STOPPED
        if self.errors:
            return 2
        if self.verdicts and (code := exit_code(combined(self.verdicts), self.keep_neutral)):
            return code
        is_open = any(line.outcome not in CLOSED for line in self.lines) or bool(self.is_dry and self.patch)
        return 1 if is_open or any(end.outcome != REPAIRED for end in self.ends) else 0

    @property
    def patch_base(self) -> Path:
        """The folder that the patch counts from: the current one, or the nearest that holds all its files' projects."""
        roots = {line.root for line in self.lines}
        here = Path.cwd()
        if not roots or all(root.is_relative_to(here) for root in roots):
            return here
        return Path(os.path.commonpath(roots))

    @property
    def patch(self) -> bytes:
        """What all rounds in all projects change, as one patch."""
        base = self.patch_base
        before, after = (
            {os.path.relpath(p, base): raw for p, raw in side.items()} for side in (self.before, self.after)
        )
        return patch(before, after)

    def add_notice(self, notice: str) -> None:
        """What holds for every project is said once."""
        if notice not in self.notices:
            self.notices.append(notice)

    def add_results(self, tree: Tree, results: Sequence[FileResult]) -> None:
        """The findings of `check`."""
        self._add_files(tree, results)
        for result in results:
            for finding in result.findings:
                place = place_of(tree.root, finding)
                self.lines.append(Line(tree.root, place, finding, FOUND, finding.left_alone))

    def add_round(self, tree: Tree, done: Round, why_left: Callable[[Finding], str]) -> None:
        """What one round of `fix` wrote, and what it left for which reason."""
        change = done.change
        if done.run:
            new = done.run.created
            root = self.written_in.get(tree.root, tree.root)
            self.runs.append((root, done.run.number, len(change.applied), len(change.after), new))
        self.before = {**{tree.root / path: raw for path, raw in change.before.items()}, **self.before}
        self.after |= {tree.root / path: raw for path, raw in change.after.items()}
        if any(line.root == tree.root for line in self.lines):
            self._settle(tree, done)
        else:
            self._add_files(tree, done.results)
            self._add_outcomes(tree, done, why_left)

    def _add_outcomes(self, tree: Tree, done: Round, why_left: Callable[[Finding], str]) -> None:
        refused = {finding.key: reason for finding, reason in done.change.left_out}
        applied = {finding.key: IGNORED if finding.is_ignored else FIXED for finding in done.change.applied}
        for finding in (finding for result in done.results for finding in result.findings):
            place = place_of(tree.root, finding, done.change.before)
            if finding.key in applied:
                self.lines.append(Line(tree.root, place, finding, applied[finding.key]))
            else:
                reason = refused.get(finding.key) or finding.left_alone or why_left(finding)
                self.lines.append(Line(tree.root, place, finding, LEFT, reason))

    def _settle(self, tree: Tree, done: Round) -> None:
        """After a later round: what had to wait is fixed now, or left for a new reason."""
        applied = {finding.key for finding in done.change.applied}
        refused = {finding.key: reason for finding, reason in done.change.left_out}
        for number, line in enumerate(self.lines):
            key = line.finding.key
            if line.root == tree.root and line.outcome == LEFT and key in applied:
                self.lines[number] = replace(line, outcome=FIXED, reason="")
            elif line.root == tree.root and key in refused:
                self.lines[number] = replace(line, reason=refused[key])

    def _add_files(self, tree: Tree, results: Sequence[FileResult]) -> None:
        self.files += len(results)
        self.suppressed += sum(result.suppressed for result in results)
        self.compiles += sum(result.compiles for result in results)
        self.unfollowed += [line for result in results for line in result.unfollowed]
        for result in results:
            if not (result.error or result.unused):
                continue
            place = shown_path(tree.root, result.path)
            if result.error:
                self.errors.append((place, result.error))
            for item in result.unused:
                said = f"ignore[{item.name}]" if item.name else "ignore without [NAME]"
                hint = "" if item.name in all_codemods() else suggest(item.name, all_codemods())
                self.warnings.append((f"{place}:{item.line}", f"{said} silences nothing{hint}"))


def place_of(root: Path, finding: Finding, before: Mapping[str, bytes | None] | None = None) -> str:
    """`pkg/a.py:12:5`, or the cell and line of a notebook. `before`: files that have been written since."""
    path = shown_path(root, finding.path)
    if not finding.path.endswith(".ipynb"):
        return f"{path}:{finding.line}:{finding.column}"
    from fullgraph.codemods.notebook import place
    from fullgraph.codemods.source import decode

    raw = (before or {}).get(finding.path) or (root / finding.path).read_bytes()
    found = place(decode(finding.path, raw), finding.span.start)
    return f"{path}:cell {found[0]}:{found[1]}" if found else f"{path}:{finding.line}:{finding.column}"


def shown_path(root: Path, path: str) -> str:
    """Relative to where the user stands, if that is shorter than the whole path."""
    full = root / path
    try:
        relative = os.path.relpath(full)
    except ValueError:
        return str(full)
    return relative if not relative.startswith(os.pardir) else str(full)
