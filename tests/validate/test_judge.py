"""From measurements to rulings: which numbers decide, and which do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fullgraph.validate.judge import EFFECT, IDLE, Evidence, combined, exit_code, judge
from fullgraph.validate.model import (
    Break,
    ChangedPlace,
    Difference,
    Graph,
    Measurement,
    Outcome,
    Ratio,
    Reason,
    Ruling,
    Scenario,
    Settings,
    Sync,
    Verdict,
)

BREAK = Break("/m.py", 3, "f", "GB0007", "a call of warnings.warn")
GRAPH = Graph("f", "/m.py", 1, 4, guards=10, guard_us=5.0)
WELL = Measurement("before", cases=("case 1", "case 2"), graphs=(GRAPH,), breaks=(), fullgraph=True, syncs=(), moves=())


def evidence(before: dict[str, Any] | None = None, after: dict[str, Any] | None = None, **more: Any) -> Evidence:
    return Evidence(replace(WELL, **(before or {})), replace(WELL, side="after", **(after or {})), **more)


def ruling(*given: Any, **more: Any) -> Ruling:
    return judge(evidence(*given, **more))[0]


def sentence(*given: Any, **more: Any) -> str:
    found, reasons = judge(evidence(*given, **more))
    return Verdict(found, reasons, WELL, WELL, Scenario("file", "s", "s"), Settings()).sentence


FASTER, SLOWER, LEVEL = Ratio(1.31, 1.27, 1.35, 40), Ratio(0.8, 0.78, 0.82, 40), Ratio(1.0, 0.99, 1.01, 40)


def test_nothing_better_is_neutral_and_says_what_was_looked_at() -> None:
    assert ruling(ratios={"compiled": LEVEL}) is Ruling.NEUTRAL
    assert sentence(ratios={"compiled": LEVEL}) == (
        "equivalent on 2 cases; graph breaks 0; fullgraph=True compiles: yes; recompiles 0; host reads 0; "
        "compiled pass the same [0.99, 1.01]; guard time 5.0 us"
    )


def test_fewer_breaks_prove_it() -> None:
    broken = {"breaks": (BREAK, BREAK, BREAK), "fullgraph": False}
    assert ruling(broken) is Ruling.PROVEN
    assert sentence(broken, ratios={"compiled": FASTER}) == (
        "equivalent on 2 cases; graph breaks 3 > 0; fullgraph=True compiles: no > yes; "
        "compiled pass 1.31x faster [1.27, 1.35]"
    )


@pytest.mark.parametrize(
    "after",
    [
        {"breaks": (BREAK,), "fullgraph": False},
        {"fullgraph": False},
        {"graphs": (GRAPH, replace(GRAPH, recompile="len(d) == 3"))},
        {"syncs": (Sync("/m.py", 3, "item", 2),)},
    ],
    ids=["a break", "no fullgraph", "a recompile", "a host read"],
)
def test_a_weighty_loss_is_worse_whatever_was_won(after: dict[str, Any]) -> None:
    assert ruling(None, after) is Ruling.WORSE
    assert ruling(None, after, ratios={"eager": FASTER}) is Ruling.WORSE


def test_a_slower_compiled_pass_is_worse_though_a_break_went() -> None:
    assert ruling({"breaks": (BREAK,)}, ratios={"compiled": SLOWER}) is Ruling.WORSE


def test_a_slower_cold_start_does_not_outweigh_a_break() -> None:
    assert ruling({"breaks": (BREAK,)}, ratios={"cold start": SLOWER}) is Ruling.PROVEN
    assert ruling(ratios={"cold start": SLOWER}) is Ruling.WORSE


def test_a_small_gain_does_not_make_up_for_a_small_loss() -> None:
    slow = {"graphs": (replace(GRAPH, guard_us=50.0),)}
    assert ruling(slow, ratios={"cold start": SLOWER}) is Ruling.WORSE
    assert ruling(ratios={"cold start": SLOWER, "eager": FASTER}) is Ruling.WORSE


def test_an_interval_that_holds_1_is_no_gain() -> None:
    assert ruling(ratios={"compiled": Ratio(1.2, 0.99, 1.4, 12)}) is Ruling.NEUTRAL


def test_a_gain_within_the_margin_is_no_gain() -> None:
    assert ruling(ratios={"compiled": Ratio(1.015, 1.011, 1.019, 99)}) is Ruling.NEUTRAL


def test_a_difference_beats_every_gain() -> None:
    wrong = Difference("eager", "case 2", "output['loss']", "value", "1.0", "2.0", "largest absolute 1.0")
    found, reasons = judge(evidence({"breaks": (BREAK,)}, differences=[wrong]))
    assert found is Ruling.DIFFERENT
    assert reasons[0].text == (
        "before and after differ in case 2: output['loss'] has another value: 1.0 / 2.0; largest absolute 1.0"
    )


@pytest.mark.parametrize("kind", ["crash", "hang", "memory", "error"])
def test_a_side_that_does_not_come_to_its_end_is_different(kind: str) -> None:
    found, reasons = judge(evidence(None, {"outcome": Outcome(kind, "eager", "why")}))
    assert found is Ruling.DIFFERENT
    assert reasons[0].text == f"after: {kind} in the stage eager: why"


def test_two_sides_that_do_not_come_to_their_end_decide_nothing() -> None:
    failed = {"outcome": Outcome("hang", "eager", "no end after 5 s")}
    assert ruling(failed, failed) is Ruling.UNDECIDED


def test_code_that_compiles_only_after_the_rewrite_is_proven() -> None:
    assert ruling(compile_failures={"before": "Unsupported"}) is Ruling.PROVEN
    assert ruling(compile_failures={"after": "Unsupported"}) is Ruling.WORSE


def test_guard_time_counts_only_beyond_its_noise() -> None:
    assert ruling({"graphs": (replace(GRAPH, guard_us=5.9),)}) is Ruling.NEUTRAL
    assert ruling({"graphs": (replace(GRAPH, guard_us=50.0),)}) is Ruling.PROVEN


def verdict(found: Ruling, name: str = "x") -> Verdict:
    return Verdict(found, (Reason(name, "", "same"),), WELL, WELL, Scenario("file", "s", "s"), Settings())


def test_several_scenarios_are_as_good_as_the_worst_that_runs_the_change() -> None:
    proven, neutral = verdict(Ruling.PROVEN), verdict(Ruling.NEUTRAL)
    idle, undecided = verdict(Ruling.UNDECIDED, IDLE), verdict(Ruling.UNDECIDED)
    assert combined([proven, neutral]) is Ruling.PROVEN
    assert combined([proven, idle]) is Ruling.PROVEN
    assert combined([proven, undecided]) is Ruling.UNDECIDED
    assert combined([idle]) is Ruling.UNDECIDED
    assert combined([proven, verdict(Ruling.DIFFERENT)]) is Ruling.DIFFERENT


def test_exit_codes() -> None:
    assert [exit_code(found, False) for found in Ruling] == [0, 3, 3, 3, 4]
    assert [exit_code(found, True) for found in Ruling] == [0, 0, 3, 3, 4]


# Edges of the numbers

MB = 2**20


def tendency(name: str, *given: Any, **more: Any) -> str:
    """What one number says; `none` if it is not told at all."""
    return next((one.tendency for one in judge(evidence(*given, **more))[1] if one.name == name), "none")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (200 * MB, 100 * MB, "better"),
        (100 * MB, 200 * MB, "worse"),
        (60 * MB, 30 * MB, "none"),
        (1100 * MB, 1000 * MB, "none"),
        (64 * MB, 32 * MB, "better"),
        (None, 900 * MB, "none"),
    ],
    ids=["half", "twice", "less than 32 MB", "less than a quarter", "32 MB less", "not measured before"],
)
def test_memory_counts_beyond_a_quarter_and_32_mb(before: int | None, after: int | None, told: str) -> None:
    assert tendency("memory", {"peak_bytes": before}, {"peak_bytes": after}) == told


def test_memory_is_told_in_mb_from_before_to_after() -> None:
    assert sentence({"peak_bytes": 300 * MB}, {"peak_bytes": 100 * MB}).endswith("peak memory 300 > 100 MB")


@pytest.mark.parametrize(("before", "after"), [(6.1, 5.0), (5.0, 6.1), (0.3, 1.2)])
def test_guards_count_only_beyond_a_fifth_and_a_microsecond(before: float, after: float) -> None:
    """1.1 us and 22 % more are told; 0.9 us are not, though they are four times as much."""
    graphs = [{"graphs": (replace(GRAPH, guard_us=us),)} for us in (before, after)]
    assert tendency("guards", *graphs) == ("same" if before < 1 else "better" if before > after else "worse")


def test_times_of_guards_do_not_decide_where_no_times_are_taken() -> None:
    slow = {"graphs": (replace(GRAPH, guard_us=90.0),)}
    assert ruling(slow, is_untimed=True) is Ruling.NEUTRAL
    assert tendency("guards", slow, is_untimed=True) == "none"


@pytest.mark.parametrize(
    ("name", "ratio", "told"),
    [
        ("compiled", Ratio(1.05, 1.03, 1.07, 40), "better"),
        ("compiled", Ratio(0.95, 0.93, 0.97, 40), "worse"),
        ("compiled", Ratio(0.985, 0.98, 0.99, 40), "same"),
        ("cold start", Ratio(1.08, 1.05, 1.09, 6), "same"),
        ("cold start", Ratio(0.93, 0.92, 0.95, 6), "same"),
        ("cold start", Ratio(1.3, 1.2, 1.4, 6), "better"),
    ],
)
def test_a_ratio_counts_beyond_its_margin_in_either_direction(name: str, ratio: Ratio, told: str) -> None:
    assert tendency(name, ratios={name: ratio}) == told


def test_what_only_one_side_was_measured_for_is_not_told() -> None:
    for unknown in ({"fullgraph": None}, {"breaks": None}, {"syncs": None}, {"graphs": None}):
        for given in ((unknown, None), (None, unknown)):
            assert ruling(*given) is Ruling.NEUTRAL
            assert tendency({"syncs": "host reads", "graphs": "recompiles"}.get(*unknown, *unknown), *given) == "none"


def test_moves_between_devices_are_told_where_either_side_has_some() -> None:
    moved = {"moves": (Sync("/m.py", 3, "to", 2), Sync("/m.py", 4, "to", 1))}
    assert tendency("moves") == "none"
    assert (tendency("moves", moved), tendency("moves", None, moved)) == ("better", "worse")
    assert "moves between devices 3 > 0" in sentence(moved)


def test_a_break_that_ends_several_functions_counts_for_each() -> None:
    """One place that ends two graphs is not better than two places that end one each."""
    assert ruling({"breaks": (BREAK, BREAK)}, {"breaks": (replace(BREAK, frames=2),)}) is Ruling.NEUTRAL


# What is said


def test_of_a_crash_the_first_line_is_told_and_of_an_exception_the_last() -> None:
    for kind, line in (("crash", "killed by SIGSEGV"), ("error", "ValueError: no")):
        outcome = Outcome(kind, "eager", "killed by SIGSEGV\nTraceback\nValueError: no\n")
        assert judge(evidence({"outcome": outcome}))[1][0].text == f"before: {kind} in the stage eager: {line}"
    assert judge(evidence({"outcome": Outcome("hang", "eager")}))[1][0].text == "before: hang in the stage eager: "


def test_why_it_does_not_compile_is_told() -> None:
    assert "compiles: no > yes (before, case 1: no way)" in sentence(
        compile_failures={"before": "before, case 1: no way"}
    )
    assert "compiles: yes > no (after, case 1: no way)" in sentence(compile_failures={"after": "after, case 1: no way"})


def test_doubts_leave_it_undecided_and_are_all_told() -> None:
    found = evidence({"breaks": (BREAK,)})
    found.doubt("time", "over")
    found.doubt("lines", "not known")
    decided, reasons = judge(found)
    assert decided is Ruling.UNDECIDED
    assert [(one.name, one.text, one.tendency) for one in reasons] == [
        ("time", "over", "unknown"),
        ("lines", "not known", "unknown"),
    ]


def test_a_difference_weighs_more_than_a_doubt_and_an_outcome_more_than_a_difference() -> None:
    wrong = Difference("compiled", "case 1", "output", "value", "1", "2")
    found = evidence(differences=[wrong])
    found.doubt("time", "over")
    assert judge(found)[0] is Ruling.DIFFERENT
    died = evidence(None, {"outcome": Outcome("crash", "compiled", "dead")}, differences=[wrong])
    assert judge(died)[1][0].name == "outcome"


@pytest.mark.parametrize(
    ("between", "told"),
    [
        ("eager", "before and after differ in"),
        ("compiled", "before and after differ once compiled in"),
        ("before", "before, compiled and eager differ in"),
        ("after", "after, compiled and eager differ in"),
    ],
)
def test_a_difference_says_which_two_were_compared(between: str, told: str) -> None:
    wrong = Difference(between, "case 1", "output", "dtype", "a", "b")
    assert judge(evidence(differences=[wrong]))[1][0].text == f"{told} case 1: output has another dtype: a / b"


def test_a_level_number_that_was_not_confirmed_is_told_as_ever() -> None:
    found = evidence(ratios={"eager": LEVEL, "compiled": FASTER}, unconfirmed={"eager", "compiled"})
    texts = {one.name: one.text for one in judge(found)[1]}
    assert "not in every process" not in texts["eager"]
    assert texts["compiled"].endswith("faster [1.27, 1.35], but not in every process: too noisy to tell")


def test_a_device_without_values_proves_nothing_though_breaks_went() -> None:
    assert ruling({"breaks": (BREAK,)}, is_valueless=True) is Ruling.UNDECIDED
    assert sentence({"breaks": (BREAK,)}, is_valueless=True).startswith(
        "not compared: this device has no values (2 cases); graph breaks 1 > 0"
    )


def test_one_case_is_told_as_one() -> None:
    assert sentence({"breaks": (BREAK,)}, {"cases": ("case 1",)}).startswith("equivalent on 1 case;")


def test_of_several_scenarios_worse_outweighs_undecided_and_undecided_outweighs_proven() -> None:
    worse, undecided, proven = map(verdict, (Ruling.WORSE, Ruling.UNDECIDED, Ruling.PROVEN))
    assert combined([undecided, worse, proven]) is Ruling.WORSE
    assert combined([worse, verdict(Ruling.DIFFERENT)]) is Ruling.DIFFERENT
    assert combined([verdict(Ruling.NEUTRAL), verdict(Ruling.NEUTRAL)]) is Ruling.NEUTRAL
    assert combined([]) is Ruling.UNDECIDED


# What was not seen

UNSEEN = ChangedPlace(
    "m.py", "after", 3, 5, (3, 4), lines=3, ran=2, unseen=("the `else` of line 3 (before) was never taken",)
)


@pytest.mark.parametrize("before", [None, {"breaks": (BREAK,)}], ids=["would be neutral", "would be proven"])
def test_an_effect_that_was_not_seen_is_neither_proven_nor_neutral(before: dict[str, Any] | None) -> None:
    found, reasons = judge(evidence(before, changed=[UNSEEN, UNSEEN]))
    assert found is Ruling.UNDECIDED
    assert (reasons[0].name, reasons[0].text) == (
        EFFECT,
        "not all of the change was seen: m.py: the `else` of line 3 (before) was never taken (and 1 more); "
        "give a case, or a device, that shows it",
    )
    assert "breaks" in [reason.name for reason in reasons], "what was measured is told all the same"


def test_a_difference_is_told_before_what_was_not_seen() -> None:
    apart = Difference("eager", "case 1", "output", "value", "1", "2")
    assert ruling(changed=[UNSEEN], differences=[apart]) is Ruling.DIFFERENT


def test_places_that_were_seen_change_nothing() -> None:
    assert ruling({"breaks": (BREAK,)}, changed=[replace(UNSEEN, unseen=())]) is Ruling.PROVEN


# Less that is compiled

WORK = {"graphs": (GRAPH, GRAPH), "operations": 8}


def test_fewer_breaks_are_no_merit_where_nothing_is_compiled_any_more() -> None:
    broken = {**WORK, "breaks": (BREAK, BREAK, BREAK), "fullgraph": False}
    nothing = {"graphs": (), "operations": 8, "breaks": (BREAK,), "fullgraph": False}
    assert ruling(broken, nothing) is Ruling.WORSE
    assert "less is compiled: operators in graphs 8 > 0" in sentence(broken, nothing)


def test_graphs_that_were_compiled_again_may_have_done_the_work() -> None:
    again = replace(GRAPH, recompile="size mismatch")
    broken = {"graphs": (GRAPH, GRAPH, again, again), "operations": 16, "breaks": (BREAK,), "fullgraph": False}
    small = replace(GRAPH, operators=2)
    assert ruling(broken, {**WORK, "graphs": (small, replace(again, operators=6)), "operations": 16}) is Ruling.PROVEN
    assert ruling(broken, {**WORK, "graphs": (small,), "operations": 16}) is Ruling.WORSE


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"graphs": (replace(GRAPH, operators=3),), "operations": 8}, Ruling.WORSE),
        ({"graphs": (replace(GRAPH, operators=3),), "operations": 3}, Ruling.PROVEN),
        ({"graphs": (GRAPH,), "operations": 8}, Ruling.PROVEN),
        ({"graphs": (replace(GRAPH, operators=3),), "operations": None}, Ruling.PROVEN),
    ],
    ids=["less of the same work", "all of less work", "half", "not measured"],
)
def test_what_counts_is_the_share_of_the_work_that_is_compiled(after: dict[str, Any], told: Ruling) -> None:
    assert ruling({**WORK, "breaks": (BREAK,)}, after) is told


def test_code_that_no_longer_compiles_itself_is_worse() -> None:
    before, after = {"breaks": (BREAK,), "compiles_itself": True}, {"compiles_itself": False}
    assert ruling(before, after) is Ruling.WORSE
    assert "the code compiles itself: yes > no" in sentence(before, after)
    assert ruling(after, before) is Ruling.WORSE, "there is a break more"
    assert ruling(after, {"compiles_itself": True}) is Ruling.NEUTRAL
    assert ruling({"breaks": (BREAK,), "compiles_itself": True}, {"compiles_itself": None}) is Ruling.PROVEN


# Three words


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.97, 1.05, "the same [0.97, 1.05]"),
        (0.8, 1.3, "too noisy to tell [0.80, 1.30]"),
        (1.01, 1.4, "too noisy to tell [1.01, 1.40]"),
        (1.005, 1.03, "the same [1.00, 1.03]"),
        (1.03, 1.4, "1.10x faster [1.03, 1.40]"),
    ],
)
def test_a_wide_interval_is_not_called_the_same(low: float, high: float, text: str) -> None:
    reasons = judge(evidence(ratios={"eager": Ratio(1.1, low, high, 40)}))[1]
    assert next(reason.text for reason in reasons if reason.name == "eager") == f"eager pass {text}"
    assert not [reason for reason in reasons if reason.name == "compiled"], "what was not measured is no reason"
