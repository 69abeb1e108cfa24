"""A look at the bytes of a file: where may something constant be made over and over?

In a notebook that cannot be told. Functions are told by the nearest `def` above, loops by their indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

FACTORIES = (b"ensor(", b"zeros(", b"ones(", b"full(", b"arange(", b"eye(", b"linspace(")
CONSTANT = re.compile(
    rb"(?:[-+*/%\d.,\s\[\](){}A-Z_\\]|(?<=\d)e|True|False|#[^\n]*|(?:math|torch)\.\w+|\w+\.(?=[A-Z_\d]+\b)|"
    rb"float\([\"'][-+]?\w+[\"']|len\(|(?:dtype|fill_value|size|start|end|steps?|data|n|m)=)*"
)
STEP = re.compile(rb"def[ \t]+(?:\w+_)?step\(")
DEF = re.compile(rb"\n([ \t]*)(?:async[ \t]+)?def[ \t]")
HEAD = re.compile(rb"([ \t]*)(?:(?:async[ \t]+)?(for|while|if|elif|else|except|case|def|class)\b|[^\s#)\]}])")
TABLE = re.compile(rb"\n[ \t]+\w+[ \t]*(?::[^=\n]*)?=[ \t]*[\[{]\s*[-\d\"'(A-Z]")
REQUEST = re.compile(rb"[ \t]*(?:@|[\w.:\[\], |]+=[ \t]*|return[ \t]+)(?!re\.)\w+\.compile\b")
REACH = 8_000
"""How far above a place a loop is looked for."""

NAME = re.compile(rb"def[ \t]+(\w+)")


def places(raw: bytes) -> Iterator[int] | None:
    """Where findings may begin; None if that cannot be told."""
    if b"torch" not in raw:
        return iter(())
    if raw.lstrip().startswith(b"{") and b'"cells"' in raw:
        return None
    return suspects(raw.replace(b"\r", b"\n") if b"\r" in raw else raw)


def suspects(raw: bytes) -> Iterator[int]:
    around = Around(raw)
    for needle in FACTORIES:
        for place in occurrences(raw, needle):
            if is_constant(raw, place + len(needle)) and around.runs_often(place):
                yield place
    for needle in (b"        def ", b"\tdef ", b"= lambda", b"re.compile("):
        found = (place for place in occurrences(raw, needle) if not is_decorated(raw, place))
        yield from (place + len(needle) for place in found if around.runs_often(place))
    for start in around.hot:
        following = DEF.search(raw, start)
        yield from (table.end() for table in TABLE.finditer(raw, start, following.start() if following else len(raw)))


def is_decorated(raw: bytes, place: int) -> bool:
    """Whether a decorator stands on the line above."""
    line = raw.rfind(b"\n", 0, place) + 1
    return raw[raw.rfind(b"\n", 0, max(0, line - 1)) + 1 : line].lstrip().startswith(b"@")


def is_constant(raw: bytes, start: int) -> bool:
    """Whether what a call is given, from its bracket on, is closed or names a device before any variable comes."""
    written = CONSTANT.match(raw, start)
    if written is None or raw.startswith(b")", start):
        return False
    text = written.group()
    return text.count(b")") > text.count(b"(") or raw.startswith(b"device", written.end())


def occurrences(raw: bytes, needle: bytes) -> Iterator[int]:
    place = raw.find(needle)
    while place >= 0:
        yield place
        place = raw.find(needle, place + len(needle))


def compiles(raw: bytes) -> bool:
    """Whether the code of a file may ask for compilation: `= torch.compile(...)`, `@torch.compile`, `return ...`."""
    return any(REQUEST.match(raw, place) for place in line_starts(raw, b".compile"))


def line_starts(raw: bytes, needle: bytes) -> Iterator[int]:
    return (raw.rfind(b"\n", 0, place) + 1 for place in occurrences(raw, needle))


class Around:
    """What stands around places of a file."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @cached_property
    def hot(self) -> list[int]:
        """Where functions with telling names begin: `forward`, and steps."""
        steps = (self.raw.rfind(b"def", 0, place) for place in occurrences(self.raw, b"step("))
        return [*occurrences(self.raw, b"def forward("), *(start for start in steps if STEP.match(self.raw, start))]

    @cached_property
    def is_compiling(self) -> bool:
        return compiles(self.raw)

    def runs_often(self, place: int) -> bool:
        """Whether a place is in a function with a telling name, in one that such a function may call, or in a loop."""
        line = self.raw.rfind(b"\n", 0, place) + 1
        depth = indentation(self.raw, line)
        if not depth:
            return False
        start = self.raw.rfind(b"def ", 0, place)
        while start >= 0 and self.indent_of(start) >= depth:
            start = self.raw.rfind(b"def ", 0, start)
        if start in self.hot or self.is_in_loop(line, place):
            return True
        if start < 0 or (self.is_compiling and not self.indent_of(start)):
            return start >= 0
        name = NAME.match(self.raw, start)
        return name is not None and bool(self.hot) and b"self." + name[1] + b"(" in self.raw

    def indent_of(self, place: int) -> int:
        return indentation(self.raw, self.raw.rfind(b"\n", 0, place) + 1)

    def is_in_loop(self, line: int, place: int) -> bool:
        """Whether a loop is around a place with no condition in between; or a comprehension on its very line."""
        end = self.raw.find(b"\n", place)
        if b" for " in self.raw[line : end if end >= 0 else len(self.raw)]:
            return True
        depth = indentation(self.raw, line)
        while depth and line and place - line < REACH:
            line = self.raw.rfind(b"\n", 0, line - 1) + 1
            head = HEAD.match(self.raw, line)
            if head and len(head[1]) < depth:
                if head[2]:
                    return head[2] in (b"for", b"while")
                depth = len(head[1])
        return False


def indentation(raw: bytes, start: int) -> int:
    end = start
    while raw[end : end + 1] in (b" ", b"\t", b"\f"):
        end += 1
    return end - start
