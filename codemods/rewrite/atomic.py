"""Files that are old or new at every instant, never half."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LEFTOVER = ".fullgraph-new"


def replace_file(file: Path, data: bytes) -> None:
    """Give a file new bytes in one step; mode and owner are kept."""
    fresh = leftover_of(file)
    remove_leftover(file)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        if file.exists():
            keep_owner_and_mode(file, stream.fileno())
        os.fsync(stream.fileno())
    os.replace(fresh, file)
    sync_folder(file.parent)


def leftover_of(file: Path) -> Path:
    """The name under which the new bytes stand until they are complete."""
    return file.with_name(f".{file.name}{LEFTOVER}")


def remove_leftover(file: Path) -> None:
    leftover_of(file).unlink(missing_ok=True)


def keep_owner_and_mode(file: Path, descriptor: int) -> None:
    status = file.stat()
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # another user's file that we may write, but not give away
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, status.st_mode & 0o7777)


def write_synced(file: Path, data: bytes) -> None:
    """A new file that is on disk, not only in memory, when this returns."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
