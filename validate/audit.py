"""The audit: run a scenario by the rule of CUDA graphs, and tell which outputs outlive their step."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fullgraph.validate.audit_model import Audit, Conclusion, Hazard, Place, RealError
from fullgraph.validate.launch import Deadline, Died, Refused, Worker, python_of
from fullgraph.validate.model import Outcome, Scenario, Settings, ValidateError
from fullgraph.validate.pair import Progress
from fullgraph.validate.prove import THEIR_FAULT
from fullgraph.validate.worker.process.guard import PREFIX

VALUELESS = "fake-cuda"
PLACE = ("made", "kept", "overwritten", "used", "mark")
PLACES = ("through", "callers", "mark_callers")
"""Fields of what a worker tells that are a line, or lines."""


def audit(
    scenario: Scenario,
    root: Path,
    settings: Settings,
    *,
    everything: bool = False,
    progress: Progress = lambda stage, detail: None,
) -> Audit:
    """Run the scenario in a process of its own. Raises ValidateError if it cannot be run at all."""
    if settings.device == VALUELESS:
        raise ValidateError(f"{VALUELESS} has no values that could be overwritten; --device cpu keeps the same rule")
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        return Auditing(scenario, root, settings, everything, progress, Path(folder)).run()


class Auditing:
    """One audit on its way."""

    def __init__(
        self, scenario: Scenario, root: Path, settings: Settings, everything: bool, progress: Progress, folder: Path
    ) -> None:
        self.scenario = scenario
        self.root = root
        self.settings = settings
        self.everything = everything
        self.progress = progress
        self.folder = folder
        self.deadline = Deadline(settings.time_limit)
        self.opened: dict[str, Any] = {}
        self.greeted: dict[str, Any] = {}
        self.notices: list[str] = []

    def run(self) -> Audit:
        try:
            seen = self.ask_worker()
            errors = self.ask_cuda(seen)
        except Died as died:
            return self.undecided(died.outcome)
        except Refused as refused:
            if refused.kind in THEIR_FAULT:
                raise ValidateError(refused.text) from refused
            return self.undecided(refused.outcome)
        return self.conclude(seen, errors)

    def ask_worker(self) -> dict[str, Any]:
        with self.worker("audit") as worker:
            worker.ask("expect_audit", limit=self.deadline.left, everything=self.everything)
            self.open(worker)
            self.progress("audit", self.scenario.name)
            seen = dict(worker.ask("audit", limit=self.deadline.left))
            return {**seen, "hazards": self.ask_lines(worker, seen["hazards"])} if seen["hazards"] else seen

    def ask_lines(self, worker: Worker, hazards: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The hazards with the lines that kept them; without, if there is no time to run the scenario again."""
        self.progress("lines", self.scenario.name)
        try:
            return list(worker.ask("find_lines", limit=self.deadline.left))
        except (Died, Refused) as error:
            self.notices.append(f"the lines that kept the outputs were not found: {error.outcome.text}")
            return hazards

    def ask_cuda(self, seen: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The errors of real CUDA graphs, where there are any and the scenario's cases can be run one by one."""
        if not str(self.opened["environment"].get("device", "")).startswith("cuda"):
            return []
        if self.scenario.kind == "pytest":
            self.notices.append("what CUDA graphs themselves raise is collected of scenarios, not of tests")
            return []
        with self.worker("cuda") as worker:
            self.open(worker)
            self.progress("cuda", self.scenario.name)
            return list(
                worker.ask("collect_errors", limit=self.deadline.left, compiles_itself=not seen["compiled_here"])
            )

    def worker(self, name: str) -> Worker:
        self.progress("start", self.scenario.name)
        return Worker(python_of(self.settings.python, self.root), name, self.root, self.folder)

    def open(self, worker: Worker) -> None:
        self.greeted = worker.ask("hello", limit=self.deadline.left)
        self.opened = worker.ask(
            "open",
            limit=self.deadline.left,
            scenario=asdict(self.scenario),
            files={},
            watched=[],
            settings={**asdict(self.settings), "roots": [str(self.root)]},
            scratch=str(worker.scratch),
            shared_cache=str(self.folder / "shared"),
        )

    def conclude(self, seen: Mapping[str, Any], errors: list[dict[str, Any]]) -> Audit:
        hazards = tuple(self.hazard(one) for one in seen["hazards"])
        real = tuple(RealError(**{**one, **self.places(one)}) for one in errors)
        conclusion, reason = judge(seen, hazards, real)
        self.notices += limits_of(seen)
        raised = [f"{name} raised {text.strip().splitlines()[0]}" for name, text in seen["raised"]]
        return Audit(
            conclusion,
            reason,
            self.scenario,
            self.settings,
            self.everything,
            hazards,
            real,
            compiled_calls=seen["compiled_calls"],
            graph_runs=seen["graph_runs"],
            generations=seen["generations"],
            notices=tuple(dict.fromkeys([*self.opened.get("notices", ()), *self.notices, *raised])),
            environment={**self.greeted, **self.opened["environment"]},
        )

    def hazard(self, told: Mapping[str, Any]) -> Hazard:
        return Hazard(**{**told, **self.places(told)})

    def places(self, told: Mapping[str, Any]) -> dict[str, Any]:
        one = {name: self.place(told[name]) for name in PLACE if name in told}
        many = {name: tuple(map(self.place, told[name])) for name in PLACES if name in told}
        return {**one, **many}

    def place(self, told: Mapping[str, Any] | None) -> Place | None:
        if not told:
            return None
        path = Path(told["file"])
        inside = path.is_relative_to(self.root)
        return Place(str(path.relative_to(self.root)) if inside else told["file"], told["line"], told["function"])

    def undecided(self, outcome: Outcome) -> Audit:
        environment = {**self.greeted, **self.opened.get("environment", {})}
        reason = f"it could not be run: {outcome.kind} in the stage {outcome.stage}"
        return Audit(
            Conclusion.UNDECIDED,
            reason,
            self.scenario,
            self.settings,
            self.everything,
            outcome=outcome,
            environment=environment,
        )


def judge(
    seen: Mapping[str, Any], hazards: tuple[Hazard, ...], errors: tuple[RealError, ...]
) -> tuple[Conclusion, str]:
    """What follows, and why. "Clean" is said only of a program in which something could have been overwritten."""
    if hazards or errors:
        used = sum(hazard.is_used for hazard in hazards)
        raised = f"; CUDA graphs raised {count(len(errors), 'error')}" if errors else ""
        return Conclusion.HAZARDS, f"{count(len(hazards), 'hazard')}, {used} used after the step{raised}"
    if seen["raised"]:
        return Conclusion.UNDECIDED, f"{count(len(seen['raised']), 'case')} raised: what comes after that was not seen"
    if not seen["graph_runs"]:
        why = "no compiled call uses CUDA graphs; --all audits every compiled call"
        return Conclusion.UNDECIDED, why if seen["compiled_calls"] else "nothing was compiled"
    if seen["generations"] < 2:
        return Conclusion.UNDECIDED, "no second step began, so that nothing could be overwritten"
    return Conclusion.CLEAN, f"{count(seen['graph_runs'], 'graph run')} in {seen['generations']} steps, none held"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def limits_of(seen: Mapping[str, Any]) -> list[str]:
    """What was compiled and yet not audited."""
    told = []
    if seen["compiled_here"]:
        told.append("the program compiled nothing itself: the scenario's function was compiled as a whole")
    if seen["skipped"]:
        told.append(f"{count(seen['skipped'], 'graph run')} changed inputs in place: CUDA graphs leave such runs out")
    if seen["passed_over"]:
        told.append(
            f"{count(seen['passed_over'], 'output')} looked as very many did before and were not searched for holders: "
            "hazards may be told less often than they happen"
        )
    if seen["idle"] and seen["graph_runs"]:
        told.append(
            f"{seen['idle']} of {count(seen['compiled_calls'], 'compiled call')} ran no graph with CUDA graphs: "
            "they are compiled without (--all), or torch gave up compiling them"
        )
    return told
