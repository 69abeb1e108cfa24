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
    write_synced(fresh, data, file)
    os.replace(fresh, file)
    sync_folder(file.parent)


def is_writable(file: Path) -> bool:
    """Whether the file may be replaced: for root too, write permission that everybody lacks is a wish."""
    may_write = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    return may_write and bool(file.stat().st_mode & 0o222)


def leftover_of(file: Path) -> Path:
    """The name under which the new bytes stand until they are complete."""
    return file.with_name(f".{file.name}{LEFTOVER}")


def remove_leftover(file: Path) -> None:
    leftover_of(file).unlink(missing_ok=True)


def write_synced(file: Path, data: bytes, like: Path) -> None:
    """A new file with the mode and owner of another, on disk and not only in memory when this returns."""
    has_model = like.exists()
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if has_model else 0o666)
    with os.fdopen(descriptor, "wb") as stream:
        if has_model:
            keep_owner_and_mode(like, descriptor)
        stream.write(data)
        stream.flush()
        os.fsync(descriptor)


def keep_owner_and_mode(file: Path, descriptor: int) -> None:
    status = file.stat()
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # another user's file that we may write, but not give away
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, status.st_mode & 0o7777)


def sync_tree(folder: Path) -> None:
    """Make every name below a folder durable."""
    for inner, _, _ in os.walk(folder):
        sync_folder(Path(inner))


def sync_folder(folder: Path) -> None:
    """Make renames and new names in a folder durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
