"""Where the code is that an issue is about: from its fields, its heading, its words, or the document around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from fullgraph.codemods.tickets.limits import RANGES
from fullgraph.codemods.tickets.markdown.inline import read_inline
from fullgraph.codemods.tickets.markdown.plan import Issue
from fullgraph.codemods.tickets.markdown.sections import LABELLED, Section
from fullgraph.codemods.tickets.model import CodeBlock, Field, Lines, Place
from fullgraph.codemods.tickets.parts.references import (
    SEVERAL,
    is_same,
    lines_in,
    merge,
    places_in,
    symbols_in,
    without_files,
)
from fullgraph.codemods.tickets.text import Lined

TOLD = {"problem", "summary", ""}
LINES = re.compile(rf"\blines?(?:\(s\))?:?\s+(?P<lines>{SEVERAL})|\((?P<short>L\d+(?:-L?\d+)?)\)", re.IGNORECASE)


def places_of(
    lined: Lined, issue: Issue, fields: list[Field], inherited: list[Field], code: tuple[CodeBlock, ...]
) -> tuple[Place, ...]:
    """The files of an issue, each with its lines and symbols; what is not attributed is given to all of them."""
    lines = loose_lines(fields)
    symbols = symbols_of(fields)
    stated = merge([*from_fields(fields, "file"), *from_fields(fields, "lines"), *from_fields(fields, "symbol")])
    found = stated or from_title(issue) or described(issue, code)
    outer = merge([*from_fields(inherited, "file"), *preamble(issue)]) if issue.around else []
    if not any(place.lines for place in found) and not stated:
        found = [replace(place, lines=()) for place in outer[:1]] or found
    if not lines and not any(place.lines for place in found):
        lines = (
            said_lines(issue.section) or tuple(dict.fromkeys(each for block in code for each in block.lines))[:RANGES]
        )
    if not found and (lines or symbols):
        found = [Place(where=next((field.where for field in fields if field.name in ("lines", "symbol")), None))]
    return tuple(attribute(found, fields, lines, symbols))


def attribute(
    places: list[Place], fields: list[Field], lines: tuple[Lines, ...], symbols: tuple[str, ...]
) -> Iterator[Place]:
    """Give loose lines to the files: group by group if there are as many groups as files, else all to each."""
    stated = next((field for field in fields if field.name == "lines" and field.value), None)
    groups = re.split(r"[;\n]|\s/\s", stated.value) if stated else []
    bare = [place for place in places if not place.lines]
    matched = len(groups) == len(places) == len(bare) > 1
    for number, place in enumerate(places):
        own = lines_in(groups[number]) if matched else place.lines or lines
        yield replace(place, lines=own, symbols=tuple(dict.fromkeys((*place.symbols, *symbols))))


def from_fields(fields: Iterable[Field], name: str) -> Iterator[Place]:
    for field in fields:
        if field.name == name and field.value:
            inline = read_inline(field.raw or field.value)
            text = "\n".join((inline.text, *inline.links))
            is_strict = name == "file" and len(inline.text.split()) <= 3 * (1 + inline.text.count(","))
            yield from (replace(place, where=field.where) for place in places_in(text, is_field=is_strict))


def loose_lines(fields: Iterable[Field]) -> tuple[Lines, ...]:
    """Lines in fields for lines, and those in a field for files that stand behind no file."""
    values = [without_files(field.value) for field in fields if field.name == "lines"]
    found = dict.fromkeys(each for value in values for each in lines_in(value))
    said = [
        match.group("lines") or match.group("short")
        for field in fields
        if field.name == "file"
        for match in LINES.finditer(without_files(field.value))
    ]
    return tuple(found) or tuple(dict.fromkeys(each for words in said for each in lines_in(words)))


def symbols_of(fields: Iterable[Field]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for field in fields:
        if field.name == "symbol" and field.value:
            inline = read_inline(field.raw or field.value)
            texts = [code for code in inline.codes if not places_in(code)] or [without_files(inline.text)]
            found.update(dict.fromkeys(symbols_in(texts)))
        elif field.name == "file" and field.value:
            codes = [code for code in read_inline(field.raw).codes if not places_in(code, is_field=True)]
            found.update(dict.fromkeys(symbols_in(codes)))
    return tuple(found)


def from_title(issue: Issue) -> list[Place]:
    heading = issue.section.heading if issue.around else None
    if heading:
        return [replace(place, where=heading.where) for place in places_in(read_inline(heading.text).text)]
    titles = [child.heading for child in issue.section.children[:1] if child.heading]
    return [replace(place, where=title.where) for title in titles for place in places_in(read_inline(title.text).text)]


def described(issue: Issue, code: tuple[CodeBlock, ...]) -> list[Place]:
    """Python files in a part for the location, then those with lines in the words, then any; then what code says."""
    located = list(in_words(issue.section, {"location"}))
    told = list(in_words(issue.section, TOLD))
    shown = [Place(block.path, block.lines, (), block.where) for block in code if block.path and block.kind != "test"]
    exact = [place for place in told if place.lines]
    full = [place for place in shown if any(is_same(place.path, other.path) for other in exact)]
    return merge(located) or merge([*exact, *full])[:RANGES] or merge(told or shown)[:RANGES]


def in_words(section: Section, parts: set[str]) -> Iterator[Place]:
    for inner in section.walk():
        if inner.part in parts:
            for block in inner.blocks:
                texts = block.cells if block.kind == "row" else (block.text,) if block.kind != "code" else ()
                for text in texts:
                    inline = read_inline(text)
                    for place in places_in("\n".join((inline.text, *inline.links))):
                        yield replace(place, where=block.where)


def said_lines(section: Section) -> tuple[Lines, ...]:
    """`lines 12-14` in the words of the problem."""
    found: dict[Lines, None] = {}
    for inner in section.walk():
        if inner.part in TOLD:
            for block in inner.blocks:
                for match in LINES.finditer(read_inline(block.text).text if block.kind in ("text", "item") else ""):
                    found.update(dict.fromkeys(lines_in(match.group("lines") or match.group("short"))))
    return tuple(found)[:RANGES]


def preamble(issue: Issue) -> list[Place]:
    """The one Python file that the document names before or around its issues, without lines."""
    named = (named_in(outer) for outer in reversed(issue.around))
    return next(([Place(paths[0])] for paths in named if len(paths) == 1), [])


@lru_cache(16)
def named_in(section: Section) -> tuple[str, ...]:
    """The Python files that stand in a section itself and in its parts that are no issues."""
    parts = [child for child in section.children if child.part or child.level == LABELLED]
    blocks = [block for part in (section, *parts) for block in part.blocks if block.kind != "code"]
    named = [place for block in blocks for place in places_in(read_inline(block.text).text)]
    return tuple(place.path for place in merge(named[:RANGES]))
