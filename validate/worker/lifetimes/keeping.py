"""The line that kept an output: the program is run again and watched line by line, outside of compiled calls.

A trace function would stop Dynamo, so it is off while compiled code runs. Of each hazard one output is followed from
the line that makes it: who holds it is asked after each of the first lines, then more and more seldom. Where the
answer changes, the lines between are asked after in another run.
"""

from __future__ import annotations

import bisect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from .buffers import Buffer
from .hazards import Hazard
from .holding import find_holders
from .places import Place, find_frame, is_users, name_of, place_of

CLOSELY = 32
"""Lines after an output was made, or between two answers, that are asked after one by one."""

FARTHEST = 10**7


def make_points() -> list[int]:
    """At which ages it is asked: at each of the first, then each a quarter later than the one before."""
    points = list(range(CLOSELY + 1))
    while points[-1] < FARTHEST:
        points.append(points[-1] * 5 // 4)
    return points


class Quest:
    """For the line of one hazard, told by one of its outputs: not held at the age `low`, held at `high`.

    Ages are lines since the end of the compiled call.
    """

    def __init__(self, hazard: Hazard) -> None:
        self.hazard = hazard
        self.serials = list(hazard.serials)
        self.born = 0
        self.low, self.high = -1, -1
        self.points = make_points()

    @property
    def serial(self) -> int:
        return self.serials[0] if self.serials else 0

    @property
    def is_over(self) -> bool:
        return self.hazard.kept is not None or not self.serials

    def is_due(self, age: int) -> bool:
        at = bisect.bisect_left(self.points, age)
        return not self.is_over and at < len(self.points) and self.points[at] == age

    def answer(self, age: int, is_held: bool, done: Place | None) -> None:
        if not is_held:
            self.low = age
        elif age > self.low:
            self.high, self.points = age, []
            self.hazard.kept = done if age - self.low == 1 else None

    def refine(self) -> None:
        """For the next run: the ages between the two answers, or another output if this one was never held."""
        if self.high < 0:
            self.serials, self.points, self.low = self.serials[1:], make_points(), -1
            return
        step = max(1, (self.high - self.low) // CLOSELY)
        self.points = [*range(self.low + step, self.high, step), self.high]
        self.high = -1


class Keeping:
    """Looks for the lines of these hazards, in as many runs as are worth it."""

    def __init__(self, hazards: Iterable[Hazard], roots: Callable[[], dict[int, str]]) -> None:
        self.quests = [Quest(hazard) for hazard in hazards]
        self.roots = roots
        self.clock = 0
        self.lines: dict[FrameType, Place] = {}
        self.followed: list[tuple[Buffer, Quest]] = []
        self.before: Any = None

    @property
    def is_over(self) -> bool:
        return all(quest.is_over for quest in self.quests)

    def refine(self) -> None:
        self.clock = 0
        for quest in self.quests:
            quest.refine()

    def __enter__(self) -> Keeping:
        self.before = sys.gettrace(), getattr(threading, "_trace_hook", None)
        threading.settrace(self.trace)
        self.go_on()
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(self.before[0])
        threading.settrace(self.before[1])
        self.lines.clear()
        self.followed.clear()

    def stop(self) -> None:
        sys.settrace(None)

    def go_on(self) -> None:
        sys.settrace(self.trace)

    def expect(self, buffers: Iterable[Buffer]) -> None:
        """These outputs have just been made."""
        for buffer in buffers:
            for quest in self.quests:
                if quest.serial == buffer.serial and not quest.is_over:
                    quest.born = self.clock
                    self.followed.append((buffer, quest))

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self.follow if is_users(frame.f_code.co_filename) else None

    def follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event in ("line", "return"):
            self.clock += 1
            if self.followed:
                self.ask(self.lines.get(frame) or place_of(find_frame(frame.f_back)))
        if event == "line":
            self.lines[frame] = Place(frame.f_code.co_filename, frame.f_lineno or 0, name_of(frame))
        elif event == "return":
            self.lines.pop(frame, None)
        return self.follow

    def ask(self, done: Place | None) -> None:
        """Look at those whose age it is; a line of the program has just been done."""
        self.followed = [(buffer, quest) for buffer, quest in self.followed if quest.points and buffer.is_alive]
        due = [(buffer, quest) for buffer, quest in self.followed if quest.is_due(self.clock - quest.born)]
        for quest, is_held in self.look(due):
            quest.answer(self.clock - quest.born, is_held, done)

    def end(self, ended: list[Buffer], call: Place | None) -> None:
        """These are overwritten by a call: whatever keeps them has done so, at the latest on the line of the call."""
        due = [(buffer, quest) for buffer, quest in self.followed if buffer in ended and quest.points]
        for quest, is_held in self.look(due):
            if is_held:
                quest.answer(self.clock - quest.born + 1, True, call)

    def look(self, due: list[tuple[Buffer, Quest]]) -> Iterator[tuple[Quest, bool]]:
        """Whether each output is held now as it was when it was overwritten."""
        found = find_holders({buffer.key for buffer, _ in due}, self.roots())
        for buffer, quest in due:
            holders = {(holder.kind, holder.name) for holder in found.get(buffer.key, ())}
            yield quest, (quest.hazard.kind, quest.hazard.holder) in holders
