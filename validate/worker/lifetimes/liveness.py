"""Whether a variable of a frame is read again from where the frame stands, by its bytecode."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

READS = ("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF")
WRITES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "DELETE_")
ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
RAISES = ("RAISE_VARARGS", "RERAISE")
JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")


class Flow(NamedTuple):
    """The instructions of a function: what each reads and writes, and which may follow it."""

    offsets: list[int]
    reads: list[tuple[str, ...]]
    writes: list[tuple[str, ...]]
    following: list[tuple[int, ...]]


def is_read_later(frame: FrameType, name: str) -> bool:
    """Whether some way onward reads the variable before it is bound anew; of exceptions, `raise` alone is a way."""
    flow = flow_of(frame.f_code)
    start = next((index for index, offset in enumerate(flow.offsets) if offset > frame.f_lasti), None)
    waiting, seen = [] if start is None else [start], set()
    while waiting:
        index = waiting.pop()
        if index in seen:
            continue
        seen.add(index)
        if name in flow.reads[index]:
            return True
        if name not in flow.writes[index]:
            waiting += flow.following[index]
    return False


@lru_cache(maxsize=512)
def flow_of(code: CodeType) -> Flow:
    instructions = list(dis.get_instructions(code))
    offsets = [one.offset for one in instructions]
    index = {offset: number for number, offset in enumerate(offsets)}
    reads, writes = zip(*(names_in(one) for one in instructions))
    following = []
    handlers: list[Any] = getattr(dis, "_parse_exception_table", lambda _: [])(code)
    for number, one in enumerate(instructions):
        onward = [] if one.opname in ENDS or one.opname in JUMPS else [number + 1]
        if is_jump(one) and one.argval in index:
            onward.append(index[one.argval])
        if one.opname in RAISES:
            onward += [index[entry.target] for entry in handlers if entry.start <= one.offset < entry.end]
        following.append(tuple(to for to in onward if to < len(instructions)))
    return Flow(offsets, list(reads), list(writes), following)


def is_jump(one: dis.Instruction) -> bool:
    """Ways to exception handlers do not count."""
    return (one.opcode in dis.hasjrel or one.opcode in dis.hasjabs) and not one.opname.startswith("SETUP_")


def names_in(one: dis.Instruction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What an instruction reads and what it writes; newer Pythons join two in one."""
    names: Any = one.argval if isinstance(one.argval, tuple) else (one.argval,)
    if one.opname == "STORE_FAST_LOAD_FAST":
        return (names[1],) if names[0] != names[1] else (), (names[0],)
    if one.opname == "LOAD_FAST_AND_CLEAR":
        return (), ()
    if one.opname.startswith(READS):
        return names, ()
    return (), names if one.opname.startswith(WRITES) else ()
