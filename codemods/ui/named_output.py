"""Reports that a user has named a file for.

A clone can bring a link of that name: it is not written through. A file that is there is replaced only if its name is
that of a report.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from fullgraph.codemods.rewrite.inside import BARRED
from fullgraph.codemods.rewrite.walk import FOLDER, leads_out

REPORTS = (".json", ".jsonl", ".sarif", ".html", ".htm", ".md", ".markdown", ".xml", ".txt", ".log", ".patch", ".diff")
WAITING = getattr(os, "O_NONBLOCK", 0)
"""A pipe that nobody reads is an error, not a wait without end."""


def write_output(file: Path, data: bytes) -> None:
    """Write a report, or raise an OSError that says why not."""
    check_output(file)
    with os.fdopen(open_output(file, os.O_TRUNC), "wb") as stream:
        stream.write(data)


def open_output(file: Path, how: int) -> int:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0) | how | WAITING, 0o666)
    if WAITING:
        os.set_blocking(descriptor, True)
    return descriptor


def check_output(file: Path) -> None:
    if leads_out(file):
        raise OSError(errno.EPERM, "a link that leads out of the project", str(file))
    if file.absolute().parent.name != FOLDER and BARRED.intersection(part.casefold() for part in file.absolute().parts):
        raise OSError(errno.EPERM, "in a folder that is not fullgraph's to write in", str(file))
    if file.is_file() and file.suffix.casefold() not in ("", *REPORTS):
        raise OSError(errno.EEXIST, "is there, and is no report: name a file that ends in .json or the like", str(file))
