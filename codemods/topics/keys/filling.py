"""A dict that begins empty and gets one entry in each round of a loop."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.keys.loops import keys_source, loop_target
from fullgraph.codemods.topics.keys.variables import Variable

LEAVING = (ast.Break, ast.Continue, ast.Return)


def filled_from(variable: Variable, place: ast.AST) -> ast.expr | None:
    """What the loop that fills the dict runs over, if every round has been run when `place` is."""
    module = variable.module
    first = first_store(variable)
    loop = module.parent(module.statement(first)) if first else None
    if first is None or not isinstance(loop, ast.For) or not isinstance(module.parent(first), ast.Assign):
        return None
    if not follow_each_other(module, module.statement(variable.bindings[0]), loop, place):
        return None
    target = loop_target(module, first.slice) if isinstance(first.slice, ast.Name) else None
    complete = not any(isinstance(node, LEAVING) for node in ast.walk(loop))
    return keys_source(module, target) if complete and target and target in ast.walk(loop.target) else None


def first_store(variable: Variable) -> ast.Subscript | None:
    """The first `d[...] =` in the text."""
    for use in variable.uses():
        parent = variable.module.parent(use)
        if isinstance(parent, ast.Subscript) and parent.value is use and isinstance(parent.ctx, ast.Store):
            return parent
    return None


def follow_each_other(module: Module, start: ast.stmt, loop: ast.For, place: ast.AST) -> bool:
    """Whether start, loop and place stand in one block: further out, an exception may have ended the loop early."""
    block = module.block(loop)
    inside = start in block and any(outer in block for outer in (place, *module.ancestors(place)))
    return (
        inside and module.span(start).end < module.span(loop).start < module.span(loop).end < module.span(place).start
    )


def is_empty_dict(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Dict):
        return not node.keys
    is_call = isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, "dict")
    return is_call and not node.args and not node.keywords  # type: ignore[attr-defined]
