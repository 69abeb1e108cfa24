"""Numbers are equal bit for bit, or close as torch itself would have it; and the worst place is found."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.validate.worker.recording import closeness
from fullgraph.validate.worker.recording.closeness import CHUNK, TOLERANCES, Rule, measure

EXACT, CLOSE = Rule(True), Rule(False)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
SMALL_FLOATS = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
LOOSE: dict[str, Any] = {"between": "before", "exact": False}


@pytest.mark.parametrize("dtype", [*FLOATS, *SMALL_FLOATS], ids=str)
def test_one_step_of_a_float_is_seen_exactly_and_forgiven_otherwise(dtype: torch.dtype) -> None:
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    one = torch.ones(5).to(dtype)
    next_one = (one.view(bits) + torch.tensor([0, 0, 1, 0, 0], dtype=bits)).view(dtype)
    gap = measure(one, next_one, EXACT)
    assert gap is not None
    assert (gap.wrong, gap.place) == (1, [2])
    assert gap.first != gap.second
    loose = measure(one, next_one, CLOSE)
    assert loose is not None
    assert (loose.wrong, loose.place) == (0, [2])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_is_nan_and_the_sign_of_zero_counts_when_asked(dtype: torch.dtype) -> None:
    numbers = torch.tensor([math.nan, 0.0, math.inf, -math.inf, 1.0], dtype=dtype)
    others = torch.tensor([-math.nan, -0.0, math.inf, -math.inf, 1.0], dtype=dtype)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    others.view(bits)[0] |= 1
    for rule in (EXACT, CLOSE, Rule(False, signed_zero=True)):
        gap = measure(numbers, others, rule)
        assert gap is None or gap.wrong == 0
    signed = measure(numbers, others, Rule(True, signed_zero=True))
    assert signed is not None
    assert (signed.wrong, signed.place, signed.first, signed.second) == (1, [1], "0", "-0")


@pytest.mark.parametrize("rule", [EXACT, CLOSE])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_infinite_and_missing_numbers_are_far_from_all_others(rule: Rule, dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    pairs = [(math.inf, largest), (math.inf, -math.inf), (math.nan, 0.0), (math.nan, math.inf), (-math.inf, 1.0)]
    for one, other in [*pairs, *((b, a) for a, b in pairs)]:
        gap = measure(torch.tensor([0, one], dtype=dtype), torch.tensor([0, other], dtype=dtype), rule)
        assert gap is not None
        assert (gap.wrong, gap.place, gap.absolute) == (1, [1], math.inf)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_are_compared_exactly_always(dtype: torch.dtype) -> None:
    largest = torch.iinfo(dtype).max
    one, other = torch.tensor([1, largest], dtype=dtype), torch.tensor([1, largest - 1], dtype=dtype)
    gap = measure(one, other, Rule(False, rtol=1.0, atol=100.0))
    assert gap is not None
    assert (gap.wrong, gap.place, gap.absolute, gap.first) == (1, [1], 1.0, str(largest))


def test_bools_are_compared_exactly() -> None:
    gap = measure(torch.tensor([True, False]), torch.tensor([True, True]), CLOSE)
    assert gap is not None
    assert (gap.first, gap.second, gap.absolute) == ("False", "True", 1.0)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_numbers_are_compared_part_by_part(dtype: torch.dtype) -> None:
    one = torch.tensor([complex(1, math.nan), 1 + 2j], dtype=dtype)
    assert measure(one, one.clone(), EXACT) is None
    other = torch.tensor([complex(2, math.nan), 1 + 2j], dtype=dtype)
    gap = measure(one, other, EXACT)
    assert gap is not None
    assert (gap.wrong, gap.place) == (1, [0])
    near = measure(one, one + torch.tensor([0, 1e-9j], dtype=torch.complex128).to(dtype), CLOSE)
    assert near is None or near.wrong == 0


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_tolerances_are_those_of_torch(dtype: torch.dtype) -> None:
    from torch.testing._comparison import default_tolerances

    assert TOLERANCES[dtype] == default_tolerances(dtype)


numbers = st.floats(width=32) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 1e-5])


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8), st.sampled_from(FLOATS))
def test_closeness_agrees_with_torch(pairs: list[tuple[float, float]], dtype: torch.dtype) -> None:
    expected, actual = (torch.tensor(side, dtype=dtype) for side in zip(*pairs, strict=True))
    relative, absolute = TOLERANCES[dtype]
    wide = expected.double(), actual.double()
    close = torch.isclose(wide[1], wide[0], rtol=relative, atol=absolute, equal_nan=True)
    gap = measure(expected, actual, CLOSE)
    assert (gap.wrong if gap else 0) == int((~close).sum())


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_exactness_agrees_with_python(pairs: list[tuple[float, float]]) -> None:
    expected, actual = (torch.tensor(side, dtype=torch.float64) for side in zip(*pairs, strict=True))
    apart = [a != b and not (math.isnan(a) and math.isnan(b)) for a, b in pairs]
    gap = measure(expected, actual, EXACT)
    assert (gap.wrong if gap else 0) == sum(apart)


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    one = torch.randn(7, 11)
    other = one + (torch.rand(7, 11) > 0.9) * torch.randn(7, 11)
    whole = [measure(one, other, rule) for rule in (EXACT, Rule(False, 0.1, 0.1), Rule(False, 10, 10))]
    monkeypatch.setattr(closeness, "CHUNK", 4)
    assert whole == [measure(one, other, rule) for rule in (EXACT, Rule(False, 0.1, 0.1), Rule(False, 10, 10))]


def test_a_wrong_number_is_told_before_a_larger_error_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closeness, "CHUNK", 2)
    one, other = torch.tensor([1e6, 0, 0, 0, 1e6]), torch.tensor([1e6 + 0.5, 0, 0, 0.1, 1e6 + 0.5])
    gap = measure(one, other, CLOSE)
    assert gap is not None
    assert (gap.wrong, gap.place, gap.first, gap.second) == (1, [3], "0", "0.1")


def test_a_place_beyond_the_first_chunk_is_found() -> None:
    one = torch.zeros(3, CHUNK)
    other = one.clone()
    other[2, 5] = 1
    gap = measure(one, other, EXACT)
    assert gap is not None
    assert gap.place == [2, 5]


def test_expanded_tensors_are_compared_without_their_repetition() -> None:
    one = torch.arange(3.0).reshape(3, 1).expand(3, 10**9)
    gap = measure(one, (torch.arange(3.0) * 2).reshape(3, 1).expand(3, 10**9), EXACT)
    assert gap is not None
    assert (gap.wrong, gap.total, gap.place) == (2 * 10**9, 3 * 10**9, [2, 0])
    assert measure(one, torch.arange(3.0).reshape(3, 1).expand(3, 10**9), EXACT) is None
    small = torch.arange(3.0).reshape(3, 1).expand(3, 4)
    assert measure(small, small.contiguous(), EXACT) is None


def test_the_sign_of_zero_does_not_count_within_a_tolerance() -> None:
    plus, minus = torch.tensor([0.0, 1.0]), torch.tensor([-0.0, 1.0])
    exact = measure(plus, minus, Rule(exact=True, signed_zero=True))
    assert exact is not None
    assert exact.wrong == 1
    close = measure(plus, minus, Rule(exact=False, signed_zero=True))
    assert close is None or close.wrong == 0


def test_the_size_of_what_is_expected_decides_how_near_is_near() -> None:
    rule = Rule(exact=False, rtol=0.5, atol=0.0)
    large, small = torch.tensor([10.0]), torch.tensor([6.0])
    within, beyond = measure(large, small, rule), measure(small, large, rule)
    assert within is not None
    assert beyond is not None
    assert (within.wrong, beyond.wrong) == (0, 1)
