"""The two places at which torch asks whether anybody listens: on the way into a compiled call, and before it logs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch._C._dynamo.eval_frame import set_eval_frame

from ..graphs.places import Line
from .entries import module_of, unwrap
from .pending import Waiting
from .process import guard

if TYPE_CHECKING:
    from .compilations import Dynamo

FARTHEST = 4
"""Frames between a hook and the compiled callable that runs it."""

HEARD = ("recompile_reasons", "dynamo_graph_break_reason")
"""Artifacts of the structured log that a listener reads."""


class Hook:
    """Runs whenever a compiled callable is called; what it returns runs when the call ends."""

    def __init__(self, watcher: Dynamo, place: Line) -> None:
        self.watcher = watcher
        self.place = place
        self.forget()

    def forget(self) -> None:
        self.generation = self.watcher.generation
        self.target: Any = None

    def __call__(self) -> Callable[[], None]:
        return guard(self.watcher.process, self.begin, sys._getframe(1)) or do_nothing

    def begin(self, frame: FrameType | None) -> Callable[[], None] | None:
        for _ in range(FARTHEST):
            if frame is not None and "fn" in frame.f_code.co_freevars and "kwargs" in frame.f_code.co_varnames:
                names = frame.f_locals
                self.look_up(names["fn"])
                return self.watcher.begin_call(self.waiting, self.owner, names["args"], names["kwargs"])
            frame = frame.f_back if frame is not None else None
        return None

    def look_up(self, target: Any) -> None:
        """Whose call it is; nearly always the same as the last time."""
        if self.generation != self.watcher.generation:
            self.forget()
        if target is not self.target:
            self.target = target
            self.owner = module_of(unwrap(target))
            self.waiting = Waiting(self.watcher.find_entry(target, self.place))
            self.watcher.waiting.add(self.waiting)


def do_nothing() -> None: ...


class Choosy(list):  # type: ignore[type-arg]
    """Handlers of torch's structured log, of which torch asks whether there are any before it composes a message.

    Most messages are whole programs, printed; if nobody else listens, only those are composed that are heard here. A
    backward that is compiled in the middle of compiled code composes none: Dynamo would look at the frames that do it.
    """

    def __bool__(self) -> bool:
        before = set_eval_frame(None)
        try:
            return self.has_others() or (before is None and is_heard(sys._getframe(1).f_locals))
        finally:
            set_eval_frame(before)

    def has_others(self) -> bool:
        return any(type(handler) is not logging.NullHandler for handler in self)


def is_heard(asked: dict[str, Any]) -> bool:
    if asked.get("name") != "artifact":
        return str(asked.get("name")).endswith("compilation_metrics")
    return bool(asked["metadata_fn"]().get("name") in HEARD)
