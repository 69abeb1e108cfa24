"""From two texts to the edits between them. A tool that only knows whole trees says no more than the two texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile

from fullgraph.codemods.model import Span

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
WORD = re.compile(r"\w+|\s+|[^\w\s]")

ALIKE = 0.5
"""Two lines that share less than this are replaced as one piece: crumbs of them would tell nobody anything."""

Replacement = tuple[Span, str]
Window = tuple[int, list[str], list[str]]


def replacements(old: str, new: str) -> Iterator[Replacement]:
    """What to replace in `old` to get `new`, in order: words inside lines that changed, else whole lines."""
    waiting: Replacement | None = None
    for window in windows(LINE.findall(old), LINE.findall(new)):
        for span, text in within_window(*window):
            if waiting and waiting[0].end == span.start:
                waiting = Span(waiting[0].start, span.end), waiting[1] + text
                continue
            if waiting:
                yield waiting
            waiting = span, text
    if waiting:
        yield waiting


def within_window(start: int, gone: list[str], come: list[str]) -> Iterator[Replacement]:
    """Lines are paired from both ends as long as they resemble each other; the rest is replaced as a whole."""
    if len(gone) == len(come):
        yield from within_lines(start, gone, come)
        return
    tail = resembling(gone[::-1], come[::-1])
    head = resembling(gone[: len(gone) - tail], come[: len(come) - tail])
    yield from within_lines(start, gone[:head], come[:head])
    middle = start + sum(map(len, gone[:head]))
    yield whole((middle, gone[head : len(gone) - tail], come[head : len(come) - tail]))
    end = start + sum(map(len, gone[: len(gone) - tail]))
    yield from within_lines(end, gone[len(gone) - tail :], come[len(come) - tail :])


def resembling(gone: list[str], come: list[str]) -> int:
    """How many lines at the beginning are the same for the most part."""
    pairs = ((WORD.findall(before), WORD.findall(after)) for before, after in zip(gone, come, strict=False))
    return sum(1 for _ in takewhile(lambda pair: resemble(*pair), pairs))


def resemble(old: list[str], new: list[str]) -> bool:
    return SequenceMatcher(None, old, new).ratio() >= ALIKE


def within_lines(start: int, gone: list[str], come: list[str]) -> Iterator[Replacement]:
    for before, after in zip(gone, come, strict=True):
        old, new = WORD.findall(before), WORD.findall(after)
        if resemble(old, new):
            yield from (whole((start + offset, less, more)) for offset, less, more in windows(old, new))
        elif before != after:
            offset, old, new = trim(old, new)
            yield whole((start + offset, old, new))
        start += len(before)


def windows(old: list[str], new: list[str]) -> Iterator[Window]:
    """Where two lists of pieces differ: the character at which it begins, the pieces gone, those in their place."""
    start, old, new = trim(old, new)
    position = 0
    for kind, i, j, k, m in SequenceMatcher(None, old, new).get_opcodes():
        start += sum(map(len, old[position:i]))
        position = i
        if kind != "equal":
            yield start, old[i:j], new[k:m]


def trim(old: list[str], new: list[str]) -> Window:
    """The two lists without what they begin and end with in common, and the characters before that."""
    head = alike(old, new)
    tail = alike(old[head:][::-1], new[head:][::-1])
    return sum(map(len, old[:head])), old[head : len(old) - tail], new[head : len(new) - tail]


def alike(old: list[str], new: list[str]) -> int:
    """How many pieces at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def whole(window: Window) -> Replacement:
    start, gone, come = window
    return Span(start, start + sum(map(len, gone))), "".join(come)
