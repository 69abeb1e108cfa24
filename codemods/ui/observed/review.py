"""A review in the order of cost: what a run of the program showed to be dear is asked about first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.observed.join import sort_findings

if TYPE_CHECKING:
    from fullgraph.codemods.ui.commands import Chooser


@dataclass(frozen=True)
class ByCost:
    """The order is for the person only: what was chosen comes back in the order of the findings."""

    inner: Chooser
    observed: Mapping[str, Any]

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        places = {finding.key: number for number, finding in enumerate(findings)}
        chosen = self.inner.choose(sort_findings(findings, project.root, self.observed), project)
        return sorted(chosen, key=lambda finding: places[finding.key])

    def why_left(self, finding: Finding) -> str:
        return self.inner.why_left(finding)
