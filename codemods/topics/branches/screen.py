"""Which branches of a module ask for a tensor's value, by their words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.module import Function, Module
from codemods.syntax.assignments import FUNCTIONS, assigned_values
from codemods.syntax.tensors.known import is_foreign
from codemods.topics.branches.operations import REDUCTIONS

COMPILING = ("is_compiling", "is_dynamo_compiling")


@dataclass(frozen=True)
class Branch:
    node: ast.If | ast.IfExp
    function: Function


def branches(module: Module) -> Iterator[Branch]:
    """Each `if` and conditional expression whose test may be a tensor. What follows such a test belongs to it."""
    for node in module.nodes(ast.If, ast.IfExp):
        function = module.enclosing(node, *FUNCTIONS, ast.Lambda, ast.ClassDef)
        if not isinstance(function, FUNCTIONS) or not asks_for_value(module, function, node.test):
            continue
        is_part = any(asks_for_value(module, function, head.test) for head in heads(module, node))
        if is_part or is_for_others(node) or is_guarded(module, node) or is_in_comprehension(module, node):
            continue
        yield Branch(node, function)


def asks_for_value(module: Module, function: Function, test: ast.expr) -> bool:
    values = [value for node in ast.walk(test) if isinstance(node, ast.Name) for value in values_of(function, node)]
    return any(reduces(module, expression) for expression in (test, *values))


def values_of(function: Function, node: ast.Name) -> list[ast.expr]:
    return [
        value for value in assigned_values(function, node.id) if isinstance(value, ast.Call | ast.Compare | ast.BinOp)
    ]


def reduces(module: Module, expression: ast.expr) -> bool:
    """Whether a reduction is called outermost, or compared: `x.any()`, `x.sum() > 0`, `not x.all()`."""
    if isinstance(expression, ast.BoolOp):
        return any(reduces(module, value) for value in expression.values)
    if isinstance(expression, ast.UnaryOp):
        return reduces(module, expression.operand)
    if isinstance(expression, ast.Compare):
        return any(reduces(module, side) for side in (expression.left, *expression.comparators))
    if isinstance(expression, ast.BinOp):
        return reduces(module, expression.left) or reduces(module, expression.right)
    if not isinstance(expression, ast.Call):
        return False
    if module.scopes.is_builtin(expression.func, "bool", "float", "int") and expression.args:
        return reduces(module, expression.args[0])
    name = getattr(expression.func, "attr", "")
    return name in REDUCTIONS | {"item"} and not is_foreign(module.resolve(expression.func))


def heads(module: Module, node: ast.AST) -> Iterator[ast.If]:
    """The `if` and `elif` before a branch in its chain, the nearest first."""
    parent = module.parent(node)
    while isinstance(parent, ast.If) and parent.orelse == [node]:
        yield parent
        node, parent = parent, module.parent(parent)


def is_for_others(node: ast.If | ast.IfExp) -> bool:
    """Whether a branch only raises or says something: other codemods are for these."""
    if isinstance(node, ast.IfExp) or node.orelse:
        return False
    return all(isinstance(statement, ast.Raise | ast.Assert | ast.Expr) for statement in node.body)


def is_guarded(module: Module, node: ast.AST) -> bool:
    """Whether the code asks already whether it is compiled: around the branch, just before it, or to return."""
    statement = module.statement(node)
    around = [outer for outer in (statement, *module.ancestors(node)) if isinstance(outer, ast.stmt)]
    blocks = [(outer, module.block(outer)) for outer in around]
    earlier = [block[: block.index(outer)] for outer, block in blocks]
    leaving = [item for block in earlier for item in block if isinstance(item, ast.If) and is_return(item.body[-1])]
    asked = [*around, *earlier[0][-1:], *leaving]
    return any(asks_compiling(outer.test) for outer in asked if isinstance(outer, ast.If))


def is_return(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return)


def asks_compiling(test: ast.expr) -> bool:
    return any(getattr(node, "attr", getattr(node, "id", "")) in COMPILING for node in ast.walk(test))


def is_in_comprehension(module: Module, node: ast.AST) -> bool:
    kinds = (ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return module.enclosing(node, *kinds, ast.stmt).__class__ in kinds
