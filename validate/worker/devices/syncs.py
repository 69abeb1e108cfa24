"""Host reads of device data and copies between devices, counted by the line of the user's code that makes them."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import torch
from torch import overrides
from torch.utils import _python_dispatch

from ..graphs.places import INSTALLED, is_below, is_ours, is_pythons, is_users, real_path
from .hosts import Devices, OneMemory
from .interception import Calls, Operators, Watcher, allow_operators_with_functions, in_backward
from .replaced import replaced

SYNCHRONIZING = ("_cuda_synchronize", "_accelerator_synchronizeDevice")
SEEN_BY_TORCH = "called a synchronizing CUDA operation"


def count_syncs(run: Callable[[], Any], device: Any, roots: list[str]) -> dict[str, Any]:
    """Run it eagerly and count, line by line. Threads that it starts are counted too, those it finds are not."""
    lines = Lines(roots)
    kind = device.torch_device.type
    watcher = Watcher(lines, OneMemory() if kind == "cpu" else Devices())
    calls, operators = Calls(watcher), Operators(watcher)
    allow_operators_with_functions()
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        stack.enter_context(in_new_threads(calls, operators))
        stack.enter_context(replaced([*in_backward(calls), *in_waiting(lines)]))
        how = stack.enter_context(debugging(device, watcher))
        stack.enter_context(operators)
        stack.enter_context(calls)
        run()
    counted = {"syncs": lines.as_json(lines.syncs), "moves": lines.as_json(lines.moves)}
    return {**counted, "operations": operators.count, "how": how}


class Lines:
    """Counts by file, line and call."""

    def __init__(self, roots: list[str]) -> None:
        self.roots = [os.path.realpath(root) for root in roots]
        self.syncs: Counter[tuple[str, int, str]] = Counter()
        self.moves: Counter[tuple[str, int, str]] = Counter()
        self.starter = threading.get_ident()
        self._lock = threading.Lock()

    def read(self, call: str, count: int = 1) -> None:
        self._note(self.syncs, call, count)

    def move(self, source: str, target: str) -> None:
        if "meta" not in (source, target):
            self._note(self.moves, f"{source}>{target}", 1)

    def _note(self, counter: Counter[tuple[str, int, str]], call: str, count: int) -> None:
        file, line = self.find_line()
        with self._lock:
            counter[file, line, call] += count

    def find_line(self) -> tuple[str, int]:
        """The deepest line below the roots; else the deepest of a user's; else of torch's.

        A thread of torch's own has none of these: there it is the line at which the thread waits that runs the program.
        """
        here = list(walk(sys._getframe(1)))
        frames = (
            here if any(is_users(file) for file, _ in here) else list(walk(sys._current_frames().get(self.starter)))
        )
        for belongs in (self.is_own, is_users, lambda file: not is_ours(file) and not is_pythons(file)):
            for file, line in frames:
                if belongs(file):
                    return real_path(file), line
        return "", 0

    def is_own(self, file: str) -> bool:
        path = real_path(file)
        below = [root for root in self.roots if is_below(path, root)]
        return is_users(file) and any(not INSTALLED.search(path[len(root) :]) for root in below)

    def as_json(self, counter: Counter[tuple[str, int, str]]) -> list[dict[str, Any]]:
        found = sorted(counter.items())
        return [{"file": file, "line": line, "call": call, "count": count} for (file, line, call), count in found]


def walk(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    """File and line of a frame and its callers, innermost first."""
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno or 0
        frame = frame.f_back


@contextlib.contextmanager
def in_new_threads(calls: Calls, operators: Operators) -> Iterator[None]:
    """Threads that start inside are watched as well: modes belong to the thread that enters them."""
    begin = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def begin_watched(thread: threading.Thread) -> None:
        _python_dispatch._push_mode(operators)
        overrides._push_mode(calls)  # type: ignore[no-untyped-call]
        try:
            begin(thread)
        finally:
            overrides._pop_mode()  # type: ignore[no-untyped-call]
            _python_dispatch._pop_mode()

    with replaced([(threading.Thread, "_bootstrap_inner", begin_watched)]):
        yield


def in_waiting(lines: Lines) -> list[tuple[Any, str, Any]]:
    """What to replace so that explicit waits for the device are counted."""

    def counted(wait: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_wait(*args: Any) -> Any:
            lines.read("synchronize")
            return wait(*args)

        return count_and_wait

    there = [name for name in SYNCHRONIZING if hasattr(torch._C, name)]
    return [(torch._C, name, counted(getattr(torch._C, name))) for name in there]


@contextlib.contextmanager
def debugging(device: Any, watcher: Watcher) -> Iterator[str]:
    """Where torch can tell that the host waits, have it told; yields how the counts come about."""
    if device.kind != "cuda":
        yield device.how_syncs
        return
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.filterwarnings("always", message=SEEN_BY_TORCH)
        show = warnings.showwarning
        warnings.showwarning = lambda message, *rest: (
            watcher.warn() if str(message).startswith(SEEN_BY_TORCH) else show(message, *rest)
        )
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield device.how_syncs
        finally:
            torch.cuda.set_sync_debug_mode(before)
