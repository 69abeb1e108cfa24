"""A look at the bytes of a file: could any method in it move its own state to the device of an input?

In a notebook a line begins behind a quote or a written `\\n`.
"""

from __future__ import annotations

import re

METHOD = re.compile(rb"def\s+\w+\s*\(\s*self\b")
OUTSIDE = re.compile(rb"[\r\n](?:def|class|async)\b")
MOVE = re.compile(rb"\.(?:to\((?![\"')]|torch\.)|(?:cuda|cpu|xpu|hpu|mtia|ipu)\()")
STATE = re.compile(rb"(?:^|[:;\"]|\\n)[ \t(]*self\b(?:[^\s=,]*\Z|[^=]*=(?!=))|\bsetattr\(")
ITEM = re.compile(rb"(?:^|\"|\\n)[ \t]*[\[{(]?(?:\w+: *)?\w+\Z|(?:^|[:;\"]|\\n)[ \t]*(\w+)\.[\w.]+ *= *\1\b")
LOOKUP = re.compile(rb"\bin\b[^\r\n]*\bself\b|(?:[\r\n\"]|\\n)[ \t]*\w+ *= *self\.[\w.]+[ \t]*[\r\n\\\"]")
COMPARISON = re.compile(
    rb"\.(?:device|is_cuda)(?:\.type)?[)\s\\]*(?:[!=]=|is\b|and\b|or\b)|"
    rb"(?:[!=]=|\bis)[ \t][^\r\n:]*\.(?:device|is_cuda)\b"
)
FOLLOWS = re.compile(rb"\.to\([^()]*(?<!self)\.device\b|\w *:?= *(?!self\b)[\w.\[\]]+\.device\b")


def may_migrate(raw: bytes) -> bool:
    """Whether some method has a statement that may move state, and a device to compare with or to follow."""
    return MOVE.search(raw) is not None and any(map(is_suspect, METHOD.split(raw)[1:]))


def is_suspect(method: bytes) -> bool:
    end = OUTSIDE.search(method)
    method = method[: end.start()] if end else method
    return moves_state(method) and bool(COMPARISON.search(method) or FOLLOWS.search(method))


def moves_state(method: bytes) -> bool:
    """Whether what stands before a move on its line is own state, or may be an item or another name of it."""
    heads = [method[line_start(method, move.start()) : move.start()] for move in MOVE.finditer(method)]
    return any(map(STATE.search, heads)) or (any(map(ITEM.search, heads)) and LOOKUP.search(method) is not None)


def line_start(text: bytes, offset: int) -> int:
    return max(text.rfind(b"\n", 0, offset), text.rfind(b"\r", 0, offset)) + 1
