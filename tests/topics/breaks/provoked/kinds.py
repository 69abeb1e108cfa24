"""How the programs are listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Program = Callable[..., Any]

PROGRAMS: dict[str, tuple[str, Program]] = {}
ADVISED: dict[str, tuple[dict[str, Any], Program]] = {}


def breaks(ids: str) -> Callable[[Program], Program]:
    """This program breaks with these ids, in this order."""

    def keep(function: Program) -> Program:
        PROGRAMS[function.__name__] = (ids, function)
        return function

    return keep


def advised(name: str, **settings: Any) -> Callable[[Program], Program]:
    """This is what the advice for a program, or its setting, makes of it: one graph, no break."""

    def keep(function: Program) -> Program:
        ADVISED[name] = (settings, function)
        return function

    return keep
