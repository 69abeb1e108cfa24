"""A project's files on their way to a machine that does not have them."""

from __future__ import annotations

import os
import pickle
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.ignore import Pattern, is_ignored, patterns_in, work_tree_above
from fullgraph.codemods.rewrite.walk import NEVER, SUFFIXES

BLOCK = 8_000_000
"""Bytes that travel together. The scheduler keeps every block, so that no worker's death loses one."""

MOST = 1_000_000_000
MOST_NAMES = 100_000
"""Beyond which a folder that git ignores may look empty to a worker."""

REQUIRING = (".toml", ".cfg", ".txt")


@dataclass(frozen=True)
class Parcel:
    """Files of a project, packed. `name` is the root's, with the packages around it: a module's name depends on it."""

    root: Path
    name: str
    blocks: tuple[bytes, ...]
    unread: tuple[str, ...] = ()
    """Files that could not be read here, and so are not in it."""


def pack(root: Path, paths: Iterable[str], *, names: Iterable[str] = ()) -> Parcel:
    """These files with what is in them; of `names` only that they are there. A folder's name ends in a slash."""
    blocks: list[bytes] = []
    unread: list[str] = []
    items: list[tuple[str, bytes, int]] = [(name, b"", 0o644) for name in sorted(names)]
    size = 0
    for path in sorted(paths):
        try:
            file = root / path
            items.append((path, file.read_bytes(), file.stat().st_mode & 0o777))
        except OSError:
            unread.append(path)
            continue
        size += len(items[-1][1])
        if size > BLOCK:
            blocks.append(zlib.compress(pickle.dumps(items), 1))
            items, size = [], 0
    blocks.append(zlib.compress(pickle.dumps(items), 1))
    return Parcel(root, named_with_packages(root), tuple(blocks), tuple(unread))


def unpack(name: str, blocks: Iterable[bytes], folder: Path) -> Path:
    """Put the files below a folder; their root there."""
    root = folder / name
    root.mkdir(parents=True, exist_ok=True)
    for package in list(PurePosixPath(name).parents)[:-1]:
        (folder / package / "__init__.py").touch()
    for block in blocks:
        for path, data, mode in pickle.loads(zlib.decompress(block)):
            target = root / path
            (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                target.write_bytes(data)
                target.chmod(mode | 0o600)
    return root


def named_with_packages(root: Path) -> str:
    """`root`, or `package/root` where the folder above is a package that it belongs to."""
    top = root
    while (top / "__init__.py").is_file() and top != top.parent:
        top = top.parent
    return PurePosixPath(*root.relative_to(top).parts).as_posix() if top != root else root.name or "root"


def names_beside(root: Path, files: Iterable[str]) -> tuple[set[str], set[str]]:
    """What else stands in a project: what may be read, and what only has a name. Only so many are looked for."""
    known = set(files)
    read: set[str] = set()
    named: set[str] = set()
    folders = deque([""])
    while folders and len(read) + len(named) < MOST_NAMES:
        folder = folders.popleft()
        with suppress(OSError), os.scandir(root / folder) as children:
            for child in sorted(children, key=lambda child: child.name):
                path = folder + child.name
                if child.is_dir():
                    named.add(f"{path}/")
                    folders += [f"{path}/"] if not child.is_symlink() and not is_foreign(child) else []
                elif path not in known:
                    (read if is_readable(path, child) else named).add(path)
    return read, named


def is_foreign(folder: os.DirEntry[str]) -> bool:
    """Whether a folder is never a part of a project: an environment, or what tools keep for themselves."""
    return folder.name in NEVER or os.path.exists(os.path.join(folder.path, "pyvenv.cfg"))


def is_readable(path: str, child: os.DirEntry[str]) -> bool:
    """Whether codemods may want to read it: Python anywhere, and at the root what says what the project requires."""
    suffixes = SUFFIXES if "/" in path else (*SUFFIXES, *REQUIRING)
    return path.endswith(suffixes) and child.is_file() and child.stat().st_size < BLOCK


def all_files(root: Path) -> list[str]:
    """Every file of a project that git does not ignore, whatever it holds. Links to folders are not followed."""
    above = [pattern for outer in work_tree_above(root) for pattern in patterns_in(outer)]
    sizes = dict(sorted(walk(str(root), "", above)))
    if (total := sum(sizes.values())) > MOST:
        biggest = max(sizes, key=lambda path: sizes[path])
        raise FullgraphError(
            f"the project's files take {total / 1e9:.1f} GB, and at most {MOST / 1e9:g} GB are sent to a cluster; "
            f"the biggest is {biggest}: .gitignore keeps files out"
        )
    return list(sizes)


def walk(folder: str, below: str, ignores: list[Pattern]) -> Iterator[tuple[str, int]]:
    """The files below a folder, by path, with their sizes."""
    ignores = [*ignores, *patterns_in(Path(folder))]
    with suppress(OSError), os.scandir(folder) as children:
        for child in children:
            if is_foreign(child) or is_ignored(child.path, child.is_dir(), ignores):
                continue
            if child.is_dir(follow_symlinks=False):
                yield from walk(child.path, f"{below}{child.name}/", ignores)
            elif child.is_file():
                yield f"{below}{child.name}", child.stat().st_size
