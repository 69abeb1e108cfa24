"""Which lines of the changed files ran, and whether they were this side's: what never ran was not proven.

Of code around changed lines (`followed`) also which line came after which, and which expressions were evaluated: a
loop without a round, a branch that was never taken and one side of `a if c else b` are seen by these only.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from sys import gettrace, settrace
from threading import settrace as trace_threads
from types import CodeType, FrameType
from typing import Any

from ..graphs.places import is_users
from .own import open_file

Spot = tuple[int, int, int, int]
"""Line and column where an expression begins, and where it ends."""

TELLS_SPOTS = sys.version_info >= (3, 11)
STOOD_IN_FOR = frozenset(
    (
        *("wait_stream", "wait_event", "record_stream", "record_event", "synchronize", "pin_memory"),
        *("set_stream", "cudagraph_mark_step_begin"),
    )
)
"""Calls for a device. Where the user's own code defines them, as a scenario with streams of its own, they run here."""


PYTHON = (os.path.dirname(os.__file__) + os.sep, "<")
SHOWING = tuple(os.path.join(PYTHON[0], name) for name in ("linecache.py", "inspect.py", "traceback.py"))
"""Code that reads a file to show its lines; the overlay gives it those of this side."""

watching: list[Watch] = []
is_hooked = False


def hear_opened(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook: raises nothing, and cannot be removed."""
    if event == "open" and watching and type(given[0]) is str:
        watching[-1].note_opened(given[0])


def is_read_by_user() -> bool:
    """Whether the innermost code that is not Python's own is the user's, and no line is only shown."""
    frame: FrameType | None = sys._getframe(3)
    while frame and frame.f_code.co_filename.startswith(PYTHON):
        if frame.f_code.co_filename in SHOWING:
            return False
        frame = frame.f_back
    return frame is not None and is_users(os.path.realpath(frame.f_code.co_filename))


class Watch:
    """Collects the lines that run in some files, while it is on: `lines` in functions, `top` in modules and classes."""

    def __init__(
        self,
        files: list[str],
        laid: dict[str, bytes | None] | None = None,
        followed: dict[str, list[int]] | None = None,
    ) -> None:
        self.files = {os.path.realpath(file) for file in files}
        self.laid = laid or {}
        self.names = {os.path.basename(file) for file in self.laid}
        self.followed = {os.path.realpath(file): lines for file, lines in (followed or {}).items()}
        self.known: dict[str, str] = {}
        self.checked: set[CodeType] = set()
        self.disk: dict[str, set[Any]] = {}
        self.stale: set[str] = set()
        """Files of which code ran as it is on the disk and not on this side: something read them past the overlay."""

        self.lines: dict[str, set[int]] = {}
        self.top: dict[str, set[int]] = {}
        self.steps: dict[str, set[tuple[int, int]]] = {}
        """By file: a line and the one that came next in the same call; 0 is the end of the call."""

        self.spots: dict[str, set[Spot]] = {}
        """By file: from where to where every expression goes that was evaluated."""

        self.performed: set[tuple[str, int, str]] = set()
        """File, line and name of calls for a device that code of the user's stood in for."""

        self.places: dict[CodeType, list[Spot] | None] = {}

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        if not self.files:
            yield
            return
        global is_hooked
        if not is_hooked:
            is_hooked = True
            sys.addaudithook(hear_opened)
        before = gettrace()
        watching.append(self)
        trace_threads(self._enter)
        settrace(self._enter)
        try:
            yield
        finally:
            watching.remove(self)
            settrace(before)
            trace_threads(before)  # type: ignore[arg-type,unused-ignore]

    def as_json(self) -> dict[str, Any]:
        """By real path: the lines that ran in functions, and negative those that ran at the top level; steps, spots.

        `spots` is None where this Python does not tell them.
        """
        return {
            "ran": {
                file: [*sorted(self.lines.get(file, ())), *(-line for line in sorted(self.top.get(file, ())))]
                for file in sorted(self.lines.keys() | self.top.keys())
            },
            "steps": {file: sorted(steps) for file, steps in sorted(self.steps.items())},
            "spots": {file: sorted(spots) for file, spots in sorted(self.spots.items())} if TELLS_SPOTS else None,
            "performed": sorted(self.performed),
            "stale": sorted(self.stale),
        }

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = self._real(frame.f_code)
        if frame.f_code.co_name in STOOD_IN_FOR:
            self._note_performed(frame, file)
        if file not in self.files:
            return None
        self._check(file, frame.f_code)
        is_function = bool(frame.f_code.co_flags & 0x2)  # CO_NEWLOCALS: neither a module nor a class body
        kept = (self.lines if is_function else self.top).setdefault(file, set())
        if not is_function:
            kept.add(frame.f_lineno)
        elif self._follows(file, frame.f_code):
            return self._follow(file, frame, kept)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                kept.add(frame.f_lineno)
            return step

        return step

    def _follow(self, file: str, frame: FrameType, kept: set[int]) -> Any:
        """Note every line, the line after it, and where every instruction stands in the text."""
        steps, spots = self.steps.setdefault(file, set()), self.spots.setdefault(file, set())
        places = self.places[frame.f_code] or []
        frame.f_trace_opcodes = bool(places)
        last = 0

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "opcode":
                spots.add(places[frame.f_lasti // 2])
            elif event == "line":
                kept.add(frame.f_lineno)
                steps.add((last, frame.f_lineno))
                last = frame.f_lineno
            elif event == "exception":
                last = 0  # what follows an exception was not chosen by the line
            elif event == "return":
                steps.add((last, 0))
            return step

        return step

    def _follows(self, file: str, code: CodeType) -> bool:
        """Whether the code has a line that was changed."""
        if code not in self.places:
            lines = {line for _, _, line in code.co_lines() if line} if hasattr(code, "co_lines") else set()
            is_near = any(min(lines) <= line <= max(lines) for line in self.followed.get(file, ())) if lines else False
            self.places[code] = spots_in(code) if is_near else None
        return self.places[code] is not None

    def _note_performed(self, frame: FrameType, file: str) -> None:
        caller = frame.f_back
        if caller is not None and is_users(file) and self._real(caller.f_code) in self.files:
            self.performed.add((self._real(caller.f_code), caller.f_lineno, frame.f_code.co_name))

    def note_opened(self, path: str) -> None:
        """Whoever reads a changed file sees it as it is on the disk."""
        if os.path.basename(path) in self.names and os.path.realpath(path) in self.laid and is_read_by_user():
            self.stale.add(os.path.realpath(path))

    def _check(self, file: str, code: CodeType) -> None:
        if code not in self.checked:
            self.checked.add(code)
            if file not in self.disk:
                ours = codes_in(self.laid.get(file), file)
                self.disk[file] = codes_in(read(file), file) - ours
            if fingerprint(code) in self.disk[file]:
                self.stale.add(file)

    def _real(self, code: CodeType) -> str:
        name = code.co_filename
        if name not in self.known:
            self.known[name] = os.path.realpath(name) if not name.startswith("<") else name
        return self.known[name]


def spots_in(code: CodeType) -> list[Spot]:
    """What each instruction evaluates; empty where Python does not know it."""
    told = code.co_positions() if TELLS_SPOTS else ()  # type: ignore[attr-defined,unused-ignore]
    return [(line or 0, column or 0, last or 0, end or 0) for line, last, column, end in told]


def read(file: str) -> bytes | None:
    try:
        with open_file(file, "rb") as source:
            return source.read()
    except OSError:
        return None


def codes_in(source: bytes | None, file: str) -> set[Any]:
    """Fingerprints of everything that a source text compiles to."""
    try:
        waiting = [compile(source or b"", file, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return set()
    found = set()
    while waiting:
        code = waiting.pop()
        found.add(fingerprint(code))
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def fingerprint(code: CodeType) -> Any:
    """What makes it that code: its place, its instructions, and all that they name."""
    held = tuple(fingerprint(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts)
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return code.co_name, code.co_firstlineno, code.co_code, names, held
