"""Which functions of the project have run: so far as Python remembers it by itself.

CPython 3.11 counts in every code object until it is warm. Other versions keep nothing that can be read back; of them
only the files are told.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from ..graphs.places import real_path
from .whose import PROJECT, Whose

WARMTH = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t) + 3 * ctypes.sizeof(ctypes.c_void_p) + 4
"""Where the count stands: behind the head of a variable object, three pointers and the flags."""


def read_warmth(code: CodeType) -> int:
    return ctypes.c_short.from_address(id(code) + WARMTH).value


def can_read() -> bool:
    """Tried out on two functions, of which one has run."""
    if sys.version_info[:2] != (3, 11) or sys.implementation.name != "cpython":
        return False
    samples: dict[str, Any] = {}
    exec("def ran(): return 1\ndef idle(): return 1\nran()", samples)
    return (read_warmth(samples["idle"].__code__), read_warmth(samples["ran"].__code__)) == (-8, -7)


class Reached:
    """What Dynamo has traced never runs as it stands; Dynamo tells of it."""

    def __init__(self, whose: Whose) -> None:
        self.whose = whose
        self.traced: dict[int, CodeType] = {}
        self.can_read = can_read()

    def add(self, code: CodeType) -> None:
        if self.whose(code.co_filename) is PROJECT:
            self.traced[id(code)] = code

    def tell(self) -> dict[str, Any]:
        """The project's files that were imported, each with the first lines of its functions that ran, or None."""
        files = {file for module in list(sys.modules.values()) if (file := self.file_of(module))}
        codes = self.project_codes() if self.can_read else []
        ran = {self.place_of(code) for code in codes if read_warmth(code) != -8}
        ran |= {self.place_of(code) for code in list(self.traced.values())}
        files |= {file for file, _ in ran}
        return {
            file: sorted(line for name, line in ran if name == file) if self.can_read else None
            for file in sorted(files)
        }

    def place_of(self, code: CodeType) -> tuple[str, int]:
        return real_path(code.co_filename), code.co_firstlineno

    def file_of(self, module: Any) -> str:
        """Asked of the module's own dict: a lazy module would import something when it is asked."""
        try:
            file = vars(module).get("__file__")
        except TypeError:
            return ""
        is_source = isinstance(file, str) and file.endswith(".py")
        return real_path(file) if is_source and self.whose(file) is PROJECT else ""

    def project_codes(self) -> list[CodeType]:
        functions = [one for one in gc.get_objects() if type(one) is FunctionType]
        own = (one.__code__ for one in functions if self.whose(one.__code__.co_filename) is PROJECT)
        return list(with_inner(own))


def with_inner(codes: Iterable[CodeType]) -> Iterator[CodeType]:
    """Code objects and those inside them, each once."""
    seen: set[int] = set()
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        if id(code) not in seen:
            seen.add(id(code))
            yield code
            waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
