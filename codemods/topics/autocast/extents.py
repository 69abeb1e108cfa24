"""How far a `with autocast(...)` reaches: a single call of a model, or on to the backward pass."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.extraction.moved_text import moved
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place, only_class, where
from fullgraph.codemods.topics.autocast.regions import Region, is_autocast

PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Starred, ast.keyword, ast.expr_context)
FAR = 8
"""How many statements behind the region a backward pass is looked for."""


@dataclass(frozen=True)
class ModelCall:
    """A `with` around one call of a model of the project and nothing else."""

    region: Region
    entered: ast.With
    call: ast.Call
    owner: Place[ast.ClassDef]
    forward: Place[ast.FunctionDef]


def model_call(project: Project, region: Region) -> ModelCall | None:
    """The only thing that a region does, if that is to call a model of the project."""
    if len(region.withs) != 1 or len(region.withs[0].body) != 1 or len(region.withs[0].items) != 1:
        return None
    entered, only = region.withs[0], region.withs[0].body[0]
    call = only.value if isinstance(only, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)) else None
    if not isinstance(call, ast.Call) or entered.items[0].optional_vars or not has_plain_arguments(call):
        return None
    names, module = Definitions(project), region.module
    owner = only_class(names.instance(module, call.func))
    found = names.member(owner, "forward") if owner else None
    if owner is None or found is None or not isinstance(found.node, ast.FunctionDef):
        return None
    return ModelCall(region, entered, call, owner, Place(found.module, found.node))


def has_plain_arguments(call: ast.Call) -> bool:
    """Whether nothing is computed for the call: that would be computed outside the region then."""
    given = (node for argument in (*call.args, *call.keywords) for node in ast.walk(argument))
    return all(isinstance(node, PLAIN) for node in given)


def autocast_around(module: Module, node: ast.AST) -> ast.expr | None:
    """What the innermost `with` around a node enters, of those that enter an autocast in the same function."""
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        if isinstance(outer, ast.With):
            for item in outer.items:
                if any(is_autocast(module, inner) for inner in ast.walk(item.context_expr)):
                    return item.context_expr
    return None


# The backward pass


def backward_behind(region: Region) -> tuple[ast.With, list[ast.stmt]] | None:
    """The region and the statements behind it, up to the backward pass; None if there is none, or it is inside."""
    module, entered = region.module, region.withs[-1]
    if any(is_backward(node) for node in ast.walk(entered)):
        return None
    block = module.block(entered)
    behind = block[block.index(entered) + 1 :][:FAR]
    for count, statement in enumerate(behind, 1):
        if isinstance(statement, ast.Expr) and is_backward(statement.value):
            return entered, behind[:count]
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Return, ast.With, ast.For, ast.While)):
            return None
    return None


def is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and last_name(node) == "backward"


def extended(module: Module, entered: ast.With, statements: list[ast.stmt]) -> Edit:
    """The statements as part of the `with`."""
    first, last = statements[0], statements[-1]
    end = module.span(last).end
    rest = module.text[end : module.line_end(end)]
    shares = not module.begins_line(first) or (rest.strip() and not rest.lstrip().startswith("#"))
    if shares or not module.begins_line(entered.body[0]):
        raise Unsure(f"{where(module, entered)}: statements share a line")
    behind = module.line_end(module.span(entered).end)
    span = Span(behind, end + len(rest.rstrip()))
    return module.replace(span, moved(module, span, module.indent(entered), module.indent(entered.body[0])))
