"""The variables of every frame that is running, by what they hold."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import Any, NamedTuple

from .liveness import is_read_later
from .places import is_machinery

OPTIMIZED = 0x1
"""Flag of code whose variables are not kept in a dict."""


ASKING = {os.path.join(os.path.dirname(__file__), name) for name in ("variables.py", "glance.py", "holding.py")}


class Variable(NamedTuple):
    frame: FrameType
    name: str

    @property
    def is_live(self) -> bool:
        """Whether it is read again; an object counts as needed while one of its methods runs."""
        code = self.frame.f_code
        if is_machinery(code.co_filename):
            return False
        is_self = code.co_argcount > 0 and code.co_varnames[0] == self.name == "self"
        return is_self or is_read_later(self.frame, self.name)


def read_variables() -> tuple[dict[int, list[Variable]], list[Any]]:
    """By the number of the object that each variable is bound to, in all threads; and the arrays among the objects."""
    found: dict[int, list[Variable]] = {}
    arrays = []
    for frame in running_frames():
        for name, value in values_of(frame):
            found.setdefault(id(value), []).append(Variable(frame, name))
            if type(value).__name__ == "ndarray":
                arrays.append(value)
    return found, arrays


def running_frames() -> list[FrameType]:
    """Of all threads. Those that ask are not among them: they would hold themselves by what they are told."""
    innermost: dict[int, Any] = {**sys._current_frames(), threading.get_ident(): sys._getframe(1)}
    frames = []
    for step in innermost.values():
        while step is not None:
            if step.f_code.co_filename not in ASKING:
                frames.append(step)
            step = step.f_back
    return frames


def values_of(frame: FrameType) -> list[tuple[str, Any]]:
    """Its variables. Before Python 3.13 asking makes a copy that the frame would keep: it is emptied.

    Where a frame is traced, Python writes the copy back, so that there it has to stay.
    """
    if not frame.f_code.co_flags & OPTIMIZED:
        return []
    held = frame.f_locals
    values = list(held.items())
    if isinstance(held, dict) and frame.f_trace is None:
        held.clear()
    return values
