"""How a break was reached: the user's lines from what was compiled down to the break, as the program is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .places import RESUMED, TORCH, Line, is_below, is_users, real_path

ENTRANCE = "eval_frame.py"
DEEPEST = 40
"""Lines that are told of one break."""


def join_stacks(callers: Sequence[Line], function: str, stack: Sequence[Line]) -> list[Line]:
    """What called a frame, and the stack inside of it, which begins with the name that torch gave the frame."""
    if not stack or name_of(stack[0]) != RESUMED.sub(r"\1", function):
        return [*callers, *stack]
    return [*callers, stack[0]._replace(function=function), *stack[1:]]


def tell_stack(stack: Sequence[Line]) -> list[dict[str, Any]]:
    """The user's lines behind the last entrance to compiled code, outermost first."""
    entrances = [number for number, line in enumerate(stack) if is_entrance(line)]
    inside = [line for line in stack[entrances[-1] + 1 if entrances else 0 :] if is_users(line.file)]
    return [
        {"file": real_path(line.file), "line": line.line, "function": name_of(line)}
        for line in without_halves(inside)[-DEEPEST:]
    ]


def is_entrance(line: Line) -> bool:
    path = real_path(line.file)
    return path.endswith(ENTRANCE) and is_below(path, TORCH)


def without_halves(stack: Sequence[Line]) -> list[Line]:
    """Of a function that goes on in a resumed half, the line where it is now.

    Torch lets the first half call the second: that is no call of the program's.
    """
    kept: list[Line] = []
    for line in stack:
        if kept and RESUMED.match(line.function) and kept[-1].file == line.file and name_of(kept[-1]) == name_of(line):
            kept.pop()
        kept.append(line)
    return kept


def name_of(line: Line) -> str:
    return RESUMED.sub(r"\1", line.function)
