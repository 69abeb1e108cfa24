"""The rule of CUDA graphs: when a generation begins, every output of the one before is gone.

It is torch's own (`torch/_inductor/cudagraph_trees.py`). A run of a compiled graph begins a generation if compiled code
was entered since the last run and no backward is pending; a backward is pending from a forward that needs one until any
compiled backward has run. In a program that marks its steps only the marks count: the first run after a mark begins a
generation, pending backward or not, and no other run does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import torch
from torch._dynamo.mutation_guard import GenerationTracker
from torch.multiprocessing.reductions import StorageWeakRef

from .buffers import Buffer, Step, key_of
from .places import Call, Place

FORWARD, INFERENCE, BACKWARD = "forward", "inference", "backward"


class Path:
    """What one thread runs: each has generations of its own."""

    def __init__(self) -> None:
        self.current: int | None = None
        self.is_pending = False
        self.live: dict[int, Buffer] = {}


class Generations:
    """What is alive of the current generations, and what should no longer be."""

    def __init__(self) -> None:
        self.marks = 0
        self.marked: Call | None = None
        self.stale: dict[int, Buffer] = {}
        self.begun = 0
        self.runs = 0
        self._made = 0
        self._paths: list[Path] = []
        self._thread = threading.local()

    def path(self) -> Path:
        """This thread's."""
        if not hasattr(self._thread, "path"):
            self._thread.path = Path()
            self._paths.append(self._thread.path)
        return self._thread.path  # type: ignore[no-any-return]

    def mark(self, call: Call) -> None:
        self.marks -= 1
        self.marked = call

    def begin(self, path: Path, call: Place | None) -> list[Buffer]:
        """A graph is about to run: what it overwrites."""
        self.runs += 1
        now = self.marks or GenerationTracker.generation
        is_new = now != path.current
        path.current = now
        self.forget_dead()
        if not is_new or (path.is_pending and not self.marks):
            return []
        self.begun += 1
        step = Step(call, self.marked if self.marks else None, path.is_pending)
        ended = list(path.live.values())
        for buffer in ended:
            buffer.ended = step
        self.stale.update(path.live)
        path.live.clear()
        return ended

    def end(self, path: Path, phase: str) -> None:
        """A graph has run."""
        if phase != INFERENCE:
            path.is_pending = phase == FORWARD

    def keep(self, path: Path, outputs: Iterable[Any], strangers: set[int], call: Call, phase: str) -> list[Buffer]:
        """Follow the memory of these outputs, except what belongs to others: inputs and constants."""
        kept = []
        for output in outputs:
            if not isinstance(output, torch.Tensor) or not (key := key_of(output)):
                continue
            if key in strangers or key in path.live or key in self.stale or not output.untyped_storage().nbytes():
                continue
            self._made += 1
            memory = StorageWeakRef(output.untyped_storage())  # type: ignore[no-untyped-call]
            path.live[key] = Buffer(memory, output.dtype, tuple(map(int, output.shape)), call, phase, self._made)
            kept.append(path.live[key])
        return kept

    def forget_dead(self) -> None:
        for held in (self.stale, *(path.live for path in self._paths)):
            for key in [key for key, buffer in held.items() if not buffer.is_alive]:
                del held[key]
