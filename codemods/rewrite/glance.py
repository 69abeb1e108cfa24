"""A first glance at a big file: only the functions in which something could be found, who calls these, and whom.

A codemod that says where in the bytes its findings could begin is asked about this part first. Only if it finds
something there is the whole file parsed, and asked about again: the glance decides nothing but that.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

BIG = 8_000
"""Bytes below which a file is parsed as quickly as it is cut up."""

STEPS = 3
"""How far calls are followed from a function with a hit."""

MARGIN = re.compile(rb"\n(?=[^\s#)\]}])")
CLASS = re.compile(rb"(?:@.*\n)*class (\w+)")
MEMBER = re.compile(rb"\n([ \t]+)(?:@|def |async def )")
NAME = re.compile(rb"(?:[ \t]*@.*\n)*[ \t]*(?:async def|def|class) (\w+)|(\w+)\s*(?::[^=\n]*)?=(?!=)")
ALWAYS = (b"import", b"from", b"try", b"if", b"else", b"elif", b"except", b"finally", b"with")
QUOTES = (b'"""', b"'''")
CALLED = re.compile(rb"\b(\w+)\(")
NAMED = re.compile(rb"\b([A-Z]\w+)\b")


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A top-level statement, a method, or the rest of a class. `owner` is the class that a method belongs to."""

    start: int
    text: bytes
    owner: Piece | None = None

    @property
    def name(self) -> bytes:
        """What the piece defines."""
        named = NAME.match(self.text)
        return (named[1] or named[2]) if named else b""

    def refers_to(self) -> set[bytes]:
        """The names of functions, constants and classes on which the piece may depend."""
        return {*CALLED.findall(self.text), *NAMED.findall(self.text)}


def glance(raw: bytes, hits: Iterable[int]) -> bytes:
    """The part of a file that matters if findings can only begin in the functions with these offsets."""
    marks = sorted(hits)
    pieces = list(cut(raw))
    by_name: dict[bytes, list[Piece]] = {}
    for piece in pieces:
        by_name.setdefault(piece.name, []).append(piece)
    kept = {pieces[0], *(piece for piece in pieces if piece.text.startswith(ALWAYS))}
    fresh = {piece for piece in pieces if has_any(piece, marks)}
    calls = sorted(calls_of({piece.name for piece in fresh if not piece.owner}, raw))
    fresh |= {piece for piece in pieces if has_any(piece, calls)}
    for _ in range(STEPS):
        kept |= fresh
        words = {word for piece in fresh for word in piece.refers_to()} & by_name.keys()
        fresh = {piece for word in words for piece in by_name[word]} - kept
    kept |= fresh
    kept |= {piece.owner for piece in kept if piece.owner}
    return b"".join(piece.text for piece in pieces if piece in kept)


def calls_of(names: set[bytes], raw: bytes) -> Iterator[int]:
    """Where functions of these names may be called: what a function is given depends on its callers."""
    for name in names - {b""}:
        position = raw.find(name + b"(")
        while position >= 0:
            yield position
            position = raw.find(name + b"(", position + 1)


def cut(raw: bytes) -> Iterator[Piece]:
    """The file in pieces that begin at the margin, and classes in methods."""
    inside = long_strings(raw)
    margins = (match.end() for match in MARGIN.finditer(raw))
    starts = [0, *(start for start in margins if not inside(start))]  # a cookie or a mark may come first
    heads = [start for number, start in enumerate(starts) if number == 0 or raw[starts[number - 1]] != ord("@")]
    for start, end in zip(heads, [*heads[1:], len(raw)], strict=True):
        piece = Piece(start, raw[start:end])
        yield from cut_class(piece, inside) if CLASS.match(piece.text) else [piece]


def long_strings(raw: bytes) -> Callable[[int], bool]:
    """Whether an offset lies in a string over several lines. Quotes in comments may mislead: that does not parse."""
    spans: list[tuple[int, int]] = []
    following = {quotes: raw.find(quotes) for quotes in QUOTES}
    while opened := [(start, quotes) for quotes, start in following.items() if start >= 0]:
        start, quotes = min(opened)
        closed = raw.find(quotes, start + 3)
        end = closed + 3 if closed >= 0 else len(raw)
        spans.append((start, end))
        following = {q: raw.find(q, end) if at < end else at for q, at in following.items() if at >= 0}
    starts = [start for start, _ in spans]

    def inside(offset: int) -> bool:
        number = bisect_right(starts, offset) - 1
        return number >= 0 and offset < spans[number][1]

    return inside


def cut_class(whole: Piece, inside: Callable[[int], bool]) -> Iterator[Piece]:
    """A class without its methods, which still parses, and each method."""
    members = (match for match in MEMBER.finditer(whole.text) if not inside(whole.start + match.start(1)))
    first = next(members, None)
    if not first:
        yield whole
        return
    indent = first[1]
    line = re.compile(rb"\n(?=%s[^\s#)\]}])" % indent)
    lines = (match.end() for match in line.finditer(whole.text, first.start()))
    starts = [start for start in lines if not inside(whole.start + start)]
    heads = [s for n, s in enumerate(starts) if n == 0 or whole.text[starts[n - 1] + len(indent)] != ord("@")]
    owner = Piece(whole.start, whole.text[: first.start() + 1] + indent + b"pass\n")
    yield owner
    for start, end in zip(heads, [*heads[1:], len(whole.text)], strict=True):
        yield Piece(whole.start + start, whole.text[start:end], owner)


def has_any(piece: Piece, marks: list[int]) -> bool:
    found = bisect_left(marks, piece.start)
    return found < len(marks) and marks[found] < piece.start + len(piece.text)
