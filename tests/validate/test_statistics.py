"""Ratios that are sure, and ratios that are not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.validate.judge import compare_speed
from fullgraph.validate.model import Ratio
from fullgraph.validate.statistics import joined, ratio_of


def blocks(center: float, spread: float, seed: int, count: int = 40) -> list[float]:
    draw = random.Random(seed)
    return [center * (1 + draw.gauss(0, spread)) for _ in range(count)]


def test_twice_as_fast_is_found() -> None:
    ratio = ratio_of(blocks(2.0, 0.05, 5), blocks(1.0, 0.05, 6))
    assert ratio.low < 2 < ratio.high
    assert ratio.low > 1.9


def test_what_drifts_on_both_sides_cancels() -> None:
    drift = [1 + 0.02 * turn for turn in range(40)]
    ratio = ratio_of([1.2 * d for d in drift], drift)
    assert (ratio.low, ratio.high) == pytest.approx((1.2, 1.2))


def test_a_few_wild_blocks_do_not_decide() -> None:
    before = blocks(1.0, 0.01, 3)
    before[5] = before[17] = 30.0
    assert compare_speed("eager", "eager", ratio_of(before, blocks(1.0, 0.01, 4))).tendency == "same"


def test_the_same_code_is_called_the_same() -> None:
    for seed in range(100):
        ratio = ratio_of(blocks(1.0, 0.03, seed), blocks(1.0, 0.03, seed + 1000))
        assert compare_speed("eager", "eager", ratio).tendency == "same", ratio


def test_slower_is_said_with_the_slow_down() -> None:
    reason = compare_speed("compiled", "compiled pass", ratio_of(blocks(1.0, 0.01, 1), blocks(1.5, 0.01, 2)))
    assert reason.tendency == "worse"
    assert reason.text.startswith("compiled pass 1.49x slower [1.49")


def test_which_side_comes_first_does_not_matter() -> None:
    """The second of a turn is often the slower one, whatever it runs."""
    first, second = blocks(1.0, 0.01, 7, 48), blocks(1.2, 0.01, 8, 48)
    before = [pair[turn % 2] for turn, pair in enumerate(zip(first, second, strict=True))]
    after = [pair[1 - turn % 2] for turn, pair in enumerate(zip(first, second, strict=True))]
    ratio = ratio_of(before, after)
    assert ratio.high / ratio.low < 1.02
    assert compare_speed("eager", "eager", ratio).tendency == "same"


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_few_blocks_claim_little(count: int) -> None:
    claims = 0
    for seed in range(200):
        ratio = ratio_of(blocks(1.0, 0.05, seed, count), blocks(1.0, 0.05, seed + 1000, count))
        claims += compare_speed("eager", "eager", ratio).tendency in ("better", "worse")
    assert claims <= 10
    assert compare_speed("eager", "eager", ratio_of([300.0] * count, [1.0] * count)).tendency == "better"


def test_two_measurements_that_disagree_prove_nothing() -> None:
    faster = ratio_of(blocks(1.3, 0.01, 1), blocks(1.0, 0.01, 2))
    level = ratio_of(blocks(1.0, 0.01, 3), blocks(1.0, 0.01, 4))
    assert compare_speed("eager", "eager pass", faster).tendency == "better"
    assert compare_speed("eager", "eager pass", joined([faster, level])).tendency == "noisy"


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=50))
def test_the_ratio_lies_in_its_interval(times: list[float]) -> None:
    ratio = ratio_of(times, list(reversed(times)))
    assert ratio.low <= ratio.ratio * (1 + 1e-9)
    assert ratio.ratio <= ratio.high * (1 + 1e-9)


def test_a_busy_machine_decides_nothing() -> None:
    """Seen once: code that reads less was called 6.23 times slower, [1.14, 25.85], because others ran meanwhile."""
    reason = compare_speed("eager", "eager pass", Ratio(1 / 6.23, 1 / 25.85, 1 / 1.14, 5))
    assert (reason.tendency, reason.text) == ("noisy", "eager pass too noisy to tell [0.04, 0.88]")


def test_much_faster_is_faster_however_wide_the_interval() -> None:
    assert compare_speed("eager", "eager pass", Ratio(80.0, 40.0, 170.0, 5)).tendency == "better"
