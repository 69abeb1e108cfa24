"""The folders that a server was started for. No path that an agent names leads out of them, by `..` or by a link."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.walk import find_root


@dataclass(frozen=True)
class Roots:
    folders: tuple[Path, ...]

    @classmethod
    def around(cls, paths: Sequence[Path]) -> Roots:
        """The projects that these paths lie in."""
        for path in paths:
            if not path.exists():
                raise FullgraphError(f"{path}: no such file or folder")
        return cls(tuple(dict.fromkeys(Path(os.path.realpath(find_root(path))) for path in paths)))

    def inside(self, text: str) -> Path:
        """A path that an agent named; a relative one counts from the first folder."""
        path = Path(os.path.realpath(self.folders[0] / text))
        if not any(path.is_relative_to(folder) for folder in self.folders):
            raise FullgraphError(f"{text}: outside of {self}; name a path inside")
        return path

    def paths(self, given: Sequence[str]) -> tuple[Path, ...]:
        return tuple(map(self.inside, given)) or self.folders

    def project(self, text: str) -> Path:
        """The project that a path lies in; without one, the first."""
        return find_root(self.inside(text)) if text else self.folders[0]

    def scenario(self, text: str) -> str:
        """A scenario that an agent named: a file or a test has to lie inside, a module is found by the project."""
        file, mark, test = text.partition("::")
        if mark or file.endswith(".py") or os.sep in file or "/" in file:
            return f"{self.inside(file)}{mark}{test}"
        return text

    def __str__(self) -> str:
        return ", ".join(map(str, self.folders))
