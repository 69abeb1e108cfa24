"""Whose a file is, asked often: the project's, other code of the user's, torch's where it does not count."""

from __future__ import annotations

import opcode
import os
from types import CodeType, FrameType

from ..graphs import places

MACHINERY = ("_dynamo", "_inductor", "_functorch", "_subclasses", "_export", "_higher_order_ops", "fx", "export", "jit")
"""Parts of torch that read values while they compile."""

HOST_BOUND = ("optim", os.path.join("utils", "data"), os.path.join("utils", "_device.py"))
"""Parts of torch that keep counters and orders in the host's memory on purpose."""

ASKS = opcode.opmap.get("TO_BOOL")
"""Since Python 3.13 an instruction of its own asks whether something is true."""

PROJECT, OTHERS, IGNORED, NOBODY = "project", "others", "ignored", "nobody"


class Whose:
    """Answers are kept by the file's name as code objects have it."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.known: dict[str, str] = {}

    def __call__(self, file: str) -> str:
        known = self.known.get(file)
        if known is None:
            known = self.known[file] = self.find(file)
        return known

    def find(self, file: str) -> str:
        path = places.real_path(file)
        if places.is_users(file):
            inside = places.is_below(path, self.root) and not places.INSTALLED.search(path[len(self.root) :])
            return PROJECT if inside else OTHERS
        parts = (os.path.join(places.TORCH, part) for part in MACHINERY + HOST_BOUND)
        return IGNORED if any(path == part or places.is_below(path, part) for part in parts) else NOBODY

    def find_frame(self, frame: FrameType | None, stops: bool = True) -> FrameType | None:
        """The deepest frame of the project's, else of the user's; if it `stops`, None where torch acts for itself."""
        first: FrameType | None = None
        while frame is not None:
            whose = self(frame.f_code.co_filename)
            if whose is PROJECT:
                return frame
            if whose is OTHERS:
                first = first or frame
            elif stops and whose is IGNORED and first is None:
                return None
            frame = frame.f_back
        return first


def line_at(code: CodeType, offset: int) -> int:
    """The line of an instruction; in code that Dynamo made, only the jump behind a question knows where it stands."""
    offset = offset_behind(code, offset) if code.co_code[offset] == ASKS else offset
    if hasattr(code, "co_lines"):
        for start, end, line in code.co_lines():
            if start <= offset < end:
                return line or code.co_firstlineno
        return code.co_firstlineno
    import dis

    lines = [line for start, line in dis.findlinestarts(code) if start <= offset]
    return lines[-1] if lines else code.co_firstlineno


def offset_behind(code: CodeType, offset: int) -> int:
    import dis

    return next((one.offset for one in dis.get_instructions(code) if one.offset > offset), offset)
