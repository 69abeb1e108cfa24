"""Python values that are the same whenever code runs: literals, arithmetic on them, and constants of the project."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.definitions import Definitions

DEEP = 6
LONGEST = 4096
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
NUMBERS = {"torch.pi": math.pi, "torch.e": math.e, "torch.inf": math.inf, "torch.nan": math.nan}
BUILTINS: dict[str, Callable[..., Any]] = {"float": float, "int": int, "len": len, "abs": abs}
MATH = {"sqrt", "log", "log2", "log10", "exp", "sin", "cos", "radians", "floor", "ceil", "pow"}


class NotConstantError(Exception):
    """Raised where the value of an expression is not known before it runs."""


def constant_value(names: Definitions, module: Module, node: ast.AST, depth: int = 0) -> Any:
    """The value of an expression that is the same whenever it is evaluated; otherwise NotConstantError."""
    if depth > DEEP:
        raise NotConstantError
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        items = [constant_value(names, module, item, depth) for item in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return computed(names, module, node, depth)
    if isinstance(node, ast.Call):
        return called(names, module, node, depth)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return named(names, module, node, depth)
    raise NotConstantError


def computed(names: Definitions, module: Module, node: ast.BinOp | ast.UnaryOp, depth: int) -> Any:
    operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
    values = [constant_value(names, module, item, depth) for item in operands]
    is_power = isinstance(node.op, ast.Pow) and all(isinstance(v, (int, float)) and abs(v) < 64 for v in values)
    compute = operator.pow if is_power else OPERATORS.get(type(node.op))
    return guarded(compute, values)


def called(names: Definitions, module: Module, node: ast.Call, depth: int) -> Any:
    """`float("inf")`, `math.sqrt(2)` and the like."""
    dotted = module.resolve(node.func) or ""
    compute: Callable[..., Any] | None = None
    if isinstance(node.func, ast.Name) and module.scopes.is_builtin(node.func, *BUILTINS):
        compute = BUILTINS[node.func.id]
    elif dotted.startswith("math.") and dotted[5:] in MATH:
        compute = getattr(math, dotted[5:])
    if node.keywords:
        raise NotConstantError
    return guarded(compute, [constant_value(names, module, item, depth) for item in node.args])


def guarded(compute: Callable[..., Any] | None, values: list[Any]) -> Any:
    if compute is None:
        raise NotConstantError
    try:
        found = compute(*values)
    except Exception:
        raise NotConstantError from None
    if isinstance(found, (list, tuple, str)) and len(found) > LONGEST:
        raise NotConstantError
    return found


def named(names: Definitions, module: Module, node: ast.Name | ast.Attribute, depth: int) -> Any:
    """The value of a constant at the top level of a module, which nothing binds again and nothing can change."""
    dotted = module.resolve(node) or ""
    if dotted in NUMBERS:
        return NUMBERS[dotted]
    if dotted.startswith("math."):
        return guarded(lambda: float(getattr(math, dotted[5:])), [])
    name = node.id if isinstance(node, ast.Name) else node.attr
    found = names.statement(module, node) if name.isupper() else None
    if found is None or not isinstance(found.node, (ast.Assign, ast.AnnAssign)) or found.node.value is None:
        raise NotConstantError
    is_single = isinstance(found.node, ast.AnnAssign) or len(found.node.targets) == 1
    is_top = found.node in found.module.tree.body
    value = constant_value(names, found.module, found.node.value, depth + 1)
    if not is_single or not is_top or isinstance(value, list) or isinstance(target_of(found.node), ast.Tuple):
        raise NotConstantError
    return value


def target_of(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def is_number(value: Any) -> bool:
    """Whether it is a number, or a list of numbers however deep: what `torch.tensor` takes."""
    if isinstance(value, (list, tuple)):
        return all(map(is_number, value))
    return isinstance(value, (bool, int, float, complex))


def is_empty(value: Any) -> bool:
    """Whether it is a list without a number in it: torch makes floats of that."""
    return isinstance(value, (list, tuple)) and all(map(is_empty, value))


def is_whole(value: Any) -> bool:
    """Whether no number in it is a float."""
    return all(map(is_whole, value)) if isinstance(value, (list, tuple)) else isinstance(value, int)
