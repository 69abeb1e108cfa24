"""What a proof makes of the answers of its two sides; no process is started."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.comparing import Compared
from fullgraph.validate.judge import judge
from fullgraph.validate.launch import Refused
from fullgraph.validate.model import Difference, Outcome, Ruling, Scenario, Settings, Sides, ValidateError
from fullgraph.validate.pair import COLD_STARTS
from fullgraph.validate.prove import Proof, without_scenario

TEXT = "def f(x):\n    return x\n"


class Answering:
    """A pair that answers each stage as it is told, and keeps what it was asked."""

    def __init__(self, **stages: Any) -> None:
        self.stages = stages
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.refusals: dict[str, Refused] = stages.pop("refusals", {})
        self.is_whole = True
        self.late = ""
        self.outcomes: dict[str, Any] = {}
        self.gaps: list[str] = ["syncs, after: ValueError: no"]
        self.scratch = Path("/s")

    def stage(self, name: str, **given: Any) -> Any:
        self.asked.append((name, given))
        return self.stages.get(name, {})

    def open(self, cache: Path) -> Any:
        return self.stages["open"]

    is_varied = False

    def again(self, cache: Path, **stages: Any) -> bool:
        self.asked.append(("again", stages))
        return bool(self.stages.get("again", True))

    def cold_starts(self, **given: Any) -> Any:
        self.asked.append(("cold", given))
        return self.stages.get("cold", {})

    def blocks(self, kind: str, seconds: float, **given: Any) -> Any:
        self.asked.append((kind, given))
        return {"before": [1.0] * 30, "after": [1.0] * 30}


class Compares(Proof):
    """A proof whose records differ as it is told: by the two that are compared."""

    differ: dict[str, list[Difference]]
    compared: list[Any]

    def compare(self, pair: Any, *wanted: Any) -> list[Compared]:
        self.compared += wanted
        return [Compared(tuple(self.differ.get(f"{first} {second}", ())), ()) for _, first, second, _ in wanted]


def proof_of(kind: str = "file", root: Path = Path("/p"), **settings: Any) -> Compares:
    sides = Sides(root, {"m.py": TEXT.encode()}, {"m.py": TEXT.replace("return x", "return -x").encode()})
    given = Settings(python=sys.executable, **settings)
    proof = Compares(Scenario(kind, "s", "/p/s.py"), sides, given, (), lambda *_: None, Path("/s"), None)
    proof.differ, proof.compared = {}, []
    proof.opened = {"exact": True, "rtol": None, "atol": None}
    proof.environment = {"compile": {"backend": "inductor"}}
    for side in ("before", "after"):
        proof.measured(side, cases=("case 1", "case 2"))
    return proof


def both(told: Any) -> dict[str, Any]:
    return {"before": told, "after": told}


def eager(**more: Any) -> dict[str, Any]:
    plain = {"raised": [], "exceptions": [], "opaque": [], "mutated": False, "random": False, "peak_bytes": 1}
    told = {"unseen": [], "wrote": False, "empty": False, "silent": False, "constant": False}
    return {**plain, **told, "skipped": [], **more}


def differs(between: str, path: str = "output") -> list[Difference]:
    return [Difference(between, "case 1", path, "value", "1", "2")]


def paths(found: Sequence[Difference]) -> list[tuple[str, str]]:
    return [(one.between, one.path) for one in found]


# What is changed


def test_a_scenario_that_was_changed_too_is_on_neither_side(tmp_path: Path) -> None:
    before, after = {"m.py": b"1", "test_m.py": b"1"}, {"m.py": b"2", "test_m.py": b"2"}
    sides = Sides(tmp_path, before, after)
    for target in (str(tmp_path / "test_m.py"), f"{tmp_path / 'test_m.py'}::test_a"):
        assert without_scenario(sides, Scenario("pytest", "s", target)).paths() == ["m.py"]
    assert without_scenario(sides, Scenario("pytest", "s", str(tmp_path / "m.py"))).paths() == ["test_m.py"]


def test_paths_are_told_below_the_root_where_they_lie_there(tmp_path: Path) -> None:
    proof = proof_of(root=tmp_path)
    assert proof.relative(str(tmp_path / "pkg" / "a.py")) == "pkg/a.py"
    assert proof.relative("/elsewhere/a.py") == "/elsewhere/a.py"


# The scenario is read


def opened(**more: Any) -> dict[str, Any]:
    plain = {"cases": ["case 1"], "environment": {}, "options": {}, "notices": ["n"], "exact": True}
    return {**plain, **more}


@pytest.mark.parametrize("kind", ["scenario", "import", "device", "torch"])
def test_what_both_sides_refuse_for_the_scenario_is_one_message(kind: str) -> None:
    refusals = both(Refused(kind, "no such function", "open"))
    with pytest.raises(ValidateError, match="no such function"):
        proof_of().open(Answering(open={}, refusals=refusals))  # type: ignore[arg-type]


def test_what_one_side_refuses_is_a_difference_unless_it_is_the_device_or_torch() -> None:
    for kind in ("scenario", "import"):
        pair: Any = Answering(open={"before": opened()}, refusals={"after": Refused(kind, "no", "open")})
        proof_of().open(pair)
    for kind in ("device", "torch"):
        pair = Answering(open={"before": opened()}, refusals={"after": Refused(kind, "no cuda", "open")})
        with pytest.raises(ValidateError, match="no cuda"):
            proof_of().open(pair)


def test_what_was_left_out_is_a_notice() -> None:
    proof = proof_of(untimed=True)
    proof.open(Answering(open=both(opened(compiled=False, notices=[]))))  # type: ignore[arg-type]
    assert proof.evidence.notices == [
        "not compiled: the scenario says that this code never is",
        "no times were taken: --untimed",
    ]
    proof = proof_of()
    proof.open(Answering(open=both(opened(notices=[]))))  # type: ignore[arg-type]
    assert (proof.evidence.notices, proof.evidence.is_valueless) == ([], False)


def test_what_the_sides_run_on_is_told_with_the_compile_options() -> None:
    proof = proof_of()
    told = opened(environment={"device": "cpu", "is_fake": True}, options={"backend": "eager"})
    proof.open(Answering(open=both(told)))  # type: ignore[arg-type]
    assert proof.environment == {"device": "cpu", "is_fake": True, "compile": {"backend": "eager"}}
    assert (proof.evidence.is_valueless, proof.evidence.after.cases) == (True, ("case 1",))


def test_the_steps_are_those_that_the_scenario_allows() -> None:
    def steps(proof: Proof) -> list[str]:
        return [step.__name__ for step in proof.steps()]

    plain, test, loop, fake = proof_of(), proof_of("pytest"), proof_of(), proof_of()
    loop.opened, fake.evidence.is_valueless = {"compiled": False}, True
    whole = ["compare_eager", "count_reads", "count_graphs", "compare_compiled", "measure_speed"]
    assert steps(plain) == whole
    assert steps(test) == [name for name in whole if name != "compare_compiled"]
    assert steps(loop) == ["compare_eager", "count_reads", "measure_speed"]
    assert steps(fake) == ["count_reads", "count_graphs"]


# Plain runs


def test_a_difference_is_held_against_a_second_run_of_the_same_code() -> None:
    proof, pair = proof_of(), Answering(eager=both(eager()))
    proof.differ = {
        "before/eager after/eager": differs("eager"),
        "before/eager again/eager": differs("eager", "stdout[0]"),
    }
    proof.compare_eager(pair)  # type: ignore[arg-type]
    assert ("again", {"eager": {}}) in pair.asked
    assert paths(proof.evidence.differences) == [("eager", "output")]


def test_code_that_differs_from_itself_decides_nothing() -> None:
    proof = proof_of()
    proof.differ = {f"before/eager {other}/eager": differs("eager") for other in ("after", "again")}
    proof.compare_eager(Answering(eager=both(eager())))  # type: ignore[arg-type]
    assert judge(proof.evidence)[0] is Ruling.UNDECIDED


def test_a_difference_stays_one_if_a_second_run_is_not_to_be_had() -> None:
    proof = proof_of()
    proof.differ = {"before/eager after/eager": differs("eager")}
    proof.compare_eager(Answering(eager=both(eager()), again=False))  # type: ignore[arg-type]
    assert judge(proof.evidence)[0] is Ruling.DIFFERENT


def test_plain_runs_are_held_to_what_the_scenario_says() -> None:
    for exact in (True, False):
        proof = proof_of()
        proof.opened["exact"] = exact
        proof.compare_eager(Answering(eager=both(eager())))  # type: ignore[arg-type]
        assert [given for *_, given in proof.compared] == [{"exact": exact}]


@pytest.mark.parametrize(("kind", "name"), [("file", "cases"), ("pytest", "tests")])
def test_code_that_never_comes_to_its_end_decides_nothing(kind: str, name: str) -> None:
    proof = proof_of(kind)
    failed = eager(raised=["case 1", "case 2"], exceptions=["ValueError no", "ValueError no"])
    proof.compare_eager(Answering(eager=both(failed)))  # type: ignore[arg-type]
    assert [one.name for one in proof.evidence.doubts] == [name]
    assert proof.evidence.after.raised == 2


def test_a_difference_is_told_and_not_that_every_case_raises() -> None:
    proof = proof_of()
    proof.differ = {"before/eager after/eager": differs("eager", "exception")}
    failed = eager(raised=["case 1", "case 2"], exceptions=["ValueError no", "ValueError no"])
    proof.compare_eager(Answering(eager=both(failed)))  # type: ignore[arg-type]
    assert (paths(proof.evidence.differences), proof.evidence.doubts) == ([("eager", "exception")], [])


def test_what_cannot_be_compared_is_a_doubt_of_the_proof() -> None:
    proof = proof_of()
    proof.compare_eager(Answering(eager=both(eager(opaque=[["case 1", "output", "iterator"]]))))  # type: ignore[arg-type]
    assert [one.name for one in proof.evidence.doubts] == ["comparable"]


# Counts


def test_lines_that_could_not_be_watched_are_a_doubt() -> None:
    proof = proof_of()
    proof.count_reads(Answering())  # type: ignore[arg-type]
    assert [one.text for one in proof.evidence.doubts] == [
        "whether the changed lines run is not known: syncs, after: ValueError: no"
    ]


def counted_reads(ran: dict[str, list[int]], **more: Any) -> dict[str, Any]:
    seen: dict[str, Any] = {"steps": {}, "spots": None, "performed": [], "stale": [], "operations": 1}
    return {"syncs": [], "moves": [], "how": "fake", "ran": ran, **seen, **more}


def test_lines_that_ran_are_known_by_their_path_below_the_root(tmp_path: Path) -> None:
    proof = proof_of(root=tmp_path)
    counted = counted_reads({str(tmp_path / "m.py"): [2]})
    proof.count_reads(Answering(syncs=both(counted)))  # type: ignore[arg-type]
    assert (proof.evidence.after.ran, proof.evidence.doubts) == ({"m.py": (2,)}, [])


def test_a_file_that_ran_as_on_the_disk_is_a_doubt(tmp_path: Path) -> None:
    proof = proof_of(root=tmp_path)
    counted = counted_reads({str(tmp_path / "m.py"): [2]}, stale=[str(tmp_path / "m.py")])
    proof.count_reads(Answering(syncs=both(counted)))  # type: ignore[arg-type]
    assert [one.text.split(" was")[0] for one in proof.evidence.doubts] == ["before: m.py", "after: m.py"]


def counted_graphs(**more: Any) -> dict[str, Any]:
    return {"graphs": [], "breaks": [], "fullgraph": False, "fullgraph_reason": "/p/m.py:2: print", **more}


def test_code_that_compiles_itself_is_told_and_timed_as_it_is() -> None:
    proof = proof_of()
    proof.count_graphs(Answering(graphs=both(counted_graphs(compiles_itself=True))))  # type: ignore[arg-type]
    assert proof.evidence.notices[0] == "the code compiles itself: its own compile options count"
    assert proof.stopwatch().given["compiles_itself"] is True
    proof = proof_of()
    proof.count_graphs(Answering(graphs=both(counted_graphs(compiles_itself=False))))  # type: ignore[arg-type]
    assert (proof.evidence.notices, proof.stopwatch().given["compiles_itself"]) == ([], False)


def test_why_it_is_no_whole_graph_is_told_below_the_root() -> None:
    proof = proof_of()
    proof.count_graphs(Answering(graphs=both(counted_graphs())))  # type: ignore[arg-type]
    assert proof.evidence.after.fullgraph_reason == "m.py:2: print"
    assert proof.evidence.after.fullgraph is False


# Compiled


def compiled_pair(before: Sequence[str] = (), after: Sequence[str] = (), **more: Any) -> Answering:
    compiled = {
        side: {"raised": list(raised), "exceptions": [f"Unsupported {case}\nmore" for case in raised]}
        for side, raised in (("before", before), ("after", after))
    }
    return Answering(compiled=compiled, warm_up=both({"fallback": ""}), **more)


def compare_compiled(proof: Compares, pair: Any, **plain: Any) -> list[str]:
    """The records that were compared."""
    proof.eager = {**both(eager()), **plain}
    proof.compare_compiled(pair)
    return [f"{first} {second}" for _, first, second, _ in proof.compared]


INPUTS = "after/eager after/compiled"


def test_compiled_runs_are_compared_with_plain_ones_and_with_each_other() -> None:
    proof = proof_of()
    assert compare_compiled(proof, compiled_pair()) == [
        INPUTS,
        "before/eager before/compiled",
        "after/eager after/compiled",
        "before/compiled after/compiled",
    ]
    assert [given for *_, given in proof.compared] == [{"exact": True, "channels": ["inputs"]}, *[{"exact": False}] * 3]


def test_another_backend_in_the_place_of_inductor_is_told() -> None:
    proof, pair = proof_of(), compiled_pair()
    compare_compiled(proof, pair)
    assert proof.evidence.notices == []
    pair.stages["warm_up"] = {"before": {"fallback": ""}, "after": {"fallback": "no compiler"}}
    compare_compiled(proof, pair)
    assert proof.evidence.notices == ["inductor does not work here, aot_eager instead: no compiler"]


def test_arguments_that_drift_from_stage_to_stage_are_a_doubt() -> None:
    proof = proof_of()
    proof.differ = {INPUTS: differs("after", "arguments[0]")}
    compare_compiled(proof, compiled_pair())
    assert proof.evidence.doubts[0].name == "repeatable"


def test_a_side_that_does_not_compile_is_not_compared() -> None:
    proof = proof_of()
    assert compare_compiled(proof, compiled_pair(before=["case 1"])) == [INPUTS, INPUTS, INPUTS]
    assert proof.evidence.compile_failures == {"before": "before, case 1: Unsupported case 1"}


def test_a_case_that_raises_in_plain_python_too_is_no_failure_to_compile() -> None:
    proof = proof_of()
    compare_compiled(proof, compiled_pair(after=["case 1"]), after=eager(raised=["case 1"]))
    assert proof.evidence.compile_failures == {}
    proof = proof_of()
    compare_compiled(proof, compiled_pair(after=["case 1"]), before=eager(raised=["case 1"]))
    assert list(proof.evidence.compile_failures) == ["after"]


def test_two_sides_that_do_not_compile_are_a_doubt() -> None:
    proof = proof_of()
    assert compare_compiled(proof, compiled_pair(["case 1"], ["case 1"])) == []
    assert proof.evidence.doubts[0].name == "compiles"


def test_what_compiling_changes_before_the_rewrite_too_is_told_and_no_difference() -> None:
    """Compiled against compiled still counts: there the rewrite is all that differs."""
    proof = proof_of()
    proof.differ = {
        "before/eager before/compiled": differs("before"),
        "after/eager after/compiled": differs("after"),
        "before/compiled after/compiled": differs("compiled", "args[0]"),
    }
    compare_compiled(proof, compiled_pair())
    assert paths(proof.evidence.differences) == [("compiled", "args[0]")]
    assert proof.evidence.notices[0].startswith("also without the rewrite: before, compiled and eager differ")


def test_random_numbers_are_drawn_as_in_eager_mode_if_either_side_draws_any() -> None:
    for plain, wanted in (({"after": eager(random=True)}, True), ({"before": eager(random=True)}, True), ({}, False)):
        pair = compiled_pair()
        compare_compiled(proof_of(), pair, **plain)
        assert {given["random_as_in_eager"] for name, given in pair.asked if name in ("cold", "compiled")} == {wanted}


@pytest.mark.parametrize(("starts", "is_told"), [(COLD_STARTS, True), (COLD_STARTS - 1, False)])
def test_cold_starts_are_told_only_if_all_were_taken(starts: int, is_told: bool) -> None:
    proof = proof_of()
    compare_compiled(proof, compiled_pair(cold={"before": [2.0] * starts, "after": [1.0] * starts}))
    assert ("cold start" in proof.evidence.ratios) is is_told
    assert proof.evidence.before.cold_s == (2.0,) * starts


def test_no_cold_start_is_taken_where_no_times_are_wanted() -> None:
    pair = compiled_pair()
    compare_compiled(proof_of(untimed=True), pair)
    assert "cold" not in [name for name, _ in pair.asked]


# Times


@pytest.mark.parametrize(
    ("kind", "failed", "kinds"),
    [
        ("file", {}, ["eager", "compiled"]),
        ("pytest", {}, ["eager"]),
        ("file", {"before": "no"}, ["eager"]),
    ],
)
def test_only_what_runs_on_both_sides_is_timed(kind: str, failed: dict[str, str], kinds: list[str]) -> None:
    proof, pair = proof_of(kind), Answering()
    proof.evidence.compile_failures = failed
    proof.measure_speed(pair)  # type: ignore[arg-type]
    assert [name for name, _ in pair.asked] == kinds


def test_cases_that_raise_on_either_side_are_not_timed() -> None:
    proof = proof_of()
    proof.eager = {"before": eager(raised=["b"], mutated=True), "after": eager(raised=["a", "b"])}
    assert proof.stopwatch().given == {"leave_out": ["a", "b"], "fresh_arguments": True, "compiles_itself": False}


def test_a_device_without_a_clock_is_not_timed() -> None:
    proof, pair = proof_of(), Answering()
    proof.environment["is_untimed"] = True
    proof.measure_speed(pair)  # type: ignore[arg-type]
    assert pair.asked == []


# From step to step


class Runs(Compares):
    """A proof that takes steps of its own, and notes them; `happens` is what the first one does."""

    taken: list[str]
    given: Answering
    happens: Callable[[Any], Any]

    def pair(self, name: str, seed: int = 0, *, varied: bool = False) -> Any:
        return nullcontext(self.given)

    def greet(self, pair: Any) -> dict[str, Any]:
        return {}

    def open(self, pair: Any) -> None:
        self.taken.append("open")

    def steps(self) -> list[Any]:
        return [self.first, self.second]

    def first(self, pair: Any) -> None:
        self.taken.append("first")
        self.happens(pair)

    def second(self, pair: Any) -> None:
        self.taken.append("second")

    def stopwatch(self) -> Any:
        self.taken.append("confirmed")
        return super().stopwatch()


def taken(happens: Callable[[Any, Runs], Any], valueless: bool = False) -> list[str]:
    """The steps of a proof in whose first step something happens."""
    plain = proof_of()
    proof = Runs(plain.scenario, plain.sides, plain.settings, (), lambda *_: None, Path("/s"), None)
    proof.taken, proof.differ, proof.compared = [], {}, []
    proof.given = Answering()
    proof.happens = lambda pair: happens(pair, proof)
    proof.evidence.is_valueless = valueless
    proof.run()
    proof.taken += [f"{side.side}: {side.outcome.kind}" for side in (proof.evidence.before, proof.evidence.after)]
    return proof.taken


WHOLE = ["open", "first", "second"]
WELL = ["before: ok", "after: ok"]


def test_claims_are_confirmed_when_all_steps_were_taken() -> None:
    assert taken(lambda pair, proof: None) == [*WHOLE, "confirmed", *WELL]


def test_nothing_is_timed_again_on_a_device_without_values() -> None:
    assert taken(lambda pair, proof: None, valueless=True) == [*WHOLE, *WELL]


def test_after_a_difference_or_a_doubt_nothing_more_is_measured() -> None:
    assert taken(lambda pair, proof: proof.evidence.differences.extend(differs("eager"))) == ["open", "first", *WELL]
    assert taken(lambda pair, proof: proof.evidence.doubt("time", "over")) == ["open", "first", *WELL]


def test_a_side_that_died_ends_the_proof_with_its_outcome() -> None:
    def die(pair: Any, proof: Proof) -> None:
        pair.is_whole, pair.outcomes = False, {"after": Outcome("crash", "eager", "dead")}

    assert taken(die) == ["open", "first", "before: ok", "after: crash"]


def test_a_proof_that_is_late_ends_with_a_doubt() -> None:
    proof, pair = proof_of(time_limit=60), Answering()
    pair.late = "graphs"
    proof.take_outcomes(pair)  # type: ignore[arg-type]
    assert [one.name for one in proof.evidence.doubts] == ["time"]
    assert proof.evidence.notices == ["not measured: syncs, after: ValueError: no"]
