"""The command as a user runs it: in a process of its own, with pipes or on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.zygote import Zygote

COMMAND = Path(sys.executable).parent / "fullgraph"
SAMPLE = Path(__file__).parent / "sample_codemod.py"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
PATIENCE = 120
UNSET = {"NO_COLOR", "FORCE_COLOR", "VISUAL", "COLUMNS", "LINES", "PYTHONDONTWRITEBYTECODE"}
KEPT = Path(tempfile.gettempdir()) / "fullgraph-tests"
"""Where the many processes of these tests keep their byte code; compiling is half the time of a short command."""

PROMPT = "[y,n,a,d,u,e,p,i,o,x,s,q,?] "

FILES = {
    "pyproject.toml": "[project]\nname = 'sample'\n",
    "pkg/a.py": """\
def one():
    slow()
    return 1


class Thing:
    def run(self, items):
        for item in items:
            slow(item)
        slow(*items)
        return slow()
""",
    "pkg/b.py": "from pkg.c import shared\n\n\ndef two():\n    shared()\n    slow()\n",
    "pkg/c.py": "def shared():\n    return slow() or 1\n",
}
"""Seven findings: four safe calls, one unsafe, one left alone, and one rename over two files."""


def write_project(root: Path, files: dict[str, str] | None = None) -> Path:
    for path, text in (FILES if files is None else files).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def texts(root: Path) -> dict[str, str]:
    """Every file of the project that a codemod may change."""
    return {f"pkg/{file.name}": file.read_text() for file in sorted((root / "pkg").glob("*.py"))}


@dataclass(frozen=True)
class Result:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def arguments(command: str, *rest: str) -> list[str]:
    """`check` and `fix` run the sample codemods."""
    sample = ["--codemod", str(SAMPLE)] if command in ("check", "fix") else []
    return [str(COMMAND), command, *sample, *rest]


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    paths = os.pathsep.join(filter(None, [str(without_bowler()), os.environ.get("PYTHONPATH")]))
    fixed = {"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": str(KEPT), "EDITOR": "false", "TERM": "xterm"}
    return {**kept, **fixed, **changes}


@cache
def without_bowler() -> Path:
    """A folder that hides Bowler, an extra that takes long to import."""
    folder = KEPT / "without_bowler"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bowler.py").touch()
    return folder


@cache
def warm() -> Zygote:
    """A process that has imported the command and what it needs for most of its work."""
    return Zygote(
        "fullgraph.codemods.ui.cli",
        "fullgraph.codemods.ui.commands",
        "fullgraph.codemods.run",
        "fullgraph.codemods.rewrite.scan",
        **environment(),
    )


def run(root: Path, command: str, *rest: str, **changes: str) -> Result:
    """The command in a forked process, with standard input that has ended."""
    done = warm().run(arguments(command, *rest), root, PATIENCE, **environment(**changes))
    result = Result(done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in result.err, result.err
    return result


class Terminal:
    """The command on a pseudo terminal. `screen` is everything it has shown, without colours."""

    def __init__(self, root: Path, command: str, *rest: str, columns: int = 100, **changes: str) -> None:
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(root)
            os.execve(COMMAND, arguments(command, *rest), environment(**changes))
        self.resize(columns)
        self.raw = b""
        self.asked = 0

    def resize(self, columns: int, rows: int = 40) -> None:
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def screen(self) -> str:
        return ANSI.sub("", self.raw.decode(errors="replace")).replace("\r\n", "\n")

    @property
    def is_listening(self) -> bool:
        """Whether keys come one by one."""
        return not termios.tcgetattr(self.descriptor)[3] & termios.ICANON

    def expect(self, text: str, times: int = 1) -> None:
        """Read until the screen holds a text so many times."""
        deadline = time.monotonic() + PATIENCE
        while self.screen.count(text) < times:
            assert time.monotonic() < deadline, self.screen
            assert self._read() or self.screen.count(text) >= times, self.screen

    def _read(self) -> bool:
        """Read what there is; False when the command has closed the terminal."""
        if not select.select([self.descriptor], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:  # how Linux says that nobody has the other end open
            return False
        self.raw += data
        return bool(data)

    def press(self, keys: str) -> None:
        os.write(self.descriptor, keys.encode())

    def answer(self, *keys: str) -> None:
        """Press keys, each when it is asked for."""
        for key in keys:
            self.asked += 1
            self.expect(PROMPT, self.asked)
            self.press(key)

    def end(self) -> int:
        """Read to the end; the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read():
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(self.screen)
        assert "Traceback" not in self.screen, self.screen
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        return os.waitstatus_to_exitcode(status)
