"""Reports that a user has named a file for. A clone can bring a link of that name: it is not written through."""

from __future__ import annotations

import errno
from pathlib import Path

from fullgraph.codemods.rewrite.inside import BARRED
from fullgraph.codemods.rewrite.walk import leads_out


def write_output(file: Path, data: bytes) -> None:
    """Write a report, or raise an OSError that says why not."""
    check_output(file)
    file.write_bytes(data)


def check_output(file: Path) -> None:
    if leads_out(file):
        raise OSError(errno.EPERM, "a link that leads out of the project", str(file))
    if BARRED.intersection(part.casefold() for part in file.absolute().parts):
        raise OSError(errno.EPERM, "in a folder that is not fullgraph's to write in", str(file))
