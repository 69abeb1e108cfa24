"""Whole lines that move elsewhere: which they are, with another indentation, and brackets that fit the line."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.places import where

WIDTHS = (88, 100, 120)
STARTS = {getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")} - {None}
ENDS = {getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")} - {None}


def whole_lines(module: Module, statements: Sequence[ast.stmt]) -> Span:
    """The lines of the statements, with the comments right above, from the first indentation to the last line break.

    Unsure if they share a line with something else.
    """
    first, last = statements[0], statements[-1]
    indent = module.indent(first)
    start = module.line_start(module.span(first).start)
    end = module.span(last).end
    rest = module.text[end : module.line_end(end)]
    if not module.begins_line(first) or not module.text.startswith(indent, start):
        raise Unsure(f"{where(module, first)}: shares its line with another statement")
    if rest.strip() and not rest.lstrip().startswith("#"):
        raise Unsure(f"{where(module, last)}: shares its line with another statement")
    while start and module.text[module.line_start(start - 1) : start].startswith(f"{indent}#"):
        start = module.line_start(start - 1)
    span = Span(start, end + len(rest.rstrip()))
    if module.is_blanked(span):
        raise Unsure(f"{where(module, first)}: syntax that is newer than the running Python")
    return span


def moved(module: Module, span: Span, indent: str, new_indent: str, replaced: Sequence[tuple[Span, str]] = ()) -> str:
    """The lines with another indentation, and some pieces replaced. What stands inside a string stays as it is."""
    text, at = "", span.start
    for piece, new_text in sorted(replaced):
        text += module.text[at : piece.start] + new_text
        at = piece.end
    text += module.text[at : span.end]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    quoted = rows_in_strings(lines)
    shifts = [row not in quoted and line.startswith(indent) and bool(line.strip()) for row, line in enumerate(lines)]
    return "\n".join(
        new_indent + line[len(indent) :] if shift else line for line, shift in zip(lines, shifts, strict=True)
    )


def rows_in_strings(lines: Sequence[str]) -> set[int]:
    """The lines, counted from 0, that begin inside a string."""
    found: set[int] = set()
    opened: list[int] = []
    reader = io.StringIO("\n".join(lines) + "\n").readline
    for token in tokenize.generate_tokens(reader):
        if token.type in STARTS:
            opened.append(token.start[0])
        start = opened.pop() if token.type in ENDS else token.start[0]
        if token.type in ENDS or token.type == tokenize.STRING:
            found.update(range(start, token.end[0]))
    return found


@dataclass(frozen=True)
class Layout:
    """How a statement is laid out in a file: its indentation, one level more, and how long lines may be."""

    indent: str
    unit: str
    width: int

    @classmethod
    def of(cls, module: Module, indent: str) -> Layout:
        longest = max(map(len, module.text.splitlines()), default=0)
        return cls(indent, module.indent_unit, next((width for width in WIDTHS if longest <= width), WIDTHS[-1]))

    def bracketed(self, head: str, items: Sequence[str], tail: str) -> str:
        """`head item, item tail` on one line, or the items on the next, or each on a line of its own."""
        one = f"{self.indent}{head}{', '.join(items)}{tail}"
        inner = self.indent + self.unit
        listed = f"{inner}{', '.join(items)}"
        if not items or self.fits(one):
            return one
        if self.fits(listed):
            return f"{self.indent}{head}\n{listed}\n{self.indent}{tail}"
        return "\n".join([f"{self.indent}{head}", *(f"{inner}{item}," for item in items), f"{self.indent}{tail}"])

    def fits(self, line: str) -> bool:
        return len(line.expandtabs(4)) <= self.width
