"""What is known about parts of values, and about values made from others, by what is known about these."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.tensors.calls import PAIRS
from fullgraph.codemods.syntax.tensors.known import OTHER, UNKNOWN, Known, combined

Ask = Callable[[ast.AST], Known]
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow)
VALUES = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def element(owner: Known) -> Known:
    """What a loop over a value goes through."""
    if owner.is_tensor:
        ndim = owner.ndim - 1 if owner.ndim else None
        return owner.but(ndim=ndim, shape="()" if ndim == 0 else "")
    return (owner.item or UNKNOWN) if owner.what == "list" else UNKNOWN


def unpacked(ask: Ask, node: ast.expr, path: tuple[int, ...]) -> Known:
    """What one name of `a, b = value` is bound to: a part of a tuple, a row of a tensor, values or their positions."""
    while path and isinstance(node, (ast.Tuple, ast.List)) and path[0] < len(node.elts):
        node, path = node.elts[path[0]], path[1:]
    value = ask(node)
    if not path:
        return value
    has_positions = isinstance(node, ast.Call) and last_name(node) in PAIRS
    if value.item and has_positions and len(path) == 1:
        return value.item.but(kind=value.item.kind if path[0] == 0 else "int")
    return reduce(part, path, value)


def part(owner: Known, place: int) -> Known:
    """What one item of a value is, by its place."""
    return owner.parts[place] if place < len(owner.parts) else element(owner)


def one_of_several(module: Module, ask: Ask, call: ast.Call, place: int) -> Known:
    """What one variable of `for a, b in call` goes through: `items()`, `enumerate` or `zip`."""
    is_builtin = module.scopes.is_builtin
    if isinstance(call.func, ast.Attribute) and call.func.attr == "items" and place == 1:
        return ask(call.func.value).item or UNKNOWN
    if is_builtin(call.func, "enumerate") and place == 1 and call.args:
        return element(ask(call.args[0]))
    if is_builtin(call.func, "zip") and place < len(call.args):
        return element(ask(call.args[place]))
    return UNKNOWN


def operated(ask: Ask, node: ast.BinOp | ast.Compare | ast.UnaryOp) -> Known:
    """The result of an operator."""
    if isinstance(node, ast.UnaryOp):
        return OTHER if isinstance(node.op, ast.Not) else ask(node.operand)
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left, *node.comparators]
    if len(sides) != 2:
        return UNKNOWN
    one, other = map(ask, sides)
    if isinstance(node, ast.Compare):
        return combined(one, other, "bool") if isinstance(node.ops[0], VALUES) else OTHER
    if isinstance(node.op, ast.Div):
        return combined(one, other, "float")
    is_float = isinstance(node.op, ARITHMETIC) and "float" in (one.kind, other.kind)
    return combined(one, other, "float" if is_float else "")
