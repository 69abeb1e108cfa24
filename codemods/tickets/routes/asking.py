"""The codemod that a ticket's words are about, asked by name: with the ticket's settings, at its place and beyond."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fullgraph.codemods.model import Finding, FullgraphError, SourceError
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.tickets.model import Lines, Ticket
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.places.prose import is_test
from fullgraph.codemods.tickets.routes.firing import Catalogue, near
from fullgraph.codemods.tickets.routes.model import Fired
from fullgraph.codemods.tickets.routes.options import NewFunction, new_function, options_for

EXTRACTS = "isolate_telemetry"
FILES = 60
"""Files that one codemod is run on because its subject may be used in them."""

LEAST = 5
"""Letters of a name that is looked for in what a finding says."""


@dataclass(frozen=True)
class Answer:
    """What one codemod finds for a ticket with these settings, and what stopped it where it could not look."""

    fired: tuple[Fired, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def ask(name: str, ticket: Ticket, located: Located, catalogue: Catalogue) -> Answer:
    """What a codemod finds at the ticket's places with its settings; else where it names what the ticket names."""
    error = ""
    for path, symbol in dict.fromkeys((spot.path, spot.symbol) for spot in located.spots):
        options = options_for(name, ticket, catalogue.project, path, symbol)
        findings, why = findings_with(catalogue, path, name, options)
        error = error or why
        around = near(catalogue, findings, [spot for spot in located.spots if spot.path == path])
        found = [each for each in around if each.rank == 0 or is_whole(each.spot)]
        if found:
            nearest = min(each.rank for each in found)
            return Answer(tuple(each for each in found if each.rank == nearest), options)
    has_lines = any(spot.lines for spot in located.spots)
    return Answer(() if has_lines else tuple(elsewhere(name, located, catalogue)), error=error)


def is_whole(spot: Spot) -> bool:
    """Whether all of the function is meant: it is named without lines, or so short that these may have drifted."""
    return not spot.lines or (spot.is_small and not spot.is_quoted)


def findings_with(
    catalogue: Catalogue, path: str, name: str, options: Mapping[str, str]
) -> tuple[tuple[Finding, ...], str]:
    """What one codemod finds in a file with these settings, or why these do not fit."""
    try:
        result = find(catalogue.project, path, [catalogue.codemod(name, options)])
    except FullgraphError as error:
        return (), str(error)
    return result.findings, result.error


def elsewhere(name: str, located: Located, catalogue: Catalogue) -> Iterator[Fired]:
    """The findings in the project that speak of a class that the ticket names: `FocusNet` is `self.focus_net`."""
    names = {bare(spot.symbol.rpartition(".")[2]): spot for spot in located.spots if spot.is_mentioned}
    codemod = catalogue.codemod(name)
    project = catalogue.project
    paths = [path for path in project.files if not is_test(path) and codemod.may_hold(project.read(path))]
    for path in paths[:FILES] if names else []:
        for finding in findings_with(catalogue, path, name, {})[0]:
            said = bare(f"{finding.message} {catalogue.lines_of(finding)}")
            met = [spot for word, spot in names.items() if len(word) >= LEAST and word in said]
            if met:
                yield Fired(finding, "fires in the project", met[0])


def not_torch(catalogue: Catalogue, name: str, spot: Spot) -> str:
    """What on these lines is called like something of torch's that the codemod is about, but comes from elsewhere."""
    try:
        module = catalogue.project.module(spot.path)
    except SourceError:
        return ""
    wanted = {needle.decode(errors="replace") for needle in catalogue.kinds[name].needles}
    for node in module.nodes(ast.Call):
        if spot.holds(node.lineno, node.end_lineno or node.lineno) and isinstance(node.func, ast.Attribute):
            origin = module.resolve(node.func)
            if node.func.attr in wanted and origin and not origin.startswith("torch."):
                return f"`{module.code(node.func)}` is {origin} there, which is not known to be torch's"
    return ""


def bare(text: str) -> str:
    return text.casefold().replace("_", "")


def extraction(ticket: Ticket, located: Located, catalogue: Catalogue) -> Answer:
    """What extracts the function that the fix writes anew, from those of the ticket's lines that it is about."""
    wanted = new_function(ticket)
    if wanted is None or EXTRACTS not in catalogue.kinds or is_defined(wanted.name, catalogue):
        return Answer()
    spots = [(spot, lines) for spot in located.spots for lines in spot.lines]
    rated = sorted(spots, key=lambda pair: -likeness(wanted, catalogue, pair[0].path, pair[1]))
    for spot, lines in rated[:1]:
        options = {"name": wanted.name, "lines": f"{spot.path}:{lines.first}-{lines.last}"}
        findings = findings_with(catalogue, spot.path, EXTRACTS, options)[0]
        return Answer(tuple(Fired(each, "fires at the place", at(spot, lines)) for each in findings), options)
    return Answer()


def is_defined(name: str, catalogue: Catalogue) -> bool:
    pattern = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+" + re.escape(name.encode()) + rb"\b", re.MULTILINE)
    return bool(catalogue.project.matches(pattern))


def at(spot: Spot, lines: Lines) -> Spot:
    return Spot(spot.path, spot.symbol, (lines,), spot.extent, spot.score, spot.how, spot.is_quoted, spot.is_confirmed)


def likeness(wanted: NewFunction, catalogue: Catalogue, path: str, lines: Lines) -> int:
    """How many of the function's parameters, and of the words of its name, stand on these lines."""
    text = "\n".join(catalogue.project.module(path).text.splitlines()[lines.first - 1 : lines.last])
    parameters = [name for name in wanted.parameters if re.search(rf"\b{re.escape(name)}\b", text)]
    return len(parameters) + sum(word in text.casefold() for word in wanted.name.split("_") if len(word) >= LEAST)
