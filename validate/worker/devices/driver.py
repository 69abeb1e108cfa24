"""The parts of CUDA below `torch.cuda`, for a machine that has none: one device, one stream, nothing to wait for.

The functions of `torch.cuda` stay torch's own, so that torch.compile treats them as it would with a real device; what
they call in turn is replaced.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch

NAME = "fake CUDA device"
STREAM = (0, 0, 1)
"""Stream, device and kind of device, as torch's C functions tell them."""

PROPERTIES = types.SimpleNamespace(
    name=NAME,
    major=8,
    minor=0,
    total_memory=16 * 2**30,
    multi_processor_count=1,
    warp_size=32,
    max_threads_per_multi_processor=2048,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=48 * 2**10,
    L2_cache_size=2**20,
    gcnArchName="",
    is_integrated=0,
    is_multi_gpu_board=0,
    uuid="0",
)


class Stream:
    """A stream on which everything is done at once."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device = torch.device("cuda", 0)
        self.stream_id, self.device_index, self.device_type = STREAM
        self.cuda_stream = 0
        self.priority = priority

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def wait_stream(self, stream: Stream) -> None: ...

    def wait_event(self, event: Event) -> None: ...

    def record_event(self, event: Event | None = None) -> Event:
        return event or Event()

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0


class Event:
    """An event that has always happened already; there are no times."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, stream: Stream | None = None) -> None: ...

    def wait(self, stream: Stream | None = None) -> None: ...

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def elapsed_time(self, end: Event) -> float:
        return 0.0


def stand_ins(generator: torch.Generator) -> list[tuple[Any, str, Any]]:
    """What is replaced in torch, by object and attribute."""
    below = {**_answers(), **{f"_{name}": _nothing for name in _SILENT}}
    above: dict[str, Any] = {
        "_initialized": True,
        "_queued_calls": [],
        "_lazy_init": _nothing,
        "_is_in_bad_fork": lambda: False,
        "_exchange_device": lambda index: 0,
        "_maybe_exchange_device": lambda index: 0,
        "_device_count_nvml": lambda: 1,
        "_cached_device_count": 1,
        "_get_device_properties": lambda index: PROPERTIES,
        "get_device_properties": lambda device=None: PROPERTIES,
        "mem_get_info": lambda device=None: (PROPERTIES.total_memory, PROPERTIES.total_memory),
        "default_generators": (generator,),
        "Stream": Stream,
        "Event": Event,
    }
    beside = {(torch.Tensor, "record_stream"): _nothing, (torch.cuda.nvtx, "_nvtx"): _NoMarks()}
    both = ((torch._C, below), (torch.cuda, above))
    inside = [(owner, name, value) for owner, values in both for name, value in values.items()]
    return [*inside, *((owner, name, value) for (owner, name), value in beside.items())]


class _NoMarks:
    """Marks for a profiler that is not there."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


_SILENT = (
    *("cuda_init", "cuda_setDevice", "cuda_synchronize", "cuda_setStream", "cuda_emptyCache", "cuda_ipc_collect"),
    *("cuda_resetPeakMemoryStats", "cuda_resetAccumulatedMemoryStats", "cuda_set_sync_debug_mode"),
    *("accelerator_setDeviceIndex", "accelerator_setStream", "accelerator_synchronizeDevice", "accelerator_emptyCache"),
)


def _answers() -> dict[str, Callable[..., Any]]:
    return {
        "_cuda_getDeviceCount": lambda: 1,
        "_cuda_getDevice": lambda: 0,
        "_cuda_exchangeDevice": lambda index: 0,
        "_cuda_maybeExchangeDevice": lambda index: 0,
        "_cuda_getCurrentStream": lambda index: STREAM,
        "_cuda_getDefaultStream": lambda index: STREAM,
        "_cuda_getCurrentRawStream": lambda index: 0,
        "_cuda_isCurrentStreamCapturing": lambda: False,
        "_cuda_memoryStats": lambda index: {},
        "_cuda_get_sync_debug_mode": lambda: 0,
        "_accelerator_getAccelerator": lambda: torch.device("cuda"),
        "_accelerator_getDeviceIndex": lambda: 0,
        "_accelerator_getStream": lambda index: Stream(),
        "_accelerator_isAllocatorInitialized": lambda: False,
    }


def _nothing(*args: Any, **kwargs: Any) -> None: ...
