"""Answer fullgraph's review on a pseudo terminal, as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

QUESTION = re.compile(rb"apply[^\r\n?]*\?[^\r\n]*\] ")


def review(command: Sequence[str], keys: str, folder: Path, environment: Mapping[str, str], width: int) -> int:
    """Show all that the command shows, and press one key at each question. Returns its exit code."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(command[0], list(command), {**environment, "TERM": "xterm", "COLUMNS": str(width)})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    left, unanswered = list(keys), b""
    while data := read(terminal):
        sys.stdout.write(data.decode(errors="replace").replace("\r\n", "\n"))
        sys.stdout.flush()
        unanswered += data
        if left and QUESTION.search(unanswered):
            os.write(terminal, left.pop(0).encode())
            unanswered = b""
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the command has ended
        return b""
