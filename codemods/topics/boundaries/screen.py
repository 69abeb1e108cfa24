"""Which files may compile something with CUDA graphs, by their bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.codemods.syntax.compiled import is_request

WORDS = (b"mode", b"options", b"**", b"cudagraphs")
ASKED = re.compile(rb"\b(?:mode|options)\s*=[^=]|\*\*|cudagraphs")
GIVEN = re.compile(rb"compile\s*[(,]")
BRACKET = re.compile(rb"[()]")
LONGEST = 4000
"""Bytes in which a request ends; what stands behind them is not looked at."""
ALIAS = re.compile(rb"import torch as (\w+)")
IMPORTED = re.compile(rb"from torch import\s*(?:\([^)]*|[^\n(]*)\bcompile\b")
SWITCHED_ON = re.compile(rb"triton\.cudagraphs\s*=\s*True")


def may_use_graphs(raw: bytes) -> bool:
    """Whether a file asks for compilation with graphs, or in a way that does not say."""
    if b"compile" not in raw or b"torch" not in raw or not any(word in raw for word in WORDS):
        return False
    names_backend = any(quote + b"cudagraphs" + quote in raw for quote in (b'"', b"'"))
    for given in requests(raw):
        if ASKED.search(given) or (names_backend and b"backend" in given):
            return True
    return is_renamed(raw)


def is_renamed(raw: bytes) -> bool:
    """Whether requests may not be spelled as such, under another name of torch or by their own."""
    aliases = (found[1] for found in ALIAS.finditer(raw))
    return any(alias + b".compile" in raw for alias in aliases) or IMPORTED.search(raw) is not None


def requests(raw: bytes) -> Iterator[bytes]:
    """What each request is given, as text."""
    for found in GIVEN.finditer(raw):
        if raw[found.start() - 3 : found.start()] != b"re." and is_request(raw, found.start()):
            yield raw[found.end() : end_of_call(raw, found.end())]


def end_of_call(raw: bytes, start: int) -> int:
    """Where the bracket closes that is open here: of the request, or of `partial(torch.compile, mode=...)`."""
    opened = 1
    for bracket in BRACKET.finditer(raw, start, start + LONGEST):
        opened += 1 if bracket.group() == b"(" else -1
        if opened == 0:
            return bracket.end()
    return start + LONGEST
