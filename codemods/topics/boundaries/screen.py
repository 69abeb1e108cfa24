"""Which files may compile something with CUDA graphs, by their bytes."""

from __future__ import annotations

import re

from codemods.syntax.compiled import requests

GRAPHS = (b"reduce-overhead", b"max-autotune", b"cudagraphs")
ASKED = re.compile(rb"\bcompile\b[^#;]{0,200}?[(,\s](?:mode\s*=[^=]|options\s*=[^=]|\*\*)")


def may_use_graphs(raw: bytes) -> bool:
    """Whether a file asks for compilation with graphs, or in a way that does not say."""
    if b"compile" not in raw or b"torch" not in raw:
        return False
    if not any(mode in raw for mode in GRAPHS) and not asks_openly(raw):
        return False
    return b"import torch as " in raw or requests(raw)


def asks_openly(raw: bytes) -> bool:
    """Whether a mode or options are given near the word; `re.compile` takes none."""
    position = raw.find(b"compile")
    while position >= 0:
        if raw[position - 3 : position] != b"re." and ASKED.match(raw, position):
            return True
        position = raw.find(b"compile", position + 7)
    return False
