"""Before a file is removed: does anything that stays still import it?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.walk import Tree, walk


def importers(root: Path, result: Mapping[str, bytes | None]) -> dict[str, str]:
    """For each file that the result removes and something that stays imports: where, as `pkg/a.py:3`."""
    leaving = {path for path, data in result.items() if data is None and path.endswith(".py")}
    if not leaving:
        return {}
    tree = Tree(root)
    walk(tree, root)
    project = Project(root, tree.entries).laid_over({path: raw for path, raw in result.items() if raw is not None})
    needed: dict[str, str] = {}
    while True:  # what has to stay may itself import another one
        found = {path: place for path in sorted(leaving) if (place := first_import(project, path, leaving))}
        if not found:
            return needed
        needed |= found
        leaving -= found.keys()


def first_import(project: Project, removed: str, leaving: set[str]) -> str:
    """Where a module that stays imports this one; nowhere that can be read: nothing."""
    dotted = project.module_name(removed)
    for path in project.mentions(dotted.rpartition(".")[2]):
        try:
            module = None if path in leaving else project.module(path)
        except SourceError:
            continue
        if module and (line := next((line for line, name in imported_names(module) if name == dotted), 0)):
            return f"{path}:{line}"
    return ""


def imported_names(module: Module) -> Iterator[tuple[int, str]]:
    """Every dotted name that an import anywhere in a module may mean, with its line."""
    for node in module.nodes(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        else:
            origin = module.imports.origin(node)
            yield node.lineno, origin
            yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
