"""All that a ticket asks of its codemod: also in functions that it names and does not quote."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Place
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.places.symbols import find_names
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.understanding import Understood


def whole(understood: Understood, catalogue: Catalogue) -> Understood:
    """The same ticket, with what its codemod finds in the other functions that it names."""
    routed = understood.routed
    if not routed.findings or routed.symbols:
        return understood
    known = {finding.key for finding in routed.findings}
    more = [each for each in found_besides(understood, catalogue) if each.key not in known]
    named = tuple(replace(finding, ticket=understood.ticket.id) for finding in more)
    return replace(understood, routed=replace(routed, findings=(*routed.findings, *named)))


def found_besides(understood: Understood, catalogue: Catalogue) -> Iterator[Finding]:
    routed = understood.routed
    for spot in named_besides(understood, catalogue.project):
        for finding in catalogue.findings_of(spot.path, routed.codemod, dict(routed.options)):
            if spot.surrounds(finding.line, finding.last_line) and f"{finding.symbol}.".startswith(f"{spot.symbol}."):
                yield finding


def named_besides(understood: Understood, project: Project) -> list[Spot]:
    """The functions that a ticket names in the files where it was found, and that hold none of its places."""
    spots = [spot for spot in understood.located.spots if not spot.is_mentioned]
    found: dict[str, Spot] = {}
    for path in dict.fromkeys(spot.path for spot in spots):
        for place in understood.ticket.places:
            if is_about(place, path) and (module := parsed(project, path)):
                found.update((f"{path}:{each.symbol}", each) for each in functions_of(module, place))
    return [each for each in found.values() if not any(lies_in(spot, each) for spot in spots)]


def is_about(place: Place, path: str) -> bool:
    written = PurePosixPath(place.path.replace("\\", "/")).name
    return not written or written == PurePosixPath(path).name


def parsed(project: Project, path: str) -> Module | None:
    try:
        return project.module(path)
    except SourceError:
        return None


def functions_of(module: Module, place: Place) -> Iterator[Spot]:
    """A class is where to look, a function is what to change."""
    functions = {module.symbol(node) for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)}
    for named in find_names(module, place.symbols):
        if named.is_scope and named.symbol in functions:
            yield Spot(module.path, named.symbol, extent=named.lines, how="named")


def lies_in(spot: Spot, function: Spot) -> bool:
    lines = (*spot.lines, *([spot.extent] if spot.extent else []))
    return spot.path == function.path and any(function.surrounds(each.first, each.last) for each in lines)
