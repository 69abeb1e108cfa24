"""Where in the bytes of a file a check on values could stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

ASKS = re.compile(
    rb"\.(?:any|all|item|isnan|isinf|isfinite|equal|allclose|is_nonzero|min|max|sum|mean|norm|amin|amax)\("
)
OWN = re.compile(rb"_check(?:_tensor_all|_value|_index|_type|_with|_not_implemented|_tensor_all_with)?\(")
WORDS = (b"if ", b"if(", b"elif ", b"elif(", b"assert ", b"assert(")
LINES = 4
"""How many lines a test may have before the value is asked for."""


def hits_in(raw: bytes) -> Iterator[int]:
    """Each call that asks for a value in an `if` or an `assert`, or whose answer is kept, and torch's own checks."""
    if b"._check" in raw:
        yield from (found.start() for found in OWN.finditer(raw))
    if b"raise" not in raw and b"assert" not in raw:
        return
    for found in ASKS.finditer(raw):
        start = line_start(raw, found.start())
        head = raw[start : found.start()].lstrip()
        if b"=" in head or head.startswith(WORDS) or begins_above(raw, start):
            yield found.start()


def begins_above(raw: bytes, start: int) -> bool:
    """Whether an `if` or `assert` whose brackets are open stands in the lines above."""
    for _ in range(LINES):
        end, start = start - 1, line_start(raw, max(start - 1, 0))
        line = raw[start:end].strip()
        if line.startswith(WORDS):
            return not line.endswith(b":")
        if start == 0 or line.endswith(b":"):
            return False
    return False


def line_start(raw: bytes, offset: int) -> int:
    """Where a line begins; old files end their lines with a carriage return."""
    found = raw.rfind(b"\n", 0, offset)
    return (found if found >= 0 else raw.rfind(b"\r", 0, offset)) + 1
