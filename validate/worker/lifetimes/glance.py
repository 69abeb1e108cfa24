"""What can be told of who holds memory without a search: references are counted, and compared with variables."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .buffers import key_of
from .variables import Variable, running_frames, values_of


class Glance(NamedTuple):
    """`tensors`: how many there are; `references`: of each that is in a variable, those to it and those of variables.

    A variable that functions share is not the frame's own, and may be held by any of them.
    """

    tensors: int
    references: tuple[tuple[int, int], ...]
    is_live: bool
    """Whether one of the variables is read again."""

    @property
    def is_dead(self) -> bool:
        """Whether nothing but variables holds it, and none of them is read again."""
        is_explained = self.tensors == len(self.references) and all(one == other for one, other in self.references)
        return is_explained and not self.is_live


def glance(keys: set[int]) -> dict[int, Glance]:
    """At the memory of each key."""
    found: dict[int, dict[int, list[Any]]] = {key: {} for key in keys}
    for frame in running_frames():
        shared = (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)
        for name, value in values_of(frame):
            if issubclass(type(value), torch.Tensor) and (key := key_of(value)) in found:
                held = found[key].setdefault(id(value), [value])
                held += [Variable(frame, name)] if name not in shared else []
        value = None
    return {key: tell(key, list(tensors.values())) for key, tensors in found.items()}


def tell(key: int, tensors: list[list[Any]]) -> Glance:
    references = tuple(sorted((references_to(one), len(one) - 1) for one in tensors))
    is_live = any(variable.is_live for _, *variables in tensors for variable in variables)
    return Glance(torch._C._storage_Use_Count(key) - UNCOUNTED, references, is_live)


def references_to(one: list[Any]) -> int:
    """Those to the first of a list, beside the list's own; many, if autograd or the like has some too."""
    return sys.getrefcount(one[0]) - OWN if uses_of(one[0]) == ALONE[0] else MANY


def uses_of(tensor: torch.Tensor) -> int:
    """By C++, where torch tells it."""
    return int(getattr(tensor, "_use_count", int)())


MANY = 1 << 30


def measure() -> tuple[int, int, int]:
    """How much is counted of a tensor that nobody else has: of itself, of its memory, and in a list of its own."""
    held = [torch.empty(1)]
    memory = StorageWeakRef(held[0].untyped_storage())  # type: ignore[no-untyped-call]
    return uses_of(held[0]), torch._C._storage_Use_Count(memory.cdata) - 1, sys.getrefcount(held[0])


ALONE = measure()
UNCOUNTED, OWN = ALONE[1:]
