"""How a module can write a constant of the project, importing it if need be."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import insert_import
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.importing import check_import, import_name, relative_origin
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.keys.constants import Constant


def spell(definitions: Definitions, module: Module, constant: Constant, place: ast.AST) -> tuple[str, tuple[Edit, ...]]:
    """How to write the constant at a place, with the edits that import it; Unsure where that cannot be done."""
    if module.path == constant.path:
        check_in_reach(module, constant, place)
        return constant.name, ()
    if spelling := imported_spelling(definitions, module, constant, place):
        return spelling, ()
    check_importable(definitions, module, constant)
    dotted = import_name(module, definitions.project, constant.path)
    if (origin := relative_origin(module, dotted)) and not imports_from(module, dotted):
        return constant.name, (insert_import(module, f"from {origin} import {constant.name}", dotted),)
    return module.imports.require(dotted, constant.name)


def imports_from(module: Module, dotted: str) -> bool:
    found = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    return any(module.imports.origin(node) == dotted for node in found)


def check_in_reach(module: Module, constant: Constant, place: ast.AST) -> None:
    if constant.line > module.line(module.span(place).start):
        raise Unsure(f"{constant} is bound further down: not yet, if this runs while the module is imported")
    if module.scopes.lookup(module.scopes.around(place), constant.name) is not module.tree:
        raise Unsure(f"{constant} is hidden here by a local variable of the same name")


def imported_spelling(definitions: Definitions, module: Module, constant: Constant, place: ast.AST) -> str | None:
    """How an import in force at a place already gives it: by name, by another name, or through its module."""
    for node in module.nodes(ast.Import, ast.ImportFrom):
        for alias in node.names:
            name: str = alias.asname or alias.name
            if not is_in_force(module, node, name, place):
                continue
            meaning = alias.name if isinstance(node, ast.Import) else f"{module.imports.origin(node)}.{alias.name}"
            if module.resolve(ast.Name(name.partition(".")[0])) is None:
                continue
            if meaning == constant.module:
                return f"{name}.{constant.name}"
            if alias.name == constant.name and is_constant(definitions, meaning, constant):
                return name
    return None


def is_in_force(module: Module, node: ast.stmt, name: str, place: ast.AST) -> bool:
    """Whether an import has run when `place` does: at the top level, or above in the same function."""
    home = module.scopes.lookup(module.scopes.around(place), name.partition(".")[0])
    if module.parent(node) is not home:
        return False
    return home is module.tree or module.span(node).end < module.span(place).start


def is_constant(definitions: Definitions, dotted: str, constant: Constant) -> bool:
    place = definitions.by_dotted(dotted)
    return place is not None and (place.module.path, getattr(place.node, "lineno", 0)) == (constant.path, constant.line)


def check_importable(definitions: Definitions, module: Module, constant: Constant) -> None:
    project = definitions.project
    meant = module.resolve(ast.Name(constant.name))
    taken = bool(module.scopes.binders(constant.name))
    if taken and not (meant and is_constant(definitions, meant, constant)):
        raise Unsure(f"{constant.name} means something else in {module.path} than {constant}")
    if not constant.path.endswith(".py") or not all(part.isidentifier() for part in constant.module.split(".")):
        raise Unsure(f"{constant} cannot be imported")
    check_quiet(project, module, constant)
    check_import(module, project, constant.path, str(constant))


def check_quiet(project: Project, module: Module, constant: Constant) -> None:
    """A module that has not been imported anyway must not do anything when it is."""
    if project.would_cycle(constant.path, module.path):
        return
    home = project.module(constant.path)
    for node in home.tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            raise Unsure(f"importing {constant} in {module.path} would also run {where(home, node)}")
