"""Where the user's own code stands right now."""

from __future__ import annotations

import dis
import inspect
import os
import sys
import sysconfig
from types import FrameType
from typing import NamedTuple

import torch

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


PASSING_ON = dis.opmap["CALL_FUNCTION_EX"]
CALLERS = 2
"""Lines above a call that are told of it."""


class Place(NamedTuple):
    """A line of a file, in a function."""

    file: str
    line: int
    function: str


def is_machinery(file: str) -> bool:
    """Whether it is torch's, ours, or made at run time: nothing there is the user's doing."""
    return file.startswith(("<", OURS, TORCH))


def is_users(file: str) -> bool:
    return not is_machinery(file) and not file.startswith(LIBRARIES)


def find_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's, else of a library."""
    library = None
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return frame
        if library is None and not is_machinery(file) and not is_starting(frame):
            library = frame
        frame = frame.f_back
    return library


def is_starting(frame: FrameType) -> bool:
    """Whether the frame only starts programs and threads: the standard library at the foot of every stack."""
    return frame.f_globals.get("__name__") in ("threading", "runpy", "concurrent.futures.thread")


class Call(NamedTuple):
    """A call of compiled code.

    `through`: lines that only pass on the arguments that they were given, as those of a wrapper do, innermost last.
    `callers`: the lines that led to the place, innermost first.
    """

    place: Place | None = None
    through: tuple[Place, ...] = ()
    callers: tuple[Place, ...] = ()


def find_call(frame: FrameType | None) -> Call:
    """The innermost line of the user's that decides what it calls with."""
    through = []
    found = find_frame(frame)
    innermost = found
    while found is not None and is_users(found.f_code.co_filename) and is_passing_on(found):
        through.append(place_of(found))
        found = find_frame(found.f_back)
    if found is None or not is_users(found.f_code.co_filename):
        return Call(place_of(innermost), (), callers_of(innermost))
    return Call(place_of(found), tuple(one for one in reversed(through) if one), callers_of(found))


def is_passing_on(frame: FrameType) -> bool:
    """Whether it takes any arguments, and stands at a call with unpacked ones: `inner(*args, **kwargs)`."""
    code = frame.f_code
    takes_any = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return bool(takes_any) and frame.f_lasti >= 0 and code.co_code[frame.f_lasti] == PASSING_ON


def callers_of(frame: FrameType | None) -> tuple[Place, ...]:
    """Lines of the user's above a frame."""
    found: list[Place] = []
    above = frame and frame.f_back
    while above is not None and len(found) < CALLERS:
        if is_users(above.f_code.co_filename) and above.f_code.co_name not in INLINE:
            found.append(Place(above.f_code.co_filename, above.f_lineno or 0, name_of(above)))
        above = above.f_back
    return tuple(found)


INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Functions that are part of a line of another one."""


def place_of(frame: FrameType | None) -> Place | None:
    return frame and Place(frame.f_code.co_filename, frame.f_lineno or 0, name_of(frame))


def name_of(frame: FrameType) -> str:
    return str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name)).replace("<locals>.", "")


def here() -> Place | None:
    return place_of(find_frame(sys._getframe(1)))
