"""One line of code in pieces: changed words marked, control characters shown, and a little colour."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fullgraph.codemods.ui.plain import CONTROL, spelt
from fullgraph.codemods.ui.verdict.diff import Span

TOKEN = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<string>\b[rbfuRBFU]{0,2}(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
)
LONG = 2_000
"""Characters from which on a line is not coloured, and gets a box of its own to scroll in."""


@dataclass(frozen=True)
class Piece:
    """Text of one colour. `parts`: each with whether it spells a control character, as a label that is no text."""

    name: str
    is_marked: bool
    parts: list[tuple[str, bool]]


@dataclass(frozen=True)
class Code:
    pieces: list[Piece]
    is_long: bool


def code(text: str, marks: Sequence[Span] = (), is_python: bool = True) -> Code:
    tokens = list(tokens_of(text)) if is_python and len(text) <= LONG else []
    cuts = sorted({0, len(text), *(at for span in marks for at in span), *(at for *span, _ in tokens for at in span)})
    pieces = [
        Piece(
            name_at(tokens, start),
            any(first <= start < last for first, last in marks),
            list(parts_of(text[start:stop])),
        )
        for start, stop in pairwise(cuts)
    ]
    return Code(pieces, len(text) > LONG)


def tokens_of(text: str) -> Iterator[tuple[int, int, str]]:
    for match in TOKEN.finditer(text):
        yield *match.span(), match.lastgroup or ""


def name_at(tokens: Sequence[tuple[int, int, str]], place: int) -> str:
    return next((name for start, stop, name in tokens if start <= place < stop), "")


def parts_of(text: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for found in CONTROL.finditer(text):
        if found[0] != "\t":
            yield text[start : found.start()], False
            yield spelt(found[0]), True
            start = found.end()
    yield text[start:], False
