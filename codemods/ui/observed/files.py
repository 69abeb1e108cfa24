"""The files that findings are in, as they were when these were found."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from fullgraph.codemods.syntax.assignments import FUNCTIONS

Span = tuple[int, int]
"""First and last line."""


class Texts:
    """`before` holds what was written over since. Every file is read once."""

    def __init__(self, before: Mapping[Path, bytes | None]) -> None:
        self.before = before
        self.read = cache(self._read)
        self.functions = cache(self._functions)
        self.digest = cache(self._digest)

    def _read(self, file: Path) -> bytes:
        """Nothing, if there is no such file."""
        try:
            return self.before.get(file) or file.read_bytes()
        except OSError:
            return b""

    def _digest(self, file: Path) -> str:
        raw = self.read(file)
        return hashlib.sha256(raw).hexdigest() if raw else ""

    def _functions(self, file: Path) -> list[Span]:
        """Every function; as Python counts, it begins with its decorators."""
        try:
            tree = ast.parse(self.read(file))
        except (SyntaxError, ValueError, RecursionError):
            return []
        return [
            (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or node.lineno)
            for node in ast.walk(tree)
            if isinstance(node, FUNCTIONS)
        ]

    def lines(self, file: Path, first: int, last: int) -> str:
        return b"\n".join(self.read(file).splitlines()[first - 1 : last]).decode(errors="replace")


def function_at(functions: Iterable[Span], line: int) -> Span | None:
    """The innermost function around a line."""
    around = [one for one in functions if one[0] <= line <= one[1]]
    return max(around, default=None)
