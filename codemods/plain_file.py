"""Files that come with a project are read without trust: plain ones only, and none without end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST = 1 << 26
"""Bytes; no source file, notebook or configuration that people write is larger."""


def read_plain(file: Path, limit: int = LARGEST) -> bytes:
    """The bytes of a file, or an OSError that says why not. A pipe is not waited for; `/dev/zero` has no end."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a plain file", str(file))
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit >> 20} MiB", str(file))
        return stream.read(limit)


def read_plain_text(file: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """As `Path.read_text`, which makes one newline of all kinds."""
    return read_plain(file).decode(encoding, errors).replace("\r\n", "\n").replace("\r", "\n")
