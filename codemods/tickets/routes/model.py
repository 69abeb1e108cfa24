"""Which codemod a ticket leads to, and how it compares with what the ticket proposes: frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.model import Edit, Finding
from fullgraph.codemods.tickets.places.model import Spot

Confidence = Literal[
    "fires at the place",
    "fires in the function",
    "fires in the file",
    "fires in the project",
    "fires on the snippet only",
    "not seen to fire",
]
ORDER: tuple[Confidence, ...] = (
    "fires at the place",
    "fires in the function",
    "fires in the file",
    "fires in the project",
    "fires on the snippet only",
    "not seen to fire",
)


@dataclass(frozen=True, slots=True)
class OwnFix:
    """The ticket's own fix as edits, or why it cannot be written as it stands."""

    edits: tuple[Edit, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Fired:
    """A finding of the catalogue, how near to the ticket's place it is, and the spot that it is near to."""

    finding: Finding
    confidence: Confidence
    spot: Spot

    @property
    def rank(self) -> int:
        """0 is nearest."""
        return ORDER.index(self.confidence)


@dataclass(frozen=True, slots=True)
class Routed:
    """The codemod with the settings that the ticket asks for, or none and why. `findings` are those to be applied.

    `symbols` is what the codemod must be told with --symbol to fire there. `comparison` is a line on how the result
    compares with the fix that the ticket proposes. `nearest` is named, and not used. `commands` are what the
    user can type to get what the ticket asks for beside, or instead of, a rewrite.
    """

    codemod: str = ""
    options: tuple[tuple[str, str], ...] = ()
    symbols: tuple[str, ...] = ()
    confidence: Confidence | Literal[""] = ""
    findings: tuple[Finding, ...] = ()
    spot: Spot | None = None
    why: str = ""
    nearest: str = ""
    comparison: str = ""
    literal: OwnFix = OwnFix()
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
