"""A list with one issue in each item: `1. **P0: host reads** (lines 4-9): ...`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.inline import box_of, plain
from fullgraph.codemods.tickets.markdown.plan import Issue
from fullgraph.codemods.tickets.markdown.sections import Section
from fullgraph.codemods.tickets.words import LEVEL, name_of

CLOSED = {"review", "related", "fix", "verification", "metadata", "category", "evidence"}
CLAUSE = re.compile(r"(?<=[\w)`])(?:[.:;]\s|\s\(|\n)")
ITEM = 6
"""The level of such an issue: below all that stands around it."""


def listed(document: Section) -> list[Issue]:
    """The issues of all lists in which every item, and at least two, begin with a level."""
    return list(within(document, ()))


def within(section: Section, around: tuple[Section, ...]) -> Iterator[Issue]:
    if section.part not in CLOSED and (section.is_title or not name_of(section.title)):
        heads = [number for number, block in enumerate(section.blocks) if is_head(block)]
        groups = {section.blocks[number].group for number in heads}
        items = [block for block in section.blocks if block.kind == "item" and block.group in groups]
        if len(heads) > 1 and len(items) == len(heads):
            for begin, end in zip(heads, [*heads[1:], len(section.blocks)], strict=True):
                yield Issue(as_section(section.blocks[begin:end]), (*around, section))
    for child in section.children:
        yield from within(child, (*around, section))


def is_head(block: Block) -> bool:
    box = box_of(block.text) if block.kind == "item" else None
    text = plain(block.text[box[2] if box else 0 :]) if block.kind == "item" else ""
    level = LEVEL.match(text)
    return level is not None and len(text[level.end() :].split()) > 2


def as_section(blocks: list[Block]) -> Section:
    """An item with what follows it, as if its first words were a heading. A box stays with them: it may be ticked."""
    first, *rest = blocks
    box = box_of(first.text)
    words = first.text[box[2] if box else 0 :]
    level = LEVEL.match(plain(words))
    title = CLAUSE.split(plain(words), maxsplit=1 + bool(level and plain(words)[level.end() :].startswith(":")))
    mark = "[x] " if box and box[0] else ""
    body = replace(first, kind="text", text=words)
    return Section(mark + " ".join(title[:-1] or title), ITEM, heading=first, blocks=[body, *rest])
