"""The bank: rewrites that are wrong, each in its own way, and rewrites that are harmless.

`wrong/<class>.py` and `harmless/<class>.py` each hold `ROWS`. A wrong rewrite changes what a user could notice, and its
scenario runs the changed lines with inputs that show it; it must never be called equivalent. Where the effect is never
executed, only undecided is right. A no-op must not be praised, a right rewrite must not be refused.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from fullgraph.validate.model import Ruling

HERE = Path(__file__).parent
EQUIVALENT = (Ruling.PROVEN, Ruling.NEUTRAL, Ruling.WORSE)
ALLOWED = {
    "wrong": (Ruling.DIFFERENT, Ruling.UNDECIDED),
    "unseen": (Ruling.UNDECIDED,),
    "clock": (Ruling.DIFFERENT, Ruling.UNDECIDED, Ruling.NEUTRAL, Ruling.WORSE),
    "no-op": (Ruling.NEUTRAL, Ruling.UNDECIDED),
    "right": (Ruling.PROVEN, Ruling.NEUTRAL, Ruling.WORSE, Ruling.UNDECIDED),
}
"""By what a rewrite is: the rulings that it may get."""


@dataclass(frozen=True)
class Rewrite:
    """`module.py` before, what is replaced in it (each text stands there once), and a scenario."""

    name: str
    before: str
    changes: Mapping[str, str]
    scenario: str
    kind: str = "wrong"
    files: Mapping[str, str] = field(default_factory=dict)
    """Other files of the project, the same on both sides."""

    is_fresh: bool = False
    """Whether workers are started as users have them, because forked ones have one hash seed."""

    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def after(self) -> str:
        text = self.before
        for old, new in self.changes.items():
            if text.count(old) != 1:
                raise ValueError(f"{self.name}: {text.count(old)} times: {old!r}")
            text = text.replace(old, new)
        return text

    def allows(self, ruling: Ruling | None) -> bool:
        return ruling in ALLOWED[self.kind]


def calls(subject: str, *cases: str, compiled: bool = False, more: str = "") -> str:
    """A scenario: the text of what is run, and of each case's tuple of arguments."""
    given = "".join(f"        {case},\n" for case in cases)
    settings = "" if compiled else "compiled = False\n"
    return (
        f"import functools\n\nimport torch\n\nimport module\n\n{settings}{textwrap.dedent(more)}\n\n"
        f"def build(device):\n    return {subject}\n\n\ndef cases(device, seed):\n    return [\n{given}    ]\n"
    )


def classes(folder: str) -> list[str]:
    return sorted(file.stem for file in (HERE / folder).glob("[a-z]*.py"))


def rows(folder: str, name: str) -> tuple[Rewrite, ...]:
    found: tuple[Rewrite, ...] = import_module(f"tests.attack.{folder}.{name}").ROWS
    return found


def all_rewrites() -> dict[str, Rewrite]:
    """By `class: name`."""
    return {
        f"{name}: {row.name}": row
        for folder in ("wrong", "harmless")
        for name in classes(folder)
        for row in rows(folder, name)
    }
