"""Work on a stream, and the conditions under which it is issued: values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """A name or attribute that holds, or does not, wherever something runs."""

    text: str
    holds: bool

    def __str__(self) -> str:
        return self.text if self.holds else f"not {self.text}"

    @property
    def opposite(self) -> Condition:
        return Condition(self.text, not self.holds)


@dataclass(frozen=True)
class Issue:
    """Work on the other stream. `is_seen`: the text says so; else it is code that cannot be followed."""

    where: str
    what: str
    is_seen: bool
    conditions: tuple[Condition, ...] = ()
    is_transfer: bool = False

    @property
    def text(self) -> str:
        return f"{self.where}: {self.what}"
