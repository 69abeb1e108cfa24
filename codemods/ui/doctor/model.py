"""What `doctor` has to tell, before it is text or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FINE, NOTE, PROBLEM = "fine", "note", "problem"


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at. A problem keeps `check` or `prove` from working, and its `fix` says what to do."""

    name: str
    state: str
    text: str
    fix: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkup:
    root: Path
    facts: Sequence[Fact]

    @property
    def problems(self) -> list[Fact]:
        return [fact for fact in self.facts if fact.state == PROBLEM]

    @property
    def exit_code(self) -> int:
        return 1 if self.problems else 0

    @property
    def next(self) -> str:
        """What to do now: the way out of the first problem, else what brings the user further."""
        wanted = next((fact.fix for fact in (*self.problems, *self.facts) if fact.fix), "")
        return wanted or "fullgraph check"

    def fact(self, name: str) -> Fact:
        return next(fact for fact in self.facts if fact.name == name)

    def as_json(self) -> dict[str, Any]:
        facts = [
            {"name": one.name, "state": one.state, "text": one.text, "fix": one.fix, **dict(one.data)}
            for one in self.facts
        ]
        return {
            "version": 1,
            "exit_code": self.exit_code,
            "root": str(self.root),
            "facts": facts,
            "next": self.next,
        }
