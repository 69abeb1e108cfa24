"""Give a class without `__init__` one that takes settings."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.signatures.constructor import Setting, bound_by, check_heirs, check_slots

WITHOUT_INIT = {"contextlib.ContextDecorator", "contextlib.AbstractContextManager", "abc.ABC"}


def make_init(module: Module, project: Project, owner: ast.ClassDef, settings: Sequence[Setting]) -> Edit:
    """An `__init__` for a class that inherits none, above its first method."""
    for node in (*owner.decorator_list, *owner.keywords, *inner_inits(owner)):
        raise Unsure(f"{owner.name} may get an __init__ otherwise ({module.path}:{line_of(node)})")
    for base in owner.bases:
        if module.resolve(base) not in WITHOUT_INIT and not module.scopes.is_builtin(base, "object"):
            raise Unsure(f"{owner.name} may inherit an __init__ ({module.path}:{base.lineno})")
    check_slots(module, owner)
    check_heirs(project, owner)
    known = {bound for node in owner.body for bound in bound_by(node)}
    for setting in settings:
        if setting.name in known:
            raise Unsure(f"{owner.name} uses the name {setting.name} for something else ({module.path}:{owner.lineno})")
    first = next(node for node in owner.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    if not module.begins_line(first):
        raise Unsure(f"{owner.name} stands on one line ({module.path}:{owner.lineno})")
    given = ", ".join(f"{item.name}: {item.annotation} = {item.default}" for item in settings if not item.is_state)
    indent = module.indent(first)
    inner = indent + module.indent_unit
    stored = [f"{inner}self.{item.name} = {item.default if item.is_state else item.name}\n" for item in settings]
    head = f"def __init__(self, {given}) -> None:\n"
    return module.insert(statement_start(module, first), f"{head}{''.join(stored)}\n{indent}")


def inner_inits(owner: ast.ClassDef) -> list[ast.AST]:
    return [node for node in ast.walk(owner) if getattr(node, "name", "") == "__init__"]


def line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)
