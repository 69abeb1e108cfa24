"""Which files and functions of the project have run, as far as it is known."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

from ..graphs.places import real_path
from .starts import Starts
from .whose import PROJECT, Whose


class Reached:
    """What Dynamo has traced never starts as it stands; Dynamo tells of it."""

    def __init__(self, whose: Whose, starts: Starts) -> None:
        self.whose = whose
        self.starts = starts
        self.traced: set[tuple[str, int]] = set()
        self.program = self.file_of(sys.modules.get("__main__"))  # Python takes the name away before the process ends

    def add(self, code: CodeType) -> None:
        if self.whose(code.co_filename) is PROJECT:
            self.traced.add((code.co_filename, code.co_firstlineno))

    def tell(self) -> dict[str, Any]:
        """The project's files that were imported, each with the first lines of functions that ran; if these are all."""
        started = [one for one in self.starts.seen.copy() if self.whose(one[0]) is PROJECT]
        ran = {(real_path(file), line) for file, line in [*started, *self.traced.copy()]}
        imported = {self.program, *map(self.file_of, list(sys.modules.values()))} - {""}
        return {
            file: {"ran": sorted(line for name, line in ran if name == file), "is_all": self.starts.is_listening}
            for file in sorted(imported | {file for file, _ in ran})
        }

    def file_of(self, module: Any) -> str:
        """Asked of the module's own dict: a lazy module would import something when it is asked."""
        try:
            file = vars(module).get("__file__")
        except TypeError:
            return ""
        is_source = isinstance(file, str) and file.endswith(".py")
        return real_path(file) if is_source and self.whose(file) is PROJECT else ""
