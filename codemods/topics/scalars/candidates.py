"""Which functions may hold something to repair, by their own nodes alone: the dear questions are asked of few."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.topics.scalars.index_loops import positions_of
from fullgraph.codemods.topics.scalars.masks import MASKS, REDUCTIONS
from fullgraph.codemods.topics.scalars.quotients import rounding
from fullgraph.codemods.topics.scalars.reads import CONVERSIONS
from fullgraph.codemods.topics.scalars.size_loops import looped, uses_sizes
from fullgraph.codemods.topics.scalars.variables import value_of

QUESTIONS = (ast.Compare, ast.UnaryOp, ast.Call, ast.Subscript, ast.Attribute)


def may_break(module: Module, function: Function) -> bool:
    """Whether something in a function looks like a read of a number or of a shape."""
    return any(looks_like_one(module, node) for node in own_nodes(function))


def looks_like_one(module: Module, node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return is_read(module, node)
    if isinstance(node, ast.Subscript):
        return is_picked(module, node)
    if isinstance(node, ast.For):
        name, target = looped(module, node)
        is_sized = name is not None and isinstance(target, ast.Tuple) and uses_sizes(module, target)
        return is_sized or positions_of(module, node.iter) is not None
    return False


def is_read(module: Module, call: ast.Call) -> bool:
    """`t.item()`, `float(x.mean())`, `m.nonzero()`, `torch.where(m)`, `torch.div(a, b, rounding_mode="floor")`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("item", "nonzero"):
        return True
    if name == "where":
        return len(call.args) == 1 and not call.keywords
    if name in ("div", "floor_divide"):
        return bool(rounding(module, call))
    return name in CONVERSIONS and len(call.args) == 1 and isinstance(call.args[0], (ast.Call, ast.Subscript))


def is_picked(module: Module, node: ast.Subscript) -> bool:
    """Whether an index may be a mask: a question, or a variable for the answer to one."""
    index = node.slice
    if isinstance(index, ast.Name):
        if MASKS.search(index.id) and is_reduced(module, node):
            return True
        index = value_of(module, index) or index
        return isinstance(index, QUESTIONS) and (is_reduced(module, node) or isinstance(index, ast.Compare))
    return isinstance(index, ast.Compare) or (isinstance(index, QUESTIONS) and is_reduced(module, node))


def is_reduced(module: Module, node: ast.Subscript) -> bool:
    parent = module.parent(node)
    return not isinstance(node.ctx, ast.Load) or (isinstance(parent, ast.Attribute) and parent.attr in REDUCTIONS)
