"""A connection to a Dask scheduler: what goes wrong with it is one line, after a bounded time."""

from __future__ import annotations

import atexit
import hashlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.executors.at_worker import keep
from fullgraph.codemods.model import FullgraphError

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE = 10.0
"""Seconds until a scheduler must answer, and until it must have a worker."""

LONELY = 60.0
"""Seconds in the middle of the work without any worker: a nanny starts a new one in less."""

LOOK = 2.0


@cache
def cluster_at(address: str) -> Cluster:
    return Cluster(address)


class Cluster:
    """The workers behind one scheduler. They run the same code as this process, or are refused."""

    def __init__(self, address: str) -> None:
        self.name = f"dask://{address}"
        self.client = self._connect(address)
        atexit.register(self._leave)
        self._check_workers()

    def _connect(self, address: str) -> Client:
        try:
            from distributed import Client
        except ImportError:
            raise FullgraphError(f"--executor {self.name} needs Dask: pip install 'fullgraph[dask]'") from None
        for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
            logging.getLogger(name).setLevel(logging.CRITICAL)  # whatever goes wrong is told in our own words
        found = within(PATIENCE, lambda: Client(address, timeout=PATIENCE, name="fullgraph", set_as_default=False))
        if found is None:
            raise FullgraphError(f"{self.name}: no Dask scheduler answers there (waited {PATIENCE:g} s)")
        return found

    def _leave(self) -> None:
        with suppress(Exception):
            self.client.close(timeout=2)

    def _check_workers(self) -> None:
        """Other code could give other answers."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise FullgraphError(f"{self.name} has no workers (waited {PATIENCE:g} s)") from None
        mine = describe_code()
        for worker, theirs in self.client.run(asked_of_worker(), on_error="return").items():
            if not isinstance(theirs, OSError) and (text := tell_mismatch(mine, theirs)):  # an OSError: gone meanwhile
                raise FullgraphError(f"the worker {worker} of {self.name} {text}: install the same on both")

    # Workers

    def _workers(self) -> dict[str, Any]:
        workers: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def threads(self) -> int:
        return sum(worker["nthreads"] for worker in self._workers().values()) or 1

    def has_gpus(self) -> bool:
        return any(has_gpu(worker) for worker in self._workers().values())

    def workers(self, gpu: bool) -> list[str]:
        """All of them, or those with a GPU: there must be one if it is asked for."""
        fit = [address for address, worker in self._workers().items() if has_gpu(worker) or not gpu]
        if gpu and not fit:
            raise FullgraphError(
                f"no worker of {self.name} has a GPU as far as Dask knows; `dask worker ... --resources GPU=1` says so"
            )
        return sorted(fit)

    def ran_on(self, future: Future) -> str:
        """The worker that has the result, or any."""
        held = self.client.who_has([future]).get(future.key, ())
        return next(iter(held), "") or min(self._workers(), default="")

    # Work

    def send(self, blocks: Sequence[bytes]) -> list[Future]:
        """Blocks by their content: what the cluster has of an earlier run is not sent again."""
        keys = [f"fullgraph-{hashlib.sha256(block).hexdigest()}" for block in blocks]
        return [self.client.submit(keep, block, key=key) for block, key in zip(blocks, keys, strict=True)]

    def submit(self, function: Callable[..., Any], *given: Any, gpu: bool = False, worker: str = "") -> Future:
        """Have something done: on this worker if it is there, else on any; with `gpu` only where there is one."""
        where: dict[str, Any] = {"workers": [worker], "allow_other_workers": True} if worker else {}
        if gpu:
            where = {"resources": {"GPU": 1}}
        return self.client.submit(function, *given, pure=False, **where)

    def finished(self, futures: Collection[Future], *, first: bool = False) -> Iterator[tuple[Future, Any]]:
        """Each with its result as soon as it is there; None if every worker that had it died.

        With `first`, only the first that are there. What is left is cancelled if nobody waits for it any more.
        """
        waiting = set(futures)
        alone_since = time.monotonic()
        is_over = False
        try:
            while waiting and not (first and len(waiting) < len(futures)):
                done = self._wait(waiting)
                waiting -= done
                for future in sorted(done, key=lambda future: future.key):
                    yield future, self._result(future)
                alone_since = self._check_company(alone_since)
            is_over = True
        finally:
            if not is_over:
                self.cancel(waiting)

    def cancel(self, futures: Collection[Future]) -> None:
        """Nobody waits for these any more: workers end what they do for them."""
        with suppress(Exception):
            self.client.cancel(list(futures), force=True)

    def _wait(self, waiting: set[Future]) -> set[Future]:
        from distributed import CancelledError, wait

        try:
            with suppress(TimeoutError), self.client.as_current():
                return set(wait(waiting, timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except CancelledError:  # not by us: a client cancels what it cannot hear of any more
            raise FullgraphError(f"the connection to {self.name} was lost") from None
        return set()

    def _check_company(self, alone_since: float) -> float:
        """Since when there is no worker. Raises once that is too long, or if the scheduler itself is gone."""
        now = time.monotonic()
        try:
            if self.client.status == "running" and self._workers():
                return now
        except OSError:
            pass
        if self.client.status != "running":
            raise FullgraphError(f"the connection to {self.name} was lost")
        if now - alone_since > LONELY:
            raise FullgraphError(f"{self.name} has had no workers for {LONELY:g} s")
        return alone_since

    def _result(self, future: Future) -> Any:
        from distributed import CancelledError, KilledWorker

        try:
            return future.result(timeout=PATIENCE)
        except KilledWorker:
            return None
        except (CancelledError, OSError):
            raise FullgraphError(f"the connection to {self.name} was lost") from None
        except Exception as error:
            said = str(error).splitlines() or [type(error).__name__]
            raise FullgraphError(f"a worker of {self.name} failed: {type(error).__name__}: {said[0]}") from error


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What comes out of some work; None if it fails or takes longer.

    A Dask client waits for ever for a server that takes its call and says nothing.
    """
    found: list[Any] = []

    def try_it() -> None:
        with suppress(Exception):
            found.append(work())

    thread = threading.Thread(target=try_it, daemon=True)
    thread.start()
    thread.join(seconds + LOOK)
    return found[0] if found else None


def has_gpu(worker: dict[str, Any]) -> bool:
    return bool(worker.get("resources", {}).get("GPU", 0) >= 1)


def asked_of_worker() -> Callable[[], dict[str, str]]:
    """A function that travels as it is, so that a worker without this package can say so."""

    def ask() -> dict[str, str]:
        from fullgraph.codemods.executors.cluster import describe_code

        return describe_code()

    return ask


def describe_code() -> dict[str, str]:
    """What answers depend on: the version, the files themselves, and the grammar of this Python."""
    folder = Path(__file__).parent.parent
    sources = sorted([*folder.rglob("*.py"), *(folder.parent / "validate").rglob("*.py")])
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in sources)).hexdigest()[:12]
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python, "fullgraph": version("fullgraph"), "files": digest}


def tell_mismatch(mine: dict[str, str], theirs: dict[str, str] | BaseException) -> str:
    """What a worker has that is not the same, or nothing."""
    if isinstance(theirs, BaseException):
        return f"has no fullgraph that can be imported ({theirs})"
    for what in ("Python", "fullgraph"):
        if theirs[what] != mine[what]:
            return f"has {what} {theirs[what]}, and here it is {mine[what]}"
    return "" if theirs == mine else f"has other files in its fullgraph {theirs['fullgraph']}"
