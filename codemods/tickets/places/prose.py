"""Classes and methods that a ticket names in its prose: places too, after those that it gives as places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.places.symbols import find_names, lines_of

SCORE = 0.6
SPOTS = 8
NAMES = 200
NAME = re.compile(r"(?<![\w.-])_?[A-Z]\w{2,}(?:\.\w+)*(?![\w/-]*\.\w)")
CAMEL = re.compile(r"_?[A-Z]+[a-z0-9]\w*[A-Z]|.*\.")
OPENING = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[A-Z]\w*(?=\s)")


def named_in_prose(ticket: Ticket, project: Project, known: Sequence[Spot]) -> list[Spot]:
    """Each class or method that is named and defined once in the project.

    A step of a plan that names none is about those that the plan names before it.
    """
    for names in (names_in(ticket), words_in(ticket.context)):
        spots = list(dict.fromkeys(spots_for(names, project)))
        if spots:
            return [spot for spot in spots if not any(is_known(spot, each) for each in known)][:SPOTS]
    return []


def names_in(ticket: Ticket) -> list[str]:
    """What may be a class or a method of one. A plain word in a title or at the head of a sentence is just a word."""
    title = [name for name in NAME.findall(ticket.title) if CAMEL.match(name)]
    said = "\n".join([ticket.summary, ticket.problem, ticket.fix])
    codes = [name for name in ticket.mentions if NAME.fullmatch(name)]
    return list(dict.fromkeys([*title, *words_in(said), *codes]))


def words_in(text: str) -> list[str]:
    opening = {match.group().split()[-1].strip(".!?:;") for match in OPENING.finditer(text)}
    return [name for name in NAME.findall(text) if CAMEL.match(name) or name not in opening]


def spots_for(named: Sequence[str], project: Project) -> Iterator[Spot]:
    names = list(dict.fromkeys(named))[:NAMES]
    homes = homes_of({name.partition(".")[0] for name in names}, project)
    for name in names:
        paths = homes.get(name.partition(".")[0], ())
        if len(paths) == 1:
            yield from spots_in(project, paths[0], name)


def homes_of(classes: set[str], project: Project) -> dict[str, tuple[str, ...]]:
    """The files that define a class of each of these names, tests left out."""
    words = "|".join(sorted(map(re.escape, classes)))
    if not words:
        return {}
    found: dict[str, dict[str, None]] = {}
    for path, match in project.matches(re.compile(rf"^[ \t]*class[ \t]+({words})\b".encode(), re.MULTILINE)):
        if not is_test(path):
            found.setdefault(match.group(1).decode(), {})[path] = None
    return {name: tuple(paths) for name, paths in found.items()}


def is_test(path: str) -> bool:
    *folders, name = path.split("/")
    return name.startswith("test_") or "tests" in folders


def spots_in(project: Project, path: str, name: str) -> Iterator[Spot]:
    """The method, else the class that has the name in front of it."""
    with suppress(SourceError):
        module = project.module(path)
        owner = name.partition(".")[0]
        classes = [node for node in module.nodes(ast.ClassDef) if module.symbol(node).split(".")[-1] == owner]
        methods = [each for each in find_names(module, [name]) if "." in name and each.is_scope]
        for method in methods:
            yield Spot(path, method.symbol, (), method.lines, SCORE, "named in the prose", is_mentioned=True)
        if len(classes) == 1 and not methods:
            symbol, extent = module.symbol(classes[0]), lines_of(classes[0])
            yield Spot(path, symbol, (), extent, SCORE, "named in the prose", is_mentioned=True)


def is_known(spot: Spot, known: Spot) -> bool:
    """Whether a place is the one that is named, or has it around: lines say more than a name."""
    return spot.path == known.path and f"{known.symbol}.".startswith(f"{spot.symbol}.")
