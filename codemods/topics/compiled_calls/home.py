"""Where the counter lives: one file for the project, and how each module imports it."""

from __future__ import annotations

import ast
import sys
from collections import Counter

from codemods.codemod import Unsure
from codemods.imports import insert_import
from codemods.model import Edit
from codemods.module import Module
from codemods.project import Project
from codemods.syntax.places import where
from codemods.topics.compiled_calls.requests import COUNTED, requests_of

FILE = "compiled_calls.py"
SOURCE_FOLDERS = ("src", "lib")


def home_of(project: Project, wished: str) -> str:
    """The path of the counter: as wished, as it is there, or in the package that asks for the most compilation."""
    return wished or project.worked_out(home_of, lambda: existing(project) or best_folder(project) + FILE)


def existing(project: Project) -> str:
    files = [path for path in project.files if path.rpartition("/")[2] == FILE]
    return next((path for path in files if has_counter(project, path)), "")


def has_counter(project: Project, path: str) -> bool:
    """Whether a file of the project defines `counted`, be it as we write it or otherwise."""
    return path in project.files and f"def {COUNTED}(".encode() in project.read(path)


def best_folder(project: Project) -> str:
    """The top of a package before a folder of scripts; of equals the first by name."""
    asked = Counter(top_folder(project, request.module.path) for request in requests_of(project))
    return min(asked, key=lambda folder: (not is_package(project, folder[:-1]), -asked[folder], folder), default="")


def top_folder(project: Project, path: str) -> str:
    """`src/pkg/` for `src/pkg/nets/head.py`: as far up as there is an `__init__.py`."""
    folder = parent(path)
    while folder and is_package(project, folder) and is_package(project, parent(folder)):
        folder = parent(folder)
    return f"{folder}/" if folder else ""


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def is_package(project: Project, folder: str) -> bool:
    return f"{folder}/__init__.py".lstrip("/") in project.files


def import_counter(module: Module, project: Project, home: str) -> tuple[str, tuple[Edit, ...]]:
    """How to write `counted` in a module, with the edits that import it."""
    dotted = import_name(module, project, home)
    for binder in module.scopes.binders(COUNTED):
        is_ours = isinstance(binder, ast.ImportFrom) and module.imports.origin(binder) == dotted
        if not is_ours:
            raise Unsure(f"{where(module, binder)}: `{COUNTED}` means something else in this file")
    origin = relative_origin(module, dotted)
    if origin and module.imports.spelling(f"{dotted}.{COUNTED}") is None and not imports_from(module, dotted):
        return COUNTED, (insert_import(module, f"from {origin} import {COUNTED}", dotted),)
    return module.imports.require(dotted, COUNTED)


def import_name(module: Module, project: Project, home: str) -> str:
    """The dotted name under which a module can import the counter, by how it imports other files; else Unsure.

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


def imports_from(module: Module, dotted: str) -> bool:
    found = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    return any(module.imports.origin(node) == dotted for node in found)


def relative_origin(module: Module, dotted: str) -> str:
    """`.compiled_calls`, where the file writes all imports of its own package with dots; else nothing."""
    package = module.name.split(".")
    if not module.path.endswith("__init__.py"):
        package.pop()
    *target, stem = dotted.split(".")
    found = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    own = [node for node in found if node.level or package[:1] == module.imports.origin(node).split(".")[:1]]
    if not own or not package or package[: len(target)] != target or not all(node.level for node in own):
        return ""
    return "." * (len(package) - len(target) + 1) + stem
