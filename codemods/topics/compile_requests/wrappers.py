"""What stands around a request: the gate, and around that the counter.

The counter is the outer one. A gate falls back only when nothing has run between it and the compiler, and calls are
to be counted whether or not the compiler is on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.syntax.compiled import asks_to_compile, target_of
from fullgraph.codemods.topics.compile_requests.requests import Form, Request

GATED, COUNTED = "gated", "counted"
WRAPPERS = (GATED, COUNTED)
"""From the inside out."""


def wrapper_of(request: Request, name: str) -> ast.Call | None:
    """The `counted("name", ...)` or `gated("FLAG", ...)` that the request has already."""
    return next((node for node in around(request) if isinstance(node, ast.Call) and last_name(node.func) == name), None)


def around(request: Request) -> Iterator[ast.AST]:
    """Where wrappers of the request can stand; those of another one around it are not its own."""
    module = request.module
    if request.form is Form.DECORATOR:
        yield from getattr(request.target, "decorator_list", [])
    elif request.form is Form.IN_PLACE:
        receiver = ast.dump(request.target)
        for sibling in module.block(module.statement(request.node)):
            call = sibling.value if isinstance(sibling, ast.Expr) else None
            if isinstance(call, ast.Call) and any(ast.dump(given) == receiver for given in call.args):
                yield call
    else:
        for node in module.ancestors(request.node):
            if isinstance(node, ast.Call) and (asks_to_compile(module, node) or target_of(module, node) is not None):
                return
            yield node


def layers_of(request: Request) -> list[ast.Call]:
    """The wrappers that hold nothing but the request, from the inside out."""
    node: ast.AST = request.node
    found: list[ast.Call] = []
    while is_layer(parent := request.module.parent(node), node):
        assert isinstance(parent, ast.Call)
        found.append(parent)
        node = parent
    return found


def is_layer(parent: ast.AST | None, node: ast.AST) -> bool:
    is_wrapper = isinstance(parent, ast.Call) and last_name(parent.func) in WRAPPERS
    return is_wrapper and isinstance(parent, ast.Call) and parent.args[1:] == [node]


def outermost(request: Request) -> ast.expr:
    """The request, with the wrappers that stand around it."""
    return [request.node, *layers_of(request)][-1]


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
