"""How torch.compile cuts a program into graphs: the graphs, the breaks between them, and why it had to compile again.

No single number of torch's can be believed. `explain` gives graphs minus one; a break in a loop may leave the counters
at zero; `fullgraph=True` captures what breaks otherwise. So every frame is followed, and "no breaks" is believed only
if a graph was captured and a second run, in which a break is an error, agrees.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, Protocol

import torch

from . import breaks, dynamo
from .breaks import Break
from .frames import Frame
from .guards import read_guard
from .places import (
    Line,
    find_deepest,
    find_definition,
    find_original,
    is_machinery,
    is_pythons,
    is_torchs,
    is_users,
    name_function,
    real_path,
    start_of,
)

NO_GRAPH = "no graph was captured"
GIVEN_UP = "an earlier call of this function had nothing to compile, and torch does not look at it again"


class Subject(Protocol):
    """What is run, and its cases in order."""

    @property
    def call(self) -> Callable[..., Any]: ...

    @property
    def cases(self) -> list[Any]: ...


RunCase = Callable[[Callable[..., Any], Any], Any]
"""Calls the first with the arguments of the second, and lets no exception of the case through."""


class Seen:
    """What was compiled while somebody watched."""

    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames

    @property
    def graphs(self) -> list[Frame]:
        return [frame for frame in self.frames if frame.outcome == "compiled" and frame.operators]

    @property
    def breaks(self) -> list[Break]:
        return breaks.list_breaks(self.frames) or self.find_nothing()

    def find_nothing(self) -> list[Break]:
        """Where something was to be compiled and nothing was captured, that is a break too."""
        users = [] if self.graphs else [frame for frame in self.frames if is_users(frame.file)]
        return [
            skip_at(Line(*frame.place), f"{NO_GRAPH}: {frame.skip.split('. ')[0]}".rstrip(": ")) for frame in users[:1]
        ]

    def as_json(self) -> dict[str, Any]:
        return describe(self, self.breaks)


@contextlib.contextmanager
def watching(times_guards: bool = True) -> Iterator[Seen]:
    """Inside, everything that is compiled is seen, whoever compiles it."""
    with dynamo.listening(times_guards) as listener:
        yield Seen(listener.frames)


def count_graphs(
    subject: Subject, run_case: RunCase, *, dynamic: bool | None = None, rebuild: Callable[[], Subject] | None = None
) -> dict[str, Any]:
    """Run all cases compiled, the graphs executed as they were captured, and count.

    What compiles itself is watched as it is; a first run without compiling finds that out. Every run has the subject
    that `rebuild` makes, or else the one that the runs before have left.
    """
    try:
        with dynamo.without_inductor():
            return Count(rebuild or (lambda: subject), run_case, dynamic).take()
    finally:
        torch._dynamo.reset()


class Count:
    """The runs that one count takes."""

    def __init__(self, build: Callable[[], Subject], run_case: RunCase, dynamic: bool | None) -> None:
        self.build = build
        self.run_case = run_case
        self.options: dict[str, Any] = {"backend": "eager", "dynamic": dynamic}
        self.compiles_itself = False
        self.call: Any = None

    def take(self) -> dict[str, Any]:
        seen = self.watch(lambda call: call)
        self.compiles_itself = any(is_started_by_user(frame) for frame in seen.frames)
        if not self.compiles_itself:
            seen = self.watch(self.compile)
        found = breaks.list_breaks(seen.frames) or self.find_hidden(seen) or self.find_nothing(seen)
        reason = tell(found[0]) if found else self.try_whole()
        whole = {"fullgraph": not reason, "fullgraph_reason": reason, "compiles_itself": self.compiles_itself}
        return {**describe(seen, found, self.entry if self.is_called_by_us else None), **whole}

    def watch(self, prepare: Callable[[Callable[..., Any]], Callable[..., Any]], times_guards: bool = True) -> Seen:
        """One run over all cases with nothing compiled before."""
        torch._dynamo.reset()
        subject = self.build()
        self.call = subject.call
        with watching(times_guards) as seen:
            call = prepare(subject.call)
            for case in subject.cases:
                self.run_case(call, case)
        return seen

    @property
    def entry(self) -> Line:
        return find_definition(self.call)

    @property
    def is_called_by_us(self) -> bool:
        """Whether it is the call itself that is compiled, and not something that it calls."""
        return not self.compiles_itself or find_original(self.call) is not self.call

    def compile(self, call: Callable[..., Any]) -> Callable[..., Any]:
        return call if self.compiles_itself else torch.compile(call, **self.options)

    def find_hidden(self, seen: Seen) -> list[Break]:
        """What a run shows in which a break is an error, and functions that torch gave up before they had work."""
        with dynamo.forbid_breaks():
            strict = self.watch(self.compile, times_guards=False)
        empty = {frame.place for frame in seen.frames if frame.is_empty}
        given_up = {frame.place: None for frame in strict.graphs if frame.place in empty}
        return breaks.list_breaks(strict.frames) + [skip_at(Line(*place), GIVEN_UP) for place in given_up]

    def find_nothing(self, seen: Seen) -> list[Break]:
        """A call that torch was not even asked about is told at its definition."""
        return seen.find_nothing() or ([] if seen.graphs else [skip_at(self.entry, NO_GRAPH)])

    def try_whole(self) -> str:
        """Why it does not compile as one graph; nothing if it does. What compiles itself has chosen for itself."""
        if self.compiles_itself:
            return ""
        raised: list[BaseException] = []

        def compile_whole(call: Callable[..., Any]) -> Callable[..., Any]:
            return keep_errors(torch.compile(call, fullgraph=True, **self.options), raised)

        found = breaks.list_breaks(self.watch(compile_whole, times_guards=False).frames)
        refused = [error for error in raised if dynamo.is_refusal(error)]
        return tell(found[0]) if found else breaks.one_line(str(refused[0])) if refused else ""


def keep_errors(call: Callable[..., Any], raised: list[BaseException]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            raised.append(error)
            raise

    return run


def is_started_by_user(frame: Frame) -> bool:
    """Whether the user's code compiles here; some functions of torch compile a little when they are called."""
    callers = [line.file for line in frame.callers if not (is_machinery(line.file) or is_pythons(line.file))]
    return bool(callers) and not is_torchs(callers[-1])


# JSON


def describe(seen: Seen, found: list[Break], entry: Line | None = None) -> dict[str, Any]:
    """Graphs, and what was compiled again without a graph; breaks; counts."""
    compiled = [frame for frame in seen.frames if frame.outcome == "compiled"]
    shown = [frame for frame in compiled if frame.operators or frame.recompile]
    return {
        "graphs": [describe_graph(frame, entry) for frame in shown],
        "breaks": [without_ways(asdict(one)) for one in found],
        "stacks": [one.stacks for one in found],
        "counts": {
            "frames": len(seen.frames),
            "compiled": len(compiled),
            "empty": sum(frame.is_empty for frame in seen.frames),
            "graphs": len(seen.graphs),
            "operators": sum(frame.operators for frame in seen.graphs),
            "guards": sum(frame.guards for frame in compiled),
            "recompiles": sum(bool(frame.recompile) for frame in compiled),
            "places": len(found),
        },
    }


def describe_graph(frame: Frame, entry: Line | None) -> dict[str, Any]:
    """What Dynamo wraps before it compiles it, an object that can be called, goes by its own name."""
    own = start_of(entry if entry and entry.file and is_machinery(frame.file) else Line(*frame.place))
    caller = None if is_users(own.file) else find_deepest(frame.callers)
    place = caller if caller and is_users(caller.file) else own
    return {
        "function": name_function(own),
        "file": real_path(place.file),
        "line": place.line,
        "operators": frame.operators,
        "guards": frame.guards,
        "guard_us": round(frame.guard_us, 2),
        "recompile": read_guard(frame.recompile),
        "ended": "break" if any(breaks.list_events(frame)) else "return",
    }


def skip_at(line: Line, reason: str) -> Break:
    line = start_of(line)
    return Break(real_path(line.file), line.line, name_function(line), "", breaks.one_line(reason), kind="skipped")


def tell(one: Break) -> str:
    """`model.py:12: GB0059 Failed to trace builtin operator: ...`"""
    return f"{one.file}:{one.line}: {one.id} {one.reason}".replace(":  ", ": ")


def without_ways(told: dict[str, Any]) -> dict[str, Any]:
    """A verdict names the places only."""
    return {name: value for name, value in told.items() if name != "stacks"}
