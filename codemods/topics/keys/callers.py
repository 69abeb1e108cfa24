"""What a function is given: the arguments of all its calls, if they can all be seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import FUNCTIONS, position
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, Place
from fullgraph.codemods.topics.keys.functions import parameter_for
from fullgraph.codemods.topics.keys.variables import variable_of

MANY = 10
"""Files that mention a function, beyond which its callers are not looked for."""


def arguments_for(
    definitions: Definitions, module: Module, parameter: ast.arg
) -> Iterator[tuple[Definition, ast.expr | None]]:
    """Each call with what it passes for a parameter, those in its own file first; None where that cannot be told.

    Only for functions at the top level of a module: a method may be called in ways that nobody sees.
    """
    function = module.enclosing(parameter, *FUNCTIONS)
    if not isinstance(function, ast.FunctionDef) or module.parent(function) is not module.tree:
        return
    if function.decorator_list or parameter in (function.args.vararg, function.args.kwarg):
        return
    home = Place(module, function)
    yield from (argument(home, reference, parameter) for reference in references(definitions, home, module))
    paths = [path for path in definitions.project.mentions(function.name) if path != module.path]
    if len(paths) > MANY:
        yield home, None
        return
    for path in paths:
        try:
            others = references(definitions, home, definitions.project.module(path))
        except SourceError:
            yield home, None
            return
        yield from (argument(home, reference, parameter) for reference in others)


def references(definitions: Definitions, function: Place[ast.FunctionDef], module: Module) -> list[Definition]:
    """Every mention of a function in the code of one module, but for imports."""
    name = function.node.name
    names = [node for node in module.scopes.named.get(name, []) if isinstance(node, ast.Name)]
    attributes = [node for node in module.unordered(ast.Attribute) if node.attr == name]
    found: list[Definition] = []
    for node in sorted([*names, *attributes], key=position):
        meant = definitions.statement(module, node)
        if is_same(meant, function) or (meant is None and may_be_anything(module, node)):
            found.append(Place(module, node))
    return found


def is_same(meant: Definition | None, function: Place[ast.FunctionDef]) -> bool:
    """Whether both are the same function. By name: at a first glance its file is there twice."""
    if meant is None or not isinstance(meant.node, ast.FunctionDef):
        return False
    mine, theirs = ((place.module.path, place.module.symbol(place.node)) for place in (function, meant))
    return mine == theirs


def may_be_anything(module: Module, node: ast.AST) -> bool:
    """Whether nothing is known of a name or an attribute: it is no import from elsewhere, nor a local variable."""
    if module.resolve(node) is not None:
        return False
    bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    imports = [item for item in bindings if isinstance(item.node, (ast.Import, ast.ImportFrom))]
    return bool(imports) or not (isinstance(node, ast.Name) and variable_of(module, node))


def argument(
    function: Place[ast.FunctionDef], reference: Definition, parameter: ast.arg
) -> tuple[Definition, ast.expr | None]:
    """One call and what it passes; a function that is handed around may be called with anything."""
    call = reference.module.parent(reference.node)
    if not isinstance(call, ast.Call) or call.func is not reference.node:
        return reference, None
    place = Place(reference.module, call)
    for value in call.args:
        if parameter_for(function, call, value, call) is parameter:
            return place, value
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return place, keyword.value
    return place, None
