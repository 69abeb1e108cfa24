"""Which lines of the changed files ran: a scenario that never runs what was changed proves nothing."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any


class Watch:
    """Collects the lines that run in some files, while it is on: `lines` in functions, `top` in modules and classes."""

    def __init__(self, files: list[str]) -> None:
        self.files = {os.path.realpath(file) for file in files}
        self.known: dict[str, str] = {}
        self.lines: dict[str, set[int]] = {}
        self.top: dict[str, set[int]] = {}

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        if not self.files:
            yield
            return
        before = sys.gettrace()
        threading.settrace(self._enter)
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(before)

    def as_json(self) -> dict[str, list[int]]:
        """By real path: the lines that ran in functions; those that ran at the top level are negative."""
        return {
            file: [*sorted(self.lines.get(file, ())), *(-line for line in sorted(self.top.get(file, ())))]
            for file in sorted(self.lines.keys() | self.top.keys())
        }

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = self._real(frame.f_code)
        if file not in self.files:
            return None
        is_function = bool(frame.f_code.co_flags & 0x2)  # CO_NEWLOCALS: neither a module nor a class body
        kept = (self.lines if is_function else self.top).setdefault(file, set())
        if not is_function:
            kept.add(frame.f_lineno)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                kept.add(frame.f_lineno)
            return step

        return step

    def _real(self, code: CodeType) -> str:
        name = code.co_filename
        if name not in self.known:
            self.known[name] = os.path.realpath(name) if not name.startswith("<") else name
        return self.known[name]
