"""Which of the changed places ran: what a scenario never runs, it says nothing about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from validate.model import Sides

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Place:
    """Changed lines in a row on one side. `body`: lines of which one must run, or the lines themselves.

    A place at the top level of a module runs when it is imported, so `is_inside` tells whether it lies in a function.
    """

    side: str
    path: str
    first: int
    last: int
    lines: tuple[int, ...]
    is_inside: bool

    def ran(self, lines: Sequence[int]) -> bool:
        if self.is_inside:
            return not set(self.lines).isdisjoint(lines)
        return not {abs(line) for line in lines}.isdisjoint(self.lines)


def changed_places(sides: Sides) -> list[Place]:
    """Every run of changed lines, on the side where it has text; blank lines and comments do not count."""
    return [place for path in sides.paths() for place in places_in(sides, path)]


def places_in(sides: Sides, path: str) -> Iterator[Place]:
    texts = {"before": text_of(sides.before.get(path)), "after": text_of(sides.after.get(path))}
    lines = {side: lines_in(text) for side, text in texts.items()}
    trees = {side: parsed(text) for side, text in texts.items()}
    matcher = SequenceMatcher(None, lines["before"], lines["after"], autojunk=False)
    for tag, *bounds in matcher.get_opcodes():
        if tag == "equal":
            continue
        for side, first, last in (("after", bounds[2], bounds[3]), ("before", bounds[0], bounds[1])):
            code = [line for line in range(first + 1, last + 1) if is_code(lines[side][line - 1])]
            if code:
                yield place_of(side, path, code, trees[side])
                break


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


def lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def enclosing(tree: ast.Module, first: int, last: int) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    """The innermost function that the lines lie in; its decorators and its signature are part of it."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            start = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
            if start <= first and last <= (node.end_lineno or start) and (found is None or start >= found.lineno):
                found = node
    return found


def is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def lines_in(text: str) -> list[str]:
    """As Python counts them: a form feed ends no line."""
    return re.split(r"\r\n|\r|\n", text)


def text_of(raw: bytes | None) -> str:
    return "" if raw is None else raw.decode("utf-8", errors="replace")


def parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def never_ran(sides: Sides, ran: Mapping[str, Mapping[str, Sequence[int]]]) -> tuple[list[Place], int]:
    """The changed places that did not run on their side, and how many there are in all.

    Places at the top level (imports, constants, new functions) serve others and count only where there are no others.
    """
    places = changed_places(sides)
    inside = [place for place in places if place.is_inside]
    counted = inside or places
    return [place for place in counted if not place.ran(ran.get(place.side, {}).get(place.path, ()))], len(counted)


def did_run(path: str, raw: bytes, lines: Sequence[int], ran: Sequence[int]) -> bool | None:
    """Whether some lines of a file ran, given all that did; None for what lies at the top level of the module."""
    place = place_of("before", path, sorted(lines), parsed(text_of(raw)))
    return place.ran(ran) if place.is_inside else None
