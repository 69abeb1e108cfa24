"""The patterns under `fixtures/patterns`: a small program each, the calls it is run with, and the end that is expected.

`end` is written down before any codemod has seen the program: repaired, declined, or either where a careful tool may
do one or the other. `one_graph`: whether a repaired program must be captured whole. `by`: the codemods that may do it.
`missed` says why the codemods do not come to that end yet; what is expected stays as it was written.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.breaks.programs import MAIN, Program

PATTERNS = Path(__file__).parent.parent.parent / "fixtures" / "patterns"
ENDS = ("repaired", "declined", "either")


@dataclass(frozen=True)
class Pattern:
    """A folder with `program.py` and `expect.toml`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def expected(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "expect.toml").read_text())

    @property
    def end(self) -> str:
        return str(self.expected["end"])

    @property
    def one_graph(self) -> bool:
        return bool(self.expected.get("one_graph"))

    @property
    def by(self) -> set[str]:
        return set(self.expected.get("by", ()))

    @property
    def missed(self) -> str:
        return str(self.expected.get("missed", ""))

    def program(self) -> Program:
        given = self.expected
        return Program({MAIN: (self.folder / MAIN).read_bytes()}, tuple(given["calls"]), str(given.get("entry", "run")))


def all_patterns() -> list[Pattern]:
    return [Pattern(file.parent) for file in sorted(PATTERNS.glob("*/expect.toml"))]
