"""`for i in mask.nonzero(): y[i] = value`: one masked write instead of a round for each index."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.guard import branched
from fullgraph.codemods.topics.scalars.masks import is_mask, is_number
from fullgraph.codemods.topics.scalars.repair import Look, Repair
from fullgraph.codemods.topics.scalars.scatters import SIGNS
from fullgraph.codemods.topics.scalars.variables import loads


def index_loops(look: Look) -> Iterator[Repair]:
    """Every loop over the positions at which something is not zero."""
    for loop in look.module.nodes(ast.For):
        mask = positions_of(look.module, loop.iter)
        if mask is not None and look.holds(loop):
            yield judge(look, loop, mask)


def positions_of(module: Module, node: ast.expr) -> ast.expr | None:
    """`m` of `m.nonzero()`, `torch.nonzero(m)`, `torch.where(m)[0]` and `m.nonzero(as_tuple=True)[0]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        call = node.value
        if not isinstance(call, ast.Call):
            return None
        is_where = module.resolve(call.func) == "torch.where" and len(call.args) == 1 and not call.keywords
        if is_where:
            return call.args[0]
        is_tuple = [(k.arg, getattr(k.value, "value", None)) for k in call.keywords] == [("as_tuple", True)]
        return of_nonzero(module, call) if is_tuple else None
    return of_nonzero(module, node) if isinstance(node, ast.Call) and not node.keywords else None


def of_nonzero(module: Module, call: ast.Call) -> ast.expr | None:
    if module.resolve(call.func) == "torch.nonzero" and len(call.args) == 1:
        return call.args[0]
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "nonzero" and not call.args
    return call.func.value if is_method and isinstance(call.func, ast.Attribute) else None


def judge(look: Look, loop: ast.For, mask: ast.expr) -> Repair:
    message = f"the loop has a round for each element of {ast.unparse(mask)} that is not zero, which breaks the graph"
    try:
        return Repair(loop.iter, message, write(look, loop, mask))
    except Unsure as unsure:
        outside = "computing it before the compiled function is called keeps it out of the graph"
        return Repair(loop.iter, message, left_alone=f"{unsure}; {outside}")


def write(look: Look, loop: ast.For, mask: ast.expr) -> tuple[Edit, ...]:
    """A masked write where each round only writes a number, or a sum or product with one, at its own index."""
    if not isinstance(mask, ast.Name) or not is_mask(look, mask):
        raise Unsure(f"{look.where(loop)}: {ast.unparse(mask)} is not seen to be a tensor of bools in a variable")
    if loop.orelse or len(loop.body) != 1 or not isinstance(loop.target, ast.Name):
        raise Unsure(f"{look.where(loop)}: a round does more than one write at its own index")
    statement, index = loop.body[0], loop.target.id
    y, value = written(look, statement, index)
    if any(is_left_over(look, mention, loop) for mention in loads(look.module, loop.target)):
        raise Unsure(f"{look.where(loop)}: {index} is used behind the loop")
    if y.id in (mask.id, index) or not look.is_tensor(y):
        raise Unsure(f"{look.where(loop)}: {y.id} is not seen to be a tensor of its own")
    torch, _ = look.module.imports.require("torch")
    conditions = [f"{mask.id}.dtype == {torch}.bool", f"{mask.id}.dim() == 1"]
    if value.startswith(y.id):
        conditions += [f"{mask.id}.shape == {y.id}.shape", f"{y.id}.is_floating_point()"]
        return branched(look.module, loop, [f"{y.id}.copy_({torch}.where({mask.id}, {value}, {y.id}))"], conditions)
    conditions += [f"{mask.id}.shape == {y.id}.shape[:1]", f"{y.id}.is_floating_point()"]
    return branched(look.module, loop, [f"{y.id}[{mask.id}] = {value}"], conditions)


def written(look: Look, statement: ast.stmt, index: str) -> tuple[ast.Name, str]:
    """The tensor that a round writes to, and the value for all of it: a number, or the tensor with a number."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    target = statement.target if isinstance(statement, ast.AugAssign) else target
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not isinstance(target, ast.Subscript):
        raise Unsure(f"{look.where(statement)}: a round does more than one write at its own index")
    y, code = target.value, look.module.code
    if not isinstance(y, ast.Name) or not isinstance(target.slice, ast.Name) or target.slice.id != index:
        raise Unsure(f"{look.where(statement)}: a round does not write at its own index alone")
    value = statement.value
    if isinstance(statement, ast.AugAssign) and type(statement.op) in SIGNS and is_number(value):
        return y, f"{y.id} {SIGNS[type(statement.op)]} {code(value)}"
    if isinstance(statement, ast.Assign) and is_number(value):
        return y, code(value)
    if isinstance(statement, ast.Assign) and isinstance(value, ast.BinOp) and is_own(value, target):
        return y, f"{y.id} {SIGNS[type(value.op)]} {code(value.right)}"
    raise Unsure(f"{look.where(statement)}: a round carries {ast.unparse(value)}, which is no number")


def is_own(value: ast.BinOp, target: ast.Subscript) -> bool:
    """Whether what is written is what stands there already, with a number."""
    return type(value.op) in SIGNS and ast.unparse(value.left) == ast.unparse(target) and is_number(value.right)


def is_left_over(look: Look, mention: ast.Name, loop: ast.For) -> bool:
    """Whether a mention outside of the loop may see the last index: one in a loop of its own does not."""
    around = [outer for outer in look.module.ancestors(mention) if isinstance(outer, ast.For)]
    own = [outer for outer in around if getattr(outer.target, "id", "") == mention.id and mention is not outer.iter]
    return loop not in around and not own
