"""Labelled values: in tables lying or standing, in lists, in bold or plain lines, and under headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.inline import box_of, label_of, plain
from fullgraph.codemods.tickets.markdown.sections import LABELLED, Section
from fullgraph.codemods.tickets.model import Field
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import name_of

EMPTY = {"_no response_", "no response", "n/a", "na", "none", "-", "\u2014", "tbd", "?", "unknown"}
CAPTIONS = {"value", "values", "content", "contents", "detail", "details", "data", "entry", "setting"}
WRAPPED = re.compile(r"""(?P<quote>(?P<mark>[`*_"'])(?P=mark)*)(?P<inner>(?:(?!(?P=mark)).)*)(?P=quote)""")
BAR = re.compile(r"(?<!\\)\|")
HEADED = {"status", "severity", "revised severity", "verdict", "file", "lines"}
ASIDE = {"review", "related"}
LONGEST = 2_000

Record = dict[str, Field]


def fields_of(lined: Lined, section: Section) -> Iterator[Field]:
    """All fields of a section and those below it, but for reviews and references."""
    for inner in section.walk():
        if inner is section or inner.part not in ASIDE:
            yield from own_fields(lined, inner)


def near_fields(lined: Lined, section: Section) -> Iterator[Field]:
    """The fields that stand right under a heading, or in a part for metadata of its own."""
    yield from own_fields(lined, section)
    for child in section.children:
        if child.level == LABELLED or child.own_part in ("metadata", "location") or name_of(child.title):
            yield from own_fields(lined, child)


def own_fields(lined: Lined, section: Section) -> tuple[Field, ...]:
    """The fields that stand in a section itself; they are read once."""
    if section.fields is None:
        section.fields = tuple(read_fields(lined, section))
    return section.fields


def read_fields(lined: Lined, section: Section) -> Iterator[Field]:
    yield from heading_field(lined, section)
    for kind, blocks in groupby(section.blocks, key=lambda block: block.kind):
        if kind == "row":
            yield from (field for record in records(lined, blocks) for field in record.values())
        elif kind in ("text", "item"):
            yield from (field for block in blocks if (field := labelled(lined, block)))


def held_by_heading(lined: Lined, section: Section) -> Field | None:
    """`## Status: resolved`."""
    is_plain = section.heading and 1 < section.level < LABELLED
    field = labelled(lined, section.heading) if section.heading and is_plain else None
    return field if field and field.name in HEADED and field.value else None


def heading_field(lined: Lined, section: Section) -> Iterator[Field]:
    """`### Severity` over a short text, or over a list with ticks, as forms write it; or a value in the heading."""
    if held := held_by_heading(lined, section):
        yield held
    name = name_of(section.title) if section.heading and not section.is_title else ""
    if not name or not section.blocks:
        return
    ticked = [block for block in section.blocks if block.kind == "item" and is_ticked(block)]
    texts = [block for block in section.blocks if block.kind in ("text", "item") and not box_of(block.text)]
    for block in ticked or texts[:5]:
        if not label_of(block.text):
            found = box_of(block.text)
            content = block.text[found[2] :] if found else block.text
            yield make_field(lined, replace(block, text=content), section.title, content)


def is_ticked(block: Block) -> bool:
    box = box_of(block.text)
    return box is not None and box[0]


def labelled(lined: Lined, block: Block) -> Field | None:
    """`**Priority:** P0`, `- Priority: P0`."""
    label = label_of(block.text)
    if not label or box_of(block.text) or label.is_alone:
        return None
    return make_field(lined, block, label.text, block.text[label.end :])


def records(lined: Lined, rows: Iterable[Block]) -> Iterator[Record]:
    """Tables as records: one for a table of labels and values, one for each row under a header of labels."""
    for _, group in groupby(rows, key=lambda row: row.group):
        table = list(group)
        header = [name_of(plain(cell)) for cell in table[0].cells]
        if len(table) > 1 and is_header(header, table):
            yield from (lying(lined, table[0], row) for row in table[1:])
        else:
            yield standing(lined, table)


def is_header(names: list[str], table: list[Block]) -> bool:
    """Whether the first row labels the columns. With two columns the labels may also stand on the left."""
    known = sum(map(bool, names))
    on_left = sum(bool(name_of(plain(row.cells[0]))) for row in table[1:] if row.cells)
    return known >= 2 and (len(names) > 2 or on_left == 0)


def lying(lined: Lined, header: Block, row: Block) -> Record:
    record: Record = {}
    for label, cell, within in zip(header.cells, row.cells, cell_spans(lined, row), strict=False):
        field = make_field(lined, row, plain(label), cell, within)
        record.setdefault(field.name or field.label, field)
    return record


def standing(lined: Lined, table: list[Block]) -> Record:
    """Labels on the left; a first row such as `Field | Value` has no known label and gives nothing."""
    record: Record = {}
    for row in table:
        if len(row.cells) >= 2 and name_of(plain(row.cells[0])) and not is_caption(row):
            within = cell_spans(lined, row)[1:2]
            field = make_field(lined, row, plain(row.cells[0]), row.cells[1], *within)
            record.setdefault(field.name, field)
    return record


def is_caption(row: Block) -> bool:
    """A first row such as `Label | Content`, whose label is only by chance a known one."""
    return row.is_header and plain(row.cells[1]).casefold() in CAPTIONS


def cell_spans(lined: Lined, row: Block) -> list[Span]:
    """Where the cells of a row stand in the file, with the blanks around them."""
    text, start = lined.text[row.where.span.start : row.where.span.end], row.where.span.start
    bars = [found.start() for found in BAR.finditer(text)]
    if not bars or text[: bars[0]].strip("> \t"):
        bars.insert(0, -1)
    if text[bars[-1] + 1 :].strip():
        bars.append(len(text))
    return [Span(start + begin + 1, start + end) for begin, end in pairwise(bars)]


def make_field(lined: Lined, block: Block, label: str, raw: str, within: Span | None = None) -> Field:
    value = plain(raw)
    value = "" if value.casefold() in EMPTY else value[:LONGEST]
    span = value_in(lined, within) if within else find_value(lined, block, raw)
    return Field(name_of(label), label, value, raw, block.where, span)


def value_in(lined: Lined, cell: Span) -> Span:
    """The characters of a cell's value, without quotes. Of an empty cell: where one would write."""
    text = lined.text[cell.start : cell.end]
    core = unwrapped(text)
    at = cell.start + (text.find(core) if core else text.startswith(" "))
    return Span(at, at + len(core))


def find_value(lined: Lined, block: Block, raw: str) -> Span | None:
    """The characters of a value behind its label, without quotes."""
    core = unwrapped(raw)
    at = lined.text.rfind(core, block.where.span.start, block.where.span.end)
    return Span(at, at + len(core)) if core and "\n" not in core and at >= 0 else None


def unwrapped(raw: str) -> str:
    """A value without blanks and the quotes around all of it."""
    text = raw.strip()
    while len(text) <= LONGEST and (found := WRAPPED.fullmatch(text)):
        text = found["inner"].strip()
    return text
