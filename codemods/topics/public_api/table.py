"""The table of old and new names: names.toml, read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

Called = Literal["either", "call", "decorate", "wrap"]


@dataclass(frozen=True, slots=True)
class Default:
    """What the old name took when it was given nothing; `matters` finds code in which the new one may not."""

    value: str
    matters: re.Pattern[bytes]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One public name and the old ones that it replaces. The fields are explained in names.toml."""

    old: tuple[str, ...]
    new: str
    since: str
    why: str
    called: Called = "either"
    leads: str = ""
    adds: Mapping[str, str] = field(default_factory=dict)
    positional: tuple[str, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)
    keywords: tuple[str, ...] | None = None
    defaults: Mapping[str, Default] = field(default_factory=dict)
    idle: Mapping[str, str] = field(default_factory=dict)
    warning: str = ""

    @property
    def module(self) -> str:
        return self.new.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.new.rpartition(".")[2]


@cache
def table() -> dict[str, Row]:
    """The rows by each of their old names."""
    import tomllib

    text = Path(__file__).with_name("names.toml").read_text(encoding="utf-8")
    rows = [read_row(entry) for entry in tomllib.loads(text)["name"]]
    return {old: row for row in rows for old in row.old}


def read_row(entry: dict[str, Any]) -> Row:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    given = entry.get("defaults", {}).items()
    defaults = {name: Default(one["value"], re.compile(one["matters"].encode())) for name, one in given}
    values |= {"defaults": defaults}
    return Row(**values)
