"""`x[mask]` that is only reduced: the same number from a tensor of fixed shape."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.repair import SHAPES, Form, Look, Repair
from fullgraph.codemods.topics.scalars.variables import is_steady

VALUES = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
TESTS = {"isnan", "isinf", "isfinite", "logical_not"}
EXACT = {"any": "0", "all": "1"}
"""Reductions of which the same bits come out, with the element that changes nothing."""
REDUCTIONS = {
    "sum",
    "mean",
    "any",
    "all",
    "max",
    "min",
    "amax",
    "amin",
    "numel",
    "std",
    "var",
    "median",
    "prod",
    "norm",
}
MASKS = re.compile(r"mask|keep|valid", re.IGNORECASE)
EMPTY = {"max", "min", "amax", "amin", "median"}


def reduced_masks(look: Look) -> Iterator[Repair]:
    """Every `x[mask].sum()` and the like."""
    module = look.module
    for call in module.nodes(ast.Call):
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr not in REDUCTIONS:
            continue
        chosen = method.value
        if isinstance(chosen, ast.Subscript) and look.holds(call) and is_asked_mask(look, chosen):
            yield judge(look, call, chosen, method.attr)


def is_mask(look: Look, node: ast.expr) -> bool:
    """Whether an index is seen to be a tensor of bools."""
    if isinstance(node, (ast.Slice, ast.Tuple, ast.Constant)):
        return False
    known = look.tensors.known(look.module, node)
    return known.is_tensor and known.kind == "bool"


def is_asked_mask(look: Look, chosen: ast.Subscript) -> bool:
    """Whether an index is a mask, or a variable of which only the name says so: the rest is asked while compiling."""
    mask = chosen.slice
    if not isinstance(mask, ast.Name) or not MASKS.search(mask.id) or not is_steady(look.module, mask):
        return is_mask(look, mask)
    known = look.tensors.known(look.module, mask)
    return known.kind in ("", "bool") and known.what in ("", "tensor")


def judge(look: Look, call: ast.Call, chosen: ast.Subscript, method: str) -> Repair:
    text = ast.unparse(chosen)
    message = f"the shape of {text} depends on values, which breaks the graph; only its {method}() is wanted"
    try:
        return Repair(call, message, form=form_of(look, call, chosen, method), remedy=SHAPES)
    except Unsure as unsure:
        return Repair(call, message, left_alone=f"{unsure}; {SHAPES}")


def form_of(look: Look, call: ast.Call, chosen: ast.Subscript, method: str) -> Form:
    """The reduction of a fixed shape; Unsure where the fixed shape would not give the same."""
    if call.args or call.keywords:
        raise Unsure(f"{look.where(call)}: {method}() with arguments is not taken apart")
    if method in EMPTY:
        raise Unsure(f"{look.where(call)}: {method}() of nothing is an error, which a fixed shape would not raise")
    if method not in ("sum", "mean", *EXACT):
        raise Unsure(f"{look.where(call)}: {method}() has no form of fixed shape here")
    if look.tensors.known(look.module, chosen.value).what not in ("", "tensor"):
        raise Unsure(f"{look.where(call)}: {ast.unparse(chosen.value)} is not seen to be a tensor")
    module, conditions = look.module, shape_conditions(look, chosen)
    unseen = [part for part in (chosen.value, chosen.slice) if not look.is_tensor(part)]
    x, mask = module.code(chosen.value), module.code(chosen.slice)
    torch, _ = module.imports.require("torch")
    conditions = [*(f"isinstance({module.code(part)}, {torch}.Tensor)" for part in unseen), *conditions]
    if method in EXACT and not conditions:
        return Form(call, f"{torch}.where({mask}, {x}, {EXACT[method]}).{method}()", is_exact=True)
    new = f"{torch}.where({mask}, {x}, {EXACT.get(method, '0')}).{'sum' if method == 'mean' else method}()"
    if method == "mean":
        conditions = [*conditions, f"{x}.dtype in ({torch}.float32, {torch}.float64)"]
        new = f"{new} / {in_brackets(chosen.slice, mask)}.sum()"
        new = new if isinstance(module.parent(call), ast.stmt) else f"({new})"
    return Form(call, new, tuple(conditions))


def in_brackets(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) else f"({text})"


def shape_conditions(look: Look, chosen: ast.Subscript) -> list[str]:
    """What must be asked while compiling: nothing for a mask that is a comparison of the very tensor with a number."""
    x, mask = chosen.value, chosen.slice
    if not is_plain(x):
        raise Unsure(f"{look.where(chosen)}: {ast.unparse(x)} would be worked out more than once")
    if is_made_from(look.module, mask, ast.dump(x)):
        return []
    if not isinstance(mask, ast.Name):
        raise Unsure(f"{look.where(chosen)}: {ast.unparse(mask)} is not seen to have the shape of {ast.unparse(x)}")
    return has_shape_of(look.module, mask.id, look.module.code(x))


def has_shape_of(module: Module, mask: str, x: str) -> list[str]:
    torch, _ = module.imports.require("torch")
    return [f"{mask}.dtype == {torch}.bool", f"{mask}.shape == {x}.shape", f"{mask}.device == {x}.device"]


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a chain of names."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_made_from(module: Module, mask: ast.expr, x: str) -> bool:
    """Whether a mask is written out as a question about each element of `x`."""
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        return is_made_from(module, mask.operand, x)
    if isinstance(mask, ast.Compare) and len(mask.ops) == 1 and isinstance(mask.ops[0], VALUES):
        return ast.dump(mask.left) == x and is_number(mask.comparators[0])
    if isinstance(mask, ast.Call) and not mask.keywords:
        is_method = isinstance(mask.func, ast.Attribute) and mask.func.attr in TESTS
        if is_method and isinstance(mask.func, ast.Attribute) and not mask.args:
            return ast.dump(mask.func.value) == x
        dotted = module.resolve(mask.func) or ""
        is_torch = dotted.startswith("torch.") and dotted.rpartition(".")[2] in TESTS
        return is_torch and len(mask.args) == 1 and ast.dump(mask.args[0]) == x
    return False


def is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)
