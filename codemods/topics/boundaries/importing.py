"""Modules that call what another one compiles: they import the boundary in its place."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import by_kind, insert_name
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.dropping import drop_names
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.boundaries.requests import Compiled
from fullgraph.codemods.topics.boundaries.uses import Uses

ORDERS = (by_kind, str.lower, str)


def import_boundary(project: Project, compiled: Compiled, uses: Uses, name: str) -> list[Edit]:
    """The imports that the calls in other modules need, and those that they need no longer."""
    modules = {module.path: module for module, call in uses.calls if isinstance(call.func, ast.Name)}
    if compiled.kind != "global":
        return []
    return [
        edit
        for path, module in sorted(modules.items())
        if path != compiled.module.path
        for edit in import_in(compiled, uses, module, name)
    ]


def import_in(compiled: Compiled, uses: Uses, module: Module, name: str) -> list[Edit]:
    node, alias = imported_by(compiled, uses, module)
    if module.scopes.binders(name):
        raise Unsure(f"{where(module, node)}: the name {name!r} is used for something else here")
    old = alias.asname or alias.name
    called = {call.func for home, call in uses.calls if home is module}
    others = [one for one in module.scopes.named.get(old, []) if isinstance(one, ast.Name) and one not in called]
    if others or f'"{old}"' in module.text or f"'{old}'" in module.text:
        return [insert_name(module, node, name)]
    if len(node.names) == 1:
        return [module.replace(module.span(alias), name)]
    names = [item.name for item in node.names]
    renamed = [name if item is alias else item.name for item in node.names]
    if any(names == sorted(names, key=order) and renamed == sorted(renamed, key=order) for order in ORDERS):
        return [module.replace(module.span(alias), name)]
    return [*drop_names(module, node, [alias]), insert_name(module, node, name)]


def imported_by(compiled: Compiled, uses: Uses, module: Module) -> tuple[ast.ImportFrom, ast.alias]:
    """The only import at the top level by which a module has the callable; it must name the home module itself."""
    names = {call.func.id for home, call in uses.calls if home is module and isinstance(call.func, ast.Name)}
    found = [
        (node, alias)
        for node in module.nodes(ast.ImportFrom)
        for alias in node.names
        if (alias.asname or alias.name) in names
    ]
    if len(found) != 1 or found[0][0] not in module.tree.body:
        raise Unsure(f"{module.path}:{found[0][0].lineno if found else 1}: it is not imported once, at the top level")
    node = found[0][0]
    if module.imports.origin(node) != compiled.module.name:
        raise Unsure(f"{where(module, node)}: it is imported by way of another module")
    return found[0]
