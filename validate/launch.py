"""Worker processes: started under the user's python, asked one request at a time, and never left running."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import randrange
from secrets import token_hex
from typing import Any, BinaryIO, NamedTuple
from uuid import uuid4

from fullgraph.validate.answers import find_flaw
from fullgraph.validate.model import Outcome, ValidateError
from fullgraph.validate.worker.main import CLOSED
from fullgraph.validate.worker.process.guard import HEARD
from fullgraph.validate.worker.process.seal import sealer
from fullgraph.validate.worker.process.strays import VARIABLE, can_find_strays, end_strays

MAIN = Path(__file__).parent / "worker" / "main.py"
CLEARED = (
    "TORCH_LOGS",
    "TORCH_TRACE",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_DISABLE",
    "TORCHDYNAMO_DISABLE",
    "PYTHONINSPECT",
    "PYTEST_ADDOPTS",
)
"""Settings of the user's shell that would change what is measured, or write files."""

PADDING = 4096
"""Bytes at most that move everything else in a process: where code and data lie can cost more than a change gains."""

LOOK = 0.25
"""Seconds between two looks at whether a worker is still there: what it has started may keep its pipe open."""

LAST_WORDS = 1500
"""Characters of a dead worker's log that are worth telling."""

LONGEST_ANSWER = 1 << 26
"""Characters of a line that may be an answer."""

NO_ANSWER = "what came was no answer of the worker's, but forged, doubled or cut off"

MOST_SAID = 1 << 30
"""Bytes that a worker may print before it is ended."""


class Died(Exception):  # noqa: N818 - it is a measurement, not an error
    """A worker did not answer; `outcome` says what became of it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


class Refused(Exception):  # noqa: N818 - an answer too
    """A worker answered that it cannot: `kind` is scenario, import, device, torch, memory or error."""

    def __init__(self, kind: str, text: str, stage: str) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.stage = stage

    @property
    def outcome(self) -> Outcome:
        return Outcome("memory" if self.kind == "memory" else "error", self.stage, self.text)


class Worker:
    """One process. Use it as a context manager: it is gone, with all it has started, when the block ends."""

    def __init__(self, python: str, side: str, root: Path, scratch: Path, seed: int = 0) -> None:
        self.side = side
        self.seed = seed
        self.scratch = scratch / side
        self.scratch.mkdir(exist_ok=True)
        self.log = self.scratch / "log.txt"
        self.token = uuid4().hex
        key = token_hex(32)
        self.seal = sealer(key)
        self.answers: queue.Queue[Arrived] = queue.Queue()
        self.sent = self.took = 0.0
        """When the last request was sent, and the seconds until its answer."""

        with self.log.open("ab") as log:
            try:
                self.process = start(
                    [python, str(MAIN), str(self.scratch)], root, {**environment(), **self._own_variables()}, log
                )
            except OSError as error:
                raise ValidateError(f"{python} cannot be run: {error.strerror}; --python names another one") from error
        self._write(key)
        threading.Thread(target=self._listen, daemon=True).start()

    def _own_variables(self) -> dict[str, str]:
        """What it is known by, the order of its sets, and where torch and others may write."""
        folders = {
            "TORCHINDUCTOR_CACHE_DIR": "inductor",
            "TRITON_CACHE_DIR": "triton",
            "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis",
        }
        own = {VARIABLE: self.token, "PYTHONHASHSEED": str(self.seed), "FULLGRAPH_PADDING": "." * randrange(PADDING)}
        return {**own, **{name: str(self.scratch / folder) for name, folder in folders.items()}}

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ask(self, request: str, *, limit: float, **given: Any) -> Any:
        """Send a request and wait for its answer."""
        self.send(request, **given)
        return self.answer(given.get("stage", request), limit)

    def send(self, request: str, **given: Any) -> None:
        self.sent = time.monotonic()
        self._write(json.dumps({"do": request, **given}))

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # a dead process is told by `answer`
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def answer(self, stage: str, limit: float) -> Any:
        """The answer to what was sent last, within so many seconds."""
        arrived = self._wait(limit)
        if arrived is None:
            self.kill()
            raise Died(Outcome("hang", stage, f"no end after {limit:.0f} s (--time-limit)"))
        if arrived.flaw:
            self.kill()
            raise Died(Outcome("error", stage, arrived.flaw))
        if not arrived.line:
            raise Died(self._autopsy(stage))
        self.took = arrived.at - self.sent
        return self._read(arrived.line, stage)

    def _read(self, body: str, stage: str) -> Any:
        try:
            told = json.loads(body)
        except (ValueError, RecursionError) as error:
            told = error
        flaw = find_flaw(stage, told)
        if flaw:
            self.kill()
            raise Died(Outcome("error", stage, f"the worker's answer cannot be used: {flaw}"))
        if "error" in told:
            raise Refused(told["error"], told["text"], stage)
        return told["result"]

    def _wait(self, limit: float) -> Arrived | None:
        """What comes next, an empty line if the process is dead; None if nothing comes in time."""
        end = time.monotonic() + max(limit, 0.01)
        while True:
            was_dead = self.process.poll() is not None
            with suppress(queue.Empty):
                return self.answers.get(timeout=max(0.0, min(end - time.monotonic(), LOOK)))
            if was_dead:
                return Arrived(time.monotonic(), "")
            if self._said() > MOST_SAID:
                return Arrived(time.monotonic(), "", f"it printed more than {MOST_SAID >> 20} MiB")
            if time.monotonic() >= end:
                return None

    def _said(self) -> int:
        """Bytes that it has printed, inside a case or outside of it."""
        total = 0
        for file in (self.log, *self.scratch.glob(f"{HEARD}*")):
            with suppress(OSError):
                total += file.stat().st_size
        return total

    def _listen(self) -> None:
        """Only a line with the seal of the next answer is an answer. A Python may print when it starts, not later."""
        assert self.process.stdout is not None
        number = 1
        with suppress(OSError, ValueError):  # closed by `kill`
            while line := self.process.stdout.readline(LONGEST_ANSWER):
                seal, _, body = line.removesuffix("\n").partition(" ")
                if line.endswith("\n") and seal == self.seal(number, body):
                    self.answers.put(Arrived(time.monotonic(), body))
                    number += 1
                elif number > 1:
                    self.answers.put(Arrived(time.monotonic(), "", f"{NO_ANSWER}: {line[:60]!r}"))
                    return
        self.answers.put(Arrived(time.monotonic(), ""))

    def _autopsy(self, stage: str) -> Outcome:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        code = self.process.returncode
        if code == -signal.SIGKILL:
            return Outcome("memory", stage, "killed by the system (SIGKILL): most likely out of memory")
        if code == CLOSED:
            return Outcome("crash", stage, "the process has closed the descriptors of the worker")
        words = read_end(self.log)
        return Outcome("crash", stage, f"the process died ({name_end(code)})\n{words}".strip())

    def kill(self) -> None:
        """End the process and everything that it has started. The number of one that is gone may be another's now."""
        with suppress(ProcessLookupError, PermissionError):
            if not hasattr(os, "killpg"):
                self.process.kill()
            elif self.process.returncode is None or not can_find_strays():
                os.killpg(self.process.pid, signal.SIGKILL)
        end_strays(self.token)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                if stream:
                    stream.close()


def start(command: list[str], folder: Path, variables: dict[str, str], log: BinaryIO) -> subprocess.Popen[str]:
    """A process in a session of its own, with pipes for requests and answers."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=folder,
        env=variables,
        start_new_session=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


class Arrived(NamedTuple):
    """A line of a worker's, and when it came; or what is wrong with what came."""

    at: float
    line: str
    flaw: str = ""


def read_end(log: Path) -> str:
    """The last words in a file; user code may have removed it."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LAST_WORDS))
        return file.read().decode(errors="replace").strip()
    return ""


def name_end(code: int | None) -> str:
    """`exit code 3`, `SIGSEGV`, `signal 40`."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


class Deadline:
    """The time that is left for a proof."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)


def environment() -> dict[str, str]:
    """The user's, without what would change the measurement."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEARED}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}


def python_of(given: str, root: Path) -> str:
    """The user's interpreter: the one given, of the active environment, of the project's own, or one that has torch."""
    if given:
        return os.path.abspath(given) if os.path.dirname(given) else shutil.which(given) or given
    for folder in (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"), root / ".venv", root / "venv"):
        if folder:
            for name in ("bin/python", "Scripts/python.exe", "python.exe"):
                if (Path(folder) / name).is_file():
                    return str(Path(folder) / name)
    if importlib.util.find_spec("torch"):
        return sys.executable
    return shutil.which("python3") or shutil.which("python") or sys.executable
