"""How a module imports the function that a codemod has written into the project, if it can."""

from __future__ import annotations

import ast
import sys

from codemods.codemod import Unsure
from codemods.imports import first_name, insert_import, insert_name
from codemods.model import Edit
from codemods.module import Module, position
from codemods.project import Project
from codemods.syntax.places import where
from codemods.topics.compile_requests.home import is_package, parent

SOURCE_FOLDERS = ("src", "lib")


def import_wrapper(
    module: Module, project: Project, home: str, name: str, use: ast.AST
) -> tuple[str, tuple[Edit, ...]]:
    """How to write the function of the file `home` where it is to be used, with the edits that import it."""
    dotted = import_name(module, project, home)
    for node in top_level_imports(module):
        if spelled := spelling(module, node, dotted, name):
            if position(node) > position(use):
                raise Unsure(f"{where(module, node)}: `{name}` is imported only here")
            return spelled, ()
    for binder in module.scopes.binders(name):
        if not isinstance(binder, ast.ImportFrom) or module.imports.origin(binder) != dotted:
            raise Unsure(f"{where(module, binder)}: `{name}` means something else in this file")
    edit = import_edit(module, project, dotted, name)
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


def import_edit(module: Module, project: Project, dotted: str, name: str) -> Edit:
    """One more name in an import of the file; else a line, with dots where the module writes its own so."""
    for node in top_level_imports(module):
        if isinstance(node, ast.ImportFrom) and module.imports.origin(node) == dotted and node.names[0].name != "*":
            return insert_name(module, node, name)
    line = f"from {relative_origin(module, dotted) or dotted} import {name}"
    return insert_import(module, line, dotted, {*own_names(module, project), dotted.partition(".")[0]})


def own_names(module: Module, project: Project) -> frozenset[str]:
    """What the project's own imports begin with: its packages and flat files, and the files beside the module."""
    files = [path for path in project.files if path.endswith(".py")]
    beside = {path.rpartition("/")[2].removesuffix(".py") for path in files if parent(path) == parent(module.path)}
    return frozenset({*beside, *project.worked_out(own_names, lambda: {top_name(project, path) for path in files})})


def top_name(project: Project, path: str) -> str:
    return project.module_name(path).partition(".")[0]


def import_name(module: Module, project: Project, home: str) -> str:
    """The dotted name under which a module can import the file, by how it imports others; else Unsure.

    A file that imports its neighbours by their bare names is run as a script: its folder has no name there.
    """
    folder, mine, dotted = parent(home), parent(module.path), project.module_name(home)
    if mine == folder and folder in ("", *SOURCE_FOLDERS):
        return dotted
    if any(import_root(project, path) == import_root(project, home) for path in project.imported_by(module.path)):
        return dotted
    if bare := imported_bare(module, project):
        if mine == folder:
            return home.rpartition("/")[2].removesuffix(".py")
        raise Unsure(f"{where(module, bare)}: this file is run from its own folder, and {home} is elsewhere")
    is_inside = is_package(project, folder) and module.path.startswith(f"{folder}/".lstrip("/"))
    if not is_inside or b"__main__" in project.read(module.path):
        raise Unsure(f"{module.path}:1: nothing in this file says how it would import {home}")
    return dotted


def imported_bare(module: Module, project: Project) -> ast.stmt | None:
    """An import of a file in the same folder by its bare name, where that is not its name in the project."""
    folder = parent(module.path)
    found: list[ast.Import | ast.ImportFrom] = module.nodes(ast.Import, ast.ImportFrom)
    for node in found:
        is_relative = isinstance(node, ast.ImportFrom) and node.level
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
        beside = [top for top in tops if f"{folder}/{top}.py" in project.files and project.path_of(top) is None]
        if folder and beside and not is_relative:
            return node
    return None


def import_root(project: Project, path: str) -> str:
    """What stands before the dotted name of a file in its path: `src/`, or nothing."""
    inner = path.removesuffix(".py").removesuffix("/__init__")
    return inner.removesuffix(project.module_name(path).replace(".", "/"))


def relative_origin(module: Module, dotted: str) -> str:
    """`.compile_gate`, where the module writes all imports of its own package with dots; else nothing."""
    package = module.name.split(".")
    if not module.path.endswith("__init__.py"):
        package.pop()
    *target, stem = dotted.split(".")
    found = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    own = [node for node in found if node.level or package[:1] == module.imports.origin(node).split(".")[:1]]
    if not own or not target or package[: len(target)] != target or not all(node.level for node in own):
        return ""
    return "." * (len(package) - len(target) + 1) + stem
