"""Paragraphs and tables in lines that fit a width."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.screen import NARROWEST, encodable
from fullgraph.codemods.ui.terminal import READABLE, paint

GAP = "  "


@dataclass(frozen=True)
class Paragraph:
    """A piece of text before it has a width. What is indented also hangs: its later lines are indented further.

    `is_code`: its own lines, each with its own indentation.
    """

    text: str = ""
    indent: int = 0
    style: Mapping[str, object] = field(default_factory=dict)
    is_code: bool = False


@dataclass(frozen=True)
class Entry:
    """A row of a table: what stands in its columns, and how the last of them is painted."""

    cells: tuple[str, ...]
    style: Mapping[str, object] = field(default_factory=dict)


Piece = Paragraph | Sequence[Entry]


def lay_out(pieces: Iterable[Piece], color: bool, width: int) -> str:
    """All pieces in lines of at most `width` characters, in letters that standard output has."""
    width = max(min(width, READABLE), NARROWEST)
    lines: list[str] = []
    for piece in pieces:
        if isinstance(piece, Paragraph):
            lines += [paint(line, color, **piece.style) if piece.style else line for line in fill(piece, width)]
        else:
            lines += table_lines(piece, color, width)
    return encodable("".join(f"{line.rstrip()}\n" for line in lines))


def fill(piece: Paragraph, width: int) -> list[str]:
    indent = " " * piece.indent
    if piece.is_code:
        lines = plain(piece.text.expandtabs(4), keep="\n").split("\n")
        return [part for line in lines for part in fill_line(line, indent, width)]
    hang = indent + "  " if indent else ""
    return wrapped(" ".join(piece.text.split()), width, indent, hang)


def fill_line(line: str, indent: str, width: int) -> list[str]:
    text = line.lstrip(" ")
    lead = indent + line[: min(len(line) - len(text), width // 2)]
    return wrapped(text, width, lead, lead)


def wrapped(text: str, width: int, indent: str, hang: str) -> list[str]:
    text = plain(text)
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=hang, break_on_hyphens=False) or [""]


def table_lines(entries: Sequence[Entry], color: bool, width: int) -> Iterator[str]:
    """Columns, the last one wrapped; where it has no room left, every row becomes lines of its own."""
    heads = [entry.cells[:-1] for entry in entries]
    widths = [max(len(head[column]) for head in heads) for column in range(len(heads[0]))]
    room = width - sum(widths) - len(GAP) * len(widths)
    if room < max(len(entry.cells[-1]) for entry in entries) // 2:
        yield from stacked_lines(entries, color, width)
        return
    for entry in entries:
        first, *numbers = entry.cells[:-1]
        padded = [first.ljust(widths[0]), *(text.rjust(size) for text, size in zip(numbers, widths[1:], strict=True))]
        head = GAP.join(padded)
        for line in textwrap.wrap(entry.cells[-1], room, break_on_hyphens=False) or [""]:
            yield head + GAP + (paint(line, color, **entry.style) if entry.style and line else line)
            head = " " * len(head)


def stacked_lines(entries: Sequence[Entry], color: bool, width: int) -> Iterator[str]:
    """`graph breaks: 3 > 0`, and below it what follows."""
    for entry in entries[1:]:
        name, *numbers, follows = entry.cells
        yield from fill(Paragraph(f"{name}: {' > '.join(numbers)}"), width)
        for line in fill(Paragraph(follows, 2), width):
            yield paint(line, color, **entry.style) if entry.style else line
