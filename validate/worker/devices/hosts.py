"""Which tensors are in the host's own memory, so that reading them costs nothing."""

from __future__ import annotations

import dis
import functools
import os
import weakref
from types import CodeType, FrameType
from typing import Any

import torch

from ..graphs.places import TORCH, is_below, real_path
from .reads import tensors_in

HOST_BOUND = tuple(os.path.join(TORCH, part) for part in ("optim", os.path.join("utils", "data")))
"""Parts of torch that keep counters and orders in the host's memory on purpose."""

INTO = {"copy_": 1, "__setitem__": 2}
"""Calls that write into their first argument, by the position of what they write."""


class Devices:
    """Where there are two kinds of memory, a tensor says itself in which it is."""

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return tensor.device.type == "cpu"

    def says_cpu(self, name: str, caller: FrameType) -> bool:
        return False

    def takes_in(self, name: str, args: Any) -> bool:
        return False

    def follow(self, name: str, args: Any, kwargs: Any, result: Any, caller: FrameType) -> Any:
        return result

    def add(self, tensor: torch.Tensor) -> None: ...


class OneMemory(Devices):
    """On the CPU alone every tensor stands for one of a device, but for those that are the host's on any machine.

    These come from numpy, from `.cpu()` or from a call whose code names the CPU, or were computed from such alone. What
    is made without naming any device stands for the device's: programs that are only run on the CPU write it so.
    """

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[torch.Tensor]] = {}

    def __contains__(self, tensor: torch.Tensor) -> bool:
        known = self._known.get(id(tensor))
        return known is not None and known() is tensor

    def add(self, tensor: torch.Tensor) -> None:
        key = id(tensor)
        self._known[key] = weakref.ref(tensor, lambda _: self._known.pop(key, None))

    def remove(self, tensor: torch.Tensor) -> None:
        self._known.pop(id(tensor), None)

    def says_cpu(self, name: str, caller: FrameType) -> bool:
        return name == "cpu" or (name == "to" and names_cpu(name, caller))

    def takes_in(self, name: str, args: Any) -> bool:
        """Whether this writes data of the device into a tensor of the host's."""
        return name in INTO and args[0] in self and any(tensor not in self for tensor in tensors_in(args[INTO[name]]))

    def follow(self, name: str, args: Any, kwargs: Any, result: Any, caller: FrameType) -> Any:
        """Note where the result of a call is; returns it, or another tensor with the same memory to tell them apart."""
        given = list(tensors_in((args, kwargs)))
        if self.says_cpu(name, caller):
            result = alias(result) if result is args[0] and result not in self else result
            host = True
        elif self.takes_in(name, args):
            host = True
        elif not given:
            host = self.is_host_factory(name, kwargs, caller)
        else:
            host = all(tensor in self for tensor in given) and not moves(name, kwargs)
        changed = [result, *given[:1]] if changes_first(name) else [result]
        for tensor in tensors_in(changed):
            (self.add if host else self.remove)(tensor)
        return result

    def is_host_factory(self, name: str, kwargs: Any, caller: FrameType) -> bool:
        if kwargs.get("device") is not None:
            return names_cpu(name, caller)
        file = real_path(caller.f_code.co_filename)
        return any(is_below(file, part) for part in HOST_BOUND)


def changes_first(name: str) -> bool:
    return name == "__setitem__" or (name.endswith("_") and not name.endswith("__")) or name.startswith("__i")


def moves(name: str, kwargs: Any) -> bool:
    return name in ("to", "cuda", "type_as") or kwargs.get("device") is not None


def alias(tensor: torch.Tensor) -> torch.Tensor:
    """Another tensor over the same memory; a copy where it must be one for autograd. Subclasses stay as they are."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        return tensor
    return tensor.clone() if tensor.requires_grad and torch.is_grad_enabled() else tensor.detach()


def names_cpu(name: str, caller: FrameType) -> bool:
    """Whether the call of `name` that this frame is in has the CPU among its arguments, by a string or a name."""
    for offset, argument in reversed(loads(caller.f_code)):
        if offset >= caller.f_lasti:
            continue
        if argument == name:
            return False
        if "cpu" in argument.lower():
            return True
    return False


@functools.cache
def loads(code: CodeType) -> list[tuple[int, str]]:
    """The names and strings that a function loads, by the offset of the instruction."""
    return [(step.offset, step.argval) for step in dis.get_instructions(code) if isinstance(step.argval, str)]
