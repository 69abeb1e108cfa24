"""What helps against a kind of graph break: the codemods that repair it, the setting that does, or advice.

The table is data: `remedies.toml`, by torch's ids. These stay with a kind from version to version; where an older torch
gives none, or an id has another meaning than here, the words with which torch's explanation begins decide.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("remedies.toml")
EXAMPLES = re.compile(r"\(e\.g\.[^)]*\)")
"""What torch names in passing is not what broke."""

GENERAL = "This kind is not in the table: call what breaks before or behind the compiled function."


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do about a break. Without codemods and without a setting, the advice is all there is."""

    codemods: tuple[str, ...] = ()
    setting: str = ""
    advice: str = ""
    is_echo: bool = False
    """Whether another break causes this one."""

    @property
    def is_known(self) -> bool:
        return not self.advice.startswith(GENERAL)


def remedy_of(id: str, reason: str = "", hint: str = "") -> Remedy:
    """The remedy for a break with this id; `reason` is torch's explanation, beginning with the words for the kind.

    What the table does not have gets a general answer with torch's own hint.
    """
    row = row_of(id, reason)
    if row is None:
        says = f" torch says: {hint}" if hint else ""
        return Remedy(advice=GENERAL + says)
    said = EXAMPLES.sub("", reason)
    narrower = (one for one in row.get("when", ()) if re.search(one["says"], said))
    row = next(narrower, row)
    return Remedy(tuple(row.get("codemods", ())), row.get("setting", ""), row["advice"], row.get("echo", False))


def row_of(id: str, reason: str = "") -> dict[str, Any] | None:
    """The row whose words torch uses, else the one with the id."""
    table = read_table()
    own = table.get(id)
    if own is not None and is_about(own, reason):
        return own
    return next((row for row in table.values() if is_about(row, reason)), own)


def is_about(row: dict[str, Any], reason: str) -> bool:
    """Whether an explanation begins with the words of this kind, now or in an earlier version of torch."""
    kinds = (row["type"], *row.get("also", ()))
    return any(reason == kind or reason.startswith(f"{kind}: ") for kind in kinds)


@lru_cache(maxsize=1)
def read_table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
