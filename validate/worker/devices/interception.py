"""Every call of torch's on its way in, and every operator that comes of it, looked at for host reads and moves.

A call from Python is the unit: a read is counted once for the call, however often its parts read. Operators are seen
below it, so that a read inside a call, a mask, or a copy to another device is found whatever it is spelled like.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import overrides
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import reads
from .hosts import Devices

INDEXING = ("__getitem__", "__setitem__")
BACKWARD = (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
"""Calls in which the user's code runs again; see `in_backward`."""


class Ledger(Protocol):
    """Where reads and moves are written down, at the line that is running."""

    def read(self, call: str, count: int = 1) -> None: ...

    def move(self, source: str, target: str) -> None: ...


@dataclass
class Unit:
    """One call from Python while it runs."""

    name: str
    whole: bool
    """Whether it is one read as a whole, so that nothing inside counts."""

    counted: int = 0
    moved: bool = False
    warned: bool = False

    def may_read(self) -> bool:
        """A call reads once; indexing reads every bound and every mask."""
        return not self.whole and (not self.counted or self.name in INDEXING)

    def label(self, operator: str) -> str:
        """How a read by this operator is shown: by the call, unless that says nothing."""
        if self.name in INDEXING:
            return {"local_scalar_dense": "int", "copy": "copy"}.get(operator, "mask")
        return reads.CALLS.get(self.name, self.name.strip("_"))


class Watcher:
    """What both modes share; units are kept by thread."""

    def __init__(self, ledger: Ledger, hosts: Devices) -> None:
        self.ledger = ledger
        self.hosts = hosts
        self._thread = threading.local()

    @property
    def units(self) -> list[Unit]:
        if not hasattr(self._thread, "units"):
            self._thread.units = []
        return self._thread.units  # type: ignore[no-any-return]

    def warn(self) -> None:
        """torch itself has seen the host wait; it counts where nothing else was seen."""
        if self.units:
            self.units[-1].warned = True
        else:
            self.ledger.read("sync")

    def read(self, name: str, count: int = 1) -> None:
        unit = self.units[-1] if self.units else None
        if unit is None:
            self.ledger.read("item" if name == "local_scalar_dense" else name, count)
        elif unit.may_read():
            unit.counted += count
            self.ledger.read(unit.label(name), count)

    def move(self, source: str, target: str, waits: bool) -> None:
        unit = self.units[-1] if self.units else None
        if unit is not None and unit.whole:
            return
        self.ledger.move(source, target)
        if unit is not None:
            unit.moved = True
        if waits and target == "cpu":
            self.ledger.read(unit.label("copy") if unit else "copy")


class Calls(TorchFunctionMode):
    """Calls of torch's functions and tensors' methods."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if func in BACKWARD or isinstance(func, torch._ops.OpOverload):
            return func(*args, **kwargs)
        return self.follow(func, name, args, kwargs, sys._getframe(1))

    def follow(self, func: Any, name: str, args: Any, kwargs: Any, caller: Any) -> Any:
        watcher, hosts = self.watcher, self.watcher.hosts
        first = args[0] if args and isinstance(args[0], torch.Tensor) else None
        away = first is not None and first not in hosts
        copies = first is not None and hosts.says_cpu(name, caller)
        checks = name in reads.CHECKED_ON_CPU_ONLY and first is not None and first.device.type == "cpu"
        whole = name in reads.CALLS or copies or checks
        unit = Unit(name, whole)
        watcher.units.append(unit)
        try:
            result = func(*args, **kwargs)
        finally:
            watcher.units.pop()
        waits = name in reads.CALLS or (copies and not kwargs.get("non_blocking"))
        if away and (waits or (checks and finds_classes(name, args, kwargs))):
            watcher.ledger.read(unit.label(name))
        elif hosts.takes_in(name, args) and not kwargs.get("non_blocking"):
            watcher.ledger.read("copy")
        elif name in reads.BUILDERS:
            self.count_parts(name, args, kwargs, result)
        elif unit.warned and not (unit.counted or unit.moved or whole):
            watcher.ledger.read(unit.label(name))
        return hosts.follow(name, args, kwargs, result, caller)

    def count_parts(self, name: str, args: Any, kwargs: Any, result: torch.Tensor) -> None:
        """Python data becomes a tensor: every tensor inside is read, and the result may have to be copied away."""
        data = args[name == "new_tensor"] if len(args) > (name == "new_tensor") else kwargs.get("data")
        if isinstance(data, torch.Tensor):
            return
        inside = [tensor for tensor in reads.tensors_in(data) if tensor not in self.watcher.hosts]
        if inside:
            self.watcher.ledger.read(name, sum(tensor.numel() for tensor in inside))
        if result.device.type not in ("cpu", "meta"):
            self.watcher.ledger.move("cpu", reads.spell(result.device))


class Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The operators below the calls."""

    supports_higher_order_operators = True

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.watcher = watcher
        self.count = 0
        """Operators that ran, of all threads together."""

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            return self.pass_on(func, *args, **kwargs)
        if torch.is_inference_mode_enabled():
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        self.count += 1
        self.look(func, args, kwargs)
        with torch._C.DisableTorchFunction():
            result = func(*args, **kwargs)
        if func is torch.ops.aten.lift_fresh.default:
            self.watcher.hosts.add(result)
        return result

    def pass_on(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """An operator that takes functions: what runs inside is not seen. `cond` reads what it decides by."""
        asked = args[0] if func is torch.ops.higher_order.cond else None
        if isinstance(asked, torch.Tensor) and asked not in self.watcher.hosts:
            self.watcher.read("cond")
        return func(*args, **kwargs)

    def look(self, func: Any, args: Any, kwargs: Any) -> None:
        watcher = self.watcher
        count = reads.count_reads(func, args, kwargs, watcher.hosts.__contains__)
        if count:
            watcher.read(func._schema.name.partition("::")[2].strip("_"), count)
        move = reads.find_move(func, args, kwargs)
        if move is not None:
            watcher.move(*move)


def finds_classes(name: str, args: Any, kwargs: Any) -> bool:
    """Whether this is a one_hot that must look for the number of classes, on any device."""
    return name == "one_hot" and (args[1] if len(args) > 1 else kwargs.get("num_classes", -1)) == -1


def in_backward(calls: Calls) -> list[tuple[Any, str, Any]]:
    """What to replace so that calls are seen in the user's functions and hooks that run backward."""
    engine = torch.autograd._engine_run_backward  # type: ignore[attr-defined]

    def run_watched(*args: Any, **kwargs: Any) -> Any:
        overrides._push_mode(calls)  # type: ignore[no-untyped-call]
        try:
            return engine(*args, **kwargs)
        finally:
            overrides._pop_mode()  # type: ignore[no-untyped-call]

    return [(torch.autograd, "_engine_run_backward", run_watched)]


def allow_operators_with_functions() -> None:
    """Older versions of torch ask every such operator what it does under this mode."""
    if hasattr(TorchDispatchMode, "supports_higher_order_operators"):
        return
    for operator in torch._ops._higher_order_ops.values():
        if Operators not in operator.python_key_table:
            operator.py_impl(Operators)(rule_for(operator))


def rule_for(operator: Any) -> Any:
    return lambda mode, *args, **kwargs: mode.pass_on(operator, *args, **kwargs)
