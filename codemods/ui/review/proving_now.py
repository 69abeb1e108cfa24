"""The key `p` of the review: what scenarios say of one finding, before it is accepted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fullgraph.codemods.model import Change, Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.ui.proof import Proofs
from fullgraph.codemods.ui.scenarios import proofs_in
from fullgraph.validate.judge import combined
from fullgraph.validate.model import ValidateError, Verdict
from fullgraph.validate.new_scenario import file_name, new_scenario


@dataclass
class ProveNow:
    """Proves findings one by one. What comes out stays known: at the end the same change is not proven again."""

    proofs: Proofs
    """With the scenarios of `--prove`, or none: then those are taken that run the function of the finding."""

    @cached_property
    def folder(self) -> TemporaryDirectory[str]:
        """For scenarios that are drafted."""
        return TemporaryDirectory(prefix="fullgraph-draft-")

    def prepared(self, finding: Finding, project: Project) -> Callable[[], str]:
        """Plans the change and finds the scenarios. What is left to do tells `proven: 2 breaks less (step.py)`."""
        try:
            change = plan([finding], project, self.proofs.codemods)
            if change.left_out:
                raise FullgraphError(change.left_out[0][1])
            scenarios = self.proofs.request.scenarios or self.scenarios_for(finding, project)
        except (ValidateError, FullgraphError) as error:
            said = f"undecided: {error}"
            return lambda: said
        return partial(outcome, self.proofs.with_scenarios(*scenarios), change, project)

    def scenarios_for(self, finding: Finding, project: Project) -> tuple[str, ...]:
        """Those of its function, else of its class; else one that is drafted from the text."""
        known = proofs_in(project, finding.path)
        own = [one for one in known if one.symbol == finding.symbol]
        near = [one for one in known if one.symbol.partition(".")[0] == finding.symbol.partition(".")[0]]
        if found := own or near:
            return tuple(dict.fromkeys(self._path(one.scenario, project) for one in found))
        return (self.drafted(finding, project),)

    def _path(self, scenario: str, project: Project) -> str:
        """Files are named from the project's folder, and read from the one that we stand in."""
        return os.path.relpath(project.root / scenario) if scenario.endswith(".py") else scenario

    def drafted(self, finding: Finding, project: Project) -> str:
        from fullgraph.codemods.ui.making import Sources

        sources, target = Sources(project.root), f"{project.module_name(finding.path)}:{finding.symbol}"
        file = Path(self.folder.name, file_name(target))
        hint = f"`fullgraph scenario new {target}` writes one to be completed"
        try:
            text = new_scenario(sources.target(target), sources.read, file.name, mention=sources.mention)
        except ValidateError as error:
            raise FullgraphError(f"no scenario runs {finding.symbol}, and none can be drafted: {error}") from error
        if "raise NotImplementedError" in text:
            raise FullgraphError(f"no scenario runs {finding.symbol}, and a draft lacks values; {hint}")
        file.write_text(text, encoding="utf-8")
        return str(file)


def outcome(proofs: Proofs, change: Change, project: Project) -> str:
    try:
        return told(proofs(change, project))
    except (ValidateError, FullgraphError) as error:
        return f"undecided: {error}"


def told(verdicts: list[Verdict]) -> str:
    """The verdict of all scenarios, in the words of the one that decided."""
    ruling = combined(verdicts)
    decisive = next(verdict for verdict in verdicts if verdict.ruling is ruling)
    names = ", ".join(Path(verdict.scenario.name).name for verdict in verdicts)
    return f"{ruling.value}: {decisive.sentence} ({names})"
