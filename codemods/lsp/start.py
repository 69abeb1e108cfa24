"""Start the server: on standard input and output, or on a port."""

from __future__ import annotations

import logging
import os
import sys

from codemods.lsp.server import make_server


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
    server.start_io(sys.stdin.buffer, protocol)
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
