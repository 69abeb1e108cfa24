"""Whether two tensors hold the same numbers: bit for bit, or within what their kind of number allows."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import torch

from .tensors import INTEGERS

CHUNK = 1 << 15
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute: those of torch.testing.assert_close, which has no public name for them."""


class Rule(NamedTuple):
    """When two numbers count as the same. NaN always equals NaN, and 0.0 equals -0.0 unless the sign is asked for."""

    exact: bool
    rtol: float | None = None
    atol: float | None = None
    signed_zero: bool = False

    def tolerances(self, dtype: torch.dtype) -> tuple[float, float]:
        relative, absolute = TOLERANCES.get(dtype) or one_step(dtype)
        return (relative if self.rtol is None else self.rtol, absolute if self.atol is None else self.atol)


class Gap(NamedTuple):
    """How far two tensors are apart: how many elements count as different, and where it is worst."""

    wrong: int
    total: int
    absolute: float
    relative: float
    place: list[int]
    first: str
    second: str

    def tell(self) -> str:
        return (
            f"largest absolute {self.absolute:.3g} at {self.place} "
            f"({self.wrong} of {self.total} elements; relative {self.relative:.3g})"
        )


def measure(first: torch.Tensor, second: torch.Tensor, rule: Rule) -> Gap | None:
    """The gap between tensors of one shape and kind; None if they are the same, bit for bit."""
    shape = first.shape
    first, second = collapse(first, second)
    if first.numel() == 0 or torch.equal(as_bits(first), as_bits(second)):
        return None
    repeated = math.prod(shape) // first.numel()
    wrong, worst, place = scan(first.reshape(-1), second.reshape(-1), rule)
    ours, theirs = (one.reshape(-1)[place].item() for one in (first, second))
    absolute = worst if math.isinf(worst) else float(abs(ours - theirs))
    size = float(abs(ours))
    relative = absolute / size if 0 < size < math.inf else math.inf if absolute else 0.0
    index = unravel(place, list(first.shape))
    return Gap(wrong * repeated, math.prod(shape), absolute, relative, index, *tell_pair(ours, theirs))


def scan(first: torch.Tensor, second: torch.Tensor, rule: Rule) -> tuple[int, float, int]:
    """How many are wrong, the largest error and its place; among the wrong ones, if there are any."""
    wrong, worst, place = 0, -1.0, 0
    for start in range(0, first.numel(), CHUNK):
        ours, theirs = first[start : start + CHUNK], second[start : start + CHUNK]
        if torch.equal(as_bits(ours), as_bits(theirs)):
            continue
        same = are_same(ours, theirs, rule.signed_zero and rule.exact)
        gaps = find_gaps(ours, theirs).masked_fill_(same, 0.0)
        bad = ~same if rule.exact or not is_inexact(ours) else ~(same | are_close(ours, theirs, gaps, rule))
        count = int(bad.sum())
        if count and not wrong:
            worst = -1.0
        if count or not wrong:
            counted = gaps.masked_fill_(~bad, -1.0) if count else gaps
            largest, at = float(counted.max()), int(counted.argmax())
            if largest > worst:
                worst, place = largest, start + at
        wrong += count
    return wrong, max(worst, 0.0), place


def are_same(first: torch.Tensor, second: torch.Tensor, signed_zero: bool) -> torch.Tensor:
    if first.is_complex():
        return are_same(torch.view_as_real(first), torch.view_as_real(second), signed_zero).all(-1)
    same = first == second
    if not is_inexact(first):
        return same
    first, second = first.double(), second.double()
    if signed_zero:
        same &= first.signbit() == second.signbit()
    return same | (first.isnan() & second.isnan())


def find_gaps(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Absolute errors; infinite where only one is a number or finite."""
    wide = torch.complex128 if first.is_complex() else torch.float64
    return (first.to(wide) - second.to(wide)).abs().nan_to_num_(nan=math.inf, posinf=math.inf)


def are_close(first: torch.Tensor, second: torch.Tensor, gaps: torch.Tensor, rule: Rule) -> torch.Tensor:
    """The first is what is expected: its size counts, as in torch.testing."""
    relative, absolute = rule.tolerances(first.dtype)
    wide = torch.complex128 if first.is_complex() else torch.float64
    size = first.to(wide).abs()
    return gaps.isfinite() & size.isfinite() & (gaps <= absolute + relative * size)


def is_inexact(numbers: torch.Tensor) -> bool:
    return numbers.is_floating_point() or numbers.is_complex()


def one_step(dtype: torch.dtype) -> tuple[float, float]:
    """For the small floats that torch.testing has no tolerance for: the distance to the next number.

    Counted from the name (`float8_e5m2fnuz` has two bits of mantissa), as torch 2.13 tells a wrong one for some.
    """
    mantissa = re.search(r"_e\dm(\d)", str(dtype))
    return (2.0 ** -int(mantissa[1]), torch.finfo(dtype).tiny) if mantissa else (0.0, 0.0)


def collapse(first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Without the dimensions along which both only repeat themselves."""
    for dimension, size in enumerate(first.shape):
        if size > 1 and first.stride(dimension) == 0 == second.stride(dimension):
            first, second = first.narrow(dimension, 0, 1), second.narrow(dimension, 0, 1)
    return first, second


def as_bits(numbers: torch.Tensor) -> torch.Tensor:
    if numbers.is_complex():
        numbers = torch.view_as_real(numbers)
    return numbers.view(INTEGERS[numbers.element_size()])


def unravel(place: int, shape: list[int]) -> list[int]:
    index = []
    for size in reversed(shape):
        index.append(place % size)
        place //= size
    return index[::-1]


def tell_pair(first: Any, second: Any) -> tuple[str, str]:
    """Both numbers with as few digits as tell them apart."""
    if isinstance(first, (int, complex)):
        return str(first), str(second)
    for digits in (6, 9, 17):
        shown = format(first, f".{digits}g"), format(second, f".{digits}g")
        if shown[0] != shown[1]:
            return shown
    return str(first), str(second)
