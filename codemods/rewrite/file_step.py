"""One file of a run: checked, taken from what it was to what it is to be, and back."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.rewrite.atomic import create_file, remove_leftover, replace_file
from fullgraph.codemods.rewrite.folder import BarredError
from fullgraph.codemods.rewrite.inside import place_of, read_inside, why_not_creatable, why_not_writable
from fullgraph.codemods.rewrite.merge import merge


@dataclass(frozen=True)
class FileStep:
    """A file of the project at `root` that goes from `old` to `new`; None is no file there."""

    root: Path
    path: str
    old: bytes | None
    new: bytes | None

    @property
    def back(self) -> FileStep:
        return FileStep(self.root, self.path, self.new, self.old)

    @property
    def is_there(self) -> bool:
        return os.path.lexists(self.root / self.path)

    @property
    def is_made(self) -> bool:
        return self._is(self.new)

    @property
    def is_possible(self) -> bool:
        """Whether the file is as it should be, or can be taken there from what it was."""
        can_come = self.old is not None or not why_not_creatable(self.root, self.path)
        return self.is_made or (self._is(self.old) and can_come)

    def _is(self, data: bytes | None) -> bool:
        try:
            return not self.is_there if data is None else read_inside(self.root, self.path) == data
        except (OSError, BarredError):
            return False

    def check(self) -> None:
        """The file must be as it was when the change was made, and it must be allowed to change."""
        reason = self._why_no_file() if self.old is None else self._why_not_same(self.old)
        if reason:
            raise SourceError(self.path, f"{reason}; nothing was written")

    def _why_no_file(self) -> str:
        if self.is_there:
            return "has been created by somebody else meanwhile"
        reason = why_not_creatable(self.root, self.path)
        return f"cannot be created there: {reason}" if reason else ""

    def _why_not_same(self, expected: bytes) -> str:
        try:
            current = read_inside(self.root, self.path)
        except BarredError as error:
            return error.reason
        except OSError as error:
            return str(error.strerror)
        if current is None:
            return os.strerror(errno.ENOENT)
        return why_not_writable(self.root, self.path) if current == expected else "changed on disk meanwhile"

    def make(self) -> None:
        with place_of(self.root, self.path, make=self.old is None) as (folder, name):
            if self.new is None:
                folder.remove(name)
                folder.sync()
            elif self.old is None:
                create_file(folder, name, self.new)
            else:
                replace_file(folder, name, self.new)

    def clear(self) -> None:
        """Remove what a process that died has left beside the file."""
        with suppress(FileNotFoundError, BarredError), place_of(self.root, self.path) as (folder, name):
            remove_leftover(folder, name)

    def take_out(self) -> list[str]:
        """Take the step back, also where the file has been edited since; the places where that cannot be."""
        if self._is(self.old):
            return []
        if self.is_made and self.back.is_possible:
            self.back.make()
            return []
        return self._merge_out()

    def _merge_out(self) -> list[str]:
        """What has been edited is merged; a file that is gone stays gone."""
        try:
            current = read_inside(self.root, self.path)
        except (OSError, BarredError):
            current = None
        if current is None:
            return [self.path] if self.is_there or self.new is None else []
        merged, conflicts = merge(self.path, self.new, current, self.old)
        if merged is not None and not conflicts and merged != current:
            with place_of(self.root, self.path) as (folder, name):
                replace_file(folder, name, merged)
        return list(map(str, conflicts))
