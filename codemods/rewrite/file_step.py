"""One file of a run: checked, taken from what it was to what it is to be, and back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from codemods.model import SourceError
from codemods.rewrite.atomic import create_file, is_creatable, is_writable, remove_file, replace_file
from codemods.rewrite.merge import merge


@dataclass(frozen=True)
class FileStep:
    """A file of the project at `root` that goes from `old` to `new`; None is no file there."""

    root: Path
    path: str
    old: bytes | None
    new: bytes | None

    @property
    def file(self) -> Path:
        return self.root / self.path

    @property
    def back(self) -> FileStep:
        return FileStep(self.root, self.path, self.new, self.old)

    @property
    def is_made(self) -> bool:
        return self._is(self.new)

    @property
    def is_possible(self) -> bool:
        """Whether the file is as it should be, or can be taken there from what it was."""
        return self.is_made or (self._is(self.old) and (self.old is not None or is_creatable(self.root, self.path)))

    def _is(self, data: bytes | None) -> bool:
        try:
            return not os.path.lexists(self.file) if data is None else self.file.read_bytes() == data
        except OSError:
            return False

    def check(self) -> None:
        """The file must be as it was when the change was made, and it must be allowed to change."""
        reason = self._why_no_file() if self.old is None else self._why_not_same(self.old)
        if reason:
            raise SourceError(self.path, f"{reason}; nothing was written")

    def _why_no_file(self) -> str:
        if os.path.lexists(self.file):
            return "has been created by somebody else meanwhile"
        return "" if is_creatable(self.root, self.path) else "cannot be created there"

    def _why_not_same(self, expected: bytes) -> str:
        try:
            current = self.file.read_bytes()
        except OSError as error:
            return str(error.strerror)
        if current != expected:
            return "changed on disk meanwhile"
        if self.file.is_symlink():
            return "has become a link"
        return "" if is_writable(self.file) else "not writable"

    def make(self) -> None:
        if self.new is None:
            remove_file(self.file)
        elif self.old is None:
            create_file(self.file, self.new)
        else:
            replace_file(self.file, self.new)

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
            current = self.file.read_bytes()
        except OSError:
            return [self.path] if os.path.lexists(self.file) or self.new is None else []
        merged, conflicts = merge(self.path, self.new, current, self.old)
        if merged is not None and not conflicts and merged != current:
            replace_file(self.file, merged)
        return list(map(str, conflicts))
