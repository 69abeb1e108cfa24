"""Lists on a terminal: a title, the first entries, and how much is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullgraph.codemods.ui.layout import Paragraph, Piece

BLANK = Paragraph()
MOST = 12
"""Entries of one list that a terminal shows."""

LONGEST = 300
"""Characters of one value or reason."""


def tell_list(
    title: str, entries: Sequence[Sequence[Piece]], elsewhere: str, color: str = "", number: int | str | None = None
) -> Iterator[Piece]:
    """A titled list, unless it is empty; of a long one the beginning, how much is left out, and who shows it all.

    `number` is how many are in it, where an entry may stand for several.
    """
    if not entries:
        return
    yield BLANK
    number = len(entries) if number is None else number
    yield Paragraph(f"{title} ({number})", style={"fg": color, "bold": True} if color else {"bold": True})
    for entry in entries[:MOST]:
        yield from entry
    if len(entries) > MOST:
        yield Paragraph(f"... and {len(entries) - MOST} more; {elsewhere}", 2)


def times(number: int) -> str:
    return f", {number} times" if number > 1 else ""


def clipped(text: str) -> str:
    """The first line, and no more of it than can be read."""
    first, _, rest = text.strip().partition("\n")
    is_cut = bool(rest) or len(first) > LONGEST
    return first[:LONGEST] + (" ..." if is_cut else "")
