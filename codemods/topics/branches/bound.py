"""Which names a piece of code binds, and whether it does so on every way."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import children
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.assignments import FUNCTIONS

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def bound_in(node: ast.AST) -> set[str]:
    """Names that a statement binds or deletes; what functions and comprehensions bind inside is their own."""
    found: set[str] = set()
    todo = [node]
    while todo:
        inner = todo.pop()
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        for field in ("name", "rest"):
            if isinstance(getattr(inner, field, None), str):
                found.add(getattr(inner, field))
        if isinstance(inner, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name.partition(".")[0] for alias in inner.names}
        if isinstance(inner, COMPREHENSIONS):
            found |= {walrus.target.id for walrus in ast.walk(inner) if isinstance(walrus, ast.NamedExpr)}
        elif not isinstance(inner, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            todo += children(inner)
    return found


def surely_bound(block: list[ast.stmt]) -> set[str] | None:
    """Names that are bound whenever the end of a block is reached; None: it never is."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, ast.Return | ast.Raise | ast.Continue | ast.Break):
            return None
        if isinstance(statement, ast.If):
            sides = [side for side in map(surely_bound, (statement.body, statement.orelse)) if side is not None]
            if not sides:
                return None
            found |= set.intersection(*sides)
        elif isinstance(statement, ast.With):
            found |= surely_bound(statement.body) or set()
        elif not isinstance(statement, (*LOOPS, ast.Try, ast.Match, ast.Delete)):
            found |= bound_in(statement)
        found -= bound_in(statement) if isinstance(statement, ast.Delete) else set()
    return found


def side_by_side(target: ast.Tuple, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """The names and values of `a, b = x, y`, where no value speaks of these names; else nothing."""
    names = [item.id for item in target.elts if isinstance(item, ast.Name)]
    mentioned = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    odd = any(isinstance(node, ast.NamedExpr | ast.Starred) for node in ast.walk(value))
    if odd or not isinstance(value, ast.Tuple) or not len(names) == len(target.elts) == len(value.elts):
        return []
    return [] if mentioned & set(names) or len(set(names)) < len(names) else list(zip(names, value.elts, strict=True))
