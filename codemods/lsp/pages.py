"""How a file of a project looks to the client: a text, the JSON of a notebook, or a notebook's cells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprotocol.types import Location, Range

from fullgraph.codemods.difference import replacements
from fullgraph.codemods.lsp.buffers import MARK
from fullgraph.codemods.lsp.positions import Lines
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.notebook import NotebookSource
from fullgraph.codemods.source import Source, decode

Piece = tuple["Sheet", Span, str]
"""What to replace in one sheet, and by what."""


@dataclass(frozen=True)
class Sheet:
    """One text that the client knows by a URI. `start`: where it begins in the text that findings count in.

    A sheet that is not open has no version. `cell` counts the cells of a notebook from 1.
    """

    uri: str
    version: int | None
    text: str
    encoding: str
    start: int = 0
    cell: int = 0

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text, self.encoding)

    def range(self, span: Span) -> Range:
        return self.lines.range(span)


class Page:
    """A file that is one text."""

    def __init__(self, source: Source, sheets: Sequence[Sheet]) -> None:
        self.source = source
        self.sheets = tuple(sheets)

    def locate(self, span: Span) -> Location:
        sheet = self.sheet_at(span.start)
        return Location(sheet.uri, sheet.range(self.within(sheet, span)))

    def sheet_at(self, offset: int) -> Sheet:
        return self.sheets[max(0, bisect_right(self.sheets, offset, key=lambda sheet: sheet.start) - 1)]

    def within(self, sheet: Sheet, span: Span) -> Span:
        """Characters of the file as characters of a sheet."""
        return Span(*(min(max(0, offset - sheet.start), len(sheet.text)) for offset in (span.start, span.end)))

    def pieces(self, edits: Sequence[Edit], after: bytes) -> list[Piece]:
        """The edits, or else what leads to the bytes `after`, in the client's texts."""
        sheet = self.sheets[0]
        if edits:
            return [(sheet, self.within(sheet, edit.span), edit.new_text) for edit in edits]
        return differences(sheet, MARK * -sheet.start + decode(self.source.path, after).text)


class JsonPage(Page):
    """A notebook that is open as the text that it is, or not at all."""

    source: NotebookSource

    def sheet_at(self, offset: int) -> Sheet:
        return self.sheets[0]

    def within(self, sheet: Sheet, span: Span) -> Span:
        return Span(self.source.file_offset(span.start), self.source.file_offset(span.end))

    def pieces(self, edits: Sequence[Edit], after: bytes) -> list[Piece]:
        return differences(self.sheets[0], after.decode().removeprefix(MARK))


class CellsPage(Page):
    """A notebook that is open cell by cell."""

    def pieces(self, edits: Sequence[Edit], after: bytes) -> list[Piece]:
        fresh = decode(self.source.path, after)
        texts = {cell.number: cell.text for cell in getattr(fresh, "cells", ())}
        return [piece for sheet in self.sheets for piece in differences(sheet, texts.get(sheet.cell, ""))]


def differences(sheet: Sheet, text: str) -> list[Piece]:
    return [(sheet, span, new_text) for span, new_text in replacements(sheet.text, text)]


def text_page(source: Source, uri: str, version: int | None, encoding: str, has_mark: bool = False) -> Page:
    """A file as one text. A buffer may begin with a byte order mark, which no finding counts."""
    if isinstance(source, NotebookSource):
        return JsonPage(source, [Sheet(uri, version, source.json, encoding)])
    mark = MARK if has_mark else ""
    return Page(source, [Sheet(uri, version, mark + source.text, encoding, start=-len(mark))])


def cells_page(source: Source, cells: Sequence[tuple[str, int | None]], encoding: str) -> CellsPage:
    """A notebook by its cells' URIs and versions, of all cells in their order."""
    sheets = []
    for cell in getattr(source, "cells", ()):
        uri, version = cells[cell.number - 1]
        sheets.append(Sheet(uri, version, cell.text, encoding, cell.start, cell.number))
    return CellsPage(source, sheets)
