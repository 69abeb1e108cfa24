"""Source texts as the proof needs them: lines as Python counts them, trees, and the function around a line."""

from __future__ import annotations

import ast
import re

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def lines_of(node: ast.stmt | ast.expr | ast.excepthandler) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def enclosing(tree: ast.Module, first: int, last: int) -> Function | None:
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
