"""The one place that knows accelerators. CUDA, ROCm, XPU and MPS are one path, through `torch.accelerator`."""

from __future__ import annotations

import contextlib
import importlib
import platform
import re
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import torch

from ..process.own import open_file
from . import memory

MADE_UP = {"fake-cuda": "counts only", "second": "a second device on the CPU"}
"""Devices that are not there, by what they are for; `fake` and `second` are the modules that make them."""


class NoDevice(Exception):  # noqa: N818
    """The device that was asked for is not here; the text says what is."""


def choose(name: str) -> Device:
    """The device for `--device`: auto, cpu, cuda, cuda:1, mps, xpu, fake-cuda or second."""
    if name in MADE_UP:
        made: Device = import_made_up(name).make()
        return made
    there = accelerators()
    if name == "auto":
        name = there[0] if there else "cpu"
    try:
        wanted = torch.device(name)
    except RuntimeError as error:
        raise NoDevice(f"no device is called {name!r}; {say_choice(there)}") from error
    if wanted.type == "cpu":
        return Device()
    index = wanted.index if wanted.index is not None else current_index(wanted.type, there)
    if f"{wanted.type}:{index}" not in there:
        raise NoDevice(f"there is no {name} here; {say_choice(there)}")
    return Accelerator(torch.device(wanted.type, index))


def accelerators() -> list[str]:
    """The devices of the accelerator that torch finds here, the current one first."""
    if not torch.accelerator.is_available():
        return []
    kind = torch.accelerator.current_accelerator()
    assert kind is not None
    names = [f"{kind.type}:{index}" for index in range(torch.accelerator.device_count())]
    current = torch.accelerator.current_device_index()
    return names[current:] + names[:current]


def current_index(kind: str, there: list[str]) -> int:
    return next((int(name.partition(":")[2]) for name in there if name.startswith(f"{kind}:")), 0)


def say_choice(there: list[str]) -> str:
    """`--device takes auto, cpu, cuda:0 or second (a second device on the CPU)`"""
    *others, last = [
        "auto",
        "cpu",
        *there,
        *(f"{name} ({what})" for name, what in MADE_UP.items() if is_possible(name)),
    ]
    return f"--device takes {', '.join(others)} or {last}"


def is_possible(name: str) -> bool:
    try:
        import_made_up(name).check()
    except NoDevice:
        return False
    return True


def import_made_up(name: str) -> Any:
    return importlib.import_module(f".{name.partition('-')[0]}", __package__)


class Device:
    """The CPU, and what every other device does unless it says otherwise."""

    kind = "cpu"
    how_syncs = "intercepted on the CPU"
    cannot_show: tuple[str, ...] = (
        "what a host read costs (nothing here)",
        "CUDA graphs",
        "streams and pinned memory",
    )
    is_fake = False
    """Whether it is for counting only, because its values are not those of the device it stands for."""
    is_untimed = False
    """Whether its times mean nothing."""
    is_accelerator = False
    """Whether it has streams, events and pinned memory, so that what is asked of them is done."""

    def __init__(self, torch_device: torch.device | None = None) -> None:
        self.torch_device = torch_device or torch.device("cpu")
        self.name = str(self.torch_device)
        self._memory = memory.Resident()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Inside, the device can be used."""
        yield

    def describe(self) -> dict[str, Any]:
        return {
            "device": self.name,
            "name": processor(),
            "driver": None,
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "memory_bytes": memory.total(),
            "cannot_show": list(self.cannot_show),
            "is_fake": self.is_fake,
            "is_untimed": self.is_untimed,
            "is_accelerator": self.is_accelerator,
        }

    def synchronize(self) -> None:
        """Wait until all that was asked of it is done."""

    def timer(self) -> Timer:
        return Timer(self)

    def reset_peak(self) -> None:
        self._memory.reset()

    def peak_bytes(self) -> int | None:
        """The most memory in use since `reset_peak`, beyond what was in use then."""
        return self._memory.peak()

    def rng_state(self) -> list[tuple[str, torch.Tensor]]:
        """The state of every generator of torch's, by name."""
        return [("torch", torch.get_rng_state())]

    def seed(self, number: int) -> None:
        torch.manual_seed(number)


class Accelerator(Device):
    """A device that torch has found: CUDA, ROCm, XPU, MPS."""

    how_syncs = "intercepted"
    cannot_show: tuple[str, ...] = ()
    is_accelerator = True

    def __init__(self, torch_device: torch.device) -> None:
        super().__init__(torch_device)
        self.kind = torch_device.type
        self.module: Any = torch.get_device_module(torch_device)
        self._before: int | None = None
        if self.kind == "cuda":
            self.how_syncs = "torch's sync debug mode, and intercepted"
        if hasattr(torch.accelerator, "set_device_index"):
            torch.accelerator.set_device_index(torch_device.index)

    def describe(self) -> dict[str, Any]:
        name = self._ask("get_device_name", self.torch_device) or self.kind
        properties = self._ask("get_device_properties", self.torch_device)
        total = getattr(properties, "total_memory", None) or self._ask("recommended_max_memory")
        own = {"name": name, "driver": driver(), "runtime": runtime(), "memory_bytes": total}
        return {**super().describe(), **own}

    def _ask(self, name: str, *args: Any) -> Any:
        function = getattr(self.module, name, None)
        return function(*args) if function else None

    def synchronize(self) -> None:
        torch.accelerator.synchronize()

    def timer(self) -> Timer:
        return EventTimer(self, self.module.Event) if hasattr(self.module, "Event") else Timer(self)

    def reset_peak(self) -> None:
        self.synchronize()
        self._before = self._ask("memory_allocated", self.torch_device)
        self._ask("reset_peak_memory_stats", self.torch_device)

    def peak_bytes(self) -> int | None:
        most = self._ask("max_memory_allocated", self.torch_device)
        return None if most is None or self._before is None else max(0, most - self._before)

    def rng_state(self) -> list[tuple[str, torch.Tensor]]:
        return [*super().rng_state(), (self.kind, self.module.get_rng_state())]


class Timer:
    """`with device.timer() as timer: ...`, and then `timer.seconds`."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.seconds = 0.0

    def __enter__(self) -> Timer:
        self.device.synchronize()
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = self.stop()

    def start(self) -> None:
        self._started = perf_counter()

    def stop(self) -> float:
        self.device.synchronize()
        return perf_counter() - self._started


class EventTimer(Timer):
    """The accelerator's own clock."""

    def __init__(self, device: Device, event: Any) -> None:
        super().__init__(device)
        self._first, self._last = event(enable_timing=True), event(enable_timing=True)

    def start(self) -> None:
        self._first.record()

    def stop(self) -> float:
        self._last.record()
        self._last.synchronize()
        return float(self._first.elapsed_time(self._last)) / 1000


def processor() -> str:
    with contextlib.suppress(OSError), open_file("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def runtime() -> str | None:
    """`CUDA 12.4`, `ROCm 6.2`, `XPU 20250000`."""
    kinds = (("CUDA", "cuda"), ("ROCm", "hip"), ("XPU", "xpu"))
    found = [(name, getattr(torch.version, attribute, None)) for name, attribute in kinds]
    return next((f"{name} {version}" for name, version in found if version), None)


def driver() -> str | None:
    """The driver's version, as its kernel module tells it; `12.4` where only the interface is known."""
    with contextlib.suppress(OSError), open_file("/proc/driver/nvidia/version", encoding="utf-8") as text:
        found = re.search(r"\s(\d+(?:\.\d+)+)\s", text.readline())
        if found:
            return found[1]
    version = getattr(torch._C, "_cuda_getDriverVersion", int)()
    return f"{version // 1000}.{version % 1000 // 10}" if version else None
