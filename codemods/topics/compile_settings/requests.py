"""The requests to compile of a file, each with all functions of the project that it traces, by names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import Asked, asked_in, compiled_code, entry_point, fullgraph_of, traced_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.disabled import is_disabled


@dataclass(frozen=True)
class Request:
    """One place that compiles. `entry` is what it compiles; None where that cannot be seen by names.

    `fullgraph` is what it passes under that name: torch captures scalars and dynamic shapes there by itself.
    """

    module: Module
    asked: Asked
    entry: tuple[Module, ast.AST] | None
    fullgraph: str

    @property
    def function(self) -> Function | None:
        """The function whose decorator this is."""
        target = self.asked.target
        is_own = isinstance(target, FUNCTIONS) and self.asked.node in target.decorator_list
        return target if is_own and isinstance(target, FUNCTIONS) else None


def requests_of(module: Module, project: Project) -> Iterator[Request]:
    """Every request of a file. `x.compile()` of an unknown `x` is anybody's method."""
    names = compiled_code(project).names
    for asked in asked_in(module):
        entry = entry_point(names, module, asked.target)
        if entry is not None or asked.compiled_in_place is None:
            yield Request(module, asked, entry, fullgraph_of(module, asked.settings))


def traced_by(names: Definitions, request: Request) -> list[tuple[Module, ast.AST]]:
    """The entry and every function that it calls, through the project; disabled ones are not entered."""
    if request.entry is None:
        return []
    found, seen = [request.entry], {request.entry[1]}
    for module, function in found:
        for node in traced_nodes(module, function):
            callee = names.called(module, node) if isinstance(node, ast.Call) else names.read(module, node)
            if callee is not None and callee[1] not in seen and not is_disabled(*callee):
                seen.add(callee[1])
                found.append(callee)
    return found


def is_called_compiled(project: Project, function: tuple[Module, Function]) -> bool:
    """Whether other compiled code calls a function: what is put around it is traced there."""
    return bool(compiled_code(project).calls_of(*function))


def is_only_request(project: Project) -> bool:
    """Whether the project compiles in one place alone, so that whatever broke was compiled there."""
    code = compiled_code(project)
    return len({(region.path, region.line) for region in (*code.entries.values(), *code.unseen)} | begun(project)) == 1


def begun(project: Project) -> set[tuple[str, int]]:
    return {(region.path, region.line) for _, region in compiled_code(project).begins}


def functions_at(project: Project, places: set[tuple[str, int]]) -> list[tuple[Module, ast.AST]]:
    """The innermost functions around these lines, in files that can be read."""
    found: list[tuple[Module, ast.AST]] = []
    for path in sorted({path for path, _ in places}):
        try:
            module = project.module(path)
        except SourceError:
            continue
        lines = {line for known, line in places if known == path}
        found += [(module, function) for function in innermost(module, lines)]
    return found


def innermost(module: Module, lines: set[int]) -> list[Function]:
    around: dict[int, Function] = {}
    for function in module.nodes(*FUNCTIONS):  # in the order of the text: the inner ones come later
        for line in lines & set(range(function.lineno, (function.end_lineno or function.lineno) + 1)):
            around[line] = function
    return list(dict.fromkeys(around.values()))
