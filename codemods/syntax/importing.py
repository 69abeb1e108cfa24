"""How one file of a project imports from another: under which name, and whether it may."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from itertools import takewhile

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import where

Import = ast.Import | ast.ImportFrom


def import_name(module: Module, project: Project, home: str) -> str:
    """The dotted name under which a module can import the file, by how it imports others; else Unsure.

    A file that imports its neighbours by their bare names is run as a script: its folder has no name there.
    """
    folder, mine, dotted = parent(home), parent(module.path), project.module_name(home)
    root = project.import_root(home)
    if mine == folder and not project.package_name(folder):
        return dotted
    if any(project.import_root(path) == root for path in project.imported_by(module.path)):
        return dotted
    if bare := imported_bare(module, project):
        if mine == folder:
            return home.rpartition("/")[2].removesuffix(".py")
        raise Unsure(f"{where(module, bare)}: this file is run from its own folder, and {home} is elsewhere")
    is_inside = dotted.partition(".")[0] == module.name.partition(".")[0] and is_imported(project, module.path)
    if not is_inside or b"__main__" in project.read(module.path):
        raise Unsure(f"{module.path}:1: nothing in this file says how it would import {home}")
    return dotted


def is_imported(project: Project, path: str) -> bool:
    """Whether a file is part of a package; a folder without `__init__.py` is one if something imports from it."""
    top = project.module_name(path).partition(".")[0]
    return f"{project.import_root(path)}{top}/__init__.py" in project.files or project.imports_top(top)


def imported_bare(module: Module, project: Project) -> ast.stmt | None:
    """An import of a file in the same folder by its bare name, where that is not its name in the project."""
    folder = parent(module.path)
    found: list[Import] = module.nodes(ast.Import, ast.ImportFrom)
    for node in found:
        is_relative = isinstance(node, ast.ImportFrom) and node.level
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
        beside = [top for top in tops if f"{folder}/{top}.py" in project.files and project.path_of(top) is None]
        if folder and beside and not is_relative:
            return node
    return None


def relative_origin(module: Module, dotted: str) -> str:
    """`.constants`, where the module writes all imports of its own package with dots; else nothing."""
    package = module.name.split(".")
    if not module.path.endswith("__init__.py"):
        package.pop()
    found = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    own = [node for node in found if node.level or package[:1] == module.imports.origin(node).split(".")[:1]]
    target = dotted.split(".")
    common = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(package, target, strict=False))))
    if not own or not common or not all(node.level for node in own):
        return ""
    return "." * (len(package) - common + 1) + ".".join(target[common:])


# Whether it may


def check_import(module: Module, project: Project, home: str, what: str) -> None:
    """Unsure if importing a file would close a circle, or need a package that the module does without."""
    run = [path for path in (home, *packages_above(module, project, home)) if path in project.files]
    if any(project.would_cycle(module.path, path) for path in run):
        raise Unsure(f"importing {what} in {module.path} would close a circle of imports")
    wanted = needed_packages(project, run)
    if missing := sorted(wanted - needed_packages(project, [module.path])) if wanted else []:
        raise Unsure(f"importing {what} in {module.path} would load {', '.join(missing)}, which it does without")


def packages_above(module: Module, project: Project, home: str) -> list[str]:
    """The packages that an import of a file runs first, and that do not run anyway for this module."""
    parts = project.module_name(home).split(".")
    found = [project.path_of(".".join(parts[:length])) for length in range(1, len(parts))]
    return [path for path in found if path and not module.path.startswith(path.removesuffix("__init__.py"))]


def needed_packages(project: Project, paths: Iterable[str]) -> set[str]:
    """What is not the project's own and has to be there to import these files, other than torch.

    An import in a `try` or under a condition needs nothing for sure.
    """
    return {package for path in imported_files(project, paths) for package in packages_in(project, path)}


def imported_files(project: Project, paths: Iterable[str]) -> set[str]:
    """These files, and all that importing them runs, as far as they can be read."""
    seen: set[str] = set()
    todo = [path for path in paths if path in project.files]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            try:
                todo += project.imported_by(path)
            except SourceError:
                continue
    return seen


def packages_in(project: Project, path: str) -> set[str]:
    return project.worked_out((packages_in, path), lambda: find_packages_in(project, path))


def find_packages_in(project: Project, path: str) -> set[str]:
    try:
        module = project.module(path)
    except SourceError:
        return set()
    nodes = [node for node in module.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {name for node in nodes for name in named_modules(module, node)}
    own = project.worked_out(
        packages_in, lambda: {project.module_name(file).partition(".")[0] for file in project.files}
    )
    return {name.partition(".")[0] for name in names} - own - sys.stdlib_module_names - {"torch", ""}


def named_modules(module: Module, node: Import) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [module.imports.origin(node)]


def parent(path: str) -> str:
    return path.rpartition("/")[0]
