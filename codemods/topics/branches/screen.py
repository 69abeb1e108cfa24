"""Which branches of a module ask for a tensor's value, by their words."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS, assigned_values
from fullgraph.codemods.syntax.tensors.known import is_foreign
from fullgraph.codemods.topics.branches.operations import REDUCTIONS

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
    """Whether a reduction decides, in the test itself or in what one of its operands was assigned."""
    return any(reduces(module, value) for operand in operands(module, test) for value in values_of(function, operand))


def values_of(function: Function, node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Name):
        return [node]
    return [
        value for value in assigned_values(function, node.id) if isinstance(value, ast.Call | ast.Compare | ast.BinOp)
    ]


def reduces(module: Module, expression: ast.expr) -> bool:
    """Whether a reduction is called outermost, or compared: `x.any()`, `x.sum() > 0`, `not x.all()`."""
    return any(is_reduction(module, operand) for operand in operands(module, expression))


def operands(module: Module, expression: ast.expr) -> list[ast.expr]:
    """Whose values decide what an expression is. `x is None` and attributes as `x.ndim` ask for no value of `x`."""
    if isinstance(expression, ast.BoolOp):
        parts = expression.values
    elif isinstance(expression, ast.UnaryOp):
        parts = [expression.operand]
    elif isinstance(expression, ast.NamedExpr):
        parts = [expression.value]
    elif isinstance(expression, ast.Compare):
        is_identity = all(isinstance(sign, ast.Is | ast.IsNot) for sign in expression.ops)
        parts = [] if is_identity else [expression.left, *expression.comparators]
    elif isinstance(expression, ast.BinOp):
        parts = [expression.left, expression.right]
    elif isinstance(expression, ast.Call) and module.scopes.is_builtin(expression.func, "bool", "float", "int"):
        parts = expression.args[:1]
    else:
        return [expression]
    return [inner for part in parts for inner in operands(module, part)]


def is_reduction(module: Module, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", "")
    return name in REDUCTIONS | {"item"} and not is_foreign(module.resolve(node.func))


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
    function = module.enclosing(node, *FUNCTIONS)
    return any(asks_compiling(function, outer.test) for outer in asked if isinstance(outer, ast.If))


def is_return(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return)


def asks_compiling(function: Function | None, test: ast.expr) -> bool:
    """Whether a test calls `is_compiling`, or reads a name that holds its answer."""
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    held = [value for name in names for value in assigned_values(function, name)] if function else []
    return any(
        getattr(node, "attr", getattr(node, "id", "")) in COMPILING for one in (test, *held) for node in ast.walk(one)
    )


def is_in_comprehension(module: Module, node: ast.AST) -> bool:
    kinds = (ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return module.enclosing(node, *kinds, ast.stmt).__class__ in kinds
