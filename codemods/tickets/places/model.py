"""Where a ticket's place is in this project: frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from fullgraph.codemods.tickets.model import Lines

SURE = 0.9
"""From this score on a spot is what the ticket means, as far as text can tell."""

SMALL = 120
"""Lines of a function in which lines that have drifted still mean it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One place of the project. `lines` are those that are meant; without them all of `extent`, or the whole file.

    `symbol` is the function or class around, empty at the top of a module; `extent` are its lines. `is_quoted`: the
    ticket's own code block was found on these lines. `is_confirmed`: something in the file is what the ticket names.
    `is_mentioned`: only named in the prose, perhaps without asking for a change there.
    """

    path: str
    symbol: str = ""
    lines: tuple[Lines, ...] = ()
    extent: Lines | None = None
    score: float = 0.0
    how: str = ""
    is_quoted: bool = False
    is_confirmed: bool = False
    is_mentioned: bool = False

    @property
    def is_small(self) -> bool:
        """Whether the function or class around is so short that all of it may be meant."""
        return self.extent is None or self.extent.last - self.extent.first < SMALL

    def holds(self, first: int, last: int) -> bool:
        """Whether lines `first` to `last` meet the lines that are meant."""
        return any(first <= lines.last and lines.first <= last for lines in self.lines)

    def surrounds(self, first: int, last: int) -> bool:
        """Whether lines `first` to `last` meet the function or class around."""
        return self.extent is not None and first <= self.extent.last and self.extent.first <= last


@dataclass(frozen=True, slots=True)
class Located:
    """The spots of a ticket, the best first; `tried` says in a line each what was looked for and not found."""

    spots: tuple[Spot, ...] = ()
    tried: tuple[str, ...] = ()

    @property
    def best(self) -> Spot | None:
        return self.spots[0] if self.spots else None
