"""What a function is given: the arguments of all its calls, if they can all be seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.model import SourceError
from codemods.module import Module
from codemods.project import Project
from codemods.topics.keys.bindings import FUNCTIONS, bindings_of, variable_of
from codemods.topics.keys.changes import parameter_for
from codemods.topics.keys.definitions import Place, definition

MANY = 10
"""Files that mention a function, beyond which its callers are not looked for."""


def arguments_for(project: Project, module: Module, parameter: ast.arg) -> Iterator[tuple[Place, ast.expr | None]]:
    """Each call with what it passes for a parameter, those in its own file first; None where that cannot be told.

    Only for functions at the top level of a module: a method may be called in ways that nobody sees.
    """
    function = module.enclosing(parameter, *FUNCTIONS)
    if not isinstance(function, ast.FunctionDef) or module.parent(function) is not module.tree:
        return
    if function.decorator_list or parameter in (function.args.vararg, function.args.kwarg):
        return
    home = Place(module, function)
    yield from (argument(home, reference, parameter) for reference in references(project, home, module))
    paths = [path for path in project.mentions(function.name) if path != module.path]
    if len(paths) > MANY:
        yield home, None
        return
    for path in paths:
        try:
            others = references(project, home, project.module(path))
        except SourceError:
            yield home, None
            return
        yield from (argument(home, reference, parameter) for reference in others)


def references(project: Project, function: Place, module: Module) -> list[Place]:
    """Every mention of a function in the code of one module, but for imports."""
    assert isinstance(function.node, ast.FunctionDef)
    name = function.node.name
    found = []
    for node in [*bindings_of(module).reads.get(name, []), *module.nodes(ast.Attribute)]:
        if getattr(node, "attr", name) != name or (isinstance(node, ast.Name) and variable_of(module, node)):
            continue
        meant = definition(project, module, node)
        if meant == function or (meant is None and module.resolve(node) is None):
            found.append(Place(module, node))
    return found


def argument(function: Place, reference: Place, parameter: ast.arg) -> tuple[Place, ast.expr | None]:
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
