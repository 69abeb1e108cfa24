"""A compiled entry: what was given to torch.compile, by its definition, and what has been seen of it."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import torch

from ..graphs import breaks
from ..graphs.frames import Frame
from ..graphs.guards import read_guard
from ..graphs.places import Line, find_deepest, find_definition, is_users, name_function, real_path, start_of

CALLS_OF_MODULES = ("_call_impl", "_wrapped_call_impl", "__call__", "forward")
SIGNATURES = 24
"""Different inputs that are told of one entry; the rest is counted."""

FRAMES = 2000
"""Compilations that are kept of one entry."""


class Key(NamedTuple):
    """Objects of one class are one entry; what is not the user's own goes by the line that compiled it."""

    file: str
    line: int
    name: str
    kind: str


@dataclass
class Entry:
    """One entry. `reentries`: calls of an object whose call before waited for its backward; `backwards`: such ends."""

    key: Key
    function: str
    compiled_at: Counter[tuple[str, int]] = field(default_factory=Counter)
    backends: set[str] = field(default_factory=set)
    phases: Counter[str] = field(default_factory=Counter)
    inputs: Counter[str] = field(default_factory=Counter)
    other_inputs: int = 0
    reentries: int = 0
    backwards: int = 0
    frames: list[Frame] = field(default_factory=list)
    more_frames: int = 0
    seconds: float = 0.0

    def add_inputs(self, text: str) -> None:
        if text in self.inputs or len(self.inputs) < SIGNATURES:
            self.inputs[text] += 1
        else:
            self.other_inputs += 1

    def add_frame(self, frame: Frame) -> None:
        if len(self.frames) < FRAMES:
            self.frames.append(frame)
        else:
            self.more_frames += 1

    def tell(self) -> dict[str, Any]:
        compiled = [frame for frame in list(self.frames) if frame.outcome == "compiled"]
        return {
            **self.key._asdict(),
            "function": self.function,
            "compiled_at": [
                {"file": file, "line": line, "count": n} for (file, line), n in sorted(self.compiled_at.items())
            ],
            "backends": sorted(self.backends),
            "calls": sum(self.phases.values()),
            "phases": dict(self.phases),
            "inputs": dict(self.inputs),
            "other_inputs": self.other_inputs,
            "reentries": self.reentries,
            "backwards": self.backwards,
            "graphs": sum(bool(frame.operators) for frame in compiled),
            "operators": sum(frame.operators for frame in compiled),
            "breaks": [asdict(one) for one in breaks.list_breaks(list(self.frames))],
            "recompiles": tell_recompiles(compiled),
            "compile_seconds": round(self.seconds, 4),
            "more_frames": self.more_frames,
        }


def tell_recompiles(compiled: list[Frame]) -> list[dict[str, Any]]:
    """Every function with every guard that failed in it."""
    found: Counter[tuple[str, int, str, str]] = Counter()
    for frame in compiled:
        if frame.recompile:
            own = start_of(Line(*frame.place))
            caller = None if is_users(own.file) else find_deepest(frame.callers)
            place = caller or own
            found[real_path(place.file), place.line, name_function(own), read_guard(frame.recompile)] += 1
    return [dict(zip(("file", "line", "function", "guard", "count"), (*one, n))) for one, n in found.items()]


# What was compiled


def find_key(target: Any, place: Line) -> tuple[Key, str]:
    """Of what is called when a compiled object is: its key, and the function as people write it."""
    target = unwrap(target)
    owner = module_of(target)
    is_module = owner is not None and (owner is target or getattr(target, "__name__", "") in CALLS_OF_MODULES)
    definition = start_of(find_definition(type(owner).forward if is_module else target))
    name = type(owner).__qualname__ if is_module else getattr(target, "__qualname__", type(target).__qualname__)
    kind = "module" if is_module else "method" if inspect.ismethod(target) else "function"
    own = definition if definition.file and is_users(definition.file) else place
    return Key(real_path(own.file), own.line, name.replace("<locals>.", ""), kind), name_function(definition)


def unwrap(target: Any) -> Any:
    """Torch puts a function of its own around what it could not compile as it is."""
    while getattr(getattr(target, "__code__", None), "co_filename", "").endswith("external_utils.py"):
        inner = getattr(target, "__wrapped__", None)
        if inner is None:
            break
        target = inner
    return target.func if isinstance(target, functools.partial) else target


def module_of(target: Any) -> Any:
    """The module that a bound method, or the module itself, belongs to."""
    owner = target if isinstance(target, torch.nn.Module) else getattr(target, "__self__", None)
    return owner if isinstance(owner, torch.nn.Module) else None
