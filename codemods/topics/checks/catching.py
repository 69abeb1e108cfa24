"""Who in the project catches what a check raises, and would not catch a RuntimeError, or would catch only that."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.flow import last_name

IMPLICIT = {"forward", "__call__", "__init__"}
ROUNDS, MANY, COMMON = 4, 60, 20
"""How far callers are followed, how many names at most, and in how many files one of them may be."""

HANDLER = re.compile(rb"^[ \t]*except\b[^\n]*?\b([A-Z]\w*)", re.M)


def caught_at(project: Project, module: Module, function: Function, error: str) -> str:
    """The place of a `try` around calls that lead to a function, whose handler tells the two exceptions apart."""
    handling = {path for path, _ in project.matches(HANDLER)}
    if not handling:
        return ""
    names = leading_names(project, module, function)
    for path in sorted(files_of(project, names) & handling):
        for home in parsed(project, path):
            for one in telling(home, error):
                if any(last_name(call) in names for part in one.body for call in calls_in(part)):
                    return f"{home.path}:{one.handlers[0].lineno}"
    return ""


def files_of(project: Project, names: set[str]) -> set[str]:
    """The files with one of the names. One that is in very many files says nothing about who is called there."""
    found = (project.mentions(name) for name in names if name)
    return {path for paths in found if len(paths) <= COMMON for path in paths}


def telling(module: Module, error: str) -> Iterator[ast.Try]:
    """Every `try` that treats the exception and a RuntimeError differently."""
    for node in module.nodes(ast.Try):
        reached = [branch_for(node, kind) for kind in (error, "RuntimeError")]
        if reached[0] is not reached[1]:
            yield node


def branch_for(node: ast.Try, error: str) -> ast.ExceptHandler | None:
    """The first handler that takes an exception of this name."""
    return next((handler for handler in node.handlers if takes(handler.type, error)), None)


def takes(kind: ast.expr | None, error: str) -> bool:
    if kind is None:
        return True
    if isinstance(kind, ast.Tuple):
        return any(takes(one, error) for one in kind.elts)
    name = kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")
    error = error.rpartition(".")[2]
    ours, theirs = getattr(builtins, error, None), getattr(builtins, name, None)
    if isinstance(ours, type) and isinstance(theirs, type):
        return issubclass(ours, theirs)
    return name == error or name in ("Exception", "BaseException")


def leading_names(project: Project, module: Module, function: Function) -> set[str]:
    """Names by which the function may be reached: of functions that call it, and of what instances are kept in."""
    names = names_of(module, function)
    for _ in range(ROUNDS):
        fresh: set[str] = set()
        for path in sorted(files_of(project, names)):
            for home in parsed(project, path):
                fresh |= set(callers(home, names)) | set(kept_as(home, names))
        if fresh <= names or len(names) > MANY:
            break
        names |= fresh
    return names


def names_of(module: Module, function: Function) -> set[str]:
    owner = module.enclosing(function, ast.ClassDef)
    return {owner.name} if function.name in IMPLICIT and owner else {function.name}


def callers(module: Module, names: set[str]) -> Iterator[str]:
    for call in module.unordered(ast.Call):
        if last_name(call) in names:
            outer = module.enclosing(call, ast.FunctionDef, ast.AsyncFunctionDef)
            if outer is not None and outer.name != "__init__":
                yield from names_of(module, outer)


def kept_as(module: Module, names: set[str]) -> Iterator[str]:
    """What a value made from one of the names is kept in: `self.encoder = Encoder()`, `step = torch.compile(step)`."""
    for node in module.unordered(ast.Assign):
        said = {last_name(call) for call in calls_in(node.value)} | {
            inner.id for call in calls_in(node.value) for inner in call.args if isinstance(inner, ast.Name)
        }
        if said & names:
            for target in node.targets:
                yield target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def calls_in(node: ast.AST) -> list[ast.Call]:
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]


def parsed(project: Project, path: str) -> list[Module]:
    try:
        return [project.module(path)]
    except SourceError:
        return []
