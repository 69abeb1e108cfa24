"""The shapes of a loop: what is iterated, under which name, and through which wrappers."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.loops import call_name, element_of


def mapping_of(node: ast.expr) -> ast.expr:
    """`d` of `d.keys()`; anything else as it is."""
    return node.func.value if is_method_call(node, "keys") else node  # type: ignore[attr-defined]


def is_method_call(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and not node.args
        and not node.keywords
    )


def keys_source(module: Module, target: ast.AST) -> ast.expr | None:
    """The constant or the dict over whose keys a loop's target runs, completely and in order (so not through `zip`)."""
    parent = module.parent(target)
    if isinstance(parent, ast.Tuple):
        loop = module.parent(parent)
        if not isinstance(loop, (ast.For, ast.comprehension)) or loop.target is not parent:
            return None
        if is_method_call(loop.iter, "items") and parent.elts[0] is target:
            return loop.iter.func.value  # type: ignore[attr-defined,no-any-return]
        if call_name(loop.iter) == "zip":
            return None
    source = element_of(module, target)
    return mapping_of(source) if source is not None else None


def loop_target(module: Module, name: ast.Name) -> ast.Name | None:
    """The target of the innermost loop around a name that binds it, if the loop's body binds it no second time."""
    for outer in module.ancestors(name):
        loops = [outer] if isinstance(outer, ast.For) else getattr(outer, "generators", [])
        for loop in loops:
            found = [node for node in ast.walk(loop.target) if isinstance(node, ast.Name) and node.id == name.id]
            if found:
                return found[0] if stores(outer, name.id) == 1 else None
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
    return None


def stores(tree: ast.AST, name: str) -> int:
    return sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in ast.walk(tree)
    )


def is_index(node: ast.expr) -> bool:
    """Whether a subscript could pick one element of a list."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, int))
