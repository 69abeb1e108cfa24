"""What a code action would change: the same flow as `fix`, on buffers, written nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fullgraph.codemods.lsp.projects import LiveProject
from fullgraph.codemods.model import Edit, Finding, Safety
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import FILE_LIMIT, ask_in_turn
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.run import Reviewer, fix, respecting, writer_for
from fullgraph.codemods.ui.commands import AcceptAll

Told = Callable[[str], None]
"""Told of each file that was looked at; whatever it raises ends the work."""


@dataclass(frozen=True)
class OnlyOne:
    """The reviewer that wants one finding."""

    key: str

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return [finding for finding in findings if finding.key == self.key and finding.is_fixable]


@dataclass
class Fixed:
    """What all rounds of a fix change together; None is no file there."""

    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)
    applied: list[Finding] = field(default_factory=list)
    left_out: list[tuple[Finding, str]] = field(default_factory=list)
    rounds: int = 0

    @property
    def is_unsafe(self) -> bool:
        return any(finding.safety is Safety.UNSAFE for finding in self.applied)

    def edits(self, path: str) -> list[Edit]:
        """The edits of one file, each once; none if a later round changed what an earlier one had written."""
        if self.rounds > 1:
            return []
        return sorted({edit for finding in self.applied for edit in finding.edits if edit.path == path})

    def codemods(self, path: str) -> list[str]:
        """Whose findings change a file."""
        return sorted({finding.codemod for finding in self.applied if path in finding.paths()})


def fix_files(
    live: LiveProject, paths: set[str], buffers: Mapping[str, bytes], reviewer: Reviewer, told: Told
) -> Fixed:
    """What `fix` on these files would write if the buffers were saved."""
    live.configure()
    live.refresh()
    project = live.laid_over(buffers)
    tree = replace(live.planted(), targets=set(paths))

    def look(tree: Tree) -> list[FileResult]:
        found = []
        for path, _, result in ask_in_turn(sorted(tree.targets), project, live.codemods, FILE_LIMIT):
            told(path)
            found.append(result)
        return respecting(found, live.exclude)

    fixed = Fixed()
    for done in fix(tree, live.codemods, look, reviewer, writer_for(None), project=project):
        change = done.change
        fixed.before = {**change.before, **fixed.before}
        fixed.after |= change.after
        fixed.applied += change.applied
        fixed.left_out = list(change.left_out)
        fixed.rounds += bool(change.applied)
    return fixed


def fix_project(live: LiveProject, buffers: Mapping[str, bytes], reviewer: Reviewer, told: Told) -> Fixed:
    """What `fix` on the whole project would write if the buffers were saved."""
    live.configure()
    tree = live.planted()
    paths = {path for path in (*tree.entries, *buffers) if not live.is_left_out(path)}
    return fix_files(live, paths, buffers, reviewer, told)


def accept_all(unsafe: bool) -> Reviewer:
    return AcceptAll(unsafe)
