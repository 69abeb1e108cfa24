"""One line of code as markup: changed words marked, control characters shown, and a little colour."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullgraph.codemods.ui.plain import CONTROL, spelt
from fullgraph.codemods.ui.verdict.diff import Span
from fullgraph.codemods.ui.verdict.page.markup import Html, element, markup

TOKEN = re.compile(
    r"(?P<comment>#.*)"
    r"|(?P<string>\b[rbfuRBFU]{0,2}(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    rf"|(?P<keyword>\b(?:{'|'.join(keyword.kwlist)})\b)"
)
LONG = 2_000
"""Characters from which on a line is not coloured, and gets a box of its own to scroll in."""


def code(text: str, marks: Sequence[Span] = (), is_python: bool = True) -> Html:
    tokens = list(tokens_of(text)) if is_python and len(text) <= LONG else []
    cuts = sorted({0, len(text), *(at for span in marks for at in span), *(at for *span, _ in tokens for at in span)})
    pieces = [
        piece(text[start:stop], name_at(tokens, start), any(first <= start < last for first, last in marks))
        for start, stop in pairwise(cuts)
    ]
    if len(text) > LONG:
        return element("div", pieces, class_="long", tabindex=0, role="region", aria_label="a very long line")
    return markup(pieces)


def tokens_of(text: str) -> Iterator[tuple[int, int, str]]:
    for match in TOKEN.finditer(text):
        yield *match.span(), match.lastgroup or ""


def name_at(tokens: Sequence[tuple[int, int, str]], place: int) -> str:
    return next((name for start, stop, name in tokens if start <= place < stop), "")


def piece(text: str, name: str, is_marked: bool) -> Html:
    shown = with_controls(text)
    if name:
        shown = element("span", shown, class_=name)
    return element("mark", shown) if is_marked else shown


def with_controls(text: str) -> Html:
    """Every control character as a label that cannot be taken for the letters it is made of."""
    parts: list[str] = []
    start = 0
    for found in CONTROL.finditer(text):
        if found[0] != "\t":
            parts += [text[start : found.start()], element("span", spelt(found[0]), class_="control")]
            start = found.end()
    return markup(*parts, text[start:])
