"""Everything that an attribute of a class is set to, over the whole project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Definition, Place

MANY = 12


def stores(project: Project, names: Definitions, owner: Place[ast.ClassDef], name: str) -> list[Definition] | None:
    """The values of every `x.name = value` whose `x` may be of this class; None where one cannot be told."""
    found: list[Definition] = []
    modules = setters(project, name)
    if modules is None:
        return None
    for module in modules:
        for node in module.unordered(ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Store) and may_be(names, module, node, owner):
                parent = module.parent(node)
                if isinstance(parent, ast.AugAssign):
                    continue  # in place: neither the shape nor the dtype changes
                if not isinstance(parent, (ast.Assign, ast.AnnAssign)) or parent.value is None:
                    return None
                found.append(Place(module, parent.value))
    return found


def setters(project: Project, name: str) -> list[Module] | None:
    """The modules in which an attribute of this name is set; None if there are many: it is anybody's then."""
    word = re.escape(name.encode())
    pattern = re.compile(rb"\.%s[ \t]*(?::[^=\n]*|,[^=\n]*|\)[^=\n]*|[-+*/|&@%%]?)=(?!=)" % word)
    paths = {path for path, _ in project.lines_matching(re.compile(rb".*" + pattern.pattern), b"." + name.encode())}
    return [project.module(path) for path in sorted(paths)] if len(paths) <= MANY else None


def may_be(names: Definitions, module: Module, node: ast.Attribute, owner: Place[ast.ClassDef]) -> bool:
    kind = names.instance(module, node.value)
    if kind is None:
        return True
    return any(place.node is owner.node for place in names.lineage(kind)) or any(
        place.node is kind.node for place in names.lineage(owner)
    )


def given_values(
    project: Project, names: Definitions, owner: Place[ast.ClassDef], name: str
) -> list[Definition] | None:
    """What a field of a class body starts with, and what calls of the class give for it; None where that is hidden."""
    fields = [node for node in owner.node.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    labels = [field.target.id for field in fields if isinstance(field.target, ast.Name)]
    if name not in labels:
        return []
    place = labels.index(name)
    found = [Place(owner.module, value) for value in initial(fields[place].value)]
    calls = calls_of(project, names, owner)
    if calls is None:
        return None
    for module, call in calls:
        if any(isinstance(argument, ast.Starred) for argument in call.args) or any(not k.arg for k in call.keywords):
            return None
        given = [keyword.value for keyword in call.keywords if keyword.arg == name] or call.args[place : place + 1]
        if not given and fields[place].value is None:
            return None
        found += [Place(module, value) for value in given]
    return [Place(where.module, where.node) for where in found]


def initial(value: ast.expr | None) -> Iterator[ast.expr]:
    """A default, or what a default factory makes."""
    if isinstance(value, ast.Call):
        factories = [keyword.value for keyword in value.keywords if keyword.arg == "default_factory"]
        yield from (factory.body for factory in factories if isinstance(factory, ast.Lambda))
        if not factories:
            yield value
    elif value is not None:
        yield value


def calls_of(project: Project, names: Definitions, owner: Place[ast.ClassDef]) -> list[tuple[Module, ast.Call]] | None:
    """Every call of a class; None if its name is called all over the place."""
    called = re.compile(rb".*\b" + re.escape(owner.node.name.encode()) + rb"\(")
    paths = {path for path, _ in project.lines_matching(called, owner.node.name.encode() + b"(")}
    if len(paths) > MANY:
        return None
    calls = [(module, call) for module in map(project.module, sorted(paths)) for call in module.unordered(ast.Call)]
    return [(module, call) for module, call in calls if is_call_of(names, module, call, owner)]


def is_call_of(names: Definitions, module: Module, call: ast.Call, owner: Place[ast.ClassDef]) -> bool:
    found = names.denoted(module, call.func) if last_name(call) == owner.node.name else None
    return found is not None and found.node is owner.node
