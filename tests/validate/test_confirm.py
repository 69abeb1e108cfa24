"""Claims of speed: seen again in fresh processes, or not made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fullgraph.validate.confirm import Confirmation
from fullgraph.validate.judge import Evidence, judge
from fullgraph.validate.model import Graph, Measurement, Ratio, Ruling, ValidateError
from fullgraph.validate.speed import Stopwatch


class Timed:
    """A pair of processes that takes as long as it is told, and counts what it is asked."""

    def __init__(self, ratios: dict[str, float], guards: tuple[float, float] = (5.0, 5.0)) -> None:
        self.ratios = ratios
        self.guards = guards
        self.asked: list[str] = []

    def blocks(self, kind: str, seconds: float, *, confirms: bool, **given: Any) -> dict[str, list[float]]:
        assert confirms
        self.asked.append(kind)
        if kind not in self.ratios:
            return {}
        return {"before": [self.ratios[kind]] * 30, "after": [1.0] * 30}

    def stage(self, name: str) -> dict[str, Any]:
        self.asked.append(name)
        told = {side: {"graphs": [{"guard_us": us}]} for side, us in zip(("before", "after"), self.guards, strict=True)}
        return told if name == "graphs" else {}


def confirm(evidence: Evidence, *pairs: Timed) -> list[list[str]]:
    """What each pair of processes was asked; there are no more than these."""
    waiting = iter(pairs)

    @contextmanager
    def start(number: int) -> Iterator[Any]:
        try:
            yield next(waiting)
        except StopIteration:
            raise ValidateError("no process can be started") from None

    Confirmation(evidence, Stopwatch(evidence, {}), start).run()
    return [pair.asked for pair in pairs]


def evidence_with(**ratios: float) -> Evidence:
    well = Measurement("before", cases=("case 1",))
    found = {name: Ratio(ratio, ratio / 1.01, ratio * 1.01, 40) for name, ratio in ratios.items()}
    return Evidence(well, well, ratios=found)


def ruling(evidence: Evidence) -> Ruling:
    return judge(evidence)[0]


def test_what_is_seen_twice_more_is_claimed() -> None:
    evidence = evidence_with(eager=1.3, compiled=1.0)
    assert confirm(evidence, Timed({"eager": 1.28}), Timed({"eager": 1.33})) == [["eager"], ["eager"]]
    assert ruling(evidence) is Ruling.PROVEN
    assert evidence.ratios["eager"].blocks == 100
    assert evidence.ratios["eager"].low < 1.29


def test_what_is_little_must_be_seen_three_times_more() -> None:
    evidence = evidence_with(compiled=1.05)
    asked = confirm(evidence, *[Timed({"compiled": 1.04}) for _ in range(3)])
    assert asked == [["warm_up", "compiled"]] * 3
    assert ruling(evidence) is Ruling.PROVEN


@pytest.mark.parametrize("again", [1.0, 0.7])
def test_what_is_not_seen_again_is_not_claimed(again: float) -> None:
    evidence = evidence_with(eager=1.3)
    assert confirm(evidence, Timed({"eager": again}), Timed({})) == [["eager"], []]
    assert ruling(evidence) is Ruling.NEUTRAL


def test_what_is_level_is_not_measured_again() -> None:
    evidence = evidence_with(eager=1.0, compiled=0.99)
    assert confirm(evidence, Timed({})) == [[]]
    assert ruling(evidence) is Ruling.NEUTRAL


def test_a_loss_must_be_seen_again_too() -> None:
    evidence = evidence_with(eager=0.8)
    confirm(evidence, Timed({"eager": 0.81}), Timed({"eager": 1.0}))
    assert ruling(evidence) is Ruling.NEUTRAL
    evidence = evidence_with(eager=0.8)
    confirm(evidence, Timed({"eager": 0.81}), Timed({"eager": 0.79}))
    assert ruling(evidence) is Ruling.WORSE


def test_what_cannot_be_measured_again_is_not_claimed() -> None:
    for pairs in ([Timed({})], []):
        evidence = evidence_with(eager=1.3)
        confirm(evidence, *pairs)
        assert ruling(evidence) is Ruling.NEUTRAL
        assert "but not in every process" in judge(evidence)[1][1].text


@pytest.mark.parametrize(("again", "wanted"), [((9.0, 5.0), Ruling.PROVEN), ((5.5, 5.0), Ruling.NEUTRAL)])
def test_guard_time_must_be_seen_again(again: tuple[float, float], wanted: Ruling) -> None:
    evidence = evidence_with()
    for side, us in (("before", 9.0), ("after", 5.0)):
        setattr(evidence, side, Measurement(side, cases=("case 1",), graphs=(Graph("f", "m.py", 1, 3, guard_us=us),)))
    confirm(evidence, Timed({}, again), Timed({}, (9.0, 5.0)))
    assert ruling(evidence) is wanted


class Weighed(Timed):
    """A pair of processes whose plain runs take so much memory, the first run of each more than all others."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__({})
        self.bytes = {"before": before, "after": after}

    def stage(self, name: str) -> dict[str, Any]:
        self.asked.append(name)
        first = self.asked.count("eager") == 1
        return {side: {"peak_bytes": 900 * MB - taken if first else taken} for side, taken in self.bytes.items()}


MB = 2**20


@pytest.mark.parametrize(("again", "wanted"), [((400, 100), Ruling.PROVEN), ((110, 100), Ruling.NEUTRAL)])
def test_memory_must_be_seen_again(again: tuple[int, int], wanted: Ruling) -> None:
    """By a second run: the first one loads what the code imports."""
    evidence = evidence_with()
    for side, taken in (("before", 400), ("after", 100)):
        setattr(evidence, side, Measurement(side, cases=("case 1",), peak_bytes=taken * MB))
    confirm(evidence, *(Weighed(*(one * MB for one in again)) for _ in range(2)))
    assert ruling(evidence) is wanted


def test_without_times_only_memory_is_seen_again() -> None:
    evidence = evidence_with(eager=1.3)
    evidence.is_untimed = True
    assert confirm(evidence, Timed({})) == [[]]


def test_a_process_that_cannot_be_started_is_told() -> None:
    evidence = evidence_with(eager=1.3)
    confirm(evidence)
    assert evidence.notices == ["not measured again: no process can be started"]
