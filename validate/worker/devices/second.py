"""`--device second`: a device of its own, written in Python, for programs that move data between two.

Its tensors hold real values in the host's memory (see hosted.py). Autograd, modules, optimizers and random numbers work
on it as on any accelerator; so do torch.compile's backends "eager" and "aot_eager". It has no inductor, no streams, no
sparse tensors, no pinned memory; autocast casts nothing on it. Its operators go through Python: times mean nothing.
"""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import torch

from . import cells
from .device import Device, NoDevice
from .hosted import Hosted, aten
from .stand_ins import stand_ins

NAME = "second"
NOT_IMPLEMENTED = ("aten::convolution_overrideable", "aten::convolution_backward_overrideable")


class SecondDevice(Device):
    """Once chosen it stays for the life of the process: torch registers a device for good."""

    kind = NAME
    how_syncs = "intercepted on the second device"
    cannot_show = ("times", "device memory", "inductor's code", "streams and pinned memory")
    is_untimed = True
    _hosted: ClassVar[Hosted | None] = None

    def __init__(self) -> None:
        check()
        if SecondDevice._hosted is None:
            SecondDevice._hosted = register()
        self.hosted = SecondDevice._hosted
        super().__init__(torch.device(NAME, 0))
        self.name = NAME

    def peak_bytes(self) -> int | None:
        return None

    def rng_state(self) -> list[tuple[str, torch.Tensor]]:
        return [*super().rng_state(), (NAME, self.hosted.generator.get_state())]


def make() -> Device:
    return SecondDevice()


def check() -> None:
    """Raise NoDevice where torch has no room for it."""
    if not hasattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend"):
        raise NoDevice(f"torch {torch.__version__} is too old for second, 2.13 can do it; --device cpu works here")
    taken = torch._C._get_privateuse1_backend_name()
    if taken not in ("privateuseone", NAME):
        raise NoDevice(f"torch has room for one more device, and {taken} is there already; --device cpu works here")


def register() -> Hosted:
    """Make the device known to torch and take all its operators."""
    module = Module()
    torch.utils.backend_registration._setup_privateuseone_for_python_backend(NAME, backend_module=module)
    hosted = module.hosted = Hosted(torch._C._acc.create_empty_tensor((0,), torch.float32), NAME)
    hosted.kernels.update(cells.KERNELS)
    hosted.kernels[aten.convolution_overrideable.default] = aten.convolution.default
    hosted.kernels[aten.convolution_backward_overrideable.default] = convolve_backward
    hosted.register("PrivateUse1", NOT_IMPLEMENTED)
    hosted.pass_through("AutocastPrivateUse1")
    for owner, name, value in (*stand_ins(hosted), (torch._C, "_accelerator_synchronizeDevice", module.synchronize)):
        setattr(owner, name, value)
    return hosted


def convolve_backward(gradient: torch.Tensor, inputs: torch.Tensor, weight: torch.Tensor, *rest: Any) -> Any:
    return aten.convolution_backward.default(gradient, inputs, weight, [weight.shape[0]], *rest)


class Module:
    """`torch.second`, as torch asks of every device."""

    hosted: Hosted

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def device(self, index: Any) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def synchronize(self, device: Any = None) -> None: ...

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        self.hosted.generator.manual_seed(seed)

    def get_rng_state(self, device: Any = None) -> torch.Tensor:
        return self.hosted.generator.get_state()

    def set_rng_state(self, state: torch.Tensor, device: Any = None) -> None:
        self.hosted.generator.set_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]
