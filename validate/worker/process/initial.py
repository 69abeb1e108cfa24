"""What holds for the whole process: every stage begins as the first one did, whatever user code has set since."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from sys import settrace
from threading import settrace as trace_threads
from typing import Any

import torch

SIGNALS = ("SIGINT", "SIGTERM", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGUSR1", "SIGUSR2")


TORCHS = ("TORCH", "TRITON")
"""Variables in which the worker and torch keep where their caches are."""


def read_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(TORCHS)}


class Initial:
    """A picture of the process, and the way back to it."""

    def __init__(self) -> None:
        self.folder = os.getcwd()
        self.variables = read_variables()
        self.path = list(sys.path)
        self.streams = sys.stdin, sys.stdout, sys.stderr
        self.filters = list(warnings.filters)
        self.dtype = torch.get_default_dtype()
        self.device = torch.get_default_device()
        self.threads = torch.get_num_threads()
        self.deterministic = torch.are_deterministic_algorithms_enabled()
        self.handlers = {number: signal.getsignal(number) for number in known_signals()}

    def restore(self) -> None:
        os.chdir(self.folder)
        for name in read_variables().keys() - self.variables.keys():
            del os.environ[name]
        os.environ.update(self.variables)
        sys.path[:] = self.path
        sys.stdin, sys.stdout, sys.stderr = self.streams
        warnings.filters[:] = self.filters  # type: ignore[index]
        with warnings.catch_warnings():  # tells `warnings` that the filters are others
            pass
        settrace(None)
        trace_threads(None)  # type: ignore[arg-type,unused-ignore]
        for number, handler in self.handlers.items():
            if signal.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
        self.restore_torch()

    def restore_torch(self) -> None:
        torch.set_grad_enabled(True)
        torch.set_default_dtype(self.dtype)
        torch.use_deterministic_algorithms(self.deterministic)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        if torch.get_default_device() != self.device:
            torch.set_default_device(None if self.device.type == "cpu" else self.device)


def known_signals() -> list[Any]:
    return [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
