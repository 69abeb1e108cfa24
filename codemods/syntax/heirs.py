"""Which classes of a project inherit which, by names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project

HEADING = re.compile(rb"class\s+\w+\s*(?:\[[^\]]*\]\s*)?\(([^)]*)")
WORD = re.compile(rb"\w+")

Heir = tuple[Module, ast.ClassDef]


def heirs(project: Project, owner: ast.ClassDef) -> list[Heir]:
    """The classes that inherit this one, directly or not; Unsure if a file that cannot be read may have one."""
    found = list(direct_heirs(project, owner))
    for _, heir in found:
        found += [pair for pair in direct_heirs(project, heir) if pair not in found]
    return found


def direct_heirs(project: Project, owner: ast.ClassDef) -> Iterator[Heir]:
    for path in sorted(project.worked_out(bases, lambda: bases(project)).get(owner.name.encode(), ())):
        try:
            home = project.module(path)
        except SourceError as error:
            raise Unsure(f"{error}: it may inherit {owner.name}") from error
        for node in home.nodes(ast.ClassDef):
            if any(ast.unparse(base).rpartition(".")[2] == owner.name for base in node.bases):
                yield home, node


def bases(project: Project) -> dict[bytes, set[str]]:
    """The files in which some class may inherit a name."""
    found: dict[bytes, set[str]] = {}
    for path, match in project.matches(HEADING):
        for name in WORD.findall(match[1]):
            found.setdefault(name, set()).add(path)
    return found
