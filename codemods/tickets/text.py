"""From a ticket's bytes to its text and lines, and from garbled words to what was meant."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass

from fullgraph.codemods.model import Span
from fullgraph.codemods.source import Source
from fullgraph.codemods.tickets.model import TicketError, Where

BREAK = re.compile(r"\r\n|\n|\r")
CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Lined:
    """A file's text with its line breaks: `starts` and `ends` of the lines, the break itself left out."""

    source: Source
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def text(self) -> str:
        return self.source.text

    def line(self, number: int) -> str:
        """One line, from 1, without its break."""
        return self.text[self.starts[number - 1] : self.ends[number - 1]]

    def where(self, first: int, last: int) -> Where:
        """From 1, both included; what lies beyond the end is the last line."""
        first = min(max(first, 1), len(self.starts))
        last = min(max(last, first), len(self.starts))
        return Where(Span(self.starts[first - 1], self.ends[last - 1]), first, last)

    def line_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset)


def open_ticket(path: str, raw: bytes) -> Source:
    """The text of a file, so that edits of it keep every other byte. Anything but text is an error."""
    prefix, encoding = next(((mark, name) for mark, name in MARKS if raw.startswith(mark)), (b"", "utf-8"))
    text, encoding = decode(path, raw[len(prefix) :], (encoding,) if prefix else (encoding, "cp1252"))
    if broken := CONTROL.search(text):
        line = 1 + len(BREAK.findall(text, 0, broken.start()))
        raise TicketError(path, f"line {line}: holds the control character {broken.group()!r}; not a text file")
    if not text.strip():
        raise TicketError(path, "holds no text")
    return Source(path, raw, text, text, encoding, prefix)


def decode(path: str, raw: bytes, encodings: tuple[str, ...]) -> tuple[str, str]:
    """The text, and the first of the encodings that gives it back byte for byte."""
    for name in encodings:
        with suppress(UnicodeError):
            text = raw.decode(name)
            if text.encode(name) == raw:
                return text, name
    raise TicketError(path, "neither UTF-8 nor any other text")


def split_lines(source: Source) -> Lined:
    """The lines as CommonMark counts them: form feeds and Unicode's separators are no breaks."""
    breaks = list(BREAK.finditer(source.text))
    starts = (0, *(found.end() for found in breaks))
    ends = (*(found.start() for found in breaks), len(source.text))
    return Lined(source, starts, ends)


def repair(text: str) -> str:
    """The text without mojibake: UTF-8 that was once read as Latin-1 or Windows-1252, line by line."""
    if text.isascii():
        return text
    import ftfy

    return "\n".join(ftfy.fix_encoding(line) for line in text.split("\n"))


def clean(text: str) -> str:
    """Text from a JSON string: halves of characters, which no file can hold, are replaced."""
    return repair(SURROGATES.sub("\ufffd", text))
