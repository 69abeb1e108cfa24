"""What a ticket names or quotes, found in files that it does not name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Place, Ticket
from fullgraph.codemods.tickets.places.history import History, renamed_to
from fullgraph.codemods.tickets.places.in_file import blocks_of, by_quote, by_symbol
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.places.paths import Candidate, find_files
from fullgraph.codemods.tickets.places.quotes import SAME, find_quotes
from fullgraph.codemods.tickets.places.symbols import find_names

FILES = 12
"""Files that are parsed because they have many of a block's names in them."""

NAMES = 16
COMMON = {
    *("self", "cls", "torch", "nn", "len", "range", "int", "float", "str", "bool", "list", "dict", "tuple", "print"),
    *("super", "enumerate", "zip", "isinstance", "append", "items", "keys", "values", "get", "shape", "size"),
}
ELSEWHERE = Candidate("", 0.8, "in another file than named")


def symbols_of(ticket: Ticket) -> tuple[str, ...]:
    return tuple(dict.fromkeys(symbol for place in ticket.places for symbol in place.symbols))


def find_by_symbol(ticket: Ticket, project: Project, tried: list[str]) -> Iterator[Spot]:
    """The only definition of a symbol in the whole project."""
    for symbol in symbols_of(ticket):
        last = symbol.rpartition(".")[2]
        pattern = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+" + re.escape(last.encode()) + rb"\b", re.M)
        paths = sorted({path for path, _ in project.matches(pattern)})
        found = [spot for path in paths[:FILES] for spot in symbol_in(project, path, symbol, ticket)]
        if len(found) == 1:
            yield found[0]
        elif found:
            tried.append(f"symbol: {symbol} is defined in {', '.join(spot.path for spot in found)}")
        else:
            tried.append(f"symbol: {symbol} is not defined in the project")


def symbol_in(project: Project, path: str, symbol: str, ticket: Ticket) -> list[Spot]:
    with suppress(SourceError):
        module = project.module(path)
        lines = [each for place in ticket.places for each in place.lines]
        return list(by_symbol(find_names(module, [symbol]), lines, (), module, ELSEWHERE))
    return []


def find_by_quote(ticket: Ticket, project: Project, tried: list[str]) -> Iterator[Spot]:
    """The file in which a code block is found best, if no other has it as well."""
    for block in blocks_of(ticket):
        if block.snippet is None:
            continue
        modules = list(likely_modules(project, block.snippet.tree()))
        rated = [(quote, module) for module in modules for quote in find_quotes(module, block)]
        best = max((quote.score for quote, _ in rated), default=0.0)
        equals = [(quote, module) for quote, module in rated if quote.score > best - SAME]
        if len({module.path for _, module in equals}) == 1:
            yield from by_quote(equals[0][1], [quote for quote, _ in equals], ELSEWHERE)
            return
        where = ", ".join(sorted({module.path for _, module in equals}))
        many = f"in {where} alike" if where else f"in none of the {len(modules)} files with most of its names"
        tried.append(f"code block: found {many}")


def likely_modules(project: Project, tree: ast.AST) -> Iterator[Module]:
    """The files that mention the most of a block's names, rare ones first."""
    counts: Counter[str] = Counter()
    for name in names_in(tree):
        paths = project.mentions(name)
        for path in paths:
            counts[path] += 1 + 10 // len(paths)
    for path, _ in counts.most_common(FILES):
        with suppress(SourceError):
            yield project.module(path)


def names_in(tree: ast.AST) -> Sequence[str]:
    """The names of a block that say something, longest first."""
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    found |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    telling = (name for name in found if name not in COMMON and len(name) > 1 and not name.startswith("__"))
    return sorted(telling, key=lambda name: (-len(name), name))[:NAMES]


def find_by_history(ticket: Ticket, project: Project, history: History, tried: list[str]) -> Iterator[Spot]:
    """What a function has become that lost its name."""
    for place in ticket.places:
        for symbol in place.symbols:
            yield from find_renamed(symbol, place, project, history, tried)


def find_renamed(symbol: str, place: Place, project: Project, history: History, tried: list[str]) -> Iterator[Spot]:
    paths = tuple(candidate.path for candidate in find_files(place.path, project.files))
    old = history.old_function(symbol, paths)
    if old is None:
        tried.append(history.says_nothing(symbol))
        return
    node, path = old
    likely = [module.path for module in likely_modules(project, node)]
    found = renamed_to(project, node, list(dict.fromkeys([*paths, *likely])))
    if found is None:
        tried.append(f"history: {symbol} was in {path}; nothing there is like it now")
        return
    file, named, score = found
    how = f"by git's history {symbol} of {path} has become {named.symbol} ({score:.0%} alike)"
    yield Spot(file, named.symbol, (), named.lines, round(0.9 * score, 2), how, is_confirmed=True)
