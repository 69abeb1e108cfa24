"""The line that kept an output: a second run is watched line by line, outside of compiled calls.

A trace function would stop Dynamo, so it is off while compiled code runs. After each line of the user's, who holds the
outputs in question is asked again; the line after which a known holder has one is the line that kept it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from .hazards import Hazard, Key
from .holding import find_holders
from .places import Place, is_users, name_of, place_of

ASKED = 600
"""Lines at most after which holders are looked for; what is kept later than that stays unknown."""


class Keeping:
    """Looks for the lines of these hazards; `outputs` gives, by key, what is alive now with where it was made."""

    def __init__(self, hazards: list[Hazard], outputs: Callable[[], dict[int, Any]], roots: dict[int, str]) -> None:
        self.wanted: dict[Key, Hazard] = {one.key: one for one in hazards}
        self.outputs = outputs
        self.roots = roots
        self.asked = 0
        self.lines: dict[FrameType, Place] = {}
        self.before: Any = None

    def __enter__(self) -> Keeping:
        self.before = sys.gettrace()
        self.go_on()
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(self.before)
        self.lines.clear()

    def stop(self) -> None:
        sys.settrace(None)

    def go_on(self) -> None:
        if self.wanted and self.asked < ASKED:
            sys.settrace(self.trace)

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self.follow if is_users(frame.f_code.co_filename) else None

    def follow(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event in ("line", "return"):
            done = self.lines.get(frame) or place_of(frame.f_back)
            self.ask(done)
        if event == "line":
            self.lines[frame] = Place(frame.f_code.co_filename, frame.f_lineno or 0, name_of(frame))
        elif event == "return":
            self.lines.pop(frame, None)
        return self.follow

    def ask(self, done: Place | None) -> None:
        """Is one of the outputs held now as it was when it was overwritten?"""
        made = {hazard.made for hazard in self.wanted.values()}
        outputs = {key: one for key, one in self.outputs().items() if one.made in made}
        if not outputs or self.asked >= ASKED:
            return
        self.asked += 1
        for key, holders in find_holders(set(outputs), self.roots).items():
            for holder in holders:
                hazard = self.wanted.pop((outputs[key].made, holder.kind, holder.name), None)
                if hazard is not None:
                    hazard.kept = done
