"""Where in the bytes of a file an import could run often; asked of every file, so nothing is parsed here."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

STANDARD = {name.encode() for name in sys.stdlib_module_names}
INNER = re.compile(rb"\n([ \t]+)(?:import|from)[ \t]+(\.*[\w.]*)")
PUBLIC = re.compile(rb"torch(?:\.[a-z]\w*)*")
DEFINED = re.compile(rb"(?:async[ \t]+)?def[ \t]+(\w+)")
LOOPS = (b"for ", b"while ", b"async for ", b"for(", b"while(")
CONDITIONS = (b"if ", b"if(", b"elif", b"else", b"except", b"case ")
CLOSING = b"#)]}\"'\n\\"
WORK = re.compile(
    rb"[Tt]ensor\w*\b[^\n]*(?:\n[^\n]*)?:[^\n]*\n|\bF\.\w+\(|"
    rb"\.(?:backward|softmax|log_softmax|detach|matmul|relu|sigmoid|tanh|mean|norm|sum)\("
)
"""What a function that computes with tensors has in its signature or near its top."""

NEAR = 1500
STEP = re.compile(rb"forward|(?:\w+_)?step")


def inner_imports(raw: bytes) -> Iterator[int]:
    """Where the lines begin with imports in loops, in functions that run at every step, or in tensor code."""
    if b"torch" not in raw:
        return
    raw = raw.replace(b"\r", b"\n") if b"\r" in raw else raw
    for found in INNER.finditer(raw):
        if may_be_hot(raw, found):
            yield found.start(2)


def may_be_hot(raw: bytes, found: re.Match[bytes]) -> bool:
    """Whether a loop or a telling function is around an import, by the indentation of the lines above."""
    is_direct = is_certain = True
    for opened in openers(raw, found.start(), len(found[1])):
        if is_certain and raw.startswith(LOOPS, opened):
            return True
        if function := DEFINED.match(raw, opened):
            if STEP.fullmatch(function[1]):
                return True
            if function[1].startswith(b"test"):
                return False
            is_cheap = found[2].partition(b".")[0] in STANDARD or PUBLIC.fullmatch(found[2])
            is_tensor_code = is_direct and is_cheap and WORK.search(raw, opened, found.end() + NEAR)
            return bool(is_tensor_code)
        if raw.startswith(b"class ", opened):
            return False
        is_direct = False
        is_certain = is_certain and not raw.startswith(CONDITIONS, opened)
    return False


def openers(raw: bytes, at: int, width: int) -> Iterator[int]:
    """Where the lines above begin that are indented less and less: those that open the blocks around."""
    while width > 0:
        above = raw.rfind(b"\n", 0, at)
        head = raw[above + 1 : min(above + 1 + width, at)]
        text = head.lstrip(b" \t\f")
        if text and text[0] not in CLOSING:
            width = len(head) - len(text)
            yield above + 1 + width
        if above < 0:
            return
        at = above
