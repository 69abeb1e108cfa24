"""The files of a project that a run may touch: below its root, past no link, in no repository's own folder.

Whoever wrote a run need not mean well, so the names are looked at first, and then each folder on the way.
"""

from __future__ import annotations

import errno
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fullgraph.codemods.rewrite.atomic import create_file
from fullgraph.codemods.rewrite.folder import BarredError, Folder
from fullgraph.codemods.rewrite.walk import FOLDER

BARRED = {FOLDER, ".git", ".hg", ".svn", ".jj", "git~1"}
"""Folders that no run enters; `git~1` is how Windows may call `.git` in short."""

OWN_REPOSITORY = "in a repository of its own"
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)", re.IGNORECASE)


def parts_of(path: str) -> list[str]:
    """The names that a path of a run is made of; a path that may lead elsewhere is refused."""
    names = path.split("/")
    for name in names:
        if name in ("", ".", "..") or "\0" in name:
            raise BarredError(repr(path), "a path that leads out of the project")
        if folded(name) in BARRED:
            raise BarredError(repr(path), f"in {name}, which no run enters")
        if os.name == "nt" and (set(name) & set('\\:<>|?*"') or name[-1] in ". " or DEVICE.match(name)):
            raise BarredError(repr(path), "a name that means something else on Windows")
    return names


def folded(name: str) -> str:
    """A name as the most forgiving file system reads it: any letter case, invisible characters, blanks at the end."""
    shown = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    return shown.partition(":")[0].rstrip(". ").casefold()


def refuse_repository(folder: Folder) -> None:
    """A repository in the project, a bare one too, is a project of its own."""
    if folder.status(".git") or (folder.status("HEAD") and folder.status("objects")):
        raise BarredError(folder.path, OWN_REPOSITORY)


@contextmanager
def place_of(root: Path, path: str, make: bool = False) -> Iterator[tuple[Folder, str]]:
    """The open folder that a file of the project stands in, and its name there."""
    *above, name = parts_of(path)
    with Folder.at(root).descend(above, make, refuse_repository) as folder:
        yield folder, name


def read_inside(root: Path, path: str) -> bytes | None:
    """The bytes of a plain file of the project; None if there is none."""
    try:
        with place_of(root, path) as (folder, name):
            return folder.read(name)
    except FileNotFoundError:
        return None


def create_new(root: Path, file: Path, data: bytes) -> None:
    """Make a file that a user asked for, and its folders. In the project, no link on the way is followed."""
    path = os.path.relpath(file.absolute(), root)
    if path.startswith(os.pardir) or os.path.isabs(path):
        file.parent.mkdir(parents=True, exist_ok=True)
        with Folder.at(file.parent) as folder:
            create_file(folder, file.name, data)
    else:
        with place_of(root, Path(path).as_posix(), make=True) as (folder, name):
            create_file(folder, name, data)


def missing_folders(root: Path, path: str) -> list[str]:
    """The folders above a file that are not there, the outermost first."""
    above = parts_of(path)[:-1]
    folders = ["/".join(above[:end]) for end in range(1, len(above) + 1)]
    return [folder for folder in folders if not os.path.lexists(root / folder)]


def why_not_creatable(root: Path, path: str) -> str:
    """Why a file cannot be made there, or nothing."""
    try:
        parts = parts_of(path)
        there = len(parts) - 1 - len(missing_folders(root, path))
        with Folder.at(root).descend(parts[:there], visit=refuse_repository) as folder:
            for name in parts[there:]:
                folder.status(name)  # the file system says which names it cannot hold
            return "" if folder.may_write() else "not writable"
    except BarredError as error:
        return error.reason
    except OSError as error:
        return str(error.strerror)


def why_not_writable(root: Path, path: str) -> str:
    """Why a file cannot be replaced, or nothing."""
    try:
        with place_of(root, path) as (folder, name):
            if folder.plain(name) is None:
                return os.strerror(errno.ENOENT)
            return "" if folder.may_write(name) and folder.may_write() else "not writable"
    except BarredError as error:
        return error.reason
    except OSError as error:
        return str(error.strerror)
