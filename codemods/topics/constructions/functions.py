"""Helper functions that a function defines anew at each call although nothing of the call is in them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.extraction.moved_text import moved, whole_lines
from fullgraph.codemods.syntax.extraction.owner import is_private
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.placing import insert_at
from fullgraph.codemods.syntax.signatures.docstrings import docstring_of
from fullgraph.codemods.topics.constructions.writing import remove_line

REFLECTION = ("locals", "vars", "eval", "exec", "dir", "setattr", "id")


@dataclass(frozen=True)
class Helper:
    """A function, or a lambda with a name, and the function that defines it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign
    name: str
    outer: Function

    @property
    def made(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
        value = self.node.value if isinstance(self.node, ast.Assign) else self.node
        assert isinstance(value, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        return value


def helpers(module: Module) -> Iterator[Helper]:
    """Every function without decorators, and every named lambda, directly in a function."""
    for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        outer = module.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        if isinstance(outer, Function) and not node.decorator_list:
            yield Helper(node, node.name, outer)
    for made in module.nodes(ast.Lambda):
        assign = module.parent(made)
        outer = module.enclosing(made, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        target = assign.targets[0] if isinstance(assign, ast.Assign) and len(assign.targets) == 1 else None
        if isinstance(assign, ast.Assign) and isinstance(target, ast.Name) and isinstance(outer, Function):
            yield Helper(assign, target.id, outer)


def together(module: Module, helper: Helper, others: Sequence[Helper]) -> list[Helper]:
    """The helper, and the helpers that must move with it; empty if one of them cannot."""
    group, todo = [], [helper]
    while todo:
        one = todo.pop()
        if one in group:
            continue
        used = needs(module, one) if is_movable(module, one) else None
        found = [other for other in others if used and other.outer is one.outer and other.name in used]
        if used is None or {other.name for other in found} != used:
            return []
        group.append(one)
        todo += found
    return group


def needs(module: Module, helper: Helper) -> set[str] | None:
    """The functions of the same call that a helper uses; None if it uses anything else of the call."""
    found: set[str] = set()
    made = helper.made
    for node in ast.walk(made):
        if isinstance(node, (ast.Global, ast.Nonlocal)) or is_private(module, node):
            return None
        if isinstance(node, ast.Name):
            scope = module.scopes.of(node)
            if scope is helper.outer:
                found.add(node.id)
            elif not is_own(module, made, scope) and not isinstance(scope, ast.Module):
                return None
    return found - {helper.name}


def is_own(module: Module, made: ast.AST, scope: ast.AST) -> bool:
    return scope is made or made in module.ancestors(scope)


def is_movable(module: Module, helper: Helper) -> bool:
    """Whether nobody can tell the function from one that was defined once, at the top level of the module."""
    arguments = helper.made.args
    defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
    if not all(isinstance(default, ast.Constant) for default in defaults):
        return False
    if len(module.scopes.within(helper.outer, helper.name)) != 1 or not is_free(module, helper):
        return False
    calls = (node for node in ast.walk(helper.outer) if isinstance(node, ast.Call))
    if any(module.scopes.is_builtin(call.func, *REFLECTION) for call in calls):
        return False
    mentions = module.scopes.names(helper.outer, helper.name)
    loads = [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]
    return bool(loads) and all(is_called_or_given(module, load) for load in loads) and names_settled(module, helper)


def is_free(module: Module, helper: Helper) -> bool:
    """Whether the name means nothing yet at the top level, nor in a function around."""
    if helper.name in dir(builtins) or module.scopes.within(module.tree, helper.name) or module.scopes.binders("*"):
        return False
    around = [scope for scope in module.ancestors(helper.outer) if isinstance(scope, (Function, ast.Lambda))]
    others = [node for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef) if node.name == helper.name]
    if any(node is not helper.made and not isinstance(module.parent(node), ast.ClassDef) for node in others):
        return False
    named = [module.parent(node) for node in module.scopes.named[helper.name] if isinstance(node, ast.Name)]
    lambdas = [one for one in named if isinstance(one, ast.Assign) and isinstance(one.value, ast.Lambda)]
    if any(one is not helper.node for one in lambdas):
        return False
    is_read = any(
        module.scopes.of(node) is module.tree for node in module.scopes.named[helper.name] if isinstance(node, ast.Name)
    )
    return not is_read and not any(module.scopes.within(scope, helper.name) for scope in around)


def is_called_or_given(module: Module, load: ast.Name) -> bool:
    """Whether the function is called, or an argument of a call; what is returned or stored may be told apart."""
    parent = module.parent(load)
    call = module.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call)


def names_settled(module: Module, helper: Helper) -> bool:
    """Whether annotations, which are evaluated with the definition, mean the same at the top level."""
    arguments = helper.made.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    annotations = [item.annotation for item in every if item and item.annotation]
    annotations += [helper.made.returns] if isinstance(helper.made, Function) and helper.made.returns else []
    names = [node for item in annotations for node in ast.walk(item) if isinstance(node, ast.Name)]
    return all(module.resolve(name) or not module.scopes.bindings(name) for name in names)


def top_statement(module: Module, node: ast.AST) -> ast.stmt:
    *_, top = [outer for outer in module.ancestors(node) if isinstance(outer, ast.stmt)]
    return top


def move_to_top(module: Module, helper: Helper) -> tuple[Edit, ...]:
    """The edits that define the helper above the statement that it stands in; Unsure where there is no room."""
    top = top_statement(module, helper.node)
    if not isinstance(top, (*FUNCTIONS, ast.ClassDef)) or not module.begins_line(top):
        raise Unsure(f"{where(module, top)}: no room above the definition")
    block = module.block(helper.node)
    if len(block) < 2:
        raise Unsure(f"{where(module, helper.node)}: nothing else stands in its block")
    span = whole_lines(module, [helper.node])
    indent = module.indent(helper.node)
    text = as_function(module, helper)
    if isinstance(helper.node, Function):
        text = moved(module, span, indent, "", docstring_at_margin(module, helper.node, indent))
    start = module.line_start(statement_start(module, top))
    while start and module.text[module.line_start(start - 1) : start].startswith("#"):
        start = module.line_start(start - 1)
    return *insert_at(module, start, text.strip()), remove_line(module, helper.node, span.start)


def docstring_at_margin(module: Module, function: Function, indent: str) -> list[tuple[Span, str]]:
    """The docstring of a function with as much less indentation as the function gets, where that can be taken off."""
    docstring = docstring_of(function)
    if docstring is None:
        return []
    lines = module.code(docstring).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if any(line.strip() and not line.startswith(indent) for line in lines[1:]):
        return []
    text = "\n".join([lines[0], *(line.removeprefix(indent) for line in lines[1:])])
    return [(module.span(docstring), text)]


def as_function(module: Module, helper: Helper) -> str:
    """A named lambda as the function that it is; nothing for one that is a function already."""
    made = helper.made
    if not isinstance(made, ast.Lambda):
        return ""
    code = module.code(made)
    body = module.code(made.body)
    parameters = code[len("lambda") : len(code) - len(body)].rstrip()
    if "\n" in code or "\r" in code or not parameters.endswith(":") or "(" in parameters:
        raise Unsure(f"{where(module, made)}: the lambda is not of one plain line")
    return f"def {helper.name}({parameters[:-1].strip()}):\n{module.indent_unit}return {body}"
