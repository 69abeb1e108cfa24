"""Files that are old or new at every instant, never half."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from fullgraph.codemods.rewrite.folder import BarredError, Folder, is_link

LEFTOVER = ".fullgraph-new"


def replace_file(folder: Folder, name: str, data: bytes) -> None:
    """Give a file new bytes in one step, whether it is there or not; mode and owner are kept."""
    fresh = write_fresh(folder, name, data)
    try:
        folder.rename(fresh, name)
    except BaseException:
        remove_leftover(folder, name)
        raise
    folder.sync()


def replace_at(file: Path, data: bytes) -> None:
    """The same by a path that the user gave."""
    with Folder.at(file.parent) as folder:
        replace_file(folder, file.name, data)


def create_file(folder: Folder, name: str, data: bytes, mode: int = 0o666) -> None:
    """Make a file that is not there, whole from its first instant; whatever stands there by now stays."""
    fresh = write_fresh(folder, name, data, mode)
    try:
        name_once(folder, fresh, name)
    finally:
        folder.remove(fresh)
    folder.sync()


def write_fresh(folder: Folder, name: str, data: bytes, mode: int = 0o666) -> str:
    """The new bytes beside a file, on disk; the name that they have there until they are complete."""
    fresh = leftover_of(name)
    remove_leftover(folder, name)
    try:
        folder.write_new(fresh, data, folder.plain(name), mode)
    except BaseException:
        with suppress(OSError):
            folder.remove(fresh)
        raise
    return fresh


def name_once(folder: Folder, fresh: str, name: str) -> None:
    """Give a complete file its name, unless something has that name."""
    try:
        folder.link(fresh, name)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if folder.status(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder.path / name)) from None
        folder.rename(fresh, name)


def remove_if_empty(folder: Folder, name: str) -> None:
    """Remove a folder that holds nothing, or nothing but what Python has compiled of files that are gone."""
    with suppress(OSError, BarredError):
        with folder.inner(name) as inner:
            if inner.names() == ["__pycache__"]:
                inner.remove_tree("__pycache__")
        folder.remove_folder(name)
        folder.sync()


def leftover_of(name: str) -> str:
    """What the new bytes are called until they are complete. Short: the file's own name may be at the limit."""
    return f".{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}{LEFTOVER}"


def remove_leftover(folder: Folder, name: str) -> None:
    fresh = leftover_of(name)
    status = folder.status(fresh)
    if status and stat.S_ISDIR(status.st_mode) and not is_link(status):
        raise BarredError(folder.path / fresh, "a folder that is in the way; remove it")
    folder.remove(fresh)
