"""Questions that Python answers: asking them twice, or sooner, changes nothing."""

from __future__ import annotations

import ast
from math import frexp

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name

QUERIES = {"size", "dim", "numel", "ndimension", "is_floating_point", "is_complex", "is_contiguous", "stride", "type"}
BUILTINS = ("len", "isinstance", "hasattr", "callable", "issubclass", "min", "max", "abs", "tuple", "type")
TORCH = {
    *("torch.is_tensor", "torch.is_floating_point", "torch.is_complex", "torch.is_grad_enabled"),
    *("torch.jit.is_tracing", "torch.jit.is_scripting", "torch.is_autocast_enabled", "torch.is_inference_mode_enabled"),
}
PURE = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Subscript),
    *(ast.Slice, ast.Tuple, ast.List, ast.Set, ast.Call),
    *(ast.expr_context, ast.boolop, ast.unaryop, ast.operator, ast.cmpop),
)


def is_pure(module: Module, node: ast.expr) -> bool:
    """Whether a question only looks: at names, attributes, sizes and types."""
    inside = list(ast.walk(node))
    calls = [inner for inner in inside if isinstance(inner, ast.Call)]
    return all(isinstance(inner, PURE) for inner in inside) and all(is_query(module, call) for call in calls)


def is_query(module: Module, call: ast.Call) -> bool:
    if call.keywords:
        return False
    if module.scopes.is_builtin(call.func, *BUILTINS) or module.resolve(call.func) in TORCH:
        return True
    return isinstance(call.func, ast.Attribute) and last_name(call) in QUERIES


def is_plain(node: ast.expr) -> bool:
    """Whether it is a name, an attribute of one, or the opposite of that: what can be asked at any time."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_number(node: ast.expr) -> bool:
    """A number that is written out: `3`, `-1`, `0.5`."""
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_size(module: Module, node: ast.expr) -> bool:
    """Whether it is a size: of a tensor's shape, `len`, or a name that is given nothing else."""
    if isinstance(node, ast.Subscript):
        return is_size(module, node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "shape"
    if isinstance(node, ast.Call):
        return last_name(node) in ("size", "numel", "dim") or module.scopes.is_builtin(node.func, "len")
    if isinstance(node, ast.BinOp):
        return all(is_size(module, side) or is_number(side) for side in (node.left, node.right))
    if not isinstance(node, ast.Name):
        return False
    given = module.scopes.bindings(node)
    return bool(given) and all(
        one.how == "assign"
        and one.value is not None
        and not isinstance(one.value, ast.Name)
        and is_size(module, one.value)
        for one in given
    )


def is_float(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Constant) and isinstance(inner.value, float) for inner in ast.walk(node))


def is_exact(node: ast.expr) -> bool:
    """Whether a number is the same in every dtype: at most 8 binary digits, and not too small for half precision."""
    if not is_number(node):
        return False
    value = abs(ast.literal_eval(node))
    return value == 0 or (2.0**-14 <= value <= 256 and (frexp(value)[0] * 256).is_integer())


def is_huge(node: ast.expr) -> bool:
    """Whether a number that is written out, or a power of one, may be beyond what double precision can count to."""
    numbers = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    is_raised = any(isinstance(inner, (ast.Pow, ast.LShift)) for inner in ast.walk(node))
    return is_raised or any(isinstance(number, (int, float)) and abs(number) >= 2**53 for number in numbers)
