"""What torch's C++ cannot make for a device that is written in Python, made in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .hosted import CPU, Hosted


def stand_ins(hosted: Hosted) -> list[tuple[Any, str, Any]]:
    """Storages, generators and pinned memory: what to put where, as (object, attribute, value)."""
    return [
        (torch.UntypedStorage, "__new__", make_storages(hosted)),
        (torch, "Generator", make_generators(hosted)),
        (torch.Tensor, "pin_memory", lambda tensor, device=None: tensor.clone()),
        (torch.Tensor, "is_pinned", lambda tensor, device=None: False),
    ]


def make_storages(hosted: Hosted) -> Callable[..., torch.UntypedStorage]:
    make: Any = torch.UntypedStorage.__new__

    def new(cls: Any, *args: Any, **kwargs: Any) -> torch.UntypedStorage:
        if torch.device(kwargs.get("device") or CPU).type != hosted.device.type:
            return make(cls, *args, **kwargs)  # type: ignore[no-any-return]
        del kwargs["device"]
        return hosted.over(make(torch.UntypedStorage, *args, **kwargs))

    return new


def make_generators(hosted: Hosted) -> type:
    """A class like `torch.Generator`, and all of its instances count as this one's."""
    real: Any = torch.Generator
    kind = hosted.device.type

    class Check(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real)

    class Generator(real, metaclass=Check):  # type: ignore[misc]
        """A generator of the CPU, wherever it says it is."""

        def __new__(cls, device: Any = CPU) -> Any:
            device = torch.device(device)
            made = real.__new__(cls, CPU if device.type == kind else device)
            made.said = device
            return made

        @property
        def device(self) -> torch.device:
            return self.said  # type: ignore[no-any-return]

    return Generator
