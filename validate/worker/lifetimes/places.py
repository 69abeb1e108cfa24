"""Where the user's own code stands right now."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import FrameType
from typing import NamedTuple

import torch

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


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


def place_of(frame: FrameType | None) -> Place | None:
    return frame and Place(frame.f_code.co_filename, frame.f_lineno or 0, name_of(frame))


def name_of(frame: FrameType) -> str:
    return str(getattr(frame.f_code, "co_qualname", frame.f_code.co_name)).replace("<locals>.", "")


def here() -> Place | None:
    return place_of(find_frame(sys._getframe(1)))
