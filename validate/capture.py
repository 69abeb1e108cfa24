"""Run the user's program once and keep the arguments of the first calls of one function.

A folder on PYTHONPATH is all that the program sees of it. Every Python that it starts writes what it stores into a
session folder; the capture itself is made here, in one step, so that it is whole or not there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullgraph.validate.capture_problems import explain, how_it_ended, notices
from fullgraph.validate.capture_session import Session, session_beside
from fullgraph.validate.model import ValidateError

SITE = Path(__file__).parent / "worker" / "capturing" / "capture_site"
PAUSE = 0.1
"""Seconds between two looks at the session."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Captured:
    """What was stored, and how the program ended; a negative exit code is the signal that killed it."""

    file: Path
    index: dict[str, Any]
    exit_code: int
    notices: tuple[str, ...]

    @property
    def calls(self) -> int:
        return len(self.index["calls"])

    @property
    def ending(self) -> str:
        """`ended with exit code 0`, or what became of it instead."""
        return how_it_ended(self.exit_code)


def capture(
    target: str,
    command: Sequence[str],
    file: Path,
    *,
    calls: int = 3,
    source: Path | None = None,
    tell: Tell = lambda text: None,
) -> Captured:
    """Run the command and store the first calls of `module:qualname` in `file`. Raises ValidateError if there are none.

    `source` is the module's file where it is known. `tell` hears what happens while the program still runs.
    """
    with session_beside(file) as session:
        index, exit_code = run(session, target, command, file, calls, source, tell)
        if index is None:
            raise ValidateError(explain(target, session, exit_code))
        return Captured(file, index, exit_code, tuple(notices(index, session, calls)))


def run(
    session: Session, target: str, command: Sequence[str], file: Path, calls: int, source: Path | None, tell: Tell
) -> tuple[dict[str, Any] | None, int]:
    """The index of what was stored, as soon as there is enough or when the program has ended; and its exit code."""
    index = None
    told: set[str] = set()
    with started(command, environment(session.folder, target, calls, source)) as process:
        while (exit_code := wait(process)) is None:
            if index is None and session.has_all(calls):
                index = session.store(file, target, command)
                tell(f"{calls} calls of {target} are stored; the program goes on (Ctrl-C ends it, and they stay)")
            for problem in session.problems("name"):
                if index is None and problem not in told:
                    told.add(problem)
                    tell(f"{problem}; the program goes on")
    return index or session.store(file, target, command), exit_code


def environment(session: Path, target: str, calls: int, source: Path | None) -> dict[str, str]:
    """The user's own, with the way in. Compiled code runs as plain Python: else its calls could not be seen."""
    real = os.path.realpath(source) if source else ""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH")])),
        "FULLGRAPH_CAPTURE": "\n".join([str(session), target, str(calls), real]),
        "TORCHDYNAMO_DISABLE": "1",
    }


def wait(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(PAUSE)
    except subprocess.TimeoutExpired:
        return None


@contextmanager
def started(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """The program, on our own streams. It decides what Ctrl-C means, which the terminal sends to it as to us."""
    running: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: object) -> None:
        for process in running:
            process.send_signal(number)

    with handlers({"SIGINT": lambda number, frame: None, "SIGTERM": pass_on, "SIGHUP": pass_on}):
        try:
            running.append(subprocess.Popen(command, env=environment))
        except OSError as error:
            raise ValidateError(f"{command[0]} cannot be run: {error.strerror}") from error
        try:
            yield running[0]
        except BaseException:
            with suppress(OSError):
                running[0].terminate()
            raise


@contextmanager
def handlers(wanted: dict[str, Callable[[int, Any], None]]) -> Iterator[None]:
    """Signal handlers for a while, where they can be set."""
    known = {getattr(signal, name): handler for name, handler in wanted.items() if hasattr(signal, name)}
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in known.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
