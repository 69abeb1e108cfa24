"""From which tensor a value is made, by operations that keep its dtype and its device."""

from __future__ import annotations

import ast
from collections.abc import Collection

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.masks import VALUES, is_number
from fullgraph.codemods.topics.scalars.variables import is_steady, value_of

SAME = {"max", "min", "amax", "amin", "median", "abs", "square", "detach", "flatten", "relu", "neg"}
SAME |= {"mean", "std", "var", "sigmoid", "tanh", "sqrt"}
"""They keep the dtype, under autocast too. Of whole numbers the last make floats, as a Python float would."""

COUNTS = {"sum", "count_nonzero"}
ONE_NUMBER = {"mean", "max", "min", "amax", "amin", "median", "std", "var", "sum", "count_nonzero"}
"""Methods that make one number of a whole tensor."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
DEEP = 6


def root_of(module: Module, node: ast.expr, is_now: bool = False, depth: int = 0) -> str:
    """The one variable from which a value is made, as its dtype is made from; empty where there is no such one.

    `is_now`: all values that are asked about are made in one statement, in which a variable has one value.
    """
    if depth > DEEP:
        return ""
    if isinstance(node, ast.Name):
        value = value_of(module, node)
        found = root_of(module, value, depth=depth + 1) if value is not None else ""
        return found or (node.id if is_steady(module, node) or is_now else "")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return root_of(module, node.operand, is_now, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        sides = [side for side in (node.left, node.right) if not is_number(side) and not is_read(side)]
        return only({root_of(module, side, is_now, depth + 1) for side in sides})
    applied = applied_to(module, node)
    return root_of(module, applied, is_now, depth + 1) if applied is not None else ""


def applied_to(module: Module, node: ast.expr, among: Collection[str] = SAME) -> ast.expr | None:
    """`x` of `x.mean()` and of `torch.mean(x)`, where nothing else is given."""
    method = method_on(node)
    if not isinstance(node, ast.Call) or method is None or node.keywords or method.attr not in among:
        return None
    if module.resolve(node.func) == f"torch.{method.attr}":
        return node.args[0] if len(node.args) == 1 else None
    return method.value if not node.args and module.resolve(node.func) is None else None


def is_read(node: ast.expr) -> bool:
    """Whether a value is a number that was read from a tensor, and so decides about no dtype."""
    method = method_on(node)
    return method is not None and method.attr == "item"


def only(found: set[str]) -> str:
    return found.pop() if len(found) == 1 else ""


def method_on(node: ast.expr) -> ast.Attribute | None:
    """`x.name` of `x.name()`."""
    return node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def counted(module: Module, node: ast.expr) -> ast.expr | None:
    """The comparison of which the true elements are counted: `(x > 0).sum()`."""
    method = method_on(node)
    if method is None or method.attr not in COUNTS or node.args or node.keywords:  # type: ignore[attr-defined]
        return None
    asked = method.value
    asked = (value_of(module, asked) or asked) if isinstance(asked, ast.Name) else asked
    if not isinstance(asked, ast.Compare) or len(asked.ops) != 1 or not isinstance(asked.ops[0], VALUES):
        return None
    return asked if is_number(asked.comparators[0]) else None


def is_fresh(node: ast.expr) -> bool:
    """Whether a value is a new tensor without dimensions: what a reduction of everything makes, and sums of such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        sides = [side for side in (node.left, node.right) if not is_number(side)]
        return bool(sides) and all(map(is_fresh, sides))
    method = method_on(node)
    is_bare = isinstance(node, ast.Call) and not node.args and not node.keywords
    return method is not None and is_bare and method.attr in ONE_NUMBER
