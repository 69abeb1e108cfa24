"""What a loop's target is an element of, through `enumerate`, `zip` and copies."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module

COPIES = ("list", "tuple", "iter")


def call_name(node: ast.AST) -> str:
    """`list` of `list(x, ...)`."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def unwrap(node: ast.expr) -> ast.expr:
    """What a copy in `list()`, `tuple()` or `iter()` is made of."""
    while call_name(node) in COPIES and len(node.args) == 1 and not node.keywords:  # type: ignore[attr-defined]
        node = node.args[0]  # type: ignore[attr-defined]
    return node


def element_of(module: Module, target: ast.AST) -> ast.expr | None:
    """The iterable of which a loop's target is one element: `xs` for `x` in `for i, x in enumerate(xs)`."""
    parent = module.parent(target)
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.target is target:
        source = unwrap(parent.iter)
        return None if call_name(source) in ("enumerate", "zip") else source
    if not isinstance(parent, ast.Tuple):
        return None
    loop = module.parent(parent)
    if isinstance(loop, (ast.For, ast.comprehension)) and loop.target is parent and isinstance(loop.iter, ast.Call):
        position = next(number for number, item in enumerate(parent.elts) if item is target)
        name, arguments = call_name(loop.iter), loop.iter.args
        if name == "enumerate" and position == 1 and arguments:
            return unwrap(arguments[0])
        if name == "zip" and position < len(arguments) and not any(isinstance(a, ast.Starred) for a in arguments):
            return unwrap(arguments[position])
    return None
