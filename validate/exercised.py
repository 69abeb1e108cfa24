"""Which of the changed places ran, and whether their effect was seen: what a scenario never runs, it does not prove.

A place is seen if every statement in it that is new, gone or other ran at least once, every loop had a round, every
branch of it was taken, and every operation for a device was performed by one. Statements that only moved, and ran on
neither side, say nothing new.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from fullgraph.validate.device_operations import Operation, Touched, touched_operations
from fullgraph.validate.gaps import Gap, find_gaps
from fullgraph.validate.model import ChangedPlace, Sides
from fullgraph.validate.texts import enclosing, is_code, lines_in, lines_of, parsed, text_of

SIDES = ("before", "after")


@dataclass(frozen=True)
class Trace:
    """What is known of a run of one file: see `worker/process/ran.py`. No spots: this Python does not tell them."""

    lines: frozenset[int] = frozenset()
    steps: frozenset[tuple[int, int]] = frozenset()
    spots: frozenset[tuple[int, ...]] | None = None
    performed: frozenset[tuple[int, str]] = frozenset()
    """Lines, and the operations for a device that were performed on them."""

    has_device: bool = False
    """Whether it ran on an accelerator, which performs whatever runs."""


NOTHING = Trace()
Traces = Mapping[str, Mapping[str, Trace]]
"""By side and path."""


@dataclass(frozen=True)
class Place:
    """Changed lines in a row on one side. `lines`: of which one must run.

    A place at the top level of a module runs when it is imported, so `is_inside` tells whether it lies in a function.
    """

    side: str
    path: str
    first: int
    last: int
    lines: tuple[int, ...]
    is_inside: bool

    def ran(self, lines: Sequence[int] | frozenset[int]) -> bool:
        if self.is_inside:
            return not set(self.lines).isdisjoint(lines)
        return not {abs(line) for line in lines}.isdisjoint(self.lines)


@dataclass(frozen=True)
class Hunk:
    """Lines that differ, on both sides; one of the two may have none. `place` is where it has code."""

    path: str
    before: range
    after: range
    place: Place
    code: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By side, the lines that are neither blank nor a comment."""


def exercise(sides: Sides, traces: Traces, tested: Sequence[str] = ()) -> list[ChangedPlace]:
    """Every changed place with what the runs have shown of it.

    Places at the top level (imports, constants, new functions) serve others. They count where there are no others, or
    where a new function ran and did not show all that it does.
    """
    found = [(hunk, file) for path in sides.paths() for file in [File.of(sides, path)] for hunk in file.hunks]
    places = [(file.look_at(hunk, traces, tested), hunk.place.is_inside) for hunk, file in found]
    is_any_inside = any(is_inside for _, is_inside in places)
    return [place for place, is_inside in places if is_inside or not is_any_inside or (place.ran and place.unseen)]


@dataclass(frozen=True)
class File:
    """One changed file: its trees, its hunks, and the operations for a device that the change touches."""

    path: str
    trees: Mapping[str, ast.Module | None]
    hunks: tuple[Hunk, ...]
    touched: tuple[Touched, ...]

    @classmethod
    def of(cls, sides: Sides, path: str) -> File:
        texts = {"before": text_of(sides.before.get(path)), "after": text_of(sides.after.get(path))}
        trees = {side: parsed(text) for side, text in texts.items()}
        there = [tree if getattr(sides, side).get(path) is not None else None for side, tree in trees.items()]
        return cls(path, trees, tuple(hunks_in(path, texts, trees)), tuple(touched_operations(*there)))

    def look_at(self, hunk: Hunk, traces: Traces, tested: Sequence[str]) -> ChangedPlace:
        known = {side: traces.get(side, {}).get(self.path, NOTHING) for side in SIDES}
        place = hunk.place
        code = statement_lines(self.trees[place.side], hunk.code[place.side], place)
        ran = [line for line in code if line in known[place.side].lines or -line in known[place.side].lines]
        did_run = place.ran(known[place.side].lines)
        gaps = list(find_gaps(self.trees, hunk.code, known, tested)) if did_run else []
        weighty = told(gaps, weighty=True)
        return ChangedPlace(
            self.path,
            place.side,
            place.first,
            place.last,
            before=(hunk.before.start, hunk.before.stop - 1),
            lines=max(len(code), 1),
            ran=max(len(ran), 1) if did_run else 0,
            unseen=tuple(dict.fromkeys([*weighty, *self.not_performed(hunk, known)])),
            notes=tuple(dict.fromkeys(text for text in told(gaps, weighty=False) if text not in weighty)),
        )

    def not_performed(self, hunk: Hunk, known: Mapping[str, Trace]) -> Iterator[str]:
        """The operations for a device in the functions of a hunk that no device has performed."""
        for touched in self.touched:
            pairs = [(side, one) for side in SIDES if (one := getattr(touched, side)) is not None]
            if self.is_near(hunk, pairs) and not any(is_performed(one, known[side]) for side, one in pairs):
                side, one = pairs[-1]
                yield f"`{touched.name}` ({side}, line {one.first}) was not performed: only an accelerator does that"

    def is_near(self, hunk: Hunk, pairs: Sequence[tuple[str, Operation]]) -> bool:
        """Whether the hunk lies in the function of the operation, on a side that has it."""
        for side, one in pairs:
            tree, lines = self.trees[side], hunk.code.get(side, ())
            home = enclosing(tree, one.first, one.last) if tree else None
            around = lines_of(home) if home is not None else range(1, 10**9)
            if any(line in around for line in lines):
                return True
        return False


def told(gaps: Sequence[Gap], weighty: bool) -> list[str]:
    return [gap.text for gap in gaps if gap.is_weighty == weighty]


def is_performed(one: Operation, trace: Trace) -> bool:
    lines = range(one.first, one.last + 1)
    if trace.has_device:
        return any(line in trace.lines or -line in trace.lines for line in lines)
    return any(line in lines and name == one.name for line, name in trace.performed)


def hunks_in(path: str, texts: Mapping[str, str], trees: Mapping[str, ast.Module | None]) -> Iterator[Hunk]:
    """Every run of changed lines; blank lines and comments alone do not count."""
    lines = {side: lines_in(text) for side, text in texts.items()}
    matcher = SequenceMatcher(None, lines["before"], lines["after"], autojunk=False)
    for tag, *bounds in matcher.get_opcodes():
        ranges = {"before": range(bounds[0] + 1, bounds[1] + 1), "after": range(bounds[2] + 1, bounds[3] + 1)}
        code = {
            side: tuple(line for line in ranges[side] if is_code(lines[side][line - 1])) for side in ("after", "before")
        }
        side = next((side for side in code if code[side]), "")
        if tag != "equal" and side:
            place = place_of(side, path, list(code[side]), trees[side])
            yield Hunk(path, ranges["before"], ranges["after"], place, code)


def changed_lines(sides: Sides) -> dict[str, dict[str, list[int]]]:
    """By side and path: the lines around which a run is to be followed."""
    found: dict[str, dict[str, list[int]]] = {side: {} for side in SIDES}
    for path in sides.paths():
        for hunk in File.of(sides, path).hunks:
            for side in SIDES:
                found[side].setdefault(path, []).extend(hunk.code[side])
    return found


def place_of(side: str, path: str, code: list[int], tree: ast.Module | None) -> Place:
    """The lines that must run: the changed ones, and where they are a signature or a docstring, those of the body."""
    inner = enclosing(tree, code[0], code[-1]) if tree else None
    if inner is None or isinstance(inner, ast.Lambda):
        return Place(side, path, code[0], code[-1], tuple(code), inner is not None)
    body = inner.body[1:] if ast.get_docstring(inner) is not None and len(inner.body) > 1 else inner.body
    first = body[0].lineno
    statements = {line for statement in body for line in lines_of(statement)}
    is_head = code[-1] < first
    wanted = statements if is_head else widened(code, body)
    return Place(side, path, code[0], code[-1], tuple(sorted(wanted)), True)


def widened(code: Sequence[int], body: Sequence[ast.stmt]) -> set[int]:
    """Changed lines, together with the first lines of the statements they are in: a tracer names only those."""
    inside = [
        statement
        for outer in body
        for statement in ast.walk(outer)
        if isinstance(statement, ast.stmt)
        and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        and not hasattr(statement, "body")
        and any(statement.lineno <= line <= (statement.end_lineno or 0) for line in code)
    ]
    return {*code, *(line for statement in inside for line in lines_of(statement))}


def statement_lines(tree: ast.Module | None, code: Sequence[int], place: Place) -> list[int]:
    """The first lines of the changed statements: what can be counted as run. Without any, all lines of the place."""
    starts = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)} if tree else set()
    return [line for line in code if line in starts] or list(place.lines)


def did_run(path: str, raw: bytes, lines: Sequence[int], ran: Sequence[int]) -> bool | None:
    """Whether some lines of a file ran, given all that did; None for what lies at the top level of the module."""
    place = place_of("before", path, sorted(lines), parsed(text_of(raw)))
    return place.ran(ran) if place.is_inside else None
