"""A folder held open: what stands in it is reached through its descriptor, and no link is followed.

Whoever checks a path and opens it afterwards opens what was put there in between. Here each part of a path is opened
from the one above it, as a folder or as a plain file and nothing else. Where the system has no such descriptors, each
part is checked just before it is used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import FullgraphError

HAS_DESCRIPTORS = {os.open, os.stat, os.access, os.mkdir, os.rmdir, os.unlink, os.rename} <= os.supports_dir_fd
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""No link is followed, a pipe without a writer is not waited for."""

DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
LINK = "a link, which is not followed"
EXCHANGED = "not the folder that it was when this command began"
REPARSE_POINT = 0x400
"""What Windows calls links of all kinds, junctions too."""


class BarredError(FullgraphError):
    """A place that is not touched; `reason` says why."""

    def __init__(self, place: Path | str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason


Identity = tuple[int, int]
"""Device and number: what stays the same of a folder, whatever its name."""

PINNED: dict[Path, Identity] = {}


def identity_of(path: Path) -> Identity:
    """Of a folder that is reached by its real path."""
    status = os.stat(path, follow_symlinks=False)
    if is_link(status) or not stat.S_ISDIR(status.st_mode):
        raise FullgraphError(f"{path}: {EXCHANGED}; nothing more is touched")
    return status.st_dev, status.st_ino


@contextmanager
def pinned(path: Path, identity: Identity | None) -> Iterator[None]:
    """Inside, this path must lead to the folder that stood there before, and not to one that took its place."""
    if identity is not None:
        PINNED[path] = identity
    try:
        yield
    finally:
        PINNED.pop(path, None)


class Folder:
    """An open folder. Names are single ones, of what stands right in it; `path` is for messages."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self.descriptor = descriptor

    @classmethod
    def at(cls, path: Path) -> Folder:
        """The folder that a user named: the way to it is theirs, links included."""
        found = cls(path, os.open(path, DIRECTORY) if HAS_DESCRIPTORS else None)
        status = os.stat(path) if found.descriptor is None else os.fstat(found.descriptor)
        if PINNED.get(path, identity := (status.st_dev, status.st_ino)) != identity:
            found.close()
            raise FullgraphError(f"{path}: {EXCHANGED}; nothing more is touched")
        return found

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Looking

    def names(self) -> list[str]:
        return os.listdir(self.path if self.descriptor is None else self.descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """What stands under a name, be it a link; None for nothing."""
        with suppress(FileNotFoundError):
            return self._do(os.stat, name, follow_symlinks=False)  # type: ignore[no-any-return]
        return None

    def plain(self, name: str) -> os.stat_result | None:
        """The status of a plain file; None for nothing, and anything else is refused."""
        status = self.status(name)
        if status is not None and (is_link(status) or not stat.S_ISREG(status.st_mode)):
            raise BarredError(self.path / name, LINK if is_link(status) else "not a plain file")
        return status

    def may_write(self, name: str = ".") -> bool:
        """For root too, write permission that everybody lacks is a wish."""
        status = self._do(os.stat, name)
        return bool(status.st_mode & 0o222) and bool(self._do(os.access, name, os.W_OK))

    def open_plain(self, name: str, flags: int = os.O_RDONLY) -> int:
        """The descriptor of a plain file."""
        self.plain(name)
        descriptor: int = self._do(os.open, name, flags | CAREFUL, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise BarredError(self.path / name, "not a plain file")
        return descriptor

    def read(self, name: str, limit: int = -1) -> bytes:
        """The bytes of a plain file, or the first of them."""
        with os.fdopen(self.open_plain(name), "rb") as stream:
            return stream.read(limit)

    # Going down

    def inner(self, name: str, make: bool = False) -> Folder:
        """A folder in this one, which is made if it is missing and `make` says so."""
        status = self.status(name)
        if status is None and make:
            with suppress(FileExistsError):
                self._do(os.mkdir, name)
            self.sync()
        elif status is not None and (is_link(status) or not stat.S_ISDIR(status.st_mode)):
            raise BarredError(self.path / name, LINK if is_link(status) else "not a folder")
        if self.descriptor is None:
            os.stat(self.path / name)
            return Folder(self.path / name, None)
        return Folder(self.path / name, self._do(os.open, name, DIRECTORY | CAREFUL))

    def descend(
        self, names: Sequence[str], make: bool = False, visit: Callable[[Folder], None] = lambda folder: None
    ) -> Folder:
        """The folder at the end of some names, each shown to `visit`. This one is closed, unless there are none."""
        here = self
        for name in names:
            with here:
                below = here.inner(name, make)
            here = below
            try:
                visit(here)
            except BaseException:
                here.close()
                raise
        return here

    # Changing

    def write_new(self, name: str, data: bytes, like: os.stat_result | None, mode: int = 0o666) -> None:
        """A new file with the mode and owner of another, on disk and not only in memory when this returns."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | CAREFUL
        descriptor = self._do(os.open, name, flags, 0o600 if like else mode)
        with self._named(name), os.fdopen(descriptor, "wb") as stream:
            if like:
                keep_owner_and_mode(like, descriptor)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)

    def rename(self, old: str, new: str, to: Folder | None = None) -> None:
        """Give a file or folder another name, here or in another folder, in the place of a file that has it."""
        self._to(os.replace, old, new, to or self)

    def link(self, old: str, new: str) -> None:
        self._to(os.link, old, new, self)

    def remove(self, name: str) -> None:
        """Remove a file or a link, if it is there."""
        with suppress(FileNotFoundError):
            self._do(os.unlink, name)

    def remove_tree(self, name: str) -> None:
        """Remove whatever has this name; of a link, the link."""
        status = self.status(name)
        if status is None or is_link(status) or not stat.S_ISDIR(status.st_mode):
            self.remove(name)
        else:
            import shutil

            self._do(shutil.rmtree, name)

    def remove_folder(self, name: str) -> None:
        self._do(os.rmdir, name)

    def sync(self) -> None:
        """Make new names and renames durable, where the system can."""
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def _do(self, action: Callable[..., Any], name: str, *arguments: Any, **options: Any) -> Any:
        with self._named(name):
            if self.descriptor is None:
                return action(self.path / name, *arguments, **options)
            return action(name, *arguments, **options, dir_fd=self.descriptor)

    def _to(self, action: Callable[..., Any], old: str, new: str, to: Folder) -> None:
        with self._named(new):
            if self.descriptor is None:
                action(self.path / old, to.path / new)
            else:
                action(old, new, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    @contextmanager
    def _named(self, name: str) -> Iterator[None]:
        """Errors name the whole path."""
        try:
            yield
        except OSError as error:
            error.filename = str(self.path / name)
            error.filename2 = None
            raise


def is_link(status: os.stat_result) -> bool:
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_file_attributes", 0) & REPARSE_POINT)


def keep_owner_and_mode(status: os.stat_result, descriptor: int) -> None:
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # another user's file that we may write, but not give away
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, status.st_mode & 0o7777)
