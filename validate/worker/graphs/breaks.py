"""Where graphs broke and why: one entry for each place in the user's code, with torch's own id and hint."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from json import load as load_json
from typing import Any, NamedTuple

from ..process.own import open_file
from .frames import Failure, Frame
from .guards import read_guard
from .places import TORCH, Line, find_deepest, is_users, name_function, real_path, start_of
from .stacks import join_stacks, tell_stack

LOGGED = re.compile(
    r"Graph break in user code at (?P<file>.+):(?P<line>\d+)\n"
    r"(?:Graph Break )?Reason: (?P<message>.*?)"
    r"\nUser code traceback:\n(?P<stack>.*?)(?:\n\n|\Z)",
    re.DOTALL,
)
STACK = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
ANOTHER = "*** While handling this graph break, another graph break occurred: ***"
EXPLAINED = re.compile(
    r"^(?P<type>[^\n]+)\n(?:  Higher Order Operator: [^\n]*\n)?  Explanation: (?P<why>.*?)"
    r"(?=\n\n|\n  Hint: |\n  Developer debug context: |\Z)",
    re.DOTALL | re.MULTILINE,
)
HINT = re.compile(r"^  Hint: (.*?)(?=\n  Hint: |\n\n|\Z)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"/gb/gb(\d+)\.html")
PREFIX = re.compile(r"(?:Encountered graph break|Failed to handle graph break)[^\n]*:\n+")
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
LONGEST = 400
WAYS = 24
"""Stacks that are told of one place."""

LIMIT = "recompile limit"
RANK = {"break": 0, "skipped": 1, "error": 2}


@dataclass
class Break:
    """One place; the same as in the controller's model, with the ways that led there."""

    file: str
    line: int
    function: str
    id: str
    reason: str
    hint: str = ""
    kind: str = "break"
    frames: int = 1
    count: int = 1
    stacks: list[list[dict[str, Any]]] = field(default_factory=list)
    """The user's lines from what was compiled down to the break, outermost first; each way once."""


class Event(NamedTuple):
    """One break as it happened: torch's message, the stack, outermost first, and what else there is to say."""

    kind: str
    message: str
    stack: list[Line]
    note: str = ""


def list_breaks(frames: Iterable[Frame]) -> list[Break]:
    """Every place once, in the order of the first time."""
    places: dict[tuple[str, int, str], Break] = {}
    broken: dict[tuple[str, int, str], set[object]] = {}
    for frame in frames:
        for one, is_own in list_lines(frame):
            key = key_of(one, is_own, places)
            merge(places, key, one)
            broken.setdefault(key, set()).add(frame.place)
            places[key].frames = len(broken[key])
    return list(places.values())


def list_lines(frame: Frame) -> Iterable[tuple[Break, bool]]:
    """The breaks of one frame. What follows on a line when torch starts over is a consequence of the first."""
    found: dict[tuple[str, int], tuple[Break, bool]] = {}
    for one, is_own in map(locate, list_events(frame)):
        found.setdefault((one.file, one.line), (one, is_own))
    return found.values()


def key_of(one: Break, is_own: bool, places: Iterable[tuple[str, int, str]]) -> tuple[str, int, str]:
    """What breaks inside torch or Python below a line that broke already is the same break."""
    known = [] if is_own else [key for key in places if key[:2] == (one.file, one.line)]
    return known[0] if known else (one.file, one.line, one.id or one.reason)


def merge(places: dict[tuple[str, int, str], Break], key: tuple[str, int, str], one: Break) -> None:
    known = places.setdefault(key, one)
    if known is not one:
        known.count += one.count
        known.stacks += [stack for stack in one.stacks if stack not in known.stacks][: WAYS - len(known.stacks)]
        known.kind = max(known.kind, one.kind, key=RANK.__getitem__)


def list_events(frame: Frame) -> Iterator[Event]:
    """Every break of one frame, and the frame itself where it was given up."""
    kind = "break" if frame.outcome == "compiled" else "skipped"
    logged = [read_logged(frame, text, kind) for text in frame.logged if text.startswith("Graph break in user code")]
    yield from logged
    if frame.outcome == "compiled":
        if frame.unlogged and not logged:
            reason, stack = frame.unlogged[-1]
            yield Event("break", reason, whole_stack(frame, stack))
    elif frame.failure:
        is_told = frame.failure.soft and (logged or not (frame.tensors or frame.outcome == "raised"))
        yield from [] if is_told else [read_failure(frame, frame.failure)]
    elif frame.is_given_up and not logged:
        yield Event("skipped", frame.skip, own_stack(frame))


def read_logged(frame: Frame, text: str, kind: str) -> Event:
    match = LOGGED.match(text)
    if match is None:
        return Event(kind, text, own_stack(frame))
    stack = [Line(file, int(line), name) for file, line, name in STACK.findall(match["stack"])]
    stack = find_whole(frame, stack) or [Line(match["file"], int(match["line"]), "")]
    return Event(kind, match["message"], whole_stack(frame, stack))


def find_whole(frame: Frame, stack: list[Line]) -> list[Line]:
    """In a log, torch leaves out a function that calls another of the same name; the exception has the whole stack."""
    known = [whole for _, whole in frame.unlogged] + ([frame.failure.stack] if frame.failure else [])
    return next((whole for whole in known if whole and stack and whole[-1][:2] == stack[-1][:2]), stack)


def read_failure(frame: Frame, failure: Failure) -> Event:
    """A break that stopped the program is a break; whatever else stopped the compilation is an error."""
    kind = "error" if not failure.soft else "break" if frame.outcome == "raised" else "skipped"
    message = failure.message if failure.soft else f"{failure.kind}: {failure.message}"
    note = f"at last {read_guard(frame.recompile)}" if LIMIT in message and frame.recompile else ""
    stack = whole_stack(frame, failure.stack) if failure.stack else own_stack(frame)
    return Event(kind, message, stack, note)


def own_stack(frame: Frame) -> list[Line]:
    return whole_stack(frame, [start_of(Line(*frame.place))])


def whole_stack(frame: Frame, stack: list[Line]) -> list[Line]:
    return join_stacks(frame.callers, frame.function, stack)


def locate(event: Event) -> tuple[Break, bool]:
    """The break at the user's deepest line, and whether it happened on that line itself."""
    line = find_deepest(event.stack) or Line("", 0, "")
    root, _, last = event.message.partition(ANOTHER)
    type_, reason = explain(root)
    note = f"{explain(last)[0]}: the whole frame is skipped" if last and event.kind == "skipped" else event.note
    reason = f"{reason} ({note})" if note else reason
    id_ = find_id(root, type_)
    found = Break(real_path(line.file), line.line, name_function(line), id_, reason, find_hint(root, id_), event.kind)
    found.stacks = [tell_stack(event.stack)]
    return found, bool(event.stack) and is_users(event.stack[-1].file)


def explain(message: str) -> tuple[str, str]:
    """The kind of break in torch's words, and that with its explanation in one line."""
    message = PREFIX.sub("", message).strip()
    match = EXPLAINED.search(message)
    if match is None:
        first = one_line(message.split("\n\n")[0])
        return first, first
    type_ = one_line(match["type"])
    return type_, one_line(f"{type_}: {match['why']}")


def find_id(message: str, type_: str) -> str:
    match = LINK.search(message)
    return f"GB{match[1]}" if match else read_registry()[0].get(type_, "")


def find_hint(message: str, id_: str) -> str:
    hints = HINT.findall(PREFIX.sub("", message)) or read_registry()[1].get(id_, [])
    return one_line(hints[0]) if hints else ""


def one_line(text: str) -> str:
    text = ADDRESS.sub("0x...", " ".join(text.split()))
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


@functools.lru_cache(maxsize=1)
def read_registry() -> tuple[dict[str, str], dict[str, list[str]]]:
    """Torch's list of breaks: from kind to id, and from id to hints. Older versions have none."""
    try:
        with open_file(os.path.join(TORCH, "_dynamo", "graph_break_registry.json"), encoding="utf-8") as file:
            entries = [(id_, one) for id_, known in load_json(file).items() for one in known]
    except (OSError, ValueError):
        return {}, {}
    ids = {one["Gb_type"]: id_ for id_, one in entries}
    return ids, {id_: list(one["Hints"]) for id_, one in reversed(entries) if one.get("Hints")}
