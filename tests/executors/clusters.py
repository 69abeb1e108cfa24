"""Real clusters of worker processes on this machine."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distributed import Client, Nanny, Scheduler, SpecCluster

PATIENCE = 180


@contextmanager
def cluster_of(*resources: dict[str, int]) -> Iterator[str]:
    """A scheduler and a worker process for each of these resources; its `host:port`. A dead worker is replaced."""
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "dashboard_address": ":0", "port": 0}}
    options: Sequence[dict[str, Any]] = [{"nthreads": 1, "resources": held} for held in resources]
    workers = {number: {"cls": Nanny, "options": given} for number, given in enumerate(options)}
    with SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster:
        yield cluster.scheduler_address.removeprefix("tcp://")


def pids_of(address: str) -> dict[str, int]:
    """The process of every worker, by its address."""
    with Client(address.removeprefix("dask://"), set_as_default=False) as client:
        pids: dict[str, int] = client.run(os.getpid)
        return pids


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(question: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < deadline
        time.sleep(0.05)
