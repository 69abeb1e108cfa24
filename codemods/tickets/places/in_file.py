"""Where in a file a ticket points: by its code block, its symbols and its lines, which each may be wrong alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fullgraph.codemods.module import Module
from fullgraph.codemods.tickets.model import CodeBlock, Lines, Place, Ticket
from fullgraph.codemods.tickets.places.model import Spot
from fullgraph.codemods.tickets.places.paths import Candidate
from fullgraph.codemods.tickets.places.quotes import Quote, find_quotes, split_quote
from fullgraph.codemods.tickets.places.symbols import Named, around_lines, find_names

BLOCKS = 8
"""Code blocks of one ticket that are looked for."""

LINES_ONLY, MENTIONED, FILE_ONLY = 0.8, 0.7, 0.4
LOST = 0.6
"""What a spot is worth if the symbols that the ticket names are not in the file."""


def spots_in(module: Module, place: Place, ticket: Ticket, candidate: Candidate) -> Iterator[Spot]:
    """The spots that a ticket means in a file, the first in its own order."""
    named = find_names(module, place.symbols)
    quotes = quotes_in(module, place, ticket)
    if quotes and (agreeing := [quote for quote in quotes if agrees(quote, named)] or (not named and quotes)):
        meant = at_lines(agreeing, place.lines)
        yield from in_order(by_quote(module, meant, candidate), named)
        yield from beside_quotes(module, place.lines, meant, candidate)
    elif named:
        yield from by_symbol(named, place.lines, quotes, module, candidate)
    else:
        spot = by_lines(module, place.lines, find_names(module, mentioned(ticket)), candidate)
        yield replace(spot, score=round(spot.score * LOST, 2)) if place.symbols else spot


def quotes_in(module: Module, place: Place, ticket: Ticket) -> list[Quote]:
    """What the ticket's first code block quotes that is found in this file."""
    for block in blocks_of(ticket):
        if quotes := find_quotes(module, block, (*block.lines, *place.lines)):
            return quotes
    return []


def at_lines(quotes: Sequence[Quote], near: Sequence[Lines]) -> Sequence[Quote]:
    """Of equals those on the lines that are named, or all if these have drifted."""
    return [quote for quote in quotes if any(not gap(quote.lines, each) for each in near)] or quotes


def blocks_of(ticket: Ticket) -> tuple[CodeBlock, ...]:
    return ticket.code_of("evidence")[:BLOCKS]


def gap(lines: Sequence[Lines], near: Lines) -> int:
    return min((max(near.first - each.last, each.first - near.last, 0) for each in lines), default=0)


def agrees(quote: Quote, named: Sequence[Named]) -> bool:
    """Whether a quote stands in, or holds, one of the named functions and classes."""
    return any(
        f".{quote.symbol}.".startswith(f".{each.symbol}.") or any(meets(lines, each.lines) for lines in quote.lines)
        for each in named
    )


def meets(one: Lines, other: Lines) -> bool:
    return one.first <= other.last and other.first <= one.last


def by_quote(module: Module, quotes: Sequence[Quote], candidate: Candidate) -> list[Spot]:
    return [
        Spot(
            module.path,
            quote.symbol,
            quote.lines,
            quote.around.lines if quote.around else None,
            round(candidate.score * quote.score, 2),
            f"{candidate.how}; its code block is {said(quote.score)} {shown(quote.lines)}",
            is_quoted=True,
            is_confirmed=True,
        )
        for whole in quotes
        for quote in split_quote(module, whole)
    ]


def beside_quotes(
    module: Module, lines: Sequence[Lines], quotes: Sequence[Quote], candidate: Candidate
) -> Iterator[Spot]:
    """The lines that a ticket gives and does not quote, each on its own, if what it quotes is where it says."""
    others = [each for each in lines if all(gap(quote.lines, each) for quote in quotes)]
    if len(others) < len(lines):
        yield from (by_lines(module, [each], (), candidate) for each in others)


def said(score: float) -> str:
    return "that of" if score > 0.995 else f"{score:.0%} like"


def shown(lines: Sequence[Lines]) -> str:
    """`line 3`, `lines 3-5, 9`."""
    each = [str(one.first) if one.first == one.last else f"{one.first}-{one.last}" for one in lines]
    return f"line{'' if len(each) == 1 and '-' not in each[0] else 's'} {', '.join(each)}"


def in_order(spots: list[Spot], named: Sequence[Named]) -> list[Spot]:
    """The spots in the order in which their symbols are named."""
    symbols = [each.symbol for each in named]
    return sorted(spots, key=lambda spot: symbols.index(spot.symbol) if spot.symbol in symbols else len(symbols))


def by_symbol(
    named: Sequence[Named], lines: Sequence[Lines], quotes: Sequence[Quote], module: Module, candidate: Candidate
) -> Iterator[Spot]:
    """The named functions, each with the lines that lie in it. Code that is found elsewhere is not what is meant."""
    elsewhere = f"; its code block is {said(quotes[0].score)} {shown(quotes[0].lines)}, elsewhere" if quotes else ""
    for each in named:
        inside = tuple(line for line in lines if meets(line, each.lines))
        drifted = f"; {shown(lines)} is elsewhere now" if lines and not inside else ""
        extent = each.lines
        if not each.is_scope:
            inside = inside or (each.lines,)
            around = around_lines(module, each.lines)
            extent = around.lines if around else each.lines
        score = round(candidate.score * (0.9 if elsewhere or drifted else 1.0), 2)
        how = f"{candidate.how}; {each.symbol or 'the name'} is at {shown([each.lines])}{drifted}{elsewhere}"
        yield Spot(module.path, each.symbol, inside, extent, score, how, is_confirmed=True)


def mentioned(ticket: Ticket) -> tuple[str, ...]:
    """Names in the ticket's prose that may be functions or classes; single words of the title too."""
    words = [word.strip("`*()[]:,.") for word in ticket.title.split()]
    return (*ticket.mentions, *(word for word in words if "_" in word or (word[:1].isupper() and "." in word)))


def by_lines(module: Module, lines: Sequence[Lines], mentions: Sequence[Named], candidate: Candidate) -> Spot:
    """The lines as written, if the file has them and what is mentioned is not elsewhere; else what is mentioned."""
    scopes = [each for each in mentions if each.is_scope]
    there = [each for each in lines if each.first <= module.line(len(module.text.rstrip()))]
    around = around_lines(module, there[0]) if there else None
    if there and (around or not scopes):
        how = f"{candidate.how}; {shown(there)} as written"
        extent = around.lines if around else None
        score = round(candidate.score * LINES_ONLY, 2)
        return Spot(module.path, around.symbol if around else "", tuple(there), extent, score, how)
    if scopes:
        each = min(scopes, key=lambda one: min((gap([one.lines], line) for line in lines), default=0))
        how = f"{candidate.how}; it mentions {each.symbol}, {shown([each.lines])}"
        score = round(candidate.score * MENTIONED, 2)
        return Spot(module.path, each.symbol, (), each.lines, score, how, is_confirmed=True)
    missing = f"; {shown(lines)} is beyond its end" if lines else ""
    return Spot(module.path, score=round(candidate.score * FILE_ONLY, 2), how=f"{candidate.how}{missing}")
