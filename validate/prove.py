"""The proof: run both sides through the stages, compare what they recorded, measure, and judge."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fullgraph.validate import doubts
from fullgraph.validate.comparing import Compared, Comparer
from fullgraph.validate.confirm import Confirmation
from fullgraph.validate.exercised import Trace, exercise
from fullgraph.validate.judge import Evidence, judge, tell_difference
from fullgraph.validate.launch import Deadline, Died, Refused, python_of
from fullgraph.validate.model import Break, Declared, Graph, Scenario, Settings, Sides, Sync, ValidateError, Verdict
from fullgraph.validate.pair import COLD_STARTS, SIDES, Pair, Progress
from fullgraph.validate.same_program import is_same_program
from fullgraph.validate.speed import Stopwatch
from fullgraph.validate.statistics import ratio_of
from fullgraph.validate.worker.process.guard import PREFIX

THEIR_FAULT = ("scenario", "import", "device", "torch")
"""Refusals that concern the scenario and not the change, when both sides give them."""

ONE_ORDER = "what the code does depends on the order of sets, or differs each time: both sides ran with one hash seed"
Wanted = tuple[str, str, str, dict[str, Any]]
"""A comparison: between what, two records, and how."""


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
    changed = without_scenario(sides, scenario)
    if not changed.paths():
        raise ValidateError("before and after are the same: there is nothing to prove")
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        proof = Proof(scenario, changed, settings, declared, progress, Path(folder), cache)
        if len(changed.paths()) < len(sides.paths()):
            proof.evidence.notices.append("the scenario was changed, too: both sides run it as it is on the disk")
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
        changed=tuple(evidence.changed),
    )


def without_scenario(sides: Sides, scenario: Scenario) -> Sides:
    """A scenario that was changed too is on both sides as it is on the disk: else they could not be compared."""
    own = Path(scenario.target.partition("::")[0]).resolve()
    before, after = (
        {path: data for path, data in side.items() if (sides.root / path).resolve() != own}
        for side in (sides.before, sides.after)
    )
    return Sides(sides.root, before, after)


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
        self.is_isolating = any(one.kind == "uncompiled" for one in declared)
        self.evidence = Evidence(is_untimed=settings.untimed, is_isolating=self.is_isolating)
        if is_same_program(sides):
            self.evidence.is_untimed = True
            self.evidence.unconfirmed.add("memory")
            self.evidence.notices.append("both sides are the same program: nothing can be faster, no times were taken")
        self.environment: dict[str, Any] = {}
        self.opened: dict[str, Any] = {}
        self.eager: dict[str, Any] = {}
        self.compiles_itself = False
        self.traces: dict[str, dict[str, Trace]] = {}
        self.is_unsteady = False
        """Whether the version before differs from itself when sets have another order."""

        self.names = {(sides.root / path).resolve(): path for path in sides.paths()}

    @property
    def is_pytest(self) -> bool:
        return self.scenario.kind == "pytest"

    @property
    def is_compiled(self) -> bool:
        """Whether the scenario's code is ever compiled; a training loop is not."""
        return bool(self.opened.get("compiled", True))

    def run(self) -> None:
        notices = list(self.evidence.notices)
        self.run_pair("first", varied=True)
        if self.is_unsteady:
            self.evidence = Evidence(
                is_untimed=self.settings.untimed, is_isolating=self.is_isolating, notices=[*notices, ONE_ORDER]
            )
            self.comparing, self.comparer, self.is_unsteady = ExitStack(), None, False
            self.run_pair("same order", varied=False)

    def run_pair(self, name: str, *, varied: bool) -> None:
        with self.comparing, self.pair(name, varied=varied) as pair:
            self.environment = self.greet(pair)
            self.open(pair)
            for step in self.steps():
                if self.is_over(pair):
                    break
                step(pair)
            self.take_outcomes(pair)
            if self.is_over(pair):
                return
        if not self.evidence.is_valueless:
            Confirmation(self.evidence, self.stopwatch(), self.fresh_pair).run()

    def steps(self) -> list[Any]:
        """What is done after the scenario was read. A device without values has graphs to count, and nothing else."""
        if self.evidence.is_valueless:
            return [self.count_reads, self.count_graphs]
        if self.is_pytest:
            return [self.compare_eager, self.count_reads, self.count_graphs, self.measure_speed]
        if not self.is_compiled:
            return [self.compare_eager, self.count_reads, self.measure_speed]
        return [self.compare_eager, self.count_reads, self.count_graphs, self.compare_compiled, self.measure_speed]

    def pair(self, name: str, seed: int = 0, *, varied: bool = False) -> Pair:
        folder = self.folder / name
        folder.mkdir()
        given = self.python, self.scenario, self.sides, self.settings, folder, self.progress
        return Pair(*given, deadline=self.deadline, seed=seed, varied=varied)

    @contextmanager
    def fresh_pair(self, number: int) -> Iterator[Pair]:
        """Two processes that have read the scenario."""
        with self.pair(f"fresh {number}", seed=number) as pair:
            self.greet(pair)
            pair.open(self.cache)
            yield pair

    def is_over(self, pair: Pair) -> bool:
        return not pair.is_whole or self.is_unsteady or bool(self.evidence.differences or self.evidence.doubts)

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
        if not self.is_compiled:
            self.evidence.notices.append("not compiled: the scenario says that this code never is")
        if self.settings.untimed:
            self.evidence.notices.append("no times were taken: --untimed")
        self.evidence.is_valueless = bool(self.environment.get("is_fake"))

    def compare_eager(self, pair: Pair) -> None:
        """Plain runs of both sides must be the same, bit for bit unless the scenario says otherwise."""
        self.eager = pair.stage("eager")
        if not self.eager:
            return
        for side, told in self.eager.items():
            self.measured(side, raised=len(told["raised"]), peak_bytes=told["peak_bytes"])
        doubts.doubt_opaque(self.evidence, self.eager)
        exact = {"exact": self.opened["exact"]}
        compared = self.compare(pair, ("eager", "before/eager", "after/eager", exact))
        self.take_differences(compared)
        doubts.doubt_places(self.evidence, [place for one in compared for place in one.uncompared])
        own = ("eager", "before/eager", "again/eager", exact)
        if not self.evidence.differences and any(told["wrote"] for told in self.eager.values()):
            own = self.compare_contents(pair)
        if self.evidence.differences and pair.again(self.cache, eager={}):
            self.settle(pair, own)
        if not self.is_over(pair):
            (doubts.doubt_tests if self.is_pytest else doubts.doubt_raising)(self.evidence, self.eager)
            doubts.doubt_empty(self.evidence, self.eager)

    def compare_contents(self, pair: Pair) -> Wanted:
        """What is in the files that were written: both sides write the same ones, so they run in turns."""
        contents = {"exact": True, "channels": ["contents", "contents_masked"]}
        if all(pair.one(side, "eager", name="contents") for side in SIDES):
            self.take_differences(self.compare(pair, ("eager", "before/contents", "after/contents", contents)))
        return "eager", "before/contents", "again/eager", contents

    def settle(self, pair: Pair, own: Wanted) -> None:
        """Only what the version before does twice alike tells something. Sets may have been in another order."""
        unstable = self.compare(pair, own)[0].differences
        if pair.is_varied and unstable and doubts.is_all_unstable(self.evidence, unstable):
            self.is_unsteady = True
        else:
            doubts.doubt_unstable(self.evidence, unstable)

    def count_reads(self, pair: Pair) -> None:
        """Host reads and moves by line; and whether the changed lines ran at all."""
        counted = pair.stage("syncs")
        for side, told in counted.items():
            syncs, moves = self.placed(Sync, told["syncs"]), self.placed(Sync, told["moves"])
            ran = {self.relative(path): tuple(lines) for path, lines in told["ran"].items()}
            self.measured(side, syncs=syncs, moves=moves, ran=ran, operations=told["operations"])
            self.traces[side] = self.traces_of(side, told)
            self.environment["syncs"] = told["how"]
            doubts.doubt_stale(self.evidence, side, [self.relative(path) for path in told["stale"]])
        if counted:
            tested = [one.pattern for one in self.declared if one.kind == "tested"]
            self.evidence.changed = exercise(self.sides, self.traces, tested)
            doubts.doubt_idle(self.evidence)
        elif pair.is_whole:
            self.evidence.doubt("lines", f"whether the changed lines run is not known: {pair.gaps[-1]}")

    def traces_of(self, side: str, told: dict[str, Any]) -> dict[str, Trace]:
        """What ran of each file. A wait that was counted is one that was performed."""
        performed = [(self.relative(path), line, name) for path, line, name in told["performed"]]
        performed += [(one.file, one.line, one.call) for one in getattr(self.evidence, side).syncs]
        return {
            self.relative(path): Trace(
                frozenset(lines),
                frozenset(map(tuple, told["steps"].get(path, ()))),
                None if told["spots"] is None else frozenset(map(tuple, told["spots"].get(path, ()))),
                frozenset((line, name) for file, line, name in performed if file == self.relative(path)),
                bool(self.environment.get("is_accelerator")),
            )
            for path, lines in told["ran"].items()
        }

    def count_graphs(self, pair: Pair) -> None:
        for side, told in pair.stage("graphs").items():
            self.measured(
                side,
                graphs=self.placed(Graph, told["graphs"]),
                breaks=self.placed(Break, told["breaks"]),
                fullgraph=told["fullgraph"],
                fullgraph_reason=told["fullgraph_reason"].replace(f"{self.sides.root.resolve()}/", ""),
                compiles_itself=told.get("compiles_itself"),
            )
            if told.get("compiles_itself"):
                self.compiles_itself = True
                self.evidence.notices.append("the code compiles itself: its own compile options count")

    def compare_compiled(self, pair: Pair) -> None:
        """Compiled code against plain code, and the two compiled sides against each other, within the tolerance."""
        random = {"random_as_in_eager": any(told["random"] for told in self.eager.values())}
        for told in pair.stage("warm_up").values():
            if told["fallback"]:
                self.evidence.notices.append(f"inductor does not work here, aot_eager instead: {told['fallback']}")
        cold = {} if self.evidence.is_untimed or not pair.is_whole else pair.cold_starts(**random)
        for side, seconds in cold.items():
            self.measured(side, cold_s=tuple(seconds))
        if cold and len(cold["before"]) == COLD_STARTS:
            self.evidence.ratios["cold start"] = ratio_of(cold["before"], cold["after"])
        for side, told in (compiled := pair.stage("compiled", **random)).items():
            self.note_failures(side, told)
        if compiled:
            self.judge_compiled(pair, random)

    def note_failures(self, side: str, compiled: dict[str, Any]) -> None:
        """Cases that raise compiled and do not raise otherwise."""
        for case, text in zip(compiled["raised"], compiled["exceptions"], strict=True):
            if case not in self.eager[side]["raised"]:
                self.evidence.compile_failures.setdefault(side, f"{side}, {case}: {text.strip().splitlines()[0]}")

    def judge_compiled(self, pair: Pair, random: dict[str, Any]) -> None:
        """What compiling changes without the rewrite, too, is told but no difference."""
        failed = self.evidence.compile_failures
        if len(failed) == 2:
            return doubts.doubt_compiling(self.evidence, self.environment["compile"])
        close: dict[str, Any] = {"exact": False}
        wanted: list[Wanted] = [
            (side, f"{side}/eager", f"{side}/compiled", close) for side in SIDES if side not in failed
        ]
        if not failed:
            wanted.append(("compiled", "before/compiled", "after/compiled", close))
        elif "before" in failed:
            wanted.append(("hushed", "after/eager", "after/compiled", close))
        inputs: Wanted = ("after", "after/eager", "after/compiled", {"exact": True, "channels": ["inputs"]})
        drifted, *found = self.compare(pair, inputs, *wanted)
        doubts.doubt_inputs(self.evidence, drifted.differences)
        by_name = {between: compared for (between, *_), compared in zip(wanted, found, strict=True)}
        if "before" in by_name and (inborn := by_name.pop("before").differences):
            by_name.pop("after", None)
            self.evidence.notices.append(f"also without the rewrite: {tell_difference(inborn[0])}")
        self.take_differences(list(by_name.values()))
        compiled = {**random, "compiles_itself": self.compiles_itself}
        if self.evidence.differences and pair.again(self.cache, warm_up={}, compiled=compiled):
            return self.settle(pair, ("compiled", "before/compiled", "again/compiled", close))
        return None

    def compare(self, pair: Pair, *wanted: Wanted) -> list[Compared]:
        """Let records be compared, by a process that is started for it and gone before times are taken."""
        tolerance = {"rtol": self.opened["rtol"], "atol": self.opened["atol"]}
        self.progress("compare", " and ".join(dict.fromkeys(between for between, *_ in wanted)))
        if self.comparer is None:
            comparer = Comparer(self.python, pair, self.declared, self.settings.signed_zero)
            self.comparer = self.comparing.enter_context(comparer)
        requests = [self.comparer.pair_of(*names, **{**tolerance, **given}) for *names, given in wanted]
        return self.comparer.compare(requests, self.deadline.left)

    def measure_speed(self, pair: Pair) -> None:
        self.comparing.close()
        if self.evidence.is_untimed or self.environment.get("is_untimed"):
            return
        stopwatch = self.stopwatch()
        is_plain = self.is_pytest or not self.is_compiled or self.evidence.compile_failures
        for kind in ["eager"] if is_plain else ["eager", "compiled"]:
            if pair.is_whole:
                stopwatch.time(pair, kind)

    def stopwatch(self) -> Stopwatch:
        given = {
            "leave_out": sorted({case for told in self.eager.values() for case in told["raised"]}),
            "fresh_arguments": any(told["mutated"] for told in self.eager.values()),
            "compiles_itself": self.compiles_itself,
        }
        return Stopwatch(self.evidence, given)

    # Evidence

    def measured(self, side: str, **values: Any) -> None:
        setattr(self.evidence, side, replace(getattr(self.evidence, side), **values))

    def take_differences(self, found: Sequence[Compared]) -> None:
        for compared in found:
            self.evidence.differences += compared.differences
            self.evidence.notices += [f"allowed to change: {text}" for text in compared.declared_seen]

    def take_outcomes(self, pair: Pair) -> None:
        for side, outcome in pair.outcomes.items():
            self.measured(side, outcome=outcome)
        doubts.doubt_late(self.evidence, pair.late, self.settings.time_limit)
        self.evidence.notices += [f"not measured: {gap}" for gap in pair.gaps]

    def placed(self, kind: type[T], told: list[dict[str, Any]]) -> tuple[T, ...]:
        """What was counted, by paths below the root."""
        return tuple(kind(**{**one, "file": self.relative(one["file"])}) for one in told)

    def relative(self, path: str) -> str:
        root = self.sides.root.resolve()
        real = Path(path).resolve()
        return self.names.get(real) or (real.relative_to(root).as_posix() if real.is_relative_to(root) else path)
