"""A place as people and editors write it: `FILE:LINE:COL`, in notebooks `FILE:CELL:LINE:COL`. All count from 1."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fullgraph.codemods.model import Finding, FullgraphError, Span
from fullgraph.codemods.module import NEWLINE
from fullgraph.codemods.source import Source

NUMBERED = re.compile(r"(?P<file>.+?)(?P<numbers>(?::(?:cell )?[0-9]{1,9})+)", re.DOTALL)
NUMBER = re.compile(r"[0-9]+")
FORM = "write FILE:LINE or FILE:LINE:COL, and FILE.ipynb:CELL:LINE for a notebook"


@dataclass(frozen=True)
class Place:
    """A column counts characters. What is 0 was not given: then the whole line, cell or file is meant."""

    asked: str
    file: Path
    line: int = 0
    column: int = 0
    cell: int = 0


@dataclass(frozen=True)
class Position:
    """Where a character stands, for people. `cell` is 0 outside of notebooks."""

    line: int
    column: int
    cell: int = 0


def read_place(text: str) -> Place:
    """The place that a text means. A file whose name ends in `:3` is still found by its whole name."""
    found = None if Path(text).is_file() else NUMBERED.fullmatch(text)
    if not found:
        return Place(text, Path(text))
    file, numbers = Path(found["file"]), [*map(int, NUMBER.findall(found["numbers"]))]
    if not all(numbers):
        raise FullgraphError(f"{text}: lines and columns count from 1")
    is_notebook = file.suffix == ".ipynb"
    if len(numbers) > 2 + is_notebook:
        raise FullgraphError(f"{text}: too many numbers; {FORM}")
    cell = numbers.pop(0) if is_notebook else 0
    line, column = [*numbers, 0, 0][:2]
    return Place(text, file, line, column, cell)


class Lines:
    """The lines of one file, or of each cell of a notebook."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.path = source.path
        self.text = source.text

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(found.end() for found in NEWLINE.finditer(self.text))]

    def row_of(self, offset: int) -> int:
        """The line that holds a character, counted from 0 in the whole text."""
        return bisect_right(self.starts, offset) - 1

    def row(self, number: int) -> str:
        """A line without its line break."""
        return self.text[self.starts[number] : self.row_end(number)].rstrip("\r\n")

    def row_end(self, number: int) -> int:
        """Just behind a line's break."""
        return self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)

    def position(self, offset: int) -> Position:
        line = self.row_of(offset) + 1
        column = offset - self.starts[line - 1] + 1
        if not self.path.endswith(".ipynb"):
            return Position(line, column)
        from fullgraph.codemods.notebook import place

        cell, line = place(self.source, offset) or (0, line)
        return Position(line, column, cell)

    def asked(self, place: Place) -> Span:
        """The characters that a place means: one, a line, a cell or all of them."""
        whole = self._cell(place.cell) if place.cell else Span(0, len(self.text))
        return self._within(whole, place) if place.line else whole

    def _cell(self, number: int) -> Span:
        cells = {cell.number: cell for cell in getattr(self.source, "cells", ())}
        if number not in cells:
            known = ", ".join(map(str, cells)) or "none"
            raise FullgraphError(f"{self.path}: cell {number} holds no Python; the cells that do: {known}")
        return Span(cells[number].start, cells[number].start + len(cells[number].text))

    def _within(self, whole: Span, place: Place) -> Span:
        first = bisect_right(self.starts, whole.start) - 1
        lines = bisect_right(self.starts, whole.end) - first
        if place.line > lines:
            where = f"cell {place.cell} of {self.path}" if place.cell else self.path
            raise FullgraphError(f"{where} ends at line {lines}; there is no line {place.line}")
        start = self.starts[first + place.line - 1]
        ends_at = NEWLINE.search(self.text, start)
        end = ends_at.start() if ends_at else len(self.text)
        return self._column(start, end, place) if place.column else Span(start, end)

    def _column(self, start: int, end: int, place: Place) -> Span:
        if place.column > end - start + 1:
            raise FullgraphError(
                f"{self.path}: line {place.line} ends at column {end - start + 1}; there is no column {place.column} "
                "(columns count characters, not bytes)"
            )
        offset = start + place.column - 1
        return Span(offset, offset)


def is_there(finding: Finding, asked: Span) -> bool:
    """Whether a finding stands at these characters; a cursor just behind it is still there."""
    last = max(finding.span.start, finding.span.end - (asked.start < asked.end))
    return finding.span.start <= asked.end and asked.start <= last
