"""Characters of a text as a client counts them: lines from 0, and columns in UTF-8, UTF-16 or UTF-32."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from lsprotocol.types import Position, PositionEncodingKind, Range

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import NEWLINE

CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


class Lines:
    """The lines of one text. They end at `\\n`, `\\r\\n` or `\\r` and nowhere else: not at a form feed."""

    def __init__(self, text: str, encoding: str = PositionEncodingKind.Utf16) -> None:
        self.text = text
        self.encoding = PositionEncodingKind(encoding).value

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(found.end() for found in NEWLINE.finditer(self.text))]

    @cached_property
    def is_plain(self) -> bool:
        """Whether all encodings count the same."""
        return self.text.isascii() or self.encoding not in CODECS

    def position(self, offset: int) -> Position:
        offset = min(offset, len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return Position(line, self._units(self.text[self.starts[line] : offset]))

    def range(self, span: Span) -> Range:
        return Range(self.position(span.start), self.position(span.end))

    def offset(self, position: Position) -> int:
        """The character at a position; one behind the end of its line, or of the text, means that end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[position.line]
        ending = NEWLINE.search(self.text, start)
        line = self.text[start : ending.start() if ending else len(self.text)]
        return start + self._characters(line, position.character)

    def span(self, wanted: Range) -> Span:
        return Span(self.offset(wanted.start), self.offset(wanted.end))

    def _units(self, text: str) -> int:
        if self.is_plain or text.isascii():
            return len(text)
        codec, width = CODECS[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // width

    def _characters(self, line: str, units: int) -> int:
        """How many characters of a line begin within so many units."""
        if self.is_plain or line.isascii():
            return min(units, len(line))
        codec, width = CODECS[self.encoding]
        raw = line.encode(codec, "surrogatepass")[: units * width]
        return len(raw.decode(codec, "ignore")) if raw else 0
