"""What a pipeline asks for, and what comes out of it. The report owns the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding, Safety
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.run import Round
from fullgraph.codemods.ui.ci.git import repository_at
from fullgraph.codemods.ui.report.model import FIXED, FOUND, LEFT, STOPPED, Line, Report
from fullgraph.codemods.ui.report.spot import NOWHERE, FileText, Spot, file_text
from fullgraph.validate.judge import combined, exit_code

if TYPE_CHECKING:
    from fullgraph.codemods.ui.ci.outputs import Output
    from fullgraph.codemods.ui.commands import Request
    from fullgraph.codemods.ui.proof import ProofRequest

UNDECIDED = 4
KEPT = 16
"""Files that are kept in memory while a report is written."""


@dataclass(frozen=True)
class Policy:
    """Which findings fail the job, and from how many on."""

    fail_on: str = "any"
    max_findings: int = 0

    def counts(self, finding: Finding) -> bool:
        if self.fail_on == "safe":
            return finding.is_fixable and finding.safety is Safety.SAFE
        return self.fail_on == "any"


@dataclass(frozen=True)
class CiRequest:
    """`fullgraph ci` as the command line gives it."""

    looking: Request
    policy: Policy
    outputs: tuple[Output, ...]
    since: str = ""
    baseline: Path | None = None
    update_baseline: bool = False
    fix: bool = False
    unsafe: bool = False
    commit: bool = False
    branch: str = ""
    allow_dirty: bool = False
    proof: ProofRequest | None = None

    @property
    def writes(self) -> bool:
        return self.fix or self.commit

    @property
    def plans(self) -> bool:
        """Whether it matters what the findings would become: it is written, proven or printed."""
        return self.writes or bool(self.proof) or any(output.form == "patch" for output in self.outputs)


@dataclass(frozen=True)
class Commit:
    """A commit that was made."""

    codemod: str
    name: str
    subject: str
    branch: str


@dataclass
class CiReport(Report):
    """The report of a pipeline's job. Without `--fix` it is dry: whatever would be fixed is still found."""

    policy: Policy = field(default_factory=Policy)
    spots: dict[tuple[Path, str], Spot] = field(default_factory=dict)
    """By project and the finding's key."""

    texts: dict[Path, FileText] = field(default_factory=dict)
    kinds: dict[str, type[Codemod]] = field(default_factory=dict)
    roots: list[Path] = field(default_factory=list)
    known: int = 0
    """Findings that the baseline holds."""

    unchanged: int = 0
    """Findings on lines that have not changed."""

    undecided: str = ""
    commits: list[Commit] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    """What each round changed, in order."""

    def add_round(self, tree: Tree, done: Round, why_left: Callable[[Finding], str]) -> None:
        super().add_round(tree, done, why_left)
        self.changes.append(done.change)

    @property
    def open_lines(self) -> list[Line]:
        """The findings that are still there."""
        return [line for line in self.lines if line.outcome != FIXED]

    def counts(self, line: Line) -> bool:
        """Whether a finding counts against the limit."""
        return line.outcome != FIXED and self.policy.counts(line.finding)

    @property
    def counting(self) -> list[Line]:
        return [line for line in self.lines if self.counts(line)]

    @property
    def fails(self) -> bool:
        """Whether there are too many findings."""
        return len(self.counting) > self.policy.max_findings

    @property
    def exit_code(self) -> int:
        if not self.is_complete:
            return STOPPED
        if self.errors:
            return 2
        if self.undecided:
            return UNDECIDED
        verdict = exit_code(combined(self.verdicts), self.keep_neutral) if self.verdicts else 0
        if verdict and self.policy.fail_on != "none":
            return verdict
        return 1 if self.fails else 0

    @cached_property
    def base(self) -> Path:
        """The folder that paths count from: the repository's, else the current one or what the projects share."""
        here = Path(os.path.realpath(os.curdir))
        shared = Path(os.path.commonpath(self.roots)) if self.roots else here
        if repository := repository_at(shared):
            return repository.top
        return here if shared.is_relative_to(here) else shared

    def file_of(self, line: Line) -> str:
        """The path of a finding's file, from the base."""
        return self.path_of(line.root / line.finding.path)

    def path_of(self, file: Path) -> str:
        return Path(os.path.relpath(file, self.base)).as_posix()

    def told_of_files(self) -> list[tuple[str, str, int, str]]:
        """What is wrong with files, or odd in them: the level, the path from the base, the line, the reason."""
        told = [("error", place, 1, reason) for place, reason in self.errors]
        for place, reason in self.warnings:
            path, _, line = place.rpartition(":")
            told.append(("warning", path, int(line), reason))
        here = Path(os.path.realpath(os.curdir))
        return [(level, self.path_of(here / path) if path else "", line, why) for level, path, line, why in told]

    def spot_of(self, line: Line) -> Spot:
        return self.spots.get((line.root, line.finding.key), NOWHERE)

    def text_before(self, file: Path) -> FileText:
        """A file as it was looked at; those that were asked for last are kept."""
        if file not in self.texts:
            if len(self.texts) >= KEPT:
                self.texts.clear()
            self.texts[file] = file_text(file.name, self.before.get(file) or file.read_bytes())
        return self.texts[file]

    def begin_fixing(self, root: Path, why_left: dict[str, str]) -> None:
        """From here on what is not fixed is left, for a reason. Reasons are by key."""
        for number, line in enumerate(self.lines):
            if line.root == root:
                reason = line.reason or why_left.get(line.finding.key, "")
                self.lines[number] = replace(line, outcome=LEFT, reason=reason)

    def end_dry(self) -> None:
        """Nothing was written: what would be is found, and so is what nobody refused."""
        for number, line in enumerate(self.lines):
            if line.outcome == FIXED or line.reason in ("", line.finding.left_alone):
                self.lines[number] = replace(line, outcome=FOUND, reason=line.finding.left_alone)
