"""In which order one function evaluates: what surely runs before something, and what may run between two things."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence
from typing import Any

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
LEAVING = (ast.Return, ast.Continue, ast.Break)


def holds(outer: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(outer))


def evaluated_before(module: Module, outer: ast.AST, node: ast.AST) -> list[ast.AST] | None:
    """What `outer` evaluates before it comes to this node in its head; None if it need not come to it at all."""
    found: list[ast.AST] = []
    child = node
    for parent in module.ancestors(node):
        earlier = earlier_in(parent, child)
        if earlier is None:
            return None
        found += earlier
        if parent is outer:
            return found
        child = parent
    return None


def earlier_in(parent: Any, child: ast.AST) -> list[ast.AST] | None:
    """The parts of a node that are evaluated before this part; None if the part is evaluated sometimes, or often."""
    first, second = always_first(parent)
    if child is first:
        return []
    if second is not None and child is second and first is not None:
        return [first]
    if first is not None or (isinstance(parent, (ast.JoinedStr, ast.Lambda, ast.stmt)) and not is_plain(parent)):
        return None
    others = [part for part in ast.iter_child_nodes(parent) if hasattr(part, "lineno")]
    return [part for part in others if place(part) < place(child)]


def always_first(parent: Any) -> tuple[ast.AST | None, ast.AST | None]:
    """For a node that may stop halfway, the part that it always evaluates, and the next if that is sure as well."""
    if isinstance(parent, ast.BoolOp):
        return parent.values[0], None
    if isinstance(parent, ast.Compare):
        return parent.left, parent.comparators[0]
    if isinstance(parent, (ast.IfExp, ast.If)):
        return parent.test, None
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return parent.value, None
    if isinstance(parent, ast.AugAssign):
        return parent.target, parent.value
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter, None
    if isinstance(parent, COMPREHENSIONS):
        return parent.generators[0], None
    if isinstance(parent, ast.With):
        return parent.items[0], None
    if isinstance(parent, ast.withitem):
        return parent.context_expr, None
    return (parent.subject, None) if isinstance(parent, ast.Match) else (None, None)


def is_plain(statement: ast.AST) -> bool:
    return isinstance(statement, (ast.Expr, ast.Return, ast.Raise))


def place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


# Between two places of one block


def run_between(module: Module, block: Sequence[ast.stmt], first: ast.AST, later: ast.AST) -> list[ast.AST]:
    """Whatever may run after `first`, which is in the head of a statement of the block, until `later` is reached."""
    start = next(number for number, item in enumerate(block) if holds(item, first))
    end = next(number for number, item in enumerate(block) if holds(item, later))
    if start == end:
        return until(module, block[start], later)
    parts = falling(module, block[start])
    for statement in block[start + 1 : end]:
        parts += falling(module, statement)
    return parts + until(module, block[end], later)


def until(module: Module, statement: ast.stmt, node: ast.AST) -> list[ast.AST]:
    """What a statement may run before it has come to a node; a loop may have run as a whole."""
    head = head_of(statement)
    if any(holds(part, node) for part in head) or isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        return head if any(holds(part, node) for part in head) and not isinstance(statement, ast.While) else [statement]
    blocks: list[list[ast.stmt]] = []
    if isinstance(statement, ast.If):
        blocks = [statement.body, statement.orelse]
    elif isinstance(statement, (ast.With, ast.AsyncWith, ast.Try)):
        blocks = [statement.body]
    for block in blocks:
        for number, inner in enumerate(block):
            if holds(inner, node):
                earlier = [part for item in block[:number] for part in falling(module, item)]
                return [*head, *earlier, *until(module, inner, node)]
    return [statement]


def head_of(statement: Any) -> list[ast.AST]:
    """What a statement evaluates before its blocks, or before it stores anything."""
    if isinstance(statement, (ast.If, ast.While)):
        return [statement.test]
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return [statement.value] if statement.value else []
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [shallow(statement)]
    return [statement.subject] if isinstance(statement, ast.Match) else []


def falling(module: Module, statement: ast.stmt) -> list[ast.AST]:
    """What a statement may have run when the next one is reached: not a branch that always leaves."""
    if not isinstance(statement, ast.If):
        return [statement]
    parts: list[ast.AST] = [statement.test]
    for block in (statement.body, statement.orelse):
        if not leaves(module, block):
            parts += [part for item in block for part in falling(module, item)]
    return parts


def leaves(module: Module, block: Sequence[ast.stmt]) -> bool:
    """Whether a block never reaches its end. An error may be caught by a `try` or a `with` around it."""
    return any(is_leaving(module, statement) for statement in block)


def is_leaving(module: Module, statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return leaves(module, statement.body) and leaves(module, statement.orelse)
    if isinstance(statement, ast.Raise):
        return module.enclosing(statement, ast.Try, ast.With, ast.AsyncWith) is None
    return isinstance(statement, LEAVING)


def shallow(statement: ast.stmt) -> ast.stmt:
    """The statement without its blocks."""
    head = copy.copy(statement)
    for field in BLOCKS:
        if isinstance(getattr(head, field, None), list):
            setattr(head, field, [])
    return head


def exits(body: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> ast.AST | None:
    """The first statement of these kinds, functions inside left out."""
    todo = list(body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, kinds):
            return node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    return None
