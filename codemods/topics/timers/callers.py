"""Who uses the number that a timer gives back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.timers.classes import Timer


def callers(project: Project, module: Module, timer: Timer, returns_last: bool) -> Iterator[str]:
    """A line for each caller that uses the time of an interval, which may not have been measured."""
    if not returns_last:
        return
    names = Definitions(project)
    for path in sorted({*project.mentions(timer.owner.name), module.path}):
        try:
            other = project.module(path) if path != module.path else module
        except SourceError:
            continue
        for call in other.nodes(ast.Call):
            is_named = isinstance(call.func, ast.Attribute) and call.func.attr == timer.end.name
            if not is_named or isinstance(other.parent(call), ast.Expr):
                continue
            found = names.called(other, call)
            if found and found.node.lineno == timer.end.lineno and found.module.path == module.path:
                yield f"{where(other, call)}: uses the time; with every > 1 it is the last one measured"
