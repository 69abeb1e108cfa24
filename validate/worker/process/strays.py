"""Processes that user code has started and that left the worker's session: a variable that they inherit tells them."""

from __future__ import annotations

import os
import signal

VARIABLE = "FULLGRAPH_WORKER"
ROUNDS = 5
"""A stray may start another one while it is looked for."""


def end_strays(token: str) -> None:
    """Kill every process that has the variable with this value, but not this one. Without a /proc none is found."""
    for _ in range(ROUNDS):
        found = find_strays(token)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        if not found:
            return


def find_strays(token: str) -> list[int]:
    wanted = f"{VARIABLE}={token}".encode()
    return [pid for pid in list_processes() if pid != os.getpid() and wanted in read_environment(pid)]


def can_find_strays() -> bool:
    return bool(read_environment(os.getpid()))


def list_processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def read_environment(pid: int) -> list[bytes]:
    """What a process was started with; of one that has ended, or is somebody else's, nothing."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
