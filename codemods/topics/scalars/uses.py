"""Where a number goes that was read from a tensor, in words, and which numbers are others' business."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.scalars.repair import Look
from fullgraph.codemods.topics.scalars.variables import loads

SIZED = {"arange", "zeros", "ones", "full", "empty", "rand", "randn", "range", "view", "reshape", "expand", "split"}
SIZED |= {"narrow", "repeat", "new_zeros", "new_ones", "new_full", "linspace", "chunk", "topk"}


def is_decided_elsewhere(look: Look, node: ast.expr) -> bool:
    """Whether a number stands in the test of a branch or an assertion: other codemods take it out there."""
    child: ast.AST = node
    for outer in look.module.ancestors(node):
        if isinstance(outer, (ast.If, ast.While, ast.IfExp, ast.Assert)) and outer.test is child:
            return True
        if not isinstance(outer, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp)):
            return False
        child = outer
    return False


def destination(look: Look, node: ast.expr) -> str:
    """What is done with a number that must be a number, with what else would help."""
    module = look.module
    parent = module.parent(node)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name) and parent.value is node:
        return next((destination(look, mention) for mention in loads(module, parent.targets[0])), "it is not used here")
    if is_decided_elsewhere(look, node):
        return "it decides a branch (see select_without_branch)"
    if isinstance(parent, ast.Slice) or is_given_as_size(module, node):
        return "it is a size, and shapes that depend on values are not fixed"
    if isinstance(parent, ast.Subscript):
        return "it is an index: the part that it picks is a view, which a tensor as index would copy"
    if isinstance(parent, (ast.Tuple, ast.List, ast.Dict)):
        return destination(look, parent)
    if isinstance(parent, ast.Return):
        return "it is returned as a number"
    if isinstance(parent, (ast.Call, ast.keyword)):
        return "it is given to a call as a number"
    if isinstance(parent, ast.Assign):
        return "it is stored where others read it as a number"
    if isinstance(parent, (ast.FormattedValue, ast.JoinedStr)):
        return "it is part of a text (see log_without_break)"
    return "what it meets is not seen to be a tensor"


def is_given_as_size(module: Module, node: ast.AST) -> bool:
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in SIZED
