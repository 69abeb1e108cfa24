"""`y[mask] = f(x[mask])`: the same values written back from a tensor of fixed shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.topics.scalars.guard import branched
from fullgraph.codemods.topics.scalars.masks import has_shape_of, is_mask, is_number
from fullgraph.codemods.topics.scalars.repair import SHAPES, Look, Repair

SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def scattered(look: Look) -> Iterator[Repair]:
    """Every assignment to `y[mask]` whose value is picked by the mask too, and `y[mask] *= 2`."""
    for statement in look.module.nodes(ast.Assign, ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        target = targets[0]
        if not look.holds(statement) or not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
            continue
        reads = isinstance(statement, ast.AugAssign) or picks(statement.value, target.slice.id)
        if reads and is_mask(look, target.slice):
            yield judge(look, statement, target)


def picks(node: ast.expr, mask: str) -> bool:
    """Whether a part of an expression is picked by the mask."""
    return any(is_picked(inner, mask) for inner in ast.walk(node))


def is_picked(node: ast.AST, mask: str) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == mask


def judge(look: Look, statement: ast.Assign | ast.AugAssign, target: ast.Subscript) -> Repair:
    message = f"the shape of what {ast.unparse(target)} picks depends on values, which breaks the graph"
    try:
        return Repair(target, message, write(look, statement, target))
    except Unsure as unsure:
        return Repair(target, message, left_alone=f"{unsure}; {SHAPES}")


def write(look: Look, statement: ast.Assign | ast.AugAssign, target: ast.Subscript) -> tuple[Edit, ...]:
    if isinstance(statement, ast.Assign) and len(statement.targets) != 1:
        raise Unsure(f"{look.where(statement)}: there are several targets")
    y, mask = target.value, target.slice
    assert isinstance(mask, ast.Name)
    if not isinstance(y, ast.Name) or not look.is_tensor(y):
        raise Unsure(f"{look.where(statement)}: {ast.unparse(y)} is not seen to be a tensor in a variable")
    text, used = whole_text(look, statement, y, mask.id)
    torch, _ = look.module.imports.require("torch")
    conditions = [*has_shape_of(look.module, mask.id, y.id), f"{y.id}.is_floating_point()"]
    for name in sorted(used - {y.id}):
        conditions += [f"{name}.dtype == {y.id}.dtype", f"{name}.shape == {y.id}.shape"]
    line = f"{y.id}.copy_({torch}.where({mask.id}, {text}, {y.id}))"
    return branched(look.module, statement, [line], conditions)


def whole_text(look: Look, statement: ast.Assign | ast.AugAssign, y: ast.Name, mask: str) -> tuple[str, set[str]]:
    """The value for all elements, and the tensors that it is made of."""
    if isinstance(statement, ast.Assign):
        used: set[str] = set()
        return linear(look, statement.value, mask, used), used
    if type(statement.op) not in SIGNS or not is_number(statement.value):
        raise Unsure(f"{look.where(statement)}: only sums, differences and products with a number are taken apart")
    return f"{y.id} {SIGNS[type(statement.op)]} {look.module.code(statement.value)}", {y.id}


def linear(look: Look, node: ast.expr, mask: str, used: set[str]) -> str:
    """The text of an expression without its masks.

    Sums, differences, and products with a number: of an element that is not picked neither the value nor the gradient
    matters. A product of two tensors would make NaN of 0 * inf on the way back.
    """
    if is_picked(node, mask) and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if not look.is_tensor(node.value):
            raise Unsure(f"{look.where(node)}: {node.value.id} is not seen to be a tensor")
        used.add(node.value.id)
        return node.value.id
    if is_number(node):
        return look.module.code(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"-{linear(look, node.operand, mask, used)}"
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        if isinstance(node.op, ast.Mult) and not (is_number(node.left) or is_number(node.right)):
            raise Unsure(f"{look.where(node)}: where an element is not picked, 0 * inf would be its gradient")
        sides = [in_order(look, side, mask, used) for side in (node.left, node.right)]
        return f"{sides[0]} {SIGNS[type(node.op)]} {sides[1]}"
    raise Unsure(f"{look.where(node)}: {ast.unparse(node)} is not seen to be safe for elements that are not picked")


def in_order(look: Look, node: ast.expr, mask: str, used: set[str]) -> str:
    text = linear(look, node, mask, used)
    return f"({text})" if isinstance(node, ast.BinOp) else text
