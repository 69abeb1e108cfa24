"""The headings of a document as a tree, and which part of a ticket each of them opens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.inline import label_of, plain
from fullgraph.codemods.tickets.model import Field
from fullgraph.codemods.tickets.words import name_of, part_of

LABELLED = 7
"""The level of a section that a bold label opens, below all headings."""

SIGNED = re.compile(r"Run \d+ of the journal; `fullgraph undo \d+`|No run of the journal; `git apply -R`")
"""How evidence of what was done about a ticket ends: its section is not one about the problem."""

PROSE = {"problem", "fix", "verification", "category", "review"}


@dataclass(eq=False)
class Section:
    """A heading with what stands below it. `part` is its own, or that of the nearest section around it that has one.

    `is_title`: the document's own title, which labels nothing whatever it says.
    """

    title: str
    level: int
    part: str = ""
    blocks: list[Block] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)
    heading: Block | None = None
    own_part: str = ""
    is_title: bool = False
    fields: tuple[Field, ...] | None = None
    """Its own fields, once they have been read."""

    def walk(self) -> Iterator[Section]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def first(self) -> int:
        places = [block.where for block in (self.heading, *self.blocks) if block]
        return places[0].first if places else min((child.first for child in self.children), default=1)

    @property
    def last(self) -> int:
        ends = [section.blocks[-1].where.last for section in self.walk() if section.blocks]
        headings = [section.heading.where.last for section in self.walk() if section.heading]
        return max([*ends, *headings], default=1)


def build_sections(blocks: list[Block]) -> Section:
    """The document: a section of level 0 that holds all others."""
    root = Section("", 0)
    opened = [root]
    for block in blocks:
        section, rest = opened_by(block, opened)
        if section:
            while opened[-1].level >= section.level:
                opened.pop()
            section.part = section.own_part or opened[-1].part
            opened[-1].children.append(section)
            opened.append(section)
        if rest:
            opened[-1].blocks.append(rest)
    for section in root.walk():
        if section.own_part == "problem" and any(SIGNED.match(block.text) for block in section.blocks):
            section.own_part = section.part = "evidence"
    return root


def opened_by(block: Block, opened: list[Section]) -> tuple[Section | None, Block | None]:
    """The section that a block opens, if any, and what of the block belongs into it."""
    if block.kind == "heading":
        title = plain(block.text)
        is_title = block.level == 1 and not has_sections(opened)
        part = "" if is_title else part_of(title)
        return Section(title, block.level, own_part=part, heading=block, is_title=is_title), None
    label = label_of(block.text) if block.kind in ("text", "item") else None
    part = part_of(label.text) if label else ""
    if not label or part not in PROSE or (name_of(label.text) and not label.is_alone):
        return None, block
    if opened[-1].part == "review" and part != "review":
        return None, block
    if block.kind == "item" and (not label.is_bold or opened[-1].part in ("verification", "review")):
        return None, block
    inner = Section(label.text, LABELLED, own_part=part, heading=replace(block, text=block.text[: label.end]))
    rest = replace(block, kind="item" if part == "verification" else "text", text=block.text[label.end :])
    return inner, None if label.is_alone else rest


def has_sections(opened: list[Section]) -> bool:
    return bool(opened[0].children)
