"""The memory of an output: known without keeping it alive, and made unreadable when its time is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .places import Call, Place

MIXED = 0x7F
"""Byte of which values are made whose dtype has no number that stands out."""


@dataclass
class Step:
    """What began a generation, and so ended the one before."""

    call: Place | None
    mark: Call | None = None
    pending: bool = False
    """Whether a backward was still to come."""


@dataclass(eq=False)
class Buffer:
    """One output of a compiled graph. `ended` says what has overwritten it, once something has."""

    memory: StorageWeakRef
    dtype: torch.dtype
    shape: tuple[int, ...]
    call: Call
    phase: str
    """forward (a backward may follow), inference or backward."""

    serial: int
    ended: Step | None = None
    found: set[Any] = field(default_factory=set)
    """The hazards that it is part of already."""

    @property
    def made(self) -> Place | None:
        return self.call.place

    @property
    def key(self) -> int:
        return int(self.memory.cdata)

    @property
    def is_alive(self) -> bool:
        return not self.memory.expired()  # type: ignore[no-untyped-call]

    @property
    def describes(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')} {list(self.shape)}"


def key_of(tensor: torch.Tensor) -> int:
    """Names the memory that a tensor shows; 0 for one that has none of its own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):
        return 0


def poison(buffer: Buffer) -> None:
    """Overwrite it as the next run would: NaN, the least integer, the other bool. Versions of tensors do not change."""
    storage = torch.UntypedStorage._new_with_weak_ptr(buffer.memory.cdata)
    if storage is None or not storage.nbytes():
        return
    with torch.inference_mode(False), torch.no_grad():
        if buffer.dtype is torch.bool:
            whole = torch.empty(0, dtype=torch.bool, device=storage.device).set_(storage)
            whole.logical_not_()
        elif (buffer.dtype.is_floating_point and buffer.dtype.itemsize > 1) or buffer.dtype.is_complex:
            torch.empty(0, dtype=buffer.dtype, device=storage.device).set_(storage).fill_(float("nan"))
        elif buffer.dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
            whole = torch.empty(0, dtype=buffer.dtype, device=storage.device).set_(storage)
            whole.fill_(torch.iinfo(buffer.dtype).min)
        else:
            torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage).fill_(MIXED)
