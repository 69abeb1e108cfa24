"""`torch.div` of sizes: what torch divides is a tensor, and as a size it is read from one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.asked import is_tensor_tests
from fullgraph.codemods.topics.scalars.repair import SETTING, Form, Look, Repair
from fullgraph.codemods.topics.scalars.variables import loads, only_binding

DIVISIONS = ("torch.div", "torch.floor_divide")
SHAPING = {"view", "reshape", "expand", "new_zeros", "new_ones", "new_empty", "repeat", "unflatten", "as_strided"}
SIZES = ("size", "shape")
GROWING = (ast.Add, ast.Mult, ast.FloorDiv)
"""Of what is not negative they make nothing negative."""

COUNTING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
DEEP = 4


def size_quotients(look: Look) -> Iterator[Repair]:
    """Every quotient of sizes that is used as a size and as nothing else: Python divides these without a tensor."""
    for call in look.module.nodes(ast.Call):
        if not rounding(look.module, call) or not look.holds(call):
            continue
        try:
            shaped = shaped_by(look.module, call)
        except Unsure:
            continue
        form = form_of(look, call)
        yield from (judge(look, call, one, form) for one in dict.fromkeys(shaped))


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


# Where it goes


def shaped_by(module: Module, node: ast.expr, depth: int = 0) -> list[ast.Call]:
    """The calls that a value gives its sizes to: there the graph breaks. Unsure where it goes anywhere else."""
    parent = module.parent(node)
    if depth > DEEP:
        raise Unsure("")
    if isinstance(parent, (ast.Tuple, ast.List, ast.Starred)) or (isinstance(parent, ast.BinOp) and is_counted(parent)):
        return shaped_by(module, parent, depth)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name) and len(parent.targets) == 1:
        return shaped_through(module, parent.targets[0], depth + 1)
    call = module.parent(parent) if isinstance(parent, ast.keyword) and parent.arg in SIZES else parent
    is_shaping = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in SHAPING
    if not is_shaping or not isinstance(call, ast.Call) or node is call.func:
        raise Unsure("")
    return [call]


def shaped_through(module: Module, name: ast.Name, depth: int) -> list[ast.Call]:
    mentions = loads(module, name)
    if only_binding(module, name) is None or not mentions:
        raise Unsure("")
    return [call for mention in mentions for call in shaped_by(module, mention, depth)]


def is_counted(operation: ast.BinOp) -> bool:
    """Whether two values make a number as they would make a tensor without dimensions."""
    return isinstance(operation.op, COUNTING) and all(is_number(side) for side in (operation.left, operation.right))


def is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_counted(node)
    is_whole_one = isinstance(node, ast.Constant) and type(node.value) is int
    return is_whole_one or isinstance(node, (ast.Name, ast.Call)) or sized(node) is not None


# What stands there instead


def form_of(look: Look, call: ast.Call) -> Form | None:
    above, below = call.args
    if not (is_whole(above) and is_whole(below)):
        return None
    text = f"{bracketed(look, above)} // {bracketed(look, below)}"
    if isinstance(look.module.parent(call), ast.BinOp):
        text = f"({text})"
    # Never in eager code: whoever traces with torch.jit keeps the size open by dividing tensors.
    return Form(call, text, tuple(tests_of(look, call)))


def judge(look: Look, call: ast.Call, shaped: ast.Call, form: Form | None) -> Repair:
    message = f"{ast.unparse(call)} makes a tensor of sizes, and reading it as a size breaks the graph"
    if form is not None:
        return Repair(shaped, message, form=form, remedy=SETTING)
    reason = f"{look.where(call)}: not everything that is divided is seen to be a size or a whole number"
    return Repair(shaped, message, left_alone=f"{reason}; {SETTING}")


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
