"""From measurements to rulings: which numbers decide, and which do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from validate.judge import IDLE, Evidence, combined, exit_code, judge
from validate.model import (
    Break,
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
