"""Questions about the values of tensors, by how they are written."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.tensors.tables import BOOL_ELEMENTWISE, REDUCTIONS

READS = {"item"}
ASKING = BOOL_ELEMENTWISE | REDUCTIONS | {"equal", "allclose", "is_nonzero", "item"}
"""What is called in a question about values."""


def looks_at_values(node: ast.AST) -> bool:
    """Whether a test asks for values at all, by the names of what it calls."""
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in ASKING for call in calls)


def asks(module: Module, test: ast.expr) -> bool:
    """Whether a test asks for values, by what it calls or by what made the name that it is."""
    test = without_not(test)
    if not isinstance(test, ast.Name):
        return looks_at_values(test)
    values = [binding.value for binding in module.scopes.bindings(test)]
    return any(value is not None and looks_at_values(value) for value in values)


def without_not(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    return node


def operand(module: Module, call: ast.Call) -> ast.expr | None:
    """What `x.any()` or `torch.any(x)` is about, if there is nothing else in it."""
    if (module.resolve(call.func) or "").startswith("torch."):
        return call.args[0] if len(call.args) == 1 else None
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None


# Numbers that are read


def without_reading(module: Module, node: ast.expr) -> ast.expr:
    """The tensor of `t.item()`, `bool(t)` and `torch.is_nonzero(t)`: they have one truth."""
    while isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Attribute) and node.func.attr in READS and not node.args:
            node = node.func.value
        elif len(node.args) == 1 and (
            module.scopes.is_builtin(node.func, "bool") or module.resolve(node.func) == "torch.is_nonzero"
        ):
            node = node.args[0]
        else:
            break
    return node


def reads_number(module: Module, node: ast.Compare) -> bool:
    return any(read_of(module, side) is not None for side in (node.left, *node.comparators))


def read_of(module: Module, node: ast.expr) -> ast.expr | None:
    """The tensor whose number `t.item()` or `float(t)` is."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in READS and not node.args:
        return node.func.value
    is_float = module.scopes.is_builtin(node.func, "float") and len(node.args) == 1
    return node.args[0] if is_float and not isinstance(node.args[0], ast.Constant) else None


# What was seen to break


def seen_operands(test: ast.expr) -> list[ast.expr]:
    """The operands of a test that may be what was seen to break a graph."""
    test = without_not(test)
    if not isinstance(test, ast.BoolOp):
        return [test]
    return [one for value in test.values for one in seen_operands(value) if looks_at_values(one)]


def looks_seen(node: ast.expr) -> bool:
    """Whether the value is made by asking a tensor: a sum, `any`, `isnan`, or a comparison with one of these."""
    sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node]
    calls = (side for side in sides if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute))
    return any(last_name(call) in ASKING for call in calls)
