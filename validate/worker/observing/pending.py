"""Whether the last call of an object waits for its backward: by the numbers of autograd's nodes; none is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from .entries import Entry

Span = tuple[int, int]
"""Numbers of autograd's nodes: the first, and the one behind the last."""

LOOKED_AT = 5000
"""Nodes of one backward; of a bigger graph every call that waits is taken to be a part."""

read_number: Callable[[], int] = getattr(torch.autograd, "_get_sequence_nr", lambda: 0)


class Waiting:
    """One compiled object, and the nodes that its last call has made until their backward runs."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.span: Span | None = None

    def end_call(self, first: int, last: int) -> None:
        """A call has ended that made the nodes `first` up to, not including, `last`: if there are any, it waits."""
        if last > first:
            self.span = (first, last)


def settle(all_waiting: Iterable[Waiting], roots: Iterable[Any]) -> None:
    """A backward from these roots begins: the calls that it leads to wait no longer."""
    waiting = [(one, one.span) for one in all_waiting if one.span]
    reached = reach([span for _, span in waiting], roots) if waiting else set()
    for one, span in waiting:
        if span in reached:
            one.span = None
            one.entry.backwards += 1


def reach(spans: list[Span], roots: Iterable[Any]) -> set[Span]:
    """Which of the spans the graph below the roots has a node in. Inputs of a node have lower numbers than it has."""
    missing = set(spans)
    for looked_at, number in enumerate(list_numbers(roots, min(first for first, _ in spans))):
        missing -= {span for span in missing if span[0] <= number < span[1]}
        if not missing or looked_at > LOOKED_AT:
            return set(spans)
    return set(spans) - missing


def list_numbers(roots: Iterable[Any], lowest: int) -> Iterator[int]:
    with torch._C.DisableTorchFunction():
        waiting = [root.grad_fn if isinstance(root, torch.Tensor) else getattr(root, "node", None) for root in roots]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or (number := node._sequence_nr()) < lowest:
            continue
        seen.add(node)
        yield number
        waiting += [following for following, _ in node.next_functions]
