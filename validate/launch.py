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
from typing import Any

from validate.model import Outcome, ValidateError

MAIN = Path(__file__).parent / "worker" / "main.py"
CLEARED = ("TORCH_LOGS", "TORCH_TRACE", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_DISABLE", "PYTHONSTARTUP")
"""Settings of the user's shell that would change what is measured, or write files."""

LAST_WORDS = 1500
"""Characters of a dead worker's log that are worth telling."""


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

    def __init__(self, python: str, side: str, root: Path, scratch: Path) -> None:
        self.side = side
        self.scratch = scratch / side
        self.scratch.mkdir(exist_ok=True)
        self.log = self.scratch / "log.txt"
        self.answers: queue.Queue[str] = queue.Queue()
        with self.log.open("ab") as log:
            try:
                self.process = subprocess.Popen(
                    [python, str(MAIN)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=root,
                    env=environment(),
                    start_new_session=True,
                    text=True,
                    encoding="utf-8",
                )
            except OSError as error:
                raise ValidateError(f"{python} cannot be run: {error.strerror}; --python names another one") from error
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def ask(self, request: str, *, limit: float, **given: Any) -> Any:
        """Send a request and wait for its answer."""
        self.send(request, **given)
        return self.answer(given.get("stage", request), limit)

    def send(self, request: str, **given: Any) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # a dead process is told by `answer`
            self.process.stdin.write(json.dumps({"do": request, **given}) + "\n")
            self.process.stdin.flush()

    def answer(self, stage: str, limit: float) -> Any:
        """The answer to what was sent last, within so many seconds."""
        try:
            line = self.answers.get(timeout=max(limit, 0.01))
        except queue.Empty:
            self.kill()
            raise Died(Outcome("hang", stage, f"no end after {limit:.0f} s (--time-limit)")) from None
        if not line:
            raise Died(self._autopsy(stage))
        told = json.loads(line)
        if "error" in told:
            raise Refused(told["error"], told["text"], stage)
        return told["result"]

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def _autopsy(self, stage: str) -> Outcome:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        code = self.process.returncode
        how = f"exit code {code}"
        if code is not None and code < 0:
            how = signal.Signals(-code).name
        if code == -signal.SIGKILL:
            return Outcome("memory", stage, "killed by the system (SIGKILL): most likely out of memory")
        words = self.log.read_text(errors="replace")[-LAST_WORDS:].strip()
        return Outcome("crash", stage, f"the process died ({how}){': ' + words if words else ''}")

    def kill(self) -> None:
        """End the process and everything in its session."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError, ValueError):
                if stream:
                    stream.close()


class Deadline:
    """The time that is left for a proof."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return max(self.end - time.monotonic(), 0.0)


def environment() -> dict[str, str]:
    """The user's, without what would change the measurement; hashes are the same on both sides."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEARED}
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}


def python_of(given: str, root: Path) -> str:
    """The user's interpreter: the one given, of the active environment, of the project's own, or one that has torch."""
    if given:
        return given
    for folder in (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"), root / ".venv", root / "venv"):
        if folder:
            for name in ("bin/python", "Scripts/python.exe", "python.exe"):
                if (Path(folder) / name).is_file():
                    return str(Path(folder) / name)
    if importlib.util.find_spec("torch"):
        return sys.executable
    return shutil.which("python3") or shutil.which("python") or sys.executable
