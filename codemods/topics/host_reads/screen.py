"""Where in the bytes of a file numbers may be read one by one; asked before anything is parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

READ = re.compile(rb"\.item\(\)")
BOUNDARY = re.compile(rb"[\r\n][ \t]*(?:async[ \t]+)?def\b")
LOOP = re.compile(rb"\bfor\s[\w\s,()*\[\].]{1,90}?\sin\b")
NEAR = 600
"""Bytes within which a loop of a comprehension follows, or another read stands beside the first."""


def read_offsets(raw: bytes) -> Iterator[int]:
    """Every `.item()` with a loop around it or another read beside it."""
    found = [match.start() for match in READ.finditer(raw)]
    borders = [match.start() for match in BOUNDARY.finditer(raw)] if found else []
    for number, offset in enumerate(found):
        above = bisect_left(borders, offset)
        begin = borders[above - 1] if above else 0
        near = found[max(0, number - 1) : number] + found[number + 1 : number + 2]
        is_beside = any(abs(other - offset) < NEAR and other > begin for other in near)
        if is_beside or LOOP.search(raw, begin, offset + NEAR):
            yield offset
