"""`torch.div` of sizes: what torch divides as tensors is a tensor, and as a size it is read from one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.module import Module
from codemods.topics.scalars.asked import is_tensor_tests
from codemods.topics.scalars.repair import SETTING, Form, Look, Repair

DIVISIONS = ("torch.div", "torch.floor_divide")
SHAPING = {"view", "reshape", "expand", "new_zeros", "new_ones", "new_empty", "repeat", "unflatten"}
GROWING = (ast.Add, ast.Mult, ast.FloorDiv)
"""Of what is not negative they make nothing negative."""


def size_quotients(look: Look) -> Iterator[Repair]:
    """Every quotient of sizes that is used as a size: Python divides these without a tensor."""
    for call in look.module.nodes(ast.Call):
        if rounding(look.module, call) and look.holds(call) and (shaped := shaped_by(look.module, call)):
            yield judge(look, call, shaped)


def rounding(module: Module, call: ast.Call) -> str:
    """`floor` or `trunc` where a call divides two things and makes a whole number of it."""
    name = module.resolve(call.func)
    if name not in DIVISIONS or len(call.args) != 2 or any(isinstance(one, ast.Starred) for one in call.args):
        return ""
    if name == "torch.floor_divide":
        return "" if call.keywords else "floor"
    given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
    found = given.get("rounding_mode") if len(given) == 1 else None
    return found if found in ("floor", "trunc") else ""


def shaped_by(module: Module, call: ast.Call) -> ast.Call | None:
    """The call that shapes a tensor by a value: there the graph breaks."""
    parent = module.parent(call)
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Attribute) or call not in parent.args:
        return None
    return parent if parent.func.attr in SHAPING else None


def judge(look: Look, call: ast.Call, shaped: ast.Call) -> Repair:
    message = f"{ast.unparse(call)} makes a tensor of sizes, and reading it as a size breaks the graph"
    above, below = call.args
    if not all(is_whole(one) for one in call.args):
        reason = f"{look.where(call)}: not everything that is divided is seen to be a size or a whole number"
        return Repair(shaped, message, left_alone=f"{reason}; {SETTING}")
    text = f"{bracketed(look, above)} // {bracketed(look, below)}"
    # Never in eager code: whoever traces with torch.jit keeps the size open by dividing tensors.
    return Repair(shaped, message, form=Form(call, text, tuple(tests_of(look, call))), remedy=SETTING)


def is_whole(node: ast.expr) -> bool:
    """Whether a value is a whole number if its names are, and not negative if they are not."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, GROWING) and is_whole(node.left) and is_whole(node.right)
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value >= 0
    return isinstance(node, ast.Name) or sized(node) is not None


def sized(node: ast.expr) -> ast.Name | None:
    """`x` of `x.size(0)` and `x.shape[0]`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "size" else None
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
        owner = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" else None
    else:
        return None
    return owner if isinstance(owner, ast.Name) else None


def tests_of(look: Look, call: ast.Call) -> list[str]:
    """That tensors have the sizes, and that nothing is negative: then both ways to round are one."""
    above, below = call.args
    owners = [owner.id for node in ast.walk(call) if isinstance(node, ast.expr) and (owner := sized(node))]
    tests = is_tensor_tests(look, *dict.fromkeys(owners))
    tests += [f"isinstance({name}, int)" for name in dict.fromkeys([*names_in(above), *names_in(below)])]
    tests += [f"{name} >= 0" for name in dict.fromkeys(names_in(above))]
    return tests if isinstance(below, ast.Constant) and below.value else [*tests, f"{look.module.code(below)} > 0"]


def names_in(node: ast.expr) -> list[str]:
    """The names that stand for numbers."""
    if sized(node) is not None:
        return []
    if isinstance(node, ast.BinOp):
        return [*names_in(node.left), *names_in(node.right)]
    return [node.id] if isinstance(node, ast.Name) else []


def bracketed(look: Look, node: ast.expr) -> str:
    code = look.module.code(node)
    return f"({code})" if isinstance(node, ast.BinOp) else code
