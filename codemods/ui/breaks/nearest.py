"""Of the findings along the way to a break, those at its deepest line: what calls it is left as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullgraph.codemods.model import Finding
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.ui.breaks.ground import Ground, Spot, stands_at
from fullgraph.codemods.ui.breaks.seen import Way


@dataclass
class Nearest:
    """`taken` is how deep on each way there is a finding: trees are looked at one after the other."""

    ground: Ground
    repairing: Collection[str]
    """The names of the codemods that repair breaks."""

    taken: dict[Way, Spot] = field(default_factory=dict)

    def keep(self, results: Sequence[FileResult], root: Path) -> list[FileResult]:
        """The results without findings that only lead to a break that another finding is about."""
        along = [(way, self.ground.along(way)) for way in self.ways]
        repairs = [one for result in results for one in result.findings if one.codemod in self.repairing]
        for way, spots in along:
            here = [spot for spot in spots if spot.root == root and any(stands_at(one, spot) for one in repairs)]
            known = [self.taken[way]] if way in self.taken else []
            if here or known:
                self.taken[way] = min([*here, *known], key=spots.index)
        return [replace(one, findings=tuple(f for f in one.findings if self.admits(f, root, along))) for one in results]

    def admits(self, finding: Finding, root: Path, along: Sequence[tuple[Way, list[Spot]]]) -> bool:
        """Whether a finding stands nearest to some break, or on no way at all: then it is about something else."""
        if finding.codemod not in self.repairing:
            return True
        passed = [
            (way, spot) for way, spots in along for spot in spots if spot.root == root and stands_at(finding, spot)
        ]
        return not passed or any(self.taken.get(way) == spot for way, spot in passed)

    @property
    def ways(self) -> list[Way]:
        return list(dict.fromkeys(way for seen in self.ground.seen for way in seen.ways))
