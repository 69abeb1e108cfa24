"""How a module imports the function that a codemod has written into the project, if it can."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import first_name, insert_import, insert_name
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module, position
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.importing import check_import, import_name, relative_origin
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.compile_requests.home import parent


def import_wrapper(
    module: Module, project: Project, home: str, name: str, use: ast.AST
) -> tuple[str, tuple[Edit, ...]]:
    """How to write the function of the file `home` where it is to be used, with the edits that import it."""
    dotted = import_name(module, project, home)
    check_import(module, project, home, name)
    for node in top_level_imports(module):
        if spelled := spelling(module, node, dotted, name):
            if position(node) > position(use):
                raise Unsure(f"{where(module, node)}: `{name}` is imported only here")
            return spelled, ()
    for binder in module.scopes.binders(name):
        if not isinstance(binder, ast.ImportFrom) or module.imports.origin(binder) != dotted:
            raise Unsure(f"{where(module, binder)}: `{name}` means something else in this file")
    edit = import_edit(module, project, dotted, name, module.span(use).start)
    if edit.span.start > module.span(use).start:
        place = where(module, use)
        raise Unsure(f"{place}: an import would come behind this line, which shares that of another import")
    return name, (edit,)


def top_level_imports(module: Module) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in module.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]


def spelling(module: Module, node: ast.Import | ast.ImportFrom, dotted: str, name: str) -> str:
    """How the name is written after this import; the import of a package alone does not make its modules known."""
    for alias in node.names:
        meaning = alias.name if isinstance(node, ast.Import) else f"{module.imports.origin(node)}.{alias.name}"
        bound = alias.asname or alias.name
        if meaning in (dotted, f"{dotted}.{name}") and module.resolve(first_name(bound)):
            return bound if meaning != dotted else f"{bound}.{name}"
    return ""


def import_edit(module: Module, project: Project, dotted: str, name: str, before: int) -> Edit:
    """One more name in an import of the file; else a line, with dots where the module writes its own so."""
    for node in top_level_imports(module):
        if isinstance(node, ast.ImportFrom) and module.imports.origin(node) == dotted and node.names[0].name != "*":
            return insert_name(module, node, name)
    line = f"from {relative_origin(module, dotted) or dotted} import {name}"
    return insert_import(module, line, dotted, {*own_names(module, project), dotted.partition(".")[0]}, before)


def own_names(module: Module, project: Project) -> frozenset[str]:
    """What the project's own imports begin with: its packages and flat files, and the files beside the module."""
    files = [path for path in project.files if path.endswith(".py")]
    beside = {path.rpartition("/")[2].removesuffix(".py") for path in files if parent(path) == parent(module.path)}
    return frozenset({*beside, *project.worked_out(own_names, lambda: {top_name(project, path) for path in files})})


def top_name(project: Project, path: str) -> str:
    return project.module_name(path).partition(".")[0]
