"""Which lines of the changed files ran, and whether they were this side's: what never ran was not proven."""

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

    def __init__(self, files: list[str], laid: dict[str, bytes | None] | None = None) -> None:
        self.files = {os.path.realpath(file) for file in files}
        self.laid = laid or {}
        self.known: dict[str, str] = {}
        self.checked: set[CodeType] = set()
        self.disk: dict[str, set[Any]] = {}
        self.stale: set[str] = set()
        """Files of which code ran as it is on the disk and not on this side: something read them past the overlay."""

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
        self._check(file, frame.f_code)
        is_function = bool(frame.f_code.co_flags & 0x2)  # CO_NEWLOCALS: neither a module nor a class body
        kept = (self.lines if is_function else self.top).setdefault(file, set())
        if not is_function:
            kept.add(frame.f_lineno)

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                kept.add(frame.f_lineno)
            return step

        return step

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


def read(file: str) -> bytes | None:
    try:
        with open(file, "rb") as source:
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
