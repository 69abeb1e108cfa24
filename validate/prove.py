"""The proof: run both sides through the stages, compare what they recorded, measure, and judge."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from validate.comparing import Comparer
from validate.exercised import never_ran
from validate.judge import IDLE, Evidence, compare_speed, judge, tell_difference
from validate.launch import Deadline, Died, Refused, python_of
from validate.model import Break, Declared, Graph, Scenario, Settings, Sides, Sync, ValidateError, Verdict
from validate.pair import COLD_STARTS, SIDES, Pair, Progress
from validate.statistics import joined, ratio_of

SPEED_SECONDS = 12.0
"""How long the blocks of one kind may take, if the time limit allows it."""

THEIR_FAULT = ("scenario", "import", "device", "torch")
"""Refusals that concern the scenario and not the change, when both sides give them."""


def prove(
    scenario: Scenario,
    sides: Sides,
    settings: Settings,
    *,
    declared: Sequence[Declared] = (),
    progress: Progress = lambda stage, detail: None,
    cache: Path | None = None,
) -> Verdict:
    """Run the scenario on both sides and rule on what was seen. Raises ValidateError if neither side can run it."""
    if not sides.paths():
        raise ValidateError("before and after are the same: there is nothing to prove")
    with tempfile.TemporaryDirectory(prefix="fullgraph-proof-", ignore_cleanup_errors=True) as folder:
        proof = Proof(scenario, sides, settings, declared, progress, Path(folder), cache)
        proof.run()
    evidence = proof.evidence
    ruling, reasons = judge(evidence)
    return Verdict(
        ruling,
        reasons,
        evidence.before,
        evidence.after,
        scenario,
        settings,
        differences=tuple(evidence.differences),
        ratios=evidence.ratios,
        notices=tuple(dict.fromkeys(evidence.notices)),
        environment=proof.environment,
    )


T = TypeVar("T")


class Proof:
    """One proof on its way. Every step adds to the evidence; it ends where nothing more can be learnt."""

    def __init__(
        self,
        scenario: Scenario,
        sides: Sides,
        settings: Settings,
        declared: Sequence[Declared],
        progress: Progress,
        folder: Path,
        cache: Path | None,
    ) -> None:
        self.scenario = scenario
        self.sides = sides
        self.settings = settings
        self.declared = declared
        self.progress = progress
        self.folder = folder
        self.cache = cache or folder / "shared"
        self.python = python_of(settings.python, sides.root)
        self.deadline = Deadline(settings.time_limit)
        self.comparing = ExitStack()
        self.comparer: Comparer | None = None
        self.evidence = Evidence()
        self.environment: dict[str, Any] = {}
        self.opened: dict[str, Any] = {}
        self.eager: dict[str, Any] = {}
        self.compiles_itself = False

    def run(self) -> None:
        with self.comparing, self.pair("first") as pair:
            self.environment = self.greet(pair)
            self.open(pair)
            for step in self.steps():
                if self.is_over(pair):
                    break
                step(pair)
            self.take_outcomes(pair)
            if self.is_over(pair):
                return
        self.confirm_speed()

    def steps(self) -> list[Any]:
        """What is done after the scenario was read. A device without values has graphs to count, and nothing else."""
        if self.evidence.is_valueless:
            return [self.count_reads, self.count_graphs]
        if self.scenario.kind == "pytest":
            return [self.compare_eager, self.check_tests, self.count_reads, self.count_graphs, self.measure_speed]
        return [self.compare_eager, self.count_reads, self.count_graphs, self.compare_compiled, self.measure_speed]

    def pair(self, name: str) -> Pair:
        folder = self.folder / name
        folder.mkdir()
        return Pair(
            self.python, self.scenario, self.sides, self.settings, folder, self.progress, deadline=self.deadline
        )

    def is_over(self, pair: Pair) -> bool:
        return not pair.is_whole or bool(self.evidence.differences or self.evidence.doubts)

    # Steps

    def greet(self, pair: Pair) -> dict[str, Any]:
        try:
            return pair.hello()
        except Refused as refused:
            raise ValidateError(refused.text) from refused
        except Died as died:
            raise ValidateError(f"{self.python} does not run: {died.outcome.text}") from died

    def open(self, pair: Pair) -> None:
        """Both sides read the scenario. What both refuse is the scenario's fault, and the end."""
        opened = pair.open(self.cache)
        refusals = list(pair.refusals.values())
        if refusals and refusals[0].kind in (THEIR_FAULT if len(refusals) == 2 else ("device", "torch")):
            raise ValidateError(refusals[0].text)
        for side, told in opened.items():
            self.measured(side, cases=tuple(told["cases"]))
            self.environment.update(told["environment"], compile=told.get("options", {}))
            self.evidence.notices += told["notices"]
            self.opened = told
        self.evidence.is_valueless = bool(self.environment.get("is_fake"))

    def compare_eager(self, pair: Pair) -> None:
        """Plain runs of both sides must be the same, bit for bit unless the scenario says otherwise."""
        self.eager = pair.stage("eager")
        if not self.eager:
            return
        for side, told in self.eager.items():
            self.measured(side, raised=len(told["raised"]), peak_bytes=told["peak_bytes"])
        self.doubt_raising()
        self.doubt_opaque([place for told in self.eager.values() for place in told["opaque"]])
        exact = {"exact": self.opened["exact"]}
        self.compare(pair, ("eager", "before/eager", "after/eager", exact))
        if self.evidence.differences:
            self.check_stable(pair, exact)

    def check_stable(self, pair: Pair, exact: dict[str, Any]) -> None:
        """Run the side before once more: what differs from itself tells nothing about the change."""
        found = self.evidence.differences
        self.evidence.differences = []
        if pair.again("before", self.cache):
            self.compare(pair, ("eager", "before/eager", "again/eager", exact))
        unstable, self.evidence.differences = self.evidence.differences, found
        if {one.path for one in unstable} & {one.path for one in found}:
            self.evidence.differences = []
            self.evidence.doubt(
                "repeatable",
                f"{unstable[0].case}: {unstable[0].path} differs each time that the same code runs: "
                f"{unstable[0].first} / {unstable[0].second}; let the scenario seed it or leave it out",
            )

    def doubt_raising(self) -> None:
        """Code that only ever fails shows nothing of what it does."""
        raised = [told["raised"] for told in self.eager.values()]
        if self.scenario.kind != "pytest" and all(len(names) == len(self.evidence.after.cases) for names in raised):
            why = self.eager["after"]["exceptions"][0].strip().splitlines()[0]
            self.evidence.doubt("cases", f"every case raises, before and after: {why}; give cases that run")

    def doubt_opaque(self, places: list[list[str]]) -> None:
        if places:
            case, path, kind = places[0]
            more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
            self.evidence.doubt(
                "comparable",
                f"{case}: {path} is a {kind}, which cannot be compared{more}; "
                "give the scenario a `state(obj, output)` that returns what counts",
            )

    def check_tests(self, pair: Pair) -> None:
        """A test that fails on both sides tells nothing about the change."""
        failed = self.eager["after"]["raised"] if pair.is_whole else []
        if failed and len(failed) == len(self.evidence.after.cases):
            self.evidence.doubt("tests", f"every test fails, before and after: {self.eager['after']['exceptions'][0]}")
        elif failed:
            self.evidence.notices.append(f"fails before and after: {', '.join(failed[:5])}")

    def count_reads(self, pair: Pair) -> None:
        """Host reads and moves by line; and whether the changed lines ran at all."""
        for side, told in pair.stage("syncs").items():
            self.measured(
                side,
                syncs=self.placed(Sync, told["syncs"]),
                moves=self.placed(Sync, told["moves"]),
            )
            self.environment["syncs"] = told["how"]
            self.take_ran(side, told["ran"])
            self.check_laid(side, told["stale"])
        self.check_exercised()

    def count_graphs(self, pair: Pair) -> None:
        for side, told in pair.stage("graphs").items():
            self.take_graphs(side, told)
            if told.get("compiles_itself"):
                self.compiles_itself = True
                self.evidence.notices.append("the code compiles itself: its own compile options count")

    def compare_compiled(self, pair: Pair) -> None:
        """Compiled code against plain code, and the two compiled sides against each other, within the tolerance."""
        random = {"random_as_in_eager": any(told["random"] for told in self.eager.values())}
        for told in pair.stage("warm_up").values():
            if told["fallback"]:
                self.evidence.notices.append(f"inductor does not work here, aot_eager instead: {told['fallback']}")
        cold = pair.cold_starts(**random) if pair.is_whole else {}
        for side, seconds in cold.items():
            self.measured(side, cold_s=tuple(seconds))
        if cold and len(cold["before"]) == COLD_STARTS:
            self.evidence.ratios["cold start"] = ratio_of(cold["before"], cold["after"])
        for side, told in (compiled := pair.stage("compiled", **random)).items():
            self.note_failures(side, told)
        if compiled:
            self.judge_compiled(pair)

    def note_failures(self, side: str, compiled: dict[str, Any]) -> None:
        """Cases that raise compiled and do not raise otherwise."""
        for case, text in zip(compiled["raised"], compiled["exceptions"], strict=True):
            if case not in self.eager[side]["raised"]:
                self.evidence.compile_failures.setdefault(side, f"{side}, {case}: {text.strip().splitlines()[0]}")

    def judge_compiled(self, pair: Pair) -> None:
        failed = self.evidence.compile_failures
        if len(failed) == 2:
            self.evidence.doubt("compiles", f"neither side compiles: {failed['after']}; --backend eager asks less")
            return
        well = [side for side in SIDES if side not in failed]
        wanted = [(side, f"{side}/eager", f"{side}/compiled", {"exact": False}) for side in well]
        if not failed:
            wanted.append(("compiled", "before/compiled", "after/compiled", {"exact": False}))
        self.compare(pair, *wanted)

    def compare(self, pair: Pair, *wanted: tuple[str, str, str, dict[str, Any]]) -> None:
        """Let records be compared. What compiling changes without the rewrite, too, is told but no difference."""
        tolerance = {"rtol": self.opened["rtol"], "atol": self.opened["atol"]}
        self.progress("compare", " and ".join(between for between, *_ in wanted))
        comparer = self.comparer_for(pair)
        requests = [comparer.pair_of(*names, **{**tolerance, **given}) for *names, given in wanted]
        found = comparer.compare(requests, pair.deadline.left)
        by_name = {between: compared for (between, *_), compared in zip(wanted, found, strict=True)}
        inborn = by_name.pop("before").differences if "before" in by_name else ()
        if inborn:
            by_name.pop("after", None)
            self.evidence.notices.append(f"also without the rewrite: {tell_difference(inborn[0])}")
        for compared in by_name.values():
            self.evidence.differences += compared.differences
            self.evidence.notices += [f"allowed to change: {text}" for text in compared.declared_seen]

    def comparer_for(self, pair: Pair) -> Comparer:
        """The process that compares: started when there is something to compare, and gone before times are taken."""
        if self.comparer is None:
            comparer = Comparer(self.python, self.sides.root, pair.scratch, self.declared, self.settings.signed_zero)
            self.comparer = self.comparing.enter_context(comparer)
        return self.comparer

    def measure_speed(self, pair: Pair) -> None:
        self.comparing.close()
        if self.environment.get("is_untimed"):
            return
        kinds = ["eager"] if self.scenario.kind == "pytest" or self.evidence.compile_failures else ["eager", "compiled"]
        for kind in kinds:
            if pair.is_whole:
                self.time(pair, kind)

    def time(self, pair: Pair, kind: str) -> None:
        """Blocks of both sides in turns. A second measurement of the same kind joins the first."""
        raised = sorted({case for told in self.eager.values() for case in told["raised"]})
        changes = any(told["mutated"] for told in self.eager.values())
        taken = pair.blocks(
            kind, SPEED_SECONDS, leave_out=raised, fresh_arguments=changes, compiles_itself=self.compiles_itself
        )
        if not taken:
            return
        for side in SIDES:
            measured = getattr(self.evidence, side)
            self.measured(side, **{f"{kind}_s": (*getattr(measured, f"{kind}_s"), *taken[side])})
        ratio = ratio_of(taken["before"], taken["after"])
        earlier = self.evidence.ratios.get(kind)
        self.evidence.ratios[kind] = joined([earlier, ratio]) if earlier else ratio

    def confirm_speed(self) -> None:
        """A ratio that would be named must hold again in fresh processes: two runs of the same code can differ too."""
        ratios = self.evidence.ratios
        named = [k for k in ("eager", "compiled") if k in ratios and compare_speed(k, k, ratios[k]).tendency != "same"]
        if not named:
            return
        with self.pair("second") as pair:
            self.greet(pair)
            pair.open(self.cache)
            if "compiled" in named:
                pair.stage("warm_up")
            for kind in named:
                if pair.is_whole:
                    self.time(pair, kind)
        if not pair.is_whole:
            for kind in named:
                del ratios[kind]
            self.evidence.notices.append("the times could not be measured again in fresh processes, and are left out")

    # Evidence

    def measured(self, side: str, **values: Any) -> None:
        setattr(self.evidence, side, replace(getattr(self.evidence, side), **values))

    def take_outcomes(self, pair: Pair) -> None:
        for side, outcome in pair.outcomes.items():
            self.measured(side, outcome=outcome)
        if pair.late:
            self.evidence.doubt(
                "time",
                f"the time limit of {self.settings.time_limit:.0f} s was over in the stage {pair.late}; "
                "--time-limit gives more, --repeat 12 takes fewer blocks",
            )
        self.evidence.notices += [f"not measured: {gap}" for gap in pair.gaps]

    def take_graphs(self, side: str, told: dict[str, Any]) -> None:
        self.measured(
            side,
            graphs=self.placed(Graph, told["graphs"]),
            breaks=self.placed(Break, told["breaks"]),
            fullgraph=told["fullgraph"],
            fullgraph_reason=told["fullgraph_reason"].replace(f"{self.sides.root.resolve()}/", ""),
        )

    def take_ran(self, side: str, ran: dict[str, list[int]]) -> None:
        self.measured(side, ran={self.relative(path): tuple(lines) for path, lines in ran.items()})

    def placed(self, kind: type[T], told: list[dict[str, Any]]) -> tuple[T, ...]:
        """What was counted, by paths below the root."""
        return tuple(kind(**{**one, "file": self.relative(one["file"])}) for one in told)

    def relative(self, path: str) -> str:
        root = self.sides.root.resolve()
        real = Path(path).resolve()
        return real.relative_to(root).as_posix() if real.is_relative_to(root) else path

    def check_laid(self, side: str, stale: list[str]) -> None:
        """What reads a changed file from the disk runs the wrong code on one of the sides."""
        if stale:
            named = ", ".join(self.relative(path) for path in stale[:5])
            self.evidence.doubt(
                "overlay",
                f"{side}: {named} ran as on the disk and not as on this side: it was read as a file, not imported; "
                "let the scenario import it",
            )

    def check_exercised(self) -> None:
        """Lines that never ran prove nothing: of all changed places it is a doubt, of some a notice."""
        idle, places = never_ran(self.sides, {side: getattr(self.evidence, side).ran for side in SIDES})
        if not idle or self.evidence.after.syncs is None:
            return
        named = ", ".join(f"{place.path}:{place.first} ({place.side})" for place in idle[:5])
        if len(idle) == places:
            self.evidence.doubt(IDLE, f"the scenario never runs what was changed: {named}")
        else:
            self.evidence.notices.append(f"{len(idle)} of {places} changed places never ran: {named}")
