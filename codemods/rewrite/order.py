"""Codemods that meet at one place: do they end in the same text, whichever comes first?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Edit, Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.again import met_again
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.plan import OVERLAPS, splice_all

Meeting = tuple[Edit, Edit]


@dataclass(frozen=True)
class Disagreement:
    """Two findings of different codemods. `first` was taken first: it stands further up, or comes first by name."""

    first: Finding
    second: Finding

    def __str__(self) -> str:
        first, second = self.first, self.second
        return (
            f"{first.codemod} ({first.path}:{first.line}) and {second.codemod} ({second.path}:{second.line}) disagree: "
            f"one after the other they end in another text than the other way round; --ignore one of them to choose"
        )


def disagreements(change: Change, project: Project, codemods: Sequence[Codemod]) -> Iterator[Disagreement]:
    """For each two codemods the first of a change's findings whose order matters; also those that had to wait.

    Only findings that meet are tried, and those that meet where others have met and agreed (at an import) are not.
    """
    waiting = [finding for finding, reason in change.left_out if reason.startswith(OVERLAPS)]
    named: set[frozenset[str]] = set()
    agreed: set[Meeting] = set()
    rewrites = [finding for finding in (*change.applied, *waiting) if not finding.is_ignored]
    for first, second in neighbours(rewrites):
        names = frozenset((first.codemod, second.codemod))
        if len(names) == 1 or names in named or (met := meetings(first, second)) <= agreed:
            continue
        if in_turn(first, second, project, codemods) == in_turn(second, first, project, codemods):
            agreed |= met
        else:
            named.add(names)
            yield Disagreement(first, second)


def neighbours(findings: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """Every two findings that edit a file in common, in order: others cannot meet."""
    by_path: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        for path in finding.paths():
            by_path.setdefault(path, []).append(number)
    for number, finding in enumerate(findings):
        later = {other for path in finding.paths() for other in by_path[path] if other > number}
        yield from ((finding, findings[other]) for other in sorted(later))


def meetings(first: Finding, second: Finding) -> set[Meeting]:
    """Where two findings edit the same place, or add different lines at the same point."""
    return {
        (mine, theirs)
        for mine in first.edits
        for theirs in second.edits
        if mine.clashes(theirs)
        or (mine.path == theirs.path and mine.span.start == theirs.span.start and mine != theirs)
    }


def in_turn(first: Finding, second: Finding, project: Project, codemods: Sequence[Codemod]) -> dict[str, bytes]:
    """The files after one finding, and then the other if that is still found."""
    done = splice_all([first], project)
    later = project.laid_over(done)
    asked = [codemod for codemod in codemods if codemod.name == second.codemod]
    found = [finding for finding in find(later, second.path, asked).findings if finding.codemod == second.codemod]
    again = met_again([second], found, first.edits)
    paths = {*first.paths(), *second.paths()}
    return {path: later.read(path) for path in paths if later.has_file(path)} | splice_all(again[:1], later)
