"""One process at a time in a project's journal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model import FullgraphError

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def locked(folder: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock of a journal's folder, which dies with the process. Who waits is told for whom."""
    from filelock import FileLock

    make_folder(folder)
    lock = FileLock(folder / "lock")
    try:
        acquire(lock, folder, wait_seconds)
    except OSError as error:
        raise FullgraphError(f"{folder}: cannot be locked: {error.strerror}; nothing was written") from error
    try:
        with suppress(OSError):  # the name is for people; a full disk is met again, and said, where it matters
            (folder / "holder").write_text(f"process {os.getpid()} ({' '.join(sys.argv[:2])})")
        yield
    finally:
        (folder / "holder").unlink(missing_ok=True)
        lock.release()


def acquire(lock: BaseFileLock, folder: Path, wait_seconds: float) -> None:
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"fullgraph: waiting for {holder(folder)}", file=sys.stderr)
        try:
            lock.acquire(timeout=wait_seconds)
        except Timeout:
            raise FullgraphError(f"{folder} is locked by {holder(folder)}; nothing was written") from None


def holder(folder: Path) -> str:
    try:
        return (folder / "holder").read_text() or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"


def make_folder(folder: Path) -> None:
    """The journal's folder, which keeps itself out of git."""
    try:
        folder.mkdir(exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists() or not ignore.stat().st_size:
            ignore.write_text("*\n")
    except OSError as error:
        raise FullgraphError(f"{folder}: cannot keep a journal: {error.strerror}; nothing was written") from error


@contextmanager
def told_in_one_line(consequence: str) -> Iterator[None]:
    """What the system refuses (a full disk, a right that is missing) is for the user to act on."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise FullgraphError(f"{where}{error.strerror or error}; {consequence}") from error
