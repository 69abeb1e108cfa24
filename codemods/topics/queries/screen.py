"""Where the bytes of a file could ask the same query twice, before anything is parsed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from fullgraph.codemods.topics.queries.asking import NOT_OURS

ASKS = tuple(re.compile(rb"%b\w+\(([^()]{0,120})" % prefix) for prefix in (b"is_", b"has_", b"can_", b"should_"))
LOOP = re.compile(rb"for ([^\n:]{1,60}?) in ")
WORD = re.compile(rb"\w+")
RECEIVER = re.compile(rb"[\w.\[\]()]*\Z")
NEAR = 4000
"""Bytes between a loop and a query of it, or two queries; what is further apart stands in another function."""


def places_asking_twice(raw: bytes, declared: Sequence[str]) -> Iterator[int]:
    """Queries of one name, in one function, that mention something which a loop near by binds."""
    loops: list[re.Match[bytes]] | None = None
    for first, second in pairs(raw, declared):
        loops = list(LOOP.finditer(raw)) if loops is None else loops
        if depends_on_loop(raw, loops, first) and depends_on_loop(raw, loops, second):
            yield from (first.start(), second.start())


def pairs(raw: bytes, declared: Sequence[str]) -> Iterator[tuple[re.Match[bytes], re.Match[bytes]]]:
    """Each two neighbouring calls of one name without the head of a function in between."""
    asked: dict[bytes, re.Match[bytes]] = {}
    patterns = (*ASKS, *(re.compile(rb"%b\(([^()]{0,120})" % re.escape(name.encode())) for name in declared))
    for pattern in patterns:
        for call in pattern.finditer(raw):
            name = call[0].partition(b"(")[0]
            last, asked[name] = asked.get(name), call
            is_near = last is not None and call.start() - last.start() < NEAR and name not in NOT_OURS
            if last and is_near and b"def " not in raw[last.end() : call.start()]:
                yield last, call


def depends_on_loop(raw: bytes, loops: list[re.Match[bytes]], call: re.Match[bytes]) -> bool:
    receiver = RECEIVER.search(raw[max(0, call.start() - 60) : call.start()])
    words = {*WORD.findall(receiver[0] if receiver else b""), *WORD.findall(call[1])} - {b"self"}
    behind = bisect_right(loops, call.start(), key=lambda loop: loop.start()) + 1
    for loop in loops[max(0, behind - 12) : behind]:
        if abs(call.start() - loop.start()) < NEAR:
            between = raw[loop.start() : call.start()]
            if words & {*WORD.findall(loop[1])} or any(b" %b = " % word in between for word in words):
                return True
    return False
