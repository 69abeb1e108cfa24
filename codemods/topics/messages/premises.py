"""Where a message must stay as it is: what stands around it."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module, position
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.topics.messages.helper import is_made
from fullgraph.codemods.topics.messages.kinds import ONCE, is_message
from fullgraph.codemods.topics.messages.tests import DECIDING, REDUCING

VALUES = {*DECIDING, *REDUCING, "item"}
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


# What comes before it


def is_first(module: Module, function: Function, call: ast.Call) -> bool:
    """Whether no other message and no test of a tensor's value stands above: nobody sees when it is said."""
    above = [node for node in own_nodes(function) if hasattr(node, "lineno") and position(node) < position(call)]
    return not any(speaks(module, node) or depends_on_values(module, node) for node in above)


def speaks(module: Module, node: ast.AST) -> bool:
    """Whether a node is a message of each call, also as the call of a helper."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    made = [one for one in module.tree.body if isinstance(one, ast.FunctionDef) and one.name == name]
    return any(is_made(module, one) for one in made) or (
        is_message(module, node) and getattr(node.func, "attr", "") not in ONCE
    )


def depends_on_values(module: Module, node: ast.AST) -> bool:
    """Whether a node goes on, or not, by what is in a tensor."""
    test = node.test if isinstance(node, (ast.If, ast.While, ast.Assert, ast.IfExp)) else None
    if test is None:
        return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_assert_async"
    names = (inner for inner in ast.walk(test) if isinstance(inner, ast.Name))
    values = (binding.value for name in names for binding in module.scopes.bindings(name))
    return any(reads_values(one) for one in (test, *values) if one is not None)


def reads_values(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) and getattr(one.func, "attr", "") in VALUES for one in ast.walk(node))
