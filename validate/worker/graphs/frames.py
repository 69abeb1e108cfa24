"""Every frame that Dynamo was offered while a program ran, and what became of it."""

from __future__ import annotations

import json
import logging
import statistics
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any

from torch._dynamo import convert_frame, exc

from .places import Line, current_stack

ROUNDS, CHECKS, PAUSE_S = 8, 25, 0.005
"""Guards are checked so often in so many rounds; the least median of a round is what one check costs. A busy machine is
slow for some thousandths of a second at a time."""

SOFT = tuple(kind for kind in (getattr(exc, name, None) for name in ("Unsupported", "UserError")) if kind)

EMPTY = ("no tensor", "no ops traced", "no content in function call")
TOLD = ("skipfiles", "already", "non-recursively disabled", "exec()", "__setattr__", "__init__", "namedtuple")
HARMLESS = (*EMPTY, *TOLD, "transformers/diffusers")
"""Why torch leaves a frame alone that has nothing to compile, or that it was told to leave alone."""


@dataclass
class Failure:
    """An exception that ended a compilation. `soft`: a graph break that nothing could be resumed from."""

    kind: str
    soft: bool
    message: str
    stack: list[Line]


@dataclass
class Frame:
    """A code object that Dynamo was offered. `outcome`: compiled, skipped or raised."""

    file: str
    line: int
    function: str
    outcome: str = "skipped"
    skip: str = ""
    """Why torch left it alone, in its words."""

    tensors: bool = False
    """Whether torch takes it for code with tensors; asked only where it was left alone."""

    logged: list[str] = field(default_factory=list)
    """The text of every break, as torch logged it."""

    unlogged: list[tuple[str, list[Line]]] = field(default_factory=list)
    failure: Failure | None = None
    callers: list[Line] = field(default_factory=list)
    operators: int = 0
    guards: int = 0
    guard_us: float = 0.0
    recompile: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether torch found nothing to compile in it; it does not look at that function again."""
        return self.outcome == "skipped" and not self.failure and is_one_of(self.skip, EMPTY)

    @property
    def is_given_up(self) -> bool:
        """Whether torch left code with tensors alone for no good reason."""
        return self.tensors and not is_one_of(self.skip, HARMLESS)

    @property
    def place(self) -> tuple[str, int, str]:
        return self.file, self.line, self.function


class Listener:
    """Collects the frames of all threads in the order in which they were offered."""

    def __init__(self, times_guards: bool) -> None:
        self.times_guards = times_guards
        self.frames: list[Frame] = []
        self.local = threading.local()

    @property
    def open_frames(self) -> list[Frame]:
        """The frames that this thread is compiling, innermost last."""
        if not hasattr(self.local, "frames"):
            self.local.frames = []
        frames: list[Frame] = self.local.frames
        return frames

    def begin(self, code: Any) -> Frame:
        frame = Frame(code.co_filename, code.co_firstlineno, code.co_name)
        self.frames.append(frame)
        self.open_frames.append(frame)
        return frame

    def leave(self) -> None:
        """The innermost frame is done, whatever became of it."""
        self.open_frames.pop()

    def end(self, frame: Frame, offered: Any, result: Any) -> None:
        """Note what torch made of it."""
        guarded = guarded_code(result)
        frame.skip = frame.skip or getattr(result, "skip_reason", None) or ""
        if guarded is not None:
            frame.outcome = "compiled"
            frame.guard_us = (time_guards(guarded, offered) if self.times_guards else 0) or frame.guard_us
        elif frame.failure or (frame.skip and not is_one_of(frame.skip, HARMLESS)):
            frame.tensors = bool(getattr(convert_frame, "has_tensor_in_frame", lambda _: True)(offered))
        frame.callers = current_stack()

    def hear(self, record: logging.LogRecord) -> None:
        metadata, payload = getattr(record, "metadata", {}), getattr(record, "payload", None)
        name = (metadata.get("artifact") or {}).get("name")
        if "compilation_metrics" in metadata and self.open_frames:
            take_metrics(self.open_frames[-1], metadata["compilation_metrics"])
        elif name == "recompile_reasons" and payload and self.open_frames:
            self.open_frames[-1].recompile = first_reason(payload)
        elif name == "dynamo_graph_break_reason" and payload:
            self.frame_of_log().logged.append(payload)

    def frame_of_log(self) -> Frame:
        """Where a message belongs. What is traced without a callback, by export, has a frame of its own."""
        if self.open_frames:
            return self.open_frames[-1]
        self.frames.append(Frame("", 0, "", outcome="compiled", callers=current_stack()))
        return self.frames[-1]


def is_one_of(reason: str, known: tuple[str, ...]) -> bool:
    return any(part in reason.lower() for part in known)


def guarded_code(result: Any) -> Any:
    """What was compiled, or None. Older versions return it bare."""
    code = getattr(result, "guarded_code", result)
    return code if hasattr(code, "guard_manager") or hasattr(code, "check_fn") else None


def take_metrics(frame: Frame, metrics: dict[str, Any]) -> None:
    frame.operators = metrics.get("graph_op_count") or 0
    frame.guards = metrics.get("guard_count") or 0
    frame.guard_us = float(metrics.get("guard_latency_us") or 0)
    frame.recompile = metrics.get("recompile_reason") or frame.recompile


def first_reason(payload: str) -> str:
    """Of several compiled forms, the one that was looked at first."""
    try:
        reasons = json.loads(payload)
    except ValueError:
        return payload
    return str(reasons[0]) if isinstance(reasons, list) and reasons else payload


def time_guards(guarded: Any, offered: Any) -> float:
    """Microseconds for one check of all guards with warm caches; 0 where it cannot be measured.

    Torch's own figure is one check with flushed caches: from one run to the next it varies by a factor of two.
    """
    check = getattr(getattr(guarded, "guard_manager", None), "check", None)
    try:
        values = offered.f_locals
        return min(time_rounds(check, values)) * 1e6 if check is not None and check(values) else 0.0
    except Exception:
        return 0.0


def time_rounds(check: Callable[[Any], Any], values: Any) -> Iterator[float]:
    """The median of every round."""
    for _ in range(ROUNDS):
        yield statistics.median(time_once(check, values) for _ in range(CHECKS))
        sleep(PAUSE_S)


def time_once(check: Callable[[Any], Any], values: Any) -> float:
    start = perf_counter()
    check(values)
    return perf_counter() - start


def describe_failure(error: BaseException) -> Failure:
    stack = [Line(one.filename, one.lineno or 0, one.name) for one in getattr(error, "real_stack", None) or []]
    message = str(getattr(error, "msg", None) or error)
    return Failure(type(error).__name__, isinstance(error, SOFT), message, stack)
