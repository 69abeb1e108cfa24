"""Where in a ticket's file its evidence goes: its own section for that, or the end of the ticket."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.tickets.closing.evidence import SECOND_TITLE, TITLE
from fullgraph.codemods.tickets.markdown.blocks import Block, read_blocks
from fullgraph.codemods.tickets.markdown.front_matter import read_front_matter
from fullgraph.codemods.tickets.markdown.plan import issues_in
from fullgraph.codemods.tickets.markdown.sections import Section, build_sections
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.text import BREAK, Lined
from fullgraph.codemods.tickets.words import plain_label

RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
DEEPEST = 6


@dataclass(frozen=True)
class Home:
    """The evidence comes behind line `after`, under a heading of `level` if there is none for it yet."""

    after: int
    level: int = 0
    title: str = TITLE


def find_home(lined: Lined, ticket: Ticket) -> Home:
    """The section for evidence that is empty or ours, else the end of the issue or of the document."""
    _, skipped = read_front_matter(lined)
    blocks = read_blocks(lined, skipped)
    document = build_sections(blocks)
    section = section_of(lined, document, ticket)
    for inner in section.walk():
        if inner.heading and inner.heading.kind == "heading" and takes_evidence(inner):
            return Home(last_line(lined, blocks, inner))
    headings = [block.level for block in blocks if block.kind == "heading" and block.level > 1]
    level = section.level + 1 if section.level else min(headings, default=2)
    is_taken = any(plain_label(inner.title) == TITLE.casefold() for inner in section.walk())
    return Home(last_line(lined, blocks, section), min(level, DEEPEST), SECOND_TITLE if is_taken else TITLE)


def section_of(lined: Lined, document: Section, ticket: Ticket) -> Section:
    """The issue of a plan that a ticket is, else the whole document."""
    for issue in issues_in(lined, document):
        if issue.around and ticket.where == lined.where(issue.section.first, issue.section.last):
            return issue.section
    return document


def takes_evidence(section: Section) -> bool:
    """Whether a section is for evidence, and holds none of the problem's."""
    is_empty = not section.blocks and not section.children
    return section.own_part == "evidence" or (plain_label(section.title) == TITLE.casefold() and is_empty)


def last_line(lined: Lined, blocks: Sequence[Block], section: Section) -> int:
    """The last line of a section that says something: rules and blank lines behind it divide it from what follows."""
    begin = section.heading.where.first if section.heading else 0
    following = [
        block.where.first
        for block in blocks
        if block.kind == "heading" and begin and block.where.first > begin and block.level <= section.level
    ]
    last = following[0] - 1 if following else len(lined.starts)
    while last > begin and is_divider(lined, last):
        last -= 1
    return max(last, 1)


def is_divider(lined: Lined, number: int) -> bool:
    """A blank line, or a rule below one; what underlines a title is none."""
    line = lined.line(number)
    return not line.strip() or (RULE.fullmatch(line) is not None and number > 1 and not lined.line(number - 1).strip())


def put_evidence(lined: Lined, home: Home, lines: Sequence[str]) -> Edit:
    """The edit that writes the section, in the file's own line breaks."""
    at = lined.ends[home.after - 1]
    found = BREAK.search(lined.text)
    heading = ["", f"{'#' * home.level} {home.title}", ""] if home.level else []
    own = lined.line(home.after).lstrip()
    gap = [] if heading or own.startswith("- ") else [""]
    text = "".join((found.group() if found else "\n") + line for line in (*heading, *gap, *lines))
    return Edit(lined.source.path, Span(at, at), text)
