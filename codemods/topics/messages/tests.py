"""Conditions on a tensor's value around a message."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module

DECIDING = {"any", "all"}
REDUCING = {"sum", "mean", "min", "max", "amin", "amax", "norm", "std", "var", "prod", "median", "nansum", "nanmean"}
ORDERS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq)


def tensor_test(module: Module, test: ast.expr) -> tuple[str, bool] | None:
    """The text of a condition on a tensor, and whether it is negated; None for what is no such condition."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        return (module.code(inner), True) if is_tensor_test(module, inner) else None
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        *first, last = test.values
        if all(is_plain_test(module, value) for value in first) and is_tensor_test(module, last):
            return module.code(test), False
        return None
    return (module.code(test), False) if is_tensor_test(module, test) else None


def is_tensor_test(module: Module, test: ast.expr) -> bool:
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        is_single = len(test.ops) == 1 and isinstance(test.ops[0], ORDERS)
        return is_single and any(is_reduction(module, side, REDUCING) for side in sides)
    return is_reduction(module, test, DECIDING)


def is_plain_test(module: Module, test: ast.expr) -> bool:
    """Whether a condition is a bool, and none on a tensor: of dtypes, devices, None, sizes, or `isinstance`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return True
        ends = [side.attr for side in (test.left, *test.comparators) if isinstance(side, ast.Attribute)]
        return any(end in ("dtype", "ndim", "type") for end in ends)
    return isinstance(test, ast.Call) and module.scopes.is_builtin(test.func, "isinstance")


def is_reduction(module: Module, node: ast.expr, names: set[str]) -> bool:
    """Whether all numbers of a tensor are made one that has no dimensions: `x.any()`, `torch.any(x)`."""
    if not isinstance(node, ast.Call) or node.keywords or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in names:
        return False
    meaning = module.resolve(node.func)
    if meaning is None:
        return not node.args
    return meaning.startswith("torch.") and len(node.args) == 1
