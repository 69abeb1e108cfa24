"""Check-lists: what is to be verified, and the categories that are ticked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.inline import box_of, plain
from fullgraph.codemods.tickets.markdown.sections import Section
from fullgraph.codemods.tickets.model import CheckItem
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import name_of

OATH = re.compile(r"I(?:'ve| have| am| can| agree| searched| confirm)\b")
"""What forms make a reporter promise."""

ELSEWHERE = {"category", "review", "related", "metadata", "location"}


def checks_of(lined: Lined, section: Section) -> Iterator[CheckItem]:
    """The items of the verification, with or without a box, and boxes elsewhere that choose nothing."""
    for inner in section.walk():
        for block in inner.blocks:
            if block.kind == "item" and inner.part not in ELSEWHERE and not name_of(inner.title):
                box = box_of(block.text)
                if (box or inner.part == "verification") and not OATH.match(block.text, box[2] if box else 0):
                    yield check(lined, block, box)


def check(lined: Lined, block: Block, box: tuple[bool, int, int] | None) -> CheckItem:
    if not box:
        return CheckItem(plain(block.text), None, block.where)
    is_ticked, mark, words = box
    return CheckItem(plain(block.text[words:]), is_ticked, block.where, box_span(lined, block, mark))


def box_span(lined: Lined, block: Block, mark: int) -> Span | None:
    """The character that ticks the box; of `[]` the empty place between the brackets."""
    start, end = block.where.span.start, block.where.span.end
    at = lined.text.find(block.text[: mark + 1].rstrip("\n") or "[", start, end)
    if at < 0:
        return None
    begin = at + mark
    return Span(begin, begin + (lined.text[begin : begin + 1] != "]"))


def categories_of(section: Section) -> Iterator[str]:
    """What is ticked in a list of categories; all items where nothing has a box."""
    for inner in section.walk():
        if inner.own_part == "category":
            items = [block.text for block in inner.blocks if block.kind == "item"]
            boxes = [(box, text) for text in items if (box := box_of(text))]
            chosen = [text[box[2] :] for box, text in boxes if box[0]] if boxes else items
            yield from (plain(text) for text in chosen)
