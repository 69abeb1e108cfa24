"""A first glance at a big file: only the statements in which something could be found, and what these refer to.

A codemod that says where in the bytes its findings could begin is asked about this part first. Only if it finds
something there is the whole file parsed, and asked about again: the glance decides nothing but that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

BIG = 20_000
"""Bytes below which a file is parsed as quickly as it is cut up."""

STATEMENT = re.compile(rb"^(?=[^\s#)\]}])", re.M)
NAME = re.compile(rb"(?:async\s+def|def|class)\s+(\w+)|(\w+)\s*(?::[^=\n]*)?=(?!=)")
ALWAYS = (b"import", b"from", b"try", b"if", b"else", b"elif", b"except", b"finally", b"with", b"@")
WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level statement, or what looks like one in a string that begins lines at the margin."""

    start: int
    text: bytes

    @property
    def name(self) -> bytes:
        """What the statement defines."""
        named = NAME.match(self.text)
        return (named[1] or named[2]) if named else b""


def glance(raw: bytes, hits: Iterable[int]) -> bytes:
    """The part of a file that matters if findings can only begin in the statements with these offsets."""
    marks = sorted(set(hits))
    pieces = cut(raw)
    kept = {piece for piece in pieces if piece.text.startswith(ALWAYS) or has_any(piece, marks)}
    by_name: dict[bytes, list[Piece]] = {}
    for piece in pieces:
        by_name.setdefault(piece.name, []).append(piece)
    todo = list(kept)
    while todo:
        words = set(WORD.findall(todo.pop().text)) & by_name.keys()
        found = {piece for word in words for piece in by_name.pop(word)} - kept
        kept |= found
        todo += found
    return b"".join(piece.text for piece in pieces if piece in kept)


def cut(raw: bytes) -> list[Piece]:
    """The file in pieces that begin at the margin. A decorator belongs to what it decorates."""
    starts = [match.start() for match in STATEMENT.finditer(raw)]
    heads = [start for number, start in enumerate(starts) if number == 0 or raw[starts[number - 1]] != ord("@")]
    return [Piece(start, raw[start:end]) for start, end in zip(heads, [*heads[1:], len(raw)], strict=True)]


def has_any(piece: Piece, marks: list[int]) -> bool:
    from bisect import bisect_left

    found = bisect_left(marks, piece.start)
    return found < len(marks) and marks[found] < piece.start + len(piece.text)
