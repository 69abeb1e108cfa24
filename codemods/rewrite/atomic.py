"""Files that are old or new at every instant, never half."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

LEFTOVER = ".fullgraph-new"


def replace_file(file: Path, data: bytes) -> None:
    """Give a file new bytes in one step, whether it is there or not; mode and owner are kept."""
    fresh = leftover_of(file)
    remove_leftover(file)
    write_synced(fresh, data, file)
    os.replace(fresh, file)
    sync_folder(file.parent)


def create_file(file: Path, data: bytes) -> None:
    """Make a file that is not there, whole from its first instant; whatever stands there by now stays."""
    make_folders(file.parent)
    fresh = leftover_of(file)
    remove_leftover(file)
    write_synced(fresh, data, file)
    try:
        name_once(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(file.parent)


def name_once(fresh: Path, file: Path) -> None:
    """Give a complete file its name, unless something has that name."""
    try:
        os.link(fresh, file)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(file):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(file)) from None
        os.rename(fresh, file)


def remove_file(file: Path) -> None:
    file.unlink(missing_ok=True)
    if file.parent.is_dir():
        sync_folder(file.parent)


def missing_folders(file: Path) -> list[Path]:
    """The folders above a file that are not there, the innermost first."""
    folders = []
    while not os.path.lexists(file := file.parent):
        folders.append(file)
    return folders


def make_folders(folder: Path) -> None:
    for missing in reversed(missing_folders(folder / "x")):
        missing.mkdir(exist_ok=True)
        sync_folder(missing.parent)


def remove_if_empty(folder: Path) -> None:
    """Remove a folder that holds nothing, or nothing but what Python has compiled of files that are gone."""
    with suppress(OSError):
        if os.listdir(folder) == ["__pycache__"] and not folder.is_symlink():
            shutil.rmtree(folder / "__pycache__")
        os.rmdir(folder)
        sync_folder(folder.parent)


def is_creatable(root: Path, path: str) -> bool:
    """Whether a file could be made there: in a folder of the project that may be written to."""
    file = root / path
    nearest = next(folder for folder in file.parents if os.path.lexists(folder))
    inside = Path(os.path.realpath(nearest)).is_relative_to(os.path.realpath(root))
    return inside and nearest.is_dir() and os.access(nearest, os.W_OK) and bool(nearest.stat().st_mode & 0o222)


def is_writable(file: Path) -> bool:
    """Whether the file may be replaced: for root too, write permission that everybody lacks is a wish."""
    may_write = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    return may_write and bool(file.stat().st_mode & 0o222)


def leftover_of(file: Path) -> Path:
    """The name under which the new bytes stand until they are complete."""
    return file.with_name(f".{file.name}{LEFTOVER}")


def remove_leftover(file: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        leftover_of(file).unlink()


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
