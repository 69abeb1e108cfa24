"""Asking about one file after the other: whatever happens to one is said of it, and memory and time are bounded."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.foreign.blame import in_one_line
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.cache import digest_bytes
from fullgraph.codemods.rewrite.find import FileResult, find

ENOUGH = 3_000_000
"""Characters of parsed text whose trees are kept, for codemods that come back to them."""

FILE_LIMIT = 60.0
"""Seconds of processor time for one file. The slowest of torch's own takes three."""

SLACK = 5
"""How many times as long it may take by the clock: a busy machine is not the file's fault."""

Asked = tuple[str, str, FileResult]
"""A path, the digest of what was read there, and what was found. Without a digest the result is not cached."""


class TookTooLong(BaseException):
    """Raised wherever the code happens to be when the time is over; nobody catches it by accident."""


def ask_in_turn(paths: Sequence[str], project: Project, codemods: Sequence[Codemod], limit: float) -> Iterator[Asked]:
    """What is found in each file, in memory that does not grow with their number."""
    with collecting_later():
        for path in paths:
            yield ask_in_time(project, path, codemods, limit)
            project.forget_trees_beyond(ENOUGH)


@contextmanager
def collecting_later() -> Iterator[None]:
    """Garbage is looked for where trees are forgotten, and nowhere else: they are none, and have millions of nodes."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def ask_in_time(project: Project, path: str, codemods: Sequence[Codemod], limit: float) -> Asked:
    try:
        with alarm(limit):
            return ask_one(project, path, codemods)
    except TookTooLong:
        project.forget_trees()
        return late(path, limit)


def ask_one(project: Project, path: str, codemods: Sequence[Codemod]) -> Asked:
    """One file's result, whatever happens. It is not cached (no digest) when the file could not be read."""
    digest = ""
    try:
        raw = project.read(path)
        digest = digest_bytes(raw)
        return path, digest, find(project, path, codemods, raw)
    except SourceError as error:
        return path, digest, FileResult(path, error=error.reason)
    except Exception as error:
        return path, "", FileResult(path, error=in_one_line(error))


def late(path: str, limit: float) -> Asked:
    return path, "", FileResult(path, error=f"took longer than {limit:g} s (--time-limit-per-file); left")


def fatal(path: str) -> Asked:
    return path, "", FileResult(path, error="a codemod ended the process that asked it about this file")


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in what is inside after so many seconds of work, and every second until it gives up.

    Only the main thread can be interrupted, and only where there are such signals. Code that is not Python's may not
    notice.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, give_up) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    signal.setitimer(signal.ITIMER_REAL, SLACK * seconds, 1)
    try:
        yield
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def give_up(*_: object) -> None:
    raise TookTooLong
