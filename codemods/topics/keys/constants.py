"""Module-level tuples of strings: the vocabularies of a project."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, where
from fullgraph.codemods.topics.keys.functions import sets_attribute

TUPLE = re.compile(rb"""([A-Za-z]\w*)[ \t]*(?::[^=\n]+)?=[ \t]*\(\s*["'][^()]*\)""")
IN_TESTS = re.compile(r"(?:^|/)(?:tests?/|test_[^/]*$|conftest\.py$)")


@dataclass(frozen=True)
class Constant:
    """A tuple of different strings, bound once. `flaw` says why it cannot be relied on after all."""

    path: str
    module: str
    name: str
    names: tuple[str, ...]
    line: int
    flaw: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.path}:{self.line})"


def constant_behind(definitions: Definitions, module: Module, node: ast.AST) -> Constant | None:
    """The constant that a name stands for, also one with a flaw."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    found = definitions.statement(module, node)
    return read_constant(definitions.project, found) if found else None


def read_constant(project: Project, place: Definition) -> Constant | None:
    statement = place.node
    if (
        not isinstance(statement, (ast.Assign, ast.AnnAssign))
        or place.module.parent(statement) is not place.module.tree
    ):
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    target, names = targets[0], strings_in(statement.value)
    if not isinstance(target, ast.Name) or len(targets) > 1 or names is None:
        return None
    flaw = ""
    if not isinstance(statement.value, ast.Tuple):
        flaw = f"{target.id} ({place}) is not a tuple: what it holds can be changed"
    elif len(set(names)) != len(names):
        flaw = f"{target.id} ({place}) names a key twice"
    else:
        flaw = rebinding(project, place, target.id)
    line = place.module.line(place.module.span(statement).start)
    return Constant(place.module.path, place.module.name, target.id, names, line, flaw)


def strings_in(node: ast.AST | None) -> tuple[str, ...] | None:
    """The elements of a tuple or a list of nothing but string literals."""
    if not isinstance(node, (ast.Tuple, ast.List)) or not node.elts:
        return None
    values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
    names = tuple(value for value in values if isinstance(value, str))
    return names if len(names) == len(node.elts) else None


def rebinding(project: Project, place: Definition, name: str) -> str:
    """Who in the project sets the name from outside: `module.NAME = ...`, `setattr`, a test's `patch`."""
    for path in project.mentions(name):
        try:
            module = project.module(path)
        except SourceError as error:
            return f"{error}: it may set {name}"
        for node in module.unordered(ast.Attribute, ast.Constant):
            if sets_attribute(module, node, name):
                return f"{name} ({place}) is bound again at {where(module, node)}"
    return ""


def equal_constants(definitions: Definitions, module: Module, names: tuple[str, ...]) -> list[Constant]:
    """The constants with these keys in any order that this module could use; those in the same order first."""
    found, project = [], definitions.project
    for path, name, strings in all_tuples(project):
        if sorted(strings) != sorted(names) or (IN_TESTS.search(path) and not IN_TESTS.search(module.path)):
            continue
        try:
            home = project.module(path)
        except SourceError:
            continue
        constant = constant_behind(definitions, home, ast.Name(name)) if is_near(home, module) else None
        if constant and not constant.flaw:
            found.append(constant)
    return sorted(found, key=lambda constant: constant.names != names)


def is_near(home: Module, module: Module) -> bool:
    """Whether one would import from the other: the same package at the top, or the same folder where there is none."""
    top, _, below = home.name.partition(".")
    if below:
        return top == module.name.partition(".")[0]
    return home.path.rpartition("/")[0] == module.path.rpartition("/")[0]


Tuples = list[tuple[str, str, tuple[str, ...]]]


def all_tuples(project: Project) -> Tuples:
    """What looks like a public constant of two or more strings, with its file and name."""
    return project.worked_out(all_tuples, lambda: read_tuples(project))


def read_tuples(project: Project) -> Tuples:
    """By one pass over the text of all files."""
    matches = project.lines_matching(TUPLE, b"= (", b"=(")
    read = ((path, match.group(1).decode(), read_strings(match.group())) for path, match in matches)
    return [(path, name, strings) for path, name, strings in read if len(strings) > 1]


def read_strings(assignment: bytes) -> tuple[str, ...]:
    try:
        statement = ast.parse(assignment).body[0]
    except (SyntaxError, ValueError):
        return ()
    return strings_in(getattr(statement, "value", None)) or ()
