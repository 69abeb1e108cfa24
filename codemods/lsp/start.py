"""Start the server: on standard input and output, or on a port."""

from __future__ import annotations

import logging
import os
import re
import sys
from typing import BinaryIO

from fullgraph.codemods.lsp.server import make_server

LONGEST = 1 << 28
"""Bytes of one message: no editor sends more, and pygls would ask for all of the memory at once."""

DIGITS = 12
HEADER = re.compile(rb"Content-Length: (\d+)\r\n$")


class Messages:
    """Standard input, without the headers of messages that are too long.

    What follows such a header is skipped, up to the next one: pygls passes over lines that it does not know.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.is_lost = False

    def readline(self) -> bytes:
        line = self.stream.readline(LONGEST)
        found = HEADER.search(line)
        if found is None:
            return line and b"skipped\r\n" if self.is_lost else line
        was_lost, self.is_lost = self.is_lost, len(found[1]) > DIGITS or int(found[1]) > LONGEST
        if self.is_lost:
            print(f"fullgraph: a message of more than {LONGEST >> 20} MiB was skipped", file=sys.stderr)
            return b"skipped\r\n"
        return found[0] if was_lost else line

    def read(self, size: int) -> bytes:
        return self.stream.read(size)


def quietly() -> None:
    """What goes wrong with a message is told to the editor, in one line: pygls would print a traceback too."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)


def serve_streams() -> int:
    """Serve the process that started this one; the exit code is 1 if it left without a shutdown.

    Whatever else prints goes to standard error: the protocol has its descriptor for itself.
    """
    quietly()
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = make_server()
    server.start_io(Messages(sys.stdin.buffer), protocol)  # type: ignore[arg-type]
    return 0 if server.was_shut_down else 1


def serve_port(host: str, port: int) -> int:
    """Serve the first that connects; the exit code."""
    quietly()
    server = make_server()
    server.start_tcp(host, port)
    return 0 if server.was_shut_down else 1


def leave(code: int) -> None:
    """End at once: a look that is still under way has nobody left to tell."""
    sys.stderr.flush()
    os._exit(code)
