"""Uses of memory that is no longer the tensor's: every call of torch's and every operator is looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .buffers import Buffer, key_of

READERS = {"numpy", "tolist", "item", "__array__", "__dlpack__", "data_ptr", "__repr__", "__format__"}
"""Methods that read without an operator that could be seen."""

UNREAD = {"detach", "alias", "lift_fresh", "set_", "record_stream", "is_same_size"}
"""Operators that look at nothing but the outside of a tensor, beside those that make views."""

Told = Callable[[Buffer, torch.Tensor, str], None]
"""The memory, the tensor that shows it, and the name of what was given it."""


class Watch:
    """Which memory is watched, and who is told of its first use."""

    def __init__(self, stale: dict[int, Buffer], tell: Told) -> None:
        self.stale = stale
        self.tell = tell
        self.is_on = True
        self.calls: Any = WatchedCalls(self)
        self.operators: Any = WatchedOperators(self)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        before, self.is_on = self.is_on, False
        try:
            yield
        finally:
            self.is_on = before

    def look(self, name: str, values: Any) -> None:
        """Tell of everything in the arguments that should not be used any more."""
        if not self.stale or not self.is_on:
            return
        for buffer, tensor in list(self.stale_in(values)):
            with self.paused():
                self.tell(buffer, tensor, name)

    def stale_in(self, values: Any) -> Iterator[tuple[Buffer, torch.Tensor]]:
        if isinstance(values, torch.Tensor):
            if (buffer := self.stale.get(key_of(values))) is not None and buffer.is_alive:
                yield buffer, values
        elif isinstance(values, (list, tuple)):
            for one in values:
                yield from self.stale_in(one)
        elif isinstance(values, dict):
            yield from self.stale_in(list(values.values()))

    def __enter__(self) -> None:
        self.calls.__enter__()
        self.operators.__enter__()

    def __exit__(self, *error: Any) -> None:
        self.operators.__exit__(*error)
        self.calls.__exit__(*error)


class WatchedCalls(TorchFunctionMode):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in READERS:
            self.watch.look(func.__name__, args[:1])
        return func(*args, **(kwargs or {}))


class WatchedOperators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, watch: Watch) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.watch = watch

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else str(func)
        name = "item" if name == "_local_scalar_dense" else name
        if name not in UNREAD and not getattr(func, "is_view", False):
            self.watch.look(name, (args, kwargs or {}))
        return func(*args, **(kwargs or {}))
