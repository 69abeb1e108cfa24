"""Processes that are forked from one that has imported what they need: what takes seconds is done once.

A forked worker of a proof is what a fresh one is after its first request, which imports torch; but all have one hash
seed. What cannot be had by forking is started anew: another Python, and other variables that Python or torch read when
they start.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from fullgraph.validate.launch import environment, start

MAIN = Path(__file__).with_name("zygote_process.py")
"""Run as a text, not as a file: at the foot of a worker's stack it must not look like code of the user's."""

OWN = {
    *("FULLGRAPH_WORKER", "FULLGRAPH_PADDING", "FULLGRAPH_CACHE", "PYTEST_CURRENT_TEST"),
    *("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "HYPOTHESIS_STORAGE_DIRECTORY", "PYTHONHASHSEED"),
}
"""Variables that are read when they are needed, and so may differ from those that the zygote was started with."""


SENDING = threading.Lock()
"""Two proofs may run at once, and what one sends must not come between the halves of the other's request."""


class Zygote:
    """The process that forks, started when it is first needed. It ends when this one does, and its children with it."""

    def __init__(self, *preload: str, **variables: str) -> None:
        self.preload = preload
        self.given = variables
        self.process: subprocess.Popen[bytes] | None = None
        self.variables: dict[str, str] = {}
        self.socket: socket.socket

    def require(self) -> Zygote:
        if self.process is None:
            self.variables = {**environment(), "PYTHONHASHSEED": "0", **self.given}
            self.socket, theirs = socket.socketpair()
            command = [sys.executable, "-c", MAIN.read_text(), str(theirs.fileno()), *self.preload]
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                env=self.variables,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            theirs.close()
        return self

    def start(self, command: list[str], folder: Path, variables: dict[str, str], log: BinaryIO) -> Any:
        """As `fullgraph.validate.launch.start`."""
        if command[0] == sys.executable and folder.is_dir() and self.require().has_same_start(variables):
            return Forked(self.socket, {"argv": command[1:], "cwd": str(folder), "env": variables}, log)
        return start(command, folder, variables, log)

    def has_same_start(self, variables: dict[str, str]) -> bool:
        """Whether a process with these variables would begin as the zygote did."""
        ours, theirs = (
            {name: value for name, value in given.items() if name not in OWN} for given in (self.variables, variables)
        )
        return ours == theirs

    def run(
        self, arguments: list[str], folder: Path, patience: float | None = None, *, given: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """`python ARGUMENTS` in a folder, `given` something to read, with what it prints."""
        environ = {**self.require().variables, **variables}
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = Forked(self.socket, {"argv": arguments, "cwd": str(folder), "env": environ}, err, out.fileno())
            assert child.stdin is not None
            with suppress(BrokenPipeError), child.stdin as stdin:
                stdin.write(given)
            try:
                code = child.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                raise
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, os.fsdecode(out.read()), os.fsdecode(err.read()))

    def end(self) -> None:
        if self.process is not None:
            self.socket.close()
            self.process.wait()
            self.process = None


class Forked:
    """A process of the zygote's, with what a worker needs of `subprocess.Popen`."""

    def __init__(self, zygote: socket.socket, request: dict[str, Any], log: IO[bytes], output: int = -1) -> None:
        """What it prints goes to `stdout`, or to the descriptor `output`."""
        requests, answers, ends = os.pipe(), os.pipe(), os.pipe()
        given = [requests[0], answers[1] if output < 0 else output, log.fileno(), ends[1]]
        payload = json.dumps(request).encode()
        with SENDING:
            socket.send_fds(zygote, [len(payload).to_bytes(4, "big")], given)
            zygote.sendall(payload)
        for descriptor in (requests[0], answers[1], ends[1]):
            os.close(descriptor)
        self.ends = ends[0]
        self.pid = int(os.read(self.ends, 20))  # just these: how a short process ended may stand behind it already
        self.stdin: IO[str] | None = os.fdopen(requests[1], "w", encoding="utf-8", errors="replace")
        self.stdout: IO[str] | None = os.fdopen(answers[0], "r", encoding="utf-8", errors="replace")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self.ends], [], [], 0)[0]:
            told = os.read(self.ends, 20)
            self.returncode = int(told) if told else -signal.SIGKILL
            os.close(self.ends)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + (1e9 if timeout is None else timeout)
        while self.returncode is None:
            if not select.select([self.ends], [], [], max(0.0, min(until - time.monotonic(), 1e6)))[0]:
                raise subprocess.TimeoutExpired("a forked worker", timeout or 0.0)
            self.poll()
        return self.returncode

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


TORCH = Zygote("torch._dynamo", "torch._functorch.aot_autograd", "torch._inductor.compile_fx")
"""Has imported what every worker needs of torch."""
