"""Where a ticket's code block stands in a file, though it was shortened, retyped, or taken from several places."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fullgraph.codemods.module import Module
from fullgraph.codemods.tickets.model import CodeBlock, Lines, Snippet
from fullgraph.codemods.tickets.places.likeness import Comparison, is_hole
from fullgraph.codemods.tickets.places.symbols import Named, around_node, lines_of

ALIKE = 0.7
"""Code that is less alike than this is other code."""

BY_VALUE = 0.05
"""What it costs that a value is assigned in one place and returned in the other."""

LEAST_WEIGHT = 2.5
SAME, SPREAD = 0.02, 0.03
"""What counts as equally alike; what it costs that a quote may be spread over several functions."""

PIECES, MATCHES = 60, 12
"""Statements of a block that are looked for, and places of each that are considered."""

VALUED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


@dataclass(frozen=True, slots=True)
class Quote:
    """Code that a block quotes, all of it in one function or class (or none): how much it is alike, and its lines.

    `nodes` are the pieces of code, in the block's order.
    """

    around: Named | None
    score: float
    lines: tuple[Lines, ...]
    nodes: tuple[ast.AST, ...] = ()

    @property
    def symbol(self) -> str:
        return self.around.symbol if self.around else ""


@dataclass(frozen=True, slots=True)
class Match:
    """A piece of a block, by its number, and the code that it is like."""

    number: int
    node: ast.AST
    score: float


def pieces_of(snippet: Snippet) -> list[ast.AST]:
    """The statements of a block, or what stands in a call or dict of which only a part was quoted."""
    found: list[ast.AST] = []
    for statement in snippet.tree().body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if snippet.added and isinstance(value, ast.Dict):
            found += value.values
        elif snippet.added and isinstance(value, ast.Call) and is_hole(value.func):
            found += [*value.args, *(keyword.value for keyword in value.keywords)]
        else:
            found.append(statement if not isinstance(value, ast.expr) or is_hole(value) else value)
    telling = (piece for piece in found if not is_hole(piece) and not isinstance(piece, ast.Import | ast.ImportFrom))
    return list(telling)[:PIECES]


def find_quotes(module: Module, block: CodeBlock, near: Sequence[Lines] = (), names: float = 1.0) -> list[Quote]:
    """The functions that hold what a block quotes, the most alike first; `near` chooses between equals.

    With `names` 0 only the structure counts, and statements must be statements of the same kind.
    """
    if block.snippet is None:
        return []
    comparison = Comparison(names)
    pieces = pieces_of(block.snippet)
    weights = [comparison.weigh(piece) for piece in pieces]
    if sum(weights) < LEAST_WEIGHT:
        return []
    matches = [match for number, piece in enumerate(pieces) for match in match_piece(comparison, module, number, piece)]
    quotes = [quote_in(module, around, matches, weights, near) for around in scopes_of(module, matches)]
    found = sorted((quote for quote in quotes if quote.score >= ALIKE), key=lambda quote: -quote.score)
    distinct = {quote.lines: quote for quote in reversed(found) if quote.score >= found[0].score - SAME}
    return sorted(distinct.values(), key=found.index)


def split_quote(module: Module, quote: Quote) -> list[Quote]:
    """A quote from several functions as one for each, in the block's order."""
    groups: dict[str, list[ast.AST]] = {}
    arounds: dict[str, Named | None] = {}
    for node in quote.nodes:
        around = around_node(module, node)
        symbol = around.symbol if around else ""
        groups.setdefault(symbol, []).append(node)
        arounds[symbol] = around
    return [Quote(arounds[name], quote.score, merged(nodes), tuple(nodes)) for name, nodes in groups.items()]


def match_piece(comparison: Comparison, module: Module, number: int, piece: ast.AST) -> list[Match]:
    """The code that one piece is like the most, if it is like it enough."""
    found = [Match(number, node, comparison.likeness(piece, node)) for node in comparable(module, piece)]
    found = [match for match in found if match.score >= ALIKE - 0.1]
    value = getattr(piece, "value", None)
    if comparison.names and isinstance(piece, VALUED) and value and comparison.weigh(value) >= LEAST_WEIGHT:
        scores = ((node, comparison.likeness(value, node) - BY_VALUE) for node in module.unordered(type(value)))
        found += [Match(number, node, score) for node, score in scores if score >= ALIKE]
    return sorted(found, key=lambda match: -match.score)[:MATCHES]


def comparable(module: Module, piece: ast.AST) -> list[ast.AST]:
    """Code of the same kind; what is declared may also be a plain assignment."""
    kinds: tuple[type[ast.AST], ...] = (type(piece),)
    if isinstance(piece, ast.Assign | ast.AnnAssign):
        kinds = (ast.Assign, ast.AnnAssign)
    if isinstance(piece, ast.FunctionDef | ast.AsyncFunctionDef):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return module.unordered(*kinds)


def scopes_of(module: Module, matches: Iterable[Match]) -> list[Named | None]:
    """The functions and classes in which something was found, each with those around it: a block may quote both."""
    found: dict[str, Named | None] = {}
    for match in matches:
        inner = around_node(module, match.node)
        found.setdefault(inner.symbol if inner else "", inner)
        for outer in module.ancestors(match.node):
            if isinstance(outer, ast.ClassDef):
                around = around_node(module, outer)
                found.setdefault(module.symbol(outer), around)
    found.setdefault("", None)
    return list(found.values())


def quote_in(
    module: Module, around: Named | None, matches: Sequence[Match], weights: Sequence[float], near: Sequence[Lines]
) -> Quote:
    """What of a block stands in one function or class. Of equals the one near the named lines, else the next below.

    Of a single piece that stands there several times all are meant, if no lines say which.
    """
    chosen: list[Match] = []
    for number in range(len(weights)):
        here = [match for match in matches if match.number == number and is_within(match.node, around)]
        best = max((match.score for match in here), default=0.0)
        equals = [match for match in here if match.score >= best - SAME]
        if len(weights) == 1 and not near and around is not None:
            chosen = sorted(equals, key=lambda match: lines_of(match.node))
            break
        below = chosen[-1].node.end_lineno if chosen else 0  # type: ignore[attr-defined]
        if equals:
            chosen.append(min(equals, key=lambda match: (distance(match.node, near), is_above(match.node, below))))
    total = sum(weights)
    best_of = {match.number: match.score for match in chosen}
    score = sum(score * weights[number] for number, score in best_of.items()) / total
    spread = SPREAD if around is None or around.is_class else 0.0
    nodes = tuple(match.node for match in chosen)
    return Quote(tightest(module, around, chosen), score - spread, merged(nodes), nodes)


def is_within(node: ast.AST, around: Named | None) -> bool:
    lines = lines_of(node)
    return around is None or (around.lines.first <= lines.first and lines.last <= around.lines.last)


def tightest(module: Module, around: Named | None, chosen: Sequence[Match]) -> Named | None:
    """The function that holds all that was chosen, if there is one."""
    inner = {named.symbol: named for match in chosen if (named := around_node(module, match.node))}
    return next(iter(inner.values())) if len(inner) == 1 else around


def distance(node: ast.AST, near: Sequence[Lines]) -> int:
    lines = lines_of(node)
    return min((max(each.first - lines.last, lines.first - each.last, 0) for each in near), default=0)


def is_above(node: ast.AST, line: int) -> tuple[bool, int]:
    first = lines_of(node).first
    return first <= line, first


def merged(nodes: Sequence[ast.AST]) -> tuple[Lines, ...]:
    """The lines of these nodes; what follows without a gap is one range."""
    found: list[Lines] = []
    for lines in sorted({lines_of(node) for node in nodes}):
        if found and lines.first <= found[-1].last + 1:
            found[-1] = Lines(found[-1].first, max(found[-1].last, lines.last))
        else:
            found.append(lines)
    return tuple(found)
