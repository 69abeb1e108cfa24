"""Which places lie in the same memory, so that writing to one changes the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

from .leaf import Leaf

LARGEST = 1 << 24
"""Bytes over which two grids are laid over each other; further apart, that their ranges meet is enough."""

CROWDED = 64
"""Places in one stretch of memory of which each is held against each; of more, all are in the memory of the first."""


class Span(NamedTuple):
    """Where a tensor or an array lies: all of its bytes are in the range, and the grid says which of them are its."""

    path: str
    start: int
    end: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int
    base: int

    @property
    def is_dense(self) -> bool:
        size = self.itemsize
        for count in self.shape:
            size *= count
        return size == self.end - self.start and 0 not in self.strides


def read_shared(places: Sequence[tuple[str, Any]]) -> list[Leaf]:
    """For each place that meets an earlier one: the first that it meets."""
    spans = [span for path, value in places for span in [find_span(path, value)] if span]
    homes: dict[int, str] = {}
    for stretch in find_stretches(spans):
        if len(stretch) > CROWDED:
            homes.update((number, spans[stretch[0]].path) for number in stretch[1:])
            continue
        for place, number in enumerate(stretch):
            first = next((one for one in stretch[:place] if overlap(spans[one], spans[number])), None)
            if first is not None:
                homes[number] = spans[first].path
    return [(spans[number].path, "memory", homes[number]) for number in sorted(homes)]


def find_stretches(spans: Sequence[Span]) -> Iterator[list[int]]:
    """The numbers of spans whose ranges meet, directly or through others; each stretch in the order of the places."""
    stretch: list[int] = []
    end = 0
    for number in sorted(range(len(spans)), key=lambda number: spans[number].start):
        if stretch and spans[number].start >= end:
            yield sorted(stretch)
            stretch, end = [], 0
        stretch.append(number)
        end = max(end, spans[number].end)
    if stretch:
        yield sorted(stretch)


def overlap(first: Span, second: Span) -> bool:
    """Whether they have a byte in common: two columns of one matrix have none."""
    if first.start >= second.end or second.start >= first.end:
        return False
    low, high = min(first.start, second.start), max(first.end, second.end)
    if (first.is_dense and second.is_dense) or high - low > LARGEST or min((*first.strides, *second.strides, 0)) < 0:
        return True
    marked = torch.zeros(high - low, dtype=torch.bool, device="cpu")
    lay(marked, first, low).fill_(True)
    return bool(lay(marked, second, low).any())


def lay(marked: torch.Tensor, span: Span, low: int) -> torch.Tensor:
    return marked.as_strided((*span.shape, span.itemsize), (*span.strides, 1), span.base - low)


def find_span(path: str, value: Any) -> Span | None:
    """None where there is no memory to share."""
    try:
        if issubclass(type(value), torch.Tensor):
            return find_tensor(path, value)
        interface = sys.modules["numpy"].ndarray.__array_interface__.__get__(value)
        return make_span(path, interface["data"][0], value.shape, value.strides, value.itemsize)
    except (RuntimeError, NotImplementedError):
        return None


def find_tensor(path: str, value: torch.Tensor) -> Span | None:
    with torch._C.DisableTorchFunctionSubclass():
        if value.device.type != "cpu" and value.device.type != "cuda":
            return None
        size = value.element_size()
        strides = tuple(stride * size for stride in value.stride())
        start: Any = value.untyped_storage().data_ptr()
        return make_span(path, start and start + value.storage_offset() * size, tuple(value.shape), strides, size)


def make_span(path: str, base: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Span | None:
    if not base or 0 in shape:
        return None
    reaches = [(count - 1) * stride for count, stride in zip(shape, strides)]
    start = base + sum(reach for reach in reaches if reach < 0)
    end = base + sum(reach for reach in reaches if reach > 0) + itemsize
    return Span(path, start, end, tuple(shape), tuple(strides), itemsize, base)
