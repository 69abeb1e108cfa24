"""How long one pass over all cases takes. The controller alternates the blocks of the two sides."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from gc import collect, disable, enable, freeze
from time import perf_counter
from typing import Any

import torch

from . import compiling
from .recording import record
from .subject import Case, Subject

STEADY = 5
"""Passes before the first block: compiled code has then met every case more than once."""


class Bench:
    """What the blocks of one kind run: the cases that do not raise, in order, with backward where there is one."""

    def __init__(
        self,
        kind: str,
        subject: Subject,
        call: Callable[..., Any],
        device: Any,
        leave_out: list[str],
        rebuild: Callable[[], Subject] | None,
        backward: bool,
    ) -> None:
        self.kind = kind
        self.call = call
        self.device = device
        self.leave_out = set(leave_out)
        self.rebuild = rebuild
        self.backward = backward
        self.cases = self._timed(subject)

    def _timed(self, subject: Subject) -> list[Case]:
        return [case for case in subject.cases if case.name not in self.leave_out]

    def warm_up(self) -> dict[str, float]:
        """Seconds of a pass when everything has run a few times, and how much more a block with one pass takes.

        Where backward cannot run, passes go without it.
        """
        try:
            self.block(1)
        except RuntimeError:
            if not self.backward:
                raise
            self.backward = False
        collect()
        freeze()  # what is alive now need not be looked at before every block
        for _ in range(STEADY):
            started = perf_counter()
            seconds = self.block(1)
        return {"seconds": seconds, "around": perf_counter() - started - seconds}

    def block(self, passes: int) -> float:
        """Seconds of one pass, the mean of several; new arguments, where the call changes them, cost no time."""
        stance = compiling.eagerly() if self.kind == "eager" else torch.compiler.set_stance("default")
        total = 0.0
        with stance, record.silenced(), warnings.catch_warnings(), without_collector():
            warnings.simplefilter("ignore")
            if self.rebuild is None:
                total = time_once(self.device, lambda: self._run(passes))
            else:
                for _ in range(passes):
                    self.cases = self._timed(self.rebuild())
                    total += time_once(self.device, lambda: self._run(1))
        return total / passes

    def _run(self, passes: int) -> None:
        for _ in range(passes):
            for case in self.cases:
                with case.settings():
                    output = self.call(*case.args, **case.kwargs)
                if self.backward:
                    run_backward(output)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Inside, no garbage is collected: that of an earlier block would be paid for by a later one."""
    collect()
    disable()
    try:
        yield
    finally:
        enable()


def run_backward(output: Any) -> None:
    """Backward over the tensors of an output that have a history; ones as gradients cost nothing to make."""
    tensors = [tensor for tensor in record.tensors_in(output) if tensor.requires_grad and tensor.grad_fn is not None]
    if tensors:
        torch.autograd.backward(tensors, [torch.ones_like(tensor) for tensor in tensors])


def time_once(device: Any, run: Callable[[], Any]) -> float:
    """Seconds, on the device's own clock where it has one."""
    with device.timer() as timer:
        run()
    return float(timer.seconds)
