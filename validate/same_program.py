"""Whether two texts are the same program: other blanks, comments, docstrings and names of local variables only."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from fullgraph.validate.model import Sides
from fullgraph.validate.texts import parsed, text_of

SEES_NAMES = {"locals", "vars", "eval", "exec", "dir", "globals"}
"""Functions to which the names of local variables matter."""


def is_same_program(sides: Sides) -> bool:
    """Whether Python does the same on both sides, instruction by instruction, so that neither can be faster."""
    return all(is_same(sides.before.get(path), sides.after.get(path)) for path in sides.paths())


def is_same(before: bytes | None, after: bytes | None) -> bool:
    first, second = (compiled(text_of(raw)) if raw is not None else None for raw in (before, after))
    return first is not None and second is not None and essence(first) == essence(second)


def compiled(text: str) -> CodeType | None:
    tree = parsed(text)
    if tree is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = without_docstring(node)
    try:
        return compile(tree, "text", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return None


def without_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    if ast.get_docstring(node, clean=False) is None:
        return node.body
    return node.body[1:] or [ast.copy_location(ast.Pass(), node.body[0])]


def essence(code: CodeType) -> Any:
    """Its instructions and all that they refer to, without lines and the names of variables that nobody else sees."""
    taken = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x4) + bool(code.co_flags & 0x8)
    names = code.co_varnames if SEES_NAMES & set(code.co_names) else code.co_varnames[:taken]
    held = tuple(essence(one) if isinstance(one, CodeType) else (type(one), repr(one)) for one in code.co_consts)
    around = code.co_names, code.co_freevars, code.co_cellvars, code.co_nlocals, code.co_flags
    table = getattr(code, "co_exceptiontable", b"")
    return code.co_name, code.co_code, table, names, around, code.co_posonlyargcount, code.co_argcount, held
