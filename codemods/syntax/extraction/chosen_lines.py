"""Statements that the user named by their lines."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes

LINES = re.compile(r"(?:(?P<path>.+):)?(?P<first>\d+)(?:-(?P<last>\d+))?")
Lines = tuple[int, int]


def chosen_lines(option: str, text: str, path: str) -> Lines | None:
    """The first and the last line that `120-134` or `src/train.py:120-134` names in this file."""
    found = LINES.fullmatch(text.strip())
    if not found:
        raise FullgraphError(f"option {option}: {text!r} names no lines; 120-134 and src/train.py:120-134 do")
    if found["path"] and found["path"] != path:
        return None
    return int(found["first"]), int(found["last"] or found["first"])


def statements_at(module: Module, function: Function, lines: Lines) -> tuple[ast.stmt, ...]:
    """The statements of the function's own that begin and end on these lines; none if they are not in its body.

    Unsure if the lines cut a statement, or hold statements of several blocks.
    """
    first, last = lines
    if first < function.body[0].lineno or last > (function.end_lineno or 0):
        return ()
    statements = [node for node in own_nodes(function) if isinstance(node, ast.stmt)]
    inside = {node for node in statements if first <= node.lineno and (node.end_lineno or 0) <= last}
    outermost = [node for node in inside if module.enclosing(node, ast.stmt) not in inside]
    if not outermost:
        return ()
    block = module.block(outermost[0])
    chosen = tuple(node for node in block if node in outermost)
    touched = [node for node in statements if overlaps(node, lines) and node not in inside]
    cut = [node for node in touched if not holds_all(module, node, outermost) or first <= node.lineno]
    if cut or len(chosen) != len(outermost):
        raise Unsure(f"{module.path}:{first}: lines {first}-{last} are not whole statements of one block")
    return chosen


def overlaps(node: ast.stmt, lines: Lines) -> bool:
    return node.lineno <= lines[1] and lines[0] <= (node.end_lineno or 0)


def holds_all(module: Module, node: ast.stmt, inner: list[ast.stmt]) -> bool:
    return all(node in module.ancestors(each) for each in inner)
