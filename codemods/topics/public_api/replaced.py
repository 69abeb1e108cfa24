"""Code that knows an old name by more than its calls: tests that replace it, and questions for its class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.replaced import replacements
from fullgraph.codemods.topics.public_api.table import Row, table
from fullgraph.codemods.topics.public_api.uses import Use, uses

REPLACERS = {"patch", "setattr", "delattr"}


def replaced_by_name(module: Module) -> Iterator[tuple[ast.Constant, str]]:
    """The strings with which a test replaces an old name."""
    for node in module.nodes(ast.Constant):
        call = module.parent(node)
        if isinstance(node.value, str) and node.value in table() and isinstance(call, ast.Call):
            func = call.func
            if getattr(func, "attr", getattr(func, "id", "")) in REPLACERS and call.args[:1] == [node]:
                yield node, node.value


def doubt_about_tests(project: Project, row: Row) -> str:
    """What replaces one of the old names while tests run."""
    patched = replacements(project)
    lines = sorted(line for name, line in patched.items() if any(f".{old}".endswith(f".{name}") for old in row.old))
    return f"{lines[0]} replaces the old name, and would no longer have an effect here" if lines else ""


def check_instances(row: Row, project: Project) -> None:
    """Raise if code asks for the old class: an object that the new name makes is no instance of it."""
    if row.called == "call" and row.leads:
        for old in row.old:
            if line := asked_for(project, old.rpartition(".")[2]).get(old):
                raise Unsure(f"{line}: asks for the old class, of which what {row.new} makes is no instance")


def asked_for(project: Project, name: str) -> dict[str, str]:
    """The old names of which `isinstance`, `issubclass` or a comparison asks anywhere, with the line."""
    known: dict[str, str] = project.worked_out(asked_for, dict)
    if name not in known:
        known[name] = ""
        asking = {path for word in ("isinstance", "issubclass", "type") for path in project.mentions(word)}
        for path in sorted(asking & {*project.mentions(name)}):
            try:
                known |= {use.old: where(use.module, use.node) for use in uses(project.module(path)) if is_asked(use)}
            except SourceError:
                continue
    return known


def is_asked(use: Use) -> bool:
    module, node = use.module, use.node
    parent = module.parent(node)
    call = module.parent(parent) if isinstance(parent, ast.Tuple) else parent
    if isinstance(call, ast.Compare):
        return True
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("isinstance", "issubclass")
