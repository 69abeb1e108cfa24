"""Iterators and generators taken apart: over what they go, and how far they have come. None is moved by it."""

from __future__ import annotations

import itertools
import types
from typing import Any

from .functions import digest_code
from .leaf import Opened, name_type

EMPTY: dict[Any, Any] = {}
SAMPLES: tuple[Any, ...] = (
    *map(iter, ([], (), range(0), range(2**70), "", b"", bytearray(), set(), EMPTY, EMPTY.values(), EMPTY.items())),
    *map(reversed, ([], (), EMPTY, EMPTY.values(), EMPTY.items())),  # type: ignore[arg-type]
    iter(int, 0),
)
PLAIN = {type(one) for one in SAMPLES} | {enumerate, zip, map, filter}
ITERTOOLS = {kind for kind in vars(itertools).values() if type(kind) is type}
RUNNING = {
    types.GeneratorType: ("gi_frame", "gi_code", "gi_yieldfrom"),
    types.CoroutineType: ("cr_frame", "cr_code", "cr_await"),
    types.AsyncGeneratorType: ("ag_frame", "ag_code", "ag_await"),
}


def open_iterator(value: Any) -> Opened | None:
    """None where it does not tell how far it is, as those of itertools do from Python 3.14 on."""
    kind: Any = type(value)
    if kind in RUNNING:
        return open_running(value, *RUNNING[kind])
    if kind not in PLAIN | ITERTOOLS or kind.__reduce__ is object.__reduce__:
        return None
    _, over, *state = kind.__reduce__(value)
    return Opened([("type", name_type(kind))], [(".over", over), (".state", state)])


def open_running(value: Any, frame_name: str, code_name: str, delegate: str) -> Opened:
    """Where it stands means something to the same code only, so that is told first."""
    frame = getattr(value, frame_name)
    facts = [("type", name_type(type(value))), ("running", digest_code(getattr(value, code_name)))]
    if frame is None:
        return Opened([*facts, ("position", "at its end")])
    variables = dict(frame.f_locals)
    parts = [(f".{name}", variables[name]) for name in sorted(variables)]
    return Opened([*facts, ("position", str(frame.f_lasti))], [*parts, (f".{delegate}", getattr(value, delegate))])
