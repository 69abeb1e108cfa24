"""`--device fake-cuda`: the CUDA path of a program on a machine without one.

Inside `pretend()` torch believes in one CUDA device. Its tensors are plain tensors on `cuda:0` over the host's memory
(see hosted.py): the CPU computes their values, so that loops and branches that depend on data go the way they would.
The values are the CPU's and not CUDA's, and nothing can be timed. Backward works on them too (see backward.py).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch

from . import backward, cells, driver
from .device import Device, NoDevice
from .hosted import Hosted
from .replaced import replaced
from .stand_ins import stand_ins

CUDA = 1
"""torch's number of this kind of device; DLPack's is 2."""

DIFFERENT_ON_CUDA = ["aten::convolution", "aten::convolution_backward"]
"""Operators for all devices that take other ways on CUDA, which end nowhere."""


class FakeDevice(Device):
    """A CUDA device for counting: breaks, recompiles, host reads and moves of the CUDA path."""

    kind = "fake"
    how_syncs = "intercepted on fake CUDA tensors"
    cannot_show = ("values as CUDA computes them", "times", "device memory")
    is_fake = is_untimed = True

    def __init__(self) -> None:
        check()
        super().__init__(torch.device("cuda", 0))
        self.name = "fake-cuda"

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with pretend():
            yield

    def peak_bytes(self) -> int | None:
        return None


def make() -> Device:
    return FakeDevice()


def check() -> None:
    """Raise NoDevice where `pretend()` would not work."""
    if torch.cuda.is_available():
        raise NoDevice("there is a CUDA device here, so there is nothing to fake: --device cuda")
    if not hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        raise NoDevice(f"torch {torch.__version__} is too old for fake-cuda, 2.13 can do it; --device cpu works here")
    _guard_registry()


@contextlib.contextmanager
def pretend() -> Iterator[Hosted]:
    """One CUDA device, made up; afterwards there is none again. Its tensors must not be used afterwards."""
    check()
    _set_guard()
    generator = torch.Generator()
    cudnn = torch.backends.cudnn.enabled
    torch._C._set_cudnn_enabled(False)
    with replaced(driver.stand_ins(generator)):
        device = Hosted(_first_tensor(), "fake-cuda")
        device.generator = generator
        device.kernels.update(cells.KERNELS)
        own = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
        device.register("CUDA", [*DIFFERENT_ON_CUDA, *own])
        try:
            with replaced(stand_ins(device)), replaced(_engines()):
                yield device
        finally:
            device.release()
            torch._C._set_cudnn_enabled(cudnn)


def _engines() -> list[tuple[Any, str, Any]]:
    """Backward, where CUDA is in it. On CUDA it runs in a thread of its own, where nothing is compiled; so here."""

    def run(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        there = backward.touches(outputs, "cuda")
        return (backward.run_backward if there else engine)(outputs, *args, **kwargs)

    engine = torch.autograd.graph._engine_run_backward
    alone = torch._disable_dynamo(run)  # type: ignore[attr-defined]
    return [(torch.autograd, "_engine_run_backward", alone), (torch.autograd.graph, "_engine_run_backward", alone)]


# A tensor on CUDA to begin with: torch makes one of any memory that is handed over by DLPack.


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("index", ctypes.c_int))


class _Dtype(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Managed(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int),
        ("dtype", _Dtype),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_ALIVE: list[Any] = []
"""What C++ points at; for ever."""


def _first_tensor() -> torch.Tensor:
    pack = ctypes.pythonapi.PyCapsule_New
    pack.restype, pack.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    shape, memory = (ctypes.c_int64 * 1)(1), ctypes.create_string_buffer(8)
    managed = _Managed(ctypes.addressof(memory), _Device(2, 0), 1, _Dtype(2, 32, 1), shape)
    _ALIVE.append((managed, shape, memory))
    capsule = pack(ctypes.addressof(managed), b"dltensor", None)
    return torch._C._from_dlpack(capsule)


# Autograd asks the guard of a tensor's device for a stream. Without CUDA there is no guard, and torch ends the process.


def _guard_registry() -> Any:
    """The table of guards, one pointer for each kind of device."""
    name = "libc10.dylib" if sys.platform == "darwin" else "libc10.so"
    library = os.path.join(os.path.dirname(torch.__file__), "lib", name)
    try:
        return (ctypes.c_void_p * (CUDA + 1)).in_dll(ctypes.CDLL(library), "_ZN3c104impl26device_guard_impl_registryE")
    except (OSError, ValueError) as error:
        text = f"fake-cuda does not work with torch {torch.__version__} on {sys.platform}; --device cpu does"
        raise NoDevice(text) from error


def _set_guard() -> None:
    """Have torch put its own guard that does nothing in CUDA's place: it does where a guard counts no devices."""
    guards = _guard_registry()
    if guards[CUDA] is None:
        zero = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
        methods = (ctypes.c_void_p * 64)(*[ctypes.cast(zero, ctypes.c_void_p).value] * 64)
        counts_none = (ctypes.c_void_p * 1)(ctypes.addressof(methods))
        _ALIVE.append((zero, methods, counts_none))
        guards[CUDA] = ctypes.addressof(counts_none)
    torch._C._ensureCUDADeviceGuardSet()
