"""Two sides that are asked together and timed in turns; the workers here answer what they are told to."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.launch import Deadline, Died, Refused
from fullgraph.validate.model import Outcome, Scenario, Settings, Sides
from fullgraph.validate.pair import (
    BLOCK_SECONDS,
    COLD_STARTS,
    FEWEST_BLOCKS,
    MOST_BLOCKS,
    Pair,
    encoded,
    is_enough,
    order,
)

Reply = Callable[[dict[str, Any]], Any]


class Scripted:
    """A worker without a process: `reply` is given each request, and what it raises is the answer."""

    def __init__(self, reply: Reply, took: float = 0.0) -> None:
        self.reply = reply
        self.took = took
        self.pretends = False
        """Whether a block took as long as `took` says, and not as long as it tells."""

        self.asked: list[dict[str, Any]] = []

    def send(self, request: str, **given: Any) -> None:
        self.asked.append({"do": request, **given})

    def answer(self, stage: str, limit: float) -> Any:
        given = self.asked[-1]
        told = self.reply(given)
        if given.get("stage") == "block" and not self.pretends:
            self.took = told * given["passes"]
        return told


def pair_of(before: Reply, after: Reply | None = None, *, took: float = 0.0, limit: float = 1000, **given: Any) -> Pair:
    sides = Sides(Path("/p"), {"m.py": b"1", "same.py": b"0", "gone.py": b"2"}, {"m.py": b"3", "same.py": b"0"})
    settings = Settings(**given)
    pair = Pair("python", Scenario("file", "s", "s"), sides, settings, Path("/s"), lambda *_: None, Deadline(limit))
    pair.workers = {"before": Scripted(before, took), "after": Scripted(after or before, took)}  # type: ignore[dict-item]
    return pair


def asked(pair: Pair, side: str) -> list[dict[str, Any]]:
    worker: Any = pair.workers[side]
    told: list[dict[str, Any]] = worker.asked
    return told


def refuse(kind: str, text: str = "Traceback\nValueError: no\n") -> Reply:
    def reply(given: dict[str, Any]) -> Any:
        raise Refused(kind, text, given.get("stage", given["do"]))

    return reply


def die(kind: str) -> Reply:
    def reply(given: dict[str, Any]) -> Any:
        raise Died(Outcome(kind, given.get("stage", given["do"]), "gone"))

    return reply


def well(given: dict[str, Any]) -> Any:
    return {"asked": given["do"]}


# Asked together


def test_each_side_is_given_its_own_texts_of_the_files_that_differ() -> None:
    pair = pair_of(well)
    pair.open(Path("/cache"))
    before, after = asked(pair, "before")[0], asked(pair, "after")[0]
    assert before["files"] == {"/p/gone.py": encoded(b"2"), "/p/m.py": encoded(b"1")}
    assert after["files"] == {"/p/gone.py": None, "/p/m.py": encoded(b"3")}
    assert before["watched"] == ["/p/gone.py", "/p/m.py"]
    assert (before["scratch"], after["scratch"]) == ("/s/before", "/s/after")


def test_a_file_that_is_empty_is_not_one_that_is_not_there() -> None:
    assert encoded(b"") == ""
    assert encoded(None) is None


def test_a_stage_that_one_side_fails_tells_nothing_and_is_the_sides_outcome() -> None:
    pair = pair_of(well, refuse("error"))
    assert pair.stage("eager") == {}
    assert pair.outcomes == {"after": Outcome("error", "eager", "Traceback\nValueError: no\n")}
    assert not pair.is_whole


def test_a_scenario_that_one_side_cannot_read_is_still_told_by_the_other() -> None:
    pair = pair_of(well, refuse("import"))
    assert set(pair.open(Path("/cache"))) == {"before"}
    assert pair.refusals["after"].kind == "import"


def test_a_side_that_failed_is_not_asked_again() -> None:
    pair = pair_of(die("crash"), well)
    pair.stage("eager")
    assert pair.stage("syncs") == {}
    assert [one["stage"] for one in asked(pair, "after")] == ["eager"]


@pytest.mark.parametrize("stage", ["syncs", "graphs", "warm_up"])
def test_a_measurement_that_fails_is_a_gap_and_no_difference(stage: str) -> None:
    pair = pair_of(well, refuse("error"))
    assert pair.stage(stage) == {}
    assert (pair.outcomes, pair.gaps) == ({}, [f"{stage}, after: ValueError: no"])
    assert pair.is_whole


@pytest.mark.parametrize("stage", ["eager", "compiled"])
def test_a_run_that_fails_is_an_outcome_and_no_gap(stage: str) -> None:
    pair = pair_of(refuse("error"), well)
    pair.stage(stage)
    assert (list(pair.outcomes), pair.gaps) == (["before"], [])


def test_a_measurement_that_runs_out_of_memory_is_an_outcome() -> None:
    pair = pair_of(well, refuse("memory"))
    pair.stage("graphs")
    assert pair.outcomes["after"].kind == "memory"


def test_two_sides_that_are_late_both_hang() -> None:
    pair = pair_of(die("hang"), took=1.0)
    pair.stage("eager")
    assert (set(pair.outcomes), pair.late) == ({"before", "after"}, "")


def test_a_side_that_is_asked_alone_is_late_and_does_not_hang() -> None:
    pair = pair_of(die("hang"))
    assert pair.one("before", "block") is None
    assert (pair.outcomes, pair.late) == ({}, "block")
    pair = pair_of(die("crash"))
    pair.one("before", "block")
    assert (list(pair.outcomes), pair.late) == (["before"], "")


# In turns


def test_the_sides_take_turns_so_that_what_drifts_hits_both() -> None:
    assert [order(turn)[0] for turn in range(4)] == ["before", "after", "before", "after"]


def timed(seconds: float, around: float = 0.0) -> Reply:
    def reply(given: dict[str, Any]) -> Any:
        return {"seconds": seconds, "around": around} if given["stage"] == "prepare" else seconds

    return reply


def blocks(pair: Pair, *, confirms: bool = False, fresh_arguments: bool = False) -> dict[str, list[float]]:
    return pair.blocks("eager", 1000, confirms=confirms, fresh_arguments=fresh_arguments)


def passes_of(pair: Pair) -> set[int]:
    return {one["passes"] for one in asked(pair, "before") if one["stage"] == "block"}


def test_blocks_end_when_the_ratio_is_known() -> None:
    taken = blocks(pair_of(timed(2.0), timed(1.0)))
    assert taken == {"before": [2.0] * FEWEST_BLOCKS, "after": [1.0] * FEWEST_BLOCKS}


def test_so_many_blocks_are_taken_as_were_asked_for() -> None:
    assert [len(times) for times in blocks(pair_of(timed(1.0), repeat=3)).values()] == [3, 3]
    assert [len(times) for times in blocks(pair_of(timed(1.0), repeat=50)).values()] == [50, 50]


def test_blocks_that_tell_nothing_end_at_the_most() -> None:
    noise = iter(range(10**6))

    def reply(given: dict[str, Any]) -> Any:
        return {"seconds": 1.0, "around": 0.0} if given["stage"] == "prepare" else 1.0 + next(noise) % 7

    assert len(blocks(pair_of(reply))["before"]) == MOST_BLOCKS


def test_a_block_is_as_long_as_the_slower_side_needs() -> None:
    for sides in ((0.001, 0.01), (0.01, 0.001)):
        pair = pair_of(*(timed(seconds) for seconds in sides), repeat=1)
        blocks(pair)
        assert passes_of(pair) == {round(BLOCK_SECONDS / 0.01)}
    pair = pair_of(timed(5.0), repeat=1)
    blocks(pair)
    assert passes_of(pair) == {1}


def test_arguments_that_are_made_anew_make_blocks_shorter() -> None:
    pair = pair_of(timed(0.001, around=0.0364), repeat=1)
    blocks(pair, fresh_arguments=True)
    assert passes_of(pair) == {4}


@pytest.mark.parametrize("stopped", ["prepare", "block"])
def test_a_clock_that_stands_still_is_told_and_nothing_is_timed(stopped: str) -> None:
    def reply(given: dict[str, Any]) -> Any:
        seconds = 0.0 if given["stage"] == stopped else 1.0
        return {"seconds": seconds, "around": 0.0} if given["stage"] == "prepare" else seconds

    pair = pair_of(timed(1.0), reply)
    assert blocks(pair) == {}
    assert pair.gaps == ["eager, after: the clock stands still"]


@pytest.mark.parametrize(
    ("told", "passed", "is_believed"),
    [
        ((0.04, 0.02), (0.05, 0.03), True),
        ((0.04, 0.02), (0.05, 0.05), False),
        ((0.02, 0.04), (0.05, 0.05), False),
        ((0.04, 0.04), (0.05, 0.05), True),
        ((0.04, 0.04), (0.05, 0.09), False),
        ((0.04, 0.039), (0.05, 0.05), True),
        ((0.04, 0.06), (0.05, 0.05), False),
    ],
)
def test_times_are_believed_if_the_clock_of_the_controller_agrees(
    told: tuple[float, float], passed: tuple[float, float], is_believed: bool
) -> None:
    """A module that slows down the clock of its process is no faster."""
    pair = pair_of(*(timed(seconds) for seconds in told), repeat=3)
    for worker, seconds in zip(pair.workers.values(), passed, strict=True):
        worker.took, worker.pretends = seconds * ceil(BLOCK_SECONDS / max(told)), True  # type: ignore[attr-defined]
    assert bool(blocks(pair)) is is_believed
    assert bool(pair.gaps) is not is_believed


def test_where_arguments_are_made_anew_a_side_may_take_longer_for_them() -> None:
    pair = pair_of(timed(0.04), timed(0.02), repeat=3)
    for worker in pair.workers.values():
        worker.took, worker.pretends = 0.1, True  # type: ignore[attr-defined]
    assert blocks(pair, fresh_arguments=True)


def test_a_block_that_fails_leaves_no_times() -> None:
    pair = pair_of(timed(1.0), refuse("error"))
    assert blocks(pair) == {}
    assert pair.gaps == ["prepare, after: ValueError: no"]


@pytest.mark.parametrize(("before", "after"), [(150.0, 1.0), (1.0, 150.0)])
def test_cold_starts_go_on_while_they_tell_a_difference(before: float, after: float) -> None:
    taken = pair_of(lambda _: before, lambda _: after, limit=10**6).cold_starts()
    assert [len(times) for times in taken.values()] == [COLD_STARTS, COLD_STARTS]


def test_cold_starts_that_are_the_same_are_not_taken_again() -> None:
    assert pair_of(lambda _: 1.0).cold_starts() == {"before": [1.0], "after": [1.0]}


def test_cold_starts_that_would_take_the_time_of_the_rest_are_not_taken_again() -> None:
    taken = pair_of(lambda _: 100.0, lambda _: 1.0, limit=500).cold_starts()
    assert [len(times) for times in taken.values()] == [1, 1]


def test_a_cold_start_that_fails_leaves_no_times() -> None:
    assert pair_of(lambda _: 1.0, refuse("error")).cold_starts() == {}


# Enough


def taken(ratio: float, blocks: int, wobble: float = 0.0) -> dict[str, list[float]]:
    return {"before": [ratio * (1 + wobble * (turn % 5)) for turn in range(blocks)], "after": [1.0] * blocks}


LATER, NOW = Deadline(1e9), Deadline(0)


def test_few_blocks_are_enough_only_when_the_time_is_over() -> None:
    assert not is_enough(taken(2.0, FEWEST_BLOCKS - 4), LATER, confirms=True)
    assert is_enough(taken(2.0, FEWEST_BLOCKS), LATER, confirms=False)
    assert is_enough(taken(2.0, 3), NOW, confirms=False)
    assert not is_enough(taken(2.0, 2), NOW, confirms=False)
    assert is_enough(taken(1.0, FEWEST_BLOCKS + 1, 0.5), NOW, confirms=False)


@pytest.mark.parametrize("ratio", [2.0, 0.5])
def test_a_wide_interval_is_enough_only_to_see_a_clear_claim_again(ratio: float) -> None:
    wide = taken(ratio, FEWEST_BLOCKS, 0.1)
    assert is_enough(wide, LATER, confirms=True)
    assert not is_enough(wide, LATER, confirms=False)
    assert not is_enough(taken(1.0, FEWEST_BLOCKS, 0.1), LATER, confirms=True)


def test_a_pair_that_is_late_is_not_whole() -> None:
    pair = pair_of(well, die("hang"), took=900.0)
    assert pair.stage("eager") == {}
    assert (pair.outcomes, pair.late, pair.is_whole) == ({}, "eager", False)


def test_a_stage_that_both_sides_end_is_told_of_both() -> None:
    assert pair_of(well).stage("eager") == {"before": {"asked": "run"}, "after": {"asked": "run"}}
