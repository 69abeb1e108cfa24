"""Where a message must stay as it is: what stands around it."""

from __future__ import annotations

import ast

from codemods.codemod import Unsure
from codemods.module import Function, Module
from codemods.syntax.assignments import own_nodes

TRIES = (ast.Try, ast.TryStar)
SCRIPTS = {"torch.jit.script", "torch.jit.export", "torch.jit.script_method", "torch.jit.script_if_tracing"}


def check_place(module: Module, call: ast.Call, function: Function) -> ast.Expr:
    """The statement that is the message; Unsure where it cannot become a part of the graph."""
    where = f"{module.path}:{call.lineno}"
    statement = module.parent(call)
    if not isinstance(statement, ast.Expr):
        raise Unsure(f"{where}: what the message returns is used")
    if isinstance(function, ast.AsyncFunctionDef) or any(
        isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)
    ):
        raise Unsure(f"{where}: the message stands in a generator or a coroutine")
    for outer in module.ancestors(statement):
        if outer is function:
            break
        check_around(module, outer, where)
    check_scripted(module)
    return statement


def check_around(module: Module, outer: ast.AST, where: str) -> None:
    if isinstance(outer, TRIES):
        raise Unsure(f"{where}: the message stands in a `try`")
    if isinstance(outer, (ast.With, ast.AsyncWith)):
        for item in outer.items:
            entered = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            if not (module.resolve(entered) or "").startswith("torch."):
                raise Unsure(f"{where}: the message stands in a `with` that may be meant for it")


def check_scripted(module: Module) -> None:
    for node in module.nodes(ast.Attribute, ast.Name):
        if module.resolve(node) in SCRIPTS:
            raise Unsure(f"{module.path}:{node.lineno}: TorchScript compiles code of this file")
