"""Answers that are asked in any case where several are joined in one: that must be harmless."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.tensors.tables import REDUCTIONS
from fullgraph.codemods.topics.checks.questions import operand, without_not, without_reading
from fullgraph.codemods.topics.checks.statics import is_number, is_plain

ELEMENTWISE = ("isnan", "isinf", "isfinite")
NEVER_FAIL = {"any", "all", "sum", "nansum", "mean", "count_nonzero", "norm"}
"""Reductions that have an answer for an empty tensor."""


def is_harmless(module: Module, node: ast.expr, first: ast.expr) -> bool:
    """One bool of one tensor that cannot fail once the first is asked: elementwise against numbers, then reduced."""
    node = inside(module, node)
    if isinstance(node, ast.BoolOp):
        return all(is_harmless(module, value, first) for value in node.values)
    if isinstance(node, ast.Call) and last_name(node) in ("any", "all") and not node.keywords:
        return (inner := operand(module, node)) is not None and is_elementwise(module, inner)
    if isinstance(node, ast.Call) and last_name(node) in ELEMENTWISE:
        return is_elementwise(module, node) and asks_same(module, node, first)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (limit_of(node) or is_number(node.comparators[0])):
        left = without_reading(module, node.left)
        owner = operand(module, left) if isinstance(left, ast.Call) else None
        if not isinstance(left, ast.Call) or owner is None or last_name(left) not in REDUCTIONS:
            return False
        return is_plain(owner) and reduces({ast.dump(part) for part in ast.walk(first)}, left, owner)
    return False


def limits(module: Module, node: ast.expr) -> list[ast.expr]:
    """What an operand compares with by a name: harmless as long as it is a number."""
    node = inside(module, node)
    if isinstance(node, ast.BoolOp):
        return [one for value in node.values for one in limits(module, value)]
    found = limit_of(node) if isinstance(node, ast.Compare) else None
    return [found] if found else []


def limit_of(node: ast.Compare) -> ast.expr | None:
    """`n` of `x.max() >= n`."""
    is_order = len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    is_named = is_plain(node.comparators[0]) and not isinstance(node.comparators[0], ast.UnaryOp)
    return node.comparators[0] if is_order and is_named else None


def inside(module: Module, node: ast.expr) -> ast.expr:
    """The tensor of an operand, without what turns or reads it."""
    while (inner := without_reading(module, without_not(node))) is not node:
        node = inner
    return node


def asks_same(module: Module, node: ast.Call, first: ast.expr) -> bool:
    """Whether the first asks each element of the same tensor: one that has several fails there already."""
    first = inside(module, first)
    if not isinstance(first, ast.Call) or last_name(first) not in ELEMENTWISE or first.keywords:
        return False
    ours, theirs = operand(module, node), operand(module, first)
    return ours is not None and theirs is not None and ast.dump(ours) == ast.dump(theirs)


def is_elementwise(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1 and is_plain(node.left) and is_number(node.comparators[0])
    if isinstance(node, ast.Call) and last_name(node) in ELEMENTWISE and not node.keywords:
        owner = operand(module, node)
        return owner is not None and is_plain(owner)
    return is_plain(node)


def reduces(asked: set[str], call: ast.Call, owner: ast.expr) -> bool:
    """Whether a reduction cannot fail on an empty tensor, or is one that would have failed before."""
    return (
        last_name(call) in NEVER_FAIL
        or ast.dump(call) in asked
        or any(
            f"value={ast.dump(owner)}, attr='{name}'" in one for one in asked for name in ("min", "max", "amin", "amax")
        )
    )
