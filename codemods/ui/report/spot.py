"""Where findings stand for other programs: lines and columns of the file itself, and what is said there.

Lines end with `\\n`, as git, GitHub and SARIF count them; columns count characters. Of a notebook it is its JSON.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from fullgraph.codemods.difference import replacements
from fullgraph.codemods.model import Edit, Finding, Span
from fullgraph.codemods.notebook import NotebookSource
from fullgraph.codemods.source import Source, decode

COMPOUND = re.compile(r"(?:async\s+)?(?:def|class|for|while|with|if|try|match)\b")


@dataclass(frozen=True, slots=True)
class Region:
    """From a character up to, not including, another; all count from 1."""

    first_line: int
    first_column: int
    last_line: int
    last_column: int


@dataclass(frozen=True, slots=True)
class Spot:
    """One finding's place. `content` stands for the code there, whatever its layout."""

    region: Region
    content: str


NOWHERE = Spot(Region(1, 1, 1, 1), "")


@dataclass(frozen=True)
class FileText:
    """One file as other programs see it."""

    source: Source

    @property
    def text(self) -> str:
        return self.source.json if isinstance(self.source, NotebookSource) else self.source.text

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def spot(self, finding: Finding) -> Spot:
        return Spot(self.region(self.in_file(finding.span)), content_of(self.source.text, finding.span))

    def in_file(self, span: Span) -> Span:
        """Where characters that a codemod sees stand in the file."""
        if not isinstance(self.source, NotebookSource):
            return span
        return Span(self.source.file_offset(span.start), self.source.file_offset(span.end))

    def region(self, span: Span) -> Region:
        return Region(*self.place(span.start), *self.place(span.end))

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def replaced(self, edits: Iterable[Edit]) -> Iterator[tuple[Region, str]]:
        """What the edits of this file replace in it, in order."""
        if isinstance(self.source, NotebookSource):
            after = self.source.splice(edits)[len(self.source.prefix) :].decode()
            pairs = list(replacements(self.text, after))
        else:
            pairs = sorted({(edit.span, edit.new_text) for edit in edits})
        for span, new_text in pairs:
            yield self.region(span), new_text


def file_text(path: str, raw: bytes) -> FileText:
    return FileText(decode(path, raw))


def content_of(text: str, span: Span) -> str:
    """A name for the code of a span. Of a function, a loop and the like only the head counts: the rest may change."""
    code = text[span.start : span.end]
    if COMPOUND.match(code):
        code = code.partition("\n")[0]
    return hashlib.sha256("".join(code.split()).encode(errors="surrogatepass")).hexdigest()[:16]
