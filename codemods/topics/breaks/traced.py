"""Which functions of a module torch traces: where a break was observed, or what compiled code reaches."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.lasting import lasting
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import Region, compiled_code, compiling_notes
from fullgraph.codemods.syntax.disabled import is_disabled


@dataclass(frozen=True)
class Traced:
    """A function that is compiled, and how that is known. `lines`: where it was seen to break; None: not observed."""

    function: Function
    because: str
    region: Region | None = None
    lines: frozenset[int] | None = None

    def admits(self, node: ast.AST) -> bool:
        """Whether a finding may stand at this node: anywhere, or on the lines that broke where these are known."""
        first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        return self.lines is None or any(first <= line <= last for line in self.lines)


def traced_functions(codemod: Codemod, module: Module, project: Project, among: Iterable[Function]) -> Iterator[Traced]:
    """Those of these functions that are compiled. Nested functions are traced with the one that they stand in."""
    for function in among:
        if not is_disabled(module, function) and (found := traced(codemod, module, project, function)):
            yield found


def traced(codemod: Codemod, module: Module, project: Project, function: Function) -> Traced | None:
    if codemod.sites is not None:
        inside = range(function.lineno, (function.end_lineno or function.lineno) + 1)
        lines = {site.line for site in codemod.sites if site.path == module.path and site.line in inside}
        because = f"graphs were seen to break in line {', '.join(map(str, sorted(lines)))}"
        return Traced(function, because, lines=frozenset(lines)) if lines else None
    if codemod.is_named(module, function):
        return Traced(function, "it was named with --symbol")
    region = reached_from(module, project, function)
    return Traced(function, f"{region} compiles it", region) if region else None


def reached_from(module: Module, project: Project, function: Function) -> Region | None:
    """The request that compiles a function, or what calls it or stands around it."""
    regions = project.known_for_good("reached", lambda: regions_of(project))
    scopes = [function, *(outer for outer in module.ancestors(function) if isinstance(outer, FUNCTIONS))]
    found = (regions.get((module.path, module.symbol(scope))) for scope in scopes)
    return next((region for region in found if region), None)


def regions_of(project: Project) -> dict[tuple[str, str], Region]:
    """Every function that compiled code reaches, by path and symbol, with the request."""
    held = lasting(project, "reached", lambda: reached(project), compiling_notes)
    return {(path, symbol): Region(*region) for path, symbol, region in held}


def reached(project: Project) -> list[list[Any]]:
    """The same in JSON's values. Of several requests one with `fullgraph` counts."""
    code = compiled_code(project)
    every = [*code.entries.items(), *((place, call.region) for place, calls in code.calls.items() for call in calls)]
    regions = dict(sorted(every, key=lambda one: bool(one[1].fullgraph)))
    return [[*place, [region.path, region.line, region.fullgraph]] for place, region in regions.items()]
