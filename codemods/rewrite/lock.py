"""One process at a time in a project's journal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.folder import BarredError, Folder

LOCK, HOLDER = "lock", "holder"
IGNORED = (".gitignore", ".ignore")
"""By these the folder keeps itself out of git and out of tools that search."""

LONGEST = 200
PAUSE_S = 0.05


@contextmanager
def locked(folder: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock of a journal's folder, which dies with the process. Who waits is told for whom."""
    with make_folder(folder) as journal, held(journal, wait_seconds):
        with suppress(OSError):  # the name is for people; a full disk is met again, and said, where it matters
            journal.remove(HOLDER)
            journal.write_new(HOLDER, f"process {os.getpid()} ({' '.join(sys.argv[:2])})".encode(), None)
        try:
            yield
        finally:
            with suppress(OSError):
                journal.remove(HOLDER)


def make_folder(folder: Path) -> Folder:
    """The journal's folder, open, made if need be. One in which anything of ours is a link is refused."""
    try:
        return Folder.at(folder.parent).descend([folder.name], make=True, visit=prepare)
    except BarredError as error:
        raise FullgraphError(f"{error}, where the journal needs its own: remove it; nothing was written") from error
    except OSError as error:
        raise FullgraphError(f"{folder}: cannot keep a journal: {error.strerror}; nothing was written") from error


def prepare(journal: Folder) -> None:
    for name in (LOCK, HOLDER, *IGNORED):
        journal.plain(name)
    for name in IGNORED:
        keep_out(journal, name)


def keep_out(journal: Folder, name: str) -> None:
    """What a user has written there stays."""
    status = journal.plain(name)
    if not status or not status.st_size:
        journal.remove(name)
        with suppress(FileExistsError):  # another process was quicker
            journal.write_new(name, b"*\n", None)


@contextmanager
def held(journal: Folder, wait_seconds: float) -> Iterator[None]:
    try:
        descriptor = journal.open_plain(LOCK, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise refusal(journal, error) from error
    try:
        acquire(descriptor, journal, wait_seconds)
        yield
    finally:
        os.close(descriptor)


def acquire(descriptor: int, journal: Folder, wait_seconds: float) -> None:
    try:
        if try_to_lock(descriptor):
            return
        print(f"fullgraph: waiting for {holder(journal)}", file=sys.stderr)
        deadline = time.monotonic() + wait_seconds
        while not try_to_lock(descriptor):
            if time.monotonic() > deadline:
                raise FullgraphError(f"{journal.path} is locked by {holder(journal)}; nothing was written")
            time.sleep(PAUSE_S)
    except OSError as error:
        raise refusal(journal, error) from error


def try_to_lock(descriptor: int) -> bool:
    """Whether the lock is ours now. It goes with the descriptor."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_held(folder: Path) -> bool:
    """Whether another process has the lock; nothing is written to find out."""
    try:
        with Folder.at(folder) as journal, os.fdopen(journal.open_plain(LOCK), "rb") as stream:
            return not try_to_lock(stream.fileno())
    except FileNotFoundError:
        return False


def refusal(journal: Folder, error: OSError) -> FullgraphError:
    return FullgraphError(f"{journal.path}: cannot be locked: {error.strerror}; nothing was written")


def holder(journal: Folder) -> str:
    """Who has the lock, in their own words as far as a terminal can bear them."""
    try:
        said = journal.read(HOLDER, LONGEST).decode()
    except (OSError, BarredError, UnicodeDecodeError):
        said = ""
    return "".join(character for character in said if character.isprintable()) or "another process"


@contextmanager
def told_in_one_line(consequence: str) -> Iterator[None]:
    """What the system refuses (a full disk, a right that is missing) is for the user to act on."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise FullgraphError(f"{where}{error.strerror or error}; {consequence}") from error
