"""`x[i.item()]`: the row that a tensor names, picked by the tensor."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.syntax.effects.harmless import MAKES_NEW
from fullgraph.codemods.topics.scalars.reads import Read
from fullgraph.codemods.topics.scalars.repair import Form, Look
from fullgraph.codemods.topics.scalars.roots import method_on

POSITIONS = {"argmax", "argmin"}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)


def picked_row(look: Look, read: Read) -> Form | None:
    """The form for a number that is an index, and nothing else; None where it is none.

    The row is a copy in compiled code, not a view: so it may only be read, and at once.
    """
    module, index = look.module, look.module.parent(read.node)
    if not isinstance(index, ast.Subscript) or index.slice is not read.node or not isinstance(index.ctx, ast.Load):
        return None
    if read.how == "bool" or not look.is_tensor(index.value):
        return None
    if not is_read_at_once(look, index):
        raise Unsure(
            f"{look.where(index)}: the row is a view of {ast.unparse(index.value)}, and is not used up at once"
        )
    new = f"{module.code(index.value)}[{text_of(look, read)}.reshape(1)][0]"
    return Form(index, new, tuple(conditions(look, read)))


def text_of(look: Look, read: Read) -> str:
    code = look.module.code(read.tensor)
    return code if isinstance(read.tensor, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({code})"


def conditions(look: Look, read: Read) -> list[str]:
    """An index of another dtype means something else: bools are masks."""
    method = method_on(read.tensor)
    if method is not None and method.attr in POSITIONS:
        return []
    if not isinstance(read.tensor, ast.Name) or not look.is_tensor(read.tensor):
        raise Unsure(f"{look.where(read.node)}: {ast.unparse(read.tensor)} is not seen to be a tensor of whole numbers")
    torch, _ = look.module.imports.require("torch")
    return [f"{read.tensor.id}.dtype == {torch}.int64"]


def is_read_at_once(look: Look, row: ast.expr) -> bool:
    """Whether a row goes into an operation that makes something new of it."""
    parent = look.module.parent(row)
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, OPERATORS)
    if isinstance(parent, ast.Attribute):
        call = look.module.parent(parent)
        return isinstance(call, ast.Call) and call.func is parent and parent.attr in MAKES_NEW
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
