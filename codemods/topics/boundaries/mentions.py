"""Where the project names a compiled callable, and where it may name it without saying so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, only_class, where
from fullgraph.codemods.topics.boundaries.requests import Compiled, class_of_self

BY_STRING = {"getattr", "attrgetter", "methodcaller"}


def mentions(project: Project, compiled: Compiled, doubts: list[str]) -> Iterator[Place[ast.expr]]:
    home = compiled.module
    if compiled.kind == "local":
        for name in home.scopes.names(compiled.owner, compiled.name):
            yield Place(home, name)
    elif compiled.kind == "global":
        for name in home.scopes.names(home.tree, compiled.name):
            yield Place(home, name)
        for module in project.modules_mentioning(compiled.name):
            if module.path != home.path:
                note_detours(project, compiled, module, doubts)
                yield from imported_mentions(project, compiled, module)
    else:
        yield from attribute_mentions(project, compiled, doubts)


def imported_mentions(project: Project, compiled: Compiled, module: Module) -> Iterator[Place[ast.expr]]:
    """`from home import name as n` and `home.name`, also through packages that import it in turn."""
    local = {alias.asname or alias.name for node in module.nodes(ast.ImportFrom) for alias in node.names}
    for node in module.nodes(ast.Name, ast.Attribute):
        last = node.attr if isinstance(node, ast.Attribute) else node.id
        is_candidate = last == compiled.name or (isinstance(node, ast.Name) and last in local)
        if is_candidate and (dotted := module.resolve(node)) and stands_for(project, dotted, compiled):
            yield Place(module, node)


def note_detours(project: Project, compiled: Compiled, module: Module, doubts: list[str]) -> None:
    """A callable that a module has by `import *`, or that others have from a module which imports it."""
    for node in module.nodes(ast.ImportFrom):
        origin = module.imports.origin(node)
        for alias in node.names:
            if alias.name == "*" and origin == compiled.module.name:
                doubts.append(f"{where(module, node)}: it may be imported by a star")
            elif stands_for(project, f"{origin}.{alias.name}", compiled):
                detour = f"{module.name}.{alias.asname or alias.name}"
                doubts += [f"{place}: it is reached by way of {module.name}" for place in reads(project, detour)]


def reads(project: Project, dotted: str) -> Iterator[str]:
    """Where other modules name something by its dotted name."""
    for module in project.modules_mentioning(dotted.rpartition(".")[2]):
        for node in module.nodes(ast.Name, ast.Attribute):
            if module.resolve(node) == dotted:
                yield where(module, node)
                break


def stands_for(project: Project, dotted: str, compiled: Compiled, depth: int = 0) -> bool:
    if dotted == f"{compiled.module.name}.{compiled.name}":
        return True
    path = project.path_of(dotted.rpartition(".")[0])
    if path is None or depth > 5:
        return False
    again = project.module(path).resolve(ast.Name(dotted.rpartition(".")[2]))
    return again is not None and again != dotted and stands_for(project, again, compiled, depth + 1)


def attribute_mentions(project: Project, compiled: Compiled, doubts: list[str]) -> Iterator[Place[ast.expr]]:
    """`x.name` wherever `x` is an instance of the class that owns it."""
    assert isinstance(compiled.owner, ast.ClassDef)
    names = Definitions(project)
    bases = {kind for _, kind in names.lineage(Place(compiled.module, compiled.owner))} - {compiled.owner}
    asked = re.compile(rb"[.\"'][\s\\]*" + compiled.name.encode() + rb"\b")
    paths = [path for path in project.mentions(compiled.name) if asked.search(project.read(path))]
    for module in map(project.module, paths):
        knows = module.path == compiled.module.path or compiled.owner.name in module.text
        if knows:
            note_strings(module, compiled, doubts)
        for node in module.nodes(ast.Attribute):
            if node.attr != compiled.name or module.resolve(node) is not None:
                continue
            if is_super(module, node.value):
                doubts += overrides(names, compiled, module, node)
                continue
            kind = owner_of(names, module, node)
            if any(base is compiled.owner for _, base in names.lineage(kind)):
                if isinstance(node.ctx, ast.Store) and kind and kind.node is not compiled.owner:
                    doubts.append(f"{where(module, node)}: {kind.node.name} sets it to something else")
                yield Place(module, node)
            elif kind and kind.node in bases and not isinstance(node.ctx, ast.Store):
                doubts.append(f"{where(module, node)}: {kind.node.name}, which {compiled.owner.name} inherits, uses it")
            elif kind is None and knows and may_be_run(module, node):
                doubts.append(f"{where(module, node)}: `{module.code(node)}` may be it; what owns it is not known")


def is_super(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, "super")


def overrides(names: Definitions, compiled: Compiled, module: Module, node: ast.Attribute) -> list[str]:
    """A boundary that calls `self.name` must not be called by what has taken its place."""
    kind = module.enclosing(node, ast.ClassDef)
    is_heir = kind and any(base is compiled.owner for _, base in names.lineage(Place(module, kind)))
    return [f"{where(module, node)}: {kind.name} overrides it"] if kind and is_heir else []


def check_heirs(project: Project, compiled: Compiled) -> None:
    """Unsure if an heir of the owner has something else under the name. Slow in a big project: asked late."""
    for home, heir in heirs(project, compiled.owner) if isinstance(compiled.owner, ast.ClassDef) else []:
        for binding in home.scopes.within(heir, compiled.name):
            raise Unsure(f"{where(home, binding.node)}: {heir.name} overrides it")


def owner_of(names: Definitions, module: Module, node: ast.Attribute) -> Place[ast.ClassDef] | None:
    """The class of the object whose attribute is named."""
    own = class_of_self(module, node.value)
    return Place(module, own) if own else only_class(names.instance(module, node.value))


def may_be_run(module: Module, node: ast.Attribute) -> bool:
    parent = module.parent(node)
    return isinstance(parent, ast.Call)


def note_strings(module: Module, compiled: Compiled, doubts: list[str]) -> None:
    """A callable that is asked for by its name in a string."""
    for call in module.unordered(ast.Call):
        called = getattr(call.func, "id", None) or getattr(call.func, "attr", "")
        texts = [item.value for item in call.args if isinstance(item, ast.Constant)]
        if called in BY_STRING and compiled.name in texts:
            doubts.append(f"{where(module, call)}: `{compiled.name}` is asked for by a string")
