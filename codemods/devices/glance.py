"""A look at the bytes of a file: could any method in it move its own state to the device of an input?"""

from __future__ import annotations

import re

METHOD = re.compile(rb"\bdef\s+\w+\s*\(\s*self\b")
OUTSIDE = re.compile(rb"[\r\n](?:def|class|async)\b")
MOVE = re.compile(rb"\.(?:to\((?![\"')]|torch\.)|(?:cuda|cpu|xpu|hpu|mtia|ipu)\()")
STATE = re.compile(rb"(?:^[ \t]*|: *)self\b[^=]*\Z|\bself\b[^=]*=(?!=)|\bsetattr\(")
ITEM = re.compile(rb"(?:^|[\[{(])[ \t]*(?:\w+: *)?\w+\Z|^[ \t]*(\w+)\.data *= *\1(?:\.data)?\Z")
LOOP = re.compile(rb"\bin\b[^\r\n]*\bself\b")
COMPARISON = re.compile(
    rb"\.(?:device|is_cuda)(?:\.type)?[)\s\\]*(?:[!=]=|is\b|and\b|or\b)|"
    rb"(?:[!=]=|\bis)[ \t][^\r\n:]*\.(?:device|is_cuda)\b"
)
FOLLOWS = re.compile(rb"\.to\([^()]*(?<!self)\.device\b|\w *:?= *(?!self\b)[\w.\[\]]+\.device\b")


def may_migrate(raw: bytes) -> bool:
    """Whether some method has a statement that may move state, and a device to compare with or to follow."""
    return (b".device" in raw or b".is_cuda" in raw) and any(map(is_suspect, METHOD.split(raw)[1:]))


def is_suspect(method: bytes) -> bool:
    end = OUTSIDE.search(method)
    method = method[: end.start()] if end else method
    return moves_state(method) and bool(COMPARISON.search(method) or FOLLOWS.search(method))


def moves_state(method: bytes) -> bool:
    heads = [method[line_start(method, move.start()) : move.start()] for move in MOVE.finditer(method)]
    return any(map(STATE.search, heads)) or (any(map(ITEM.search, heads)) and LOOP.search(method) is not None)


def line_start(text: bytes, offset: int) -> int:
    return max(text.rfind(b"\n", 0, offset), text.rfind(b"\r", 0, offset)) + 1
