"""The function whose calls are stored, and how to tell in a frame that it is the one that runs."""

from __future__ import annotations

from typing import Any

from .naming import Named, python_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType


class Wanted:
    """A function whose calls count, with what tells it from others that share its code."""

    def __init__(self, named: Named) -> None:
        self.named = named
        found: Any = python_function(named.function)
        self.function = found
        self.code: CodeType = self.function.__code__
        cells = zip(self.code.co_freevars, self.function.__closure__ or ())
        self.closure = {name: content(cell) for name, cell in cells}

    def is_called_in(self, frame: FrameType) -> bool:
        """Whether this frame runs the function: of a decorator's wrapper there are many, each with its own closure."""
        if frame.f_code is not self.code:
            return False
        held = frame.f_locals if self.closure or self.named.is_method else {}
        if any(held.get(name) is not value for name, value in self.closure.items()):
            return False
        return not self.named.is_method or self.is_own(first_argument(self.code, held))

    def is_own(self, first: Any) -> bool:
        owner = self.named.owner
        return isinstance(first, owner) or (isinstance(first, type) and issubclass(first, owner))

    def is_nested_in(self, frame: FrameType | None) -> bool:
        """Whether a call of the function is going on in this frame or outside it."""
        while frame is not None:
            if self.is_called_in(frame):
                return True
            frame = frame.f_back
        return False


def content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None


def first_argument(code: CodeType, held: Any) -> Any:
    if code.co_argcount:
        return held.get(code.co_varnames[0])
    rest = held.get(code.co_varnames[code.co_kwonlyargcount]) if code.co_flags & 0x04 else ()
    return rest[0] if rest else None
