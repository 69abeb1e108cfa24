"""What the codemods that repair breaks make of a program, all of them together, until nothing is left to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullgraph import Codemod, Finding, Project
from fullgraph.codemods.model import Safety
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.plan import plan

PASSES = 6
Files = Mapping[str, bytes]


class Failed(Exception):  # noqa: N818 - it is an answer of the exam
    """A codemod raised, or there was no end to what it wanted."""


@dataclass(frozen=True)
class Rewritten:
    """The files afterwards, the codemods that changed them, and why others left something alone."""

    files: Files
    by: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()


def break_codemods() -> list[Codemod]:
    """Every codemod that repairs breaks; none while there is none."""
    return [kind() for kind in all_codemods().values() if kind.repairs_breaks]


def rewrite(files: Files, codemods: Sequence[Codemod], *, unsafe: bool = False) -> Rewritten:
    """As `fix` does it: safe findings, or with `unsafe` all of them, together; then what can be found after that."""
    applied: list[Finding] = []
    declined: dict[str, None] = {}
    for _ in range(PASSES):
        project = Project(Path("/nowhere"), files, files)
        found = look(project, codemods)
        declined |= {f"{one.codemod}: line {one.line}: {one.left_alone}": None for one in found if one.left_alone}
        wanted = [one for one in found if one.is_fixable and (unsafe or one.safety is Safety.SAFE)]
        change = plan(wanted, project, codemods)
        if not change.applied:
            by = tuple(sorted({one.codemod for one in applied}))
            return Rewritten(files, by, tuple(declined), tuple(one.caveat for one in applied if one.caveat))
        applied += change.applied
        files = {**files, **change.written}
    raise Failed(f"{sorted({one.codemod for one in applied})} come to no end")


def look(project: Project, codemods: Iterable[Codemod]) -> list[Finding]:
    asked = list(codemods)
    results = [find(project, path, asked) for path in project.files]
    errors = [result.error for result in results if result.error]
    if errors:
        raise Failed("; ".join(errors))
    return [finding for result in results for finding in result.findings]
