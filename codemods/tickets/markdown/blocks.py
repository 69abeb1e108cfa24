"""The blocks of a Markdown file, with their lines, as markdown-it reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.limits import MARKDOWN_LINES
from fullgraph.codemods.tickets.markdown.inline import label_of, label_starts
from fullgraph.codemods.tickets.model import TicketError, Where
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import name_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

NESTING = 40
ITALIC = re.compile(r"\s*([*_])(?![*_\s])(?P<inner>[^*_\n]+|[^*\n]+)\1\s*")
JIRA = re.compile(
    r"^(?P<lead>[ \t]*)\{(?:code(?::(?P<language>\w{1,20}))?[^}\n]{0,60}|noformat)\}[ \t]*$", re.MULTILINE
)
STARTS = re.compile(r"\r\n|\n|\r")
SHORT = {"id", "severity", "revised severity", "status", "updated", "created", "file", "lines", "symbol", "assignee"}
"""Fields that end with their line when prose follows."""

PROSE = 5
"""Words of a line from which on it is no part of a list of files or symbols."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, the first paragraph of a list item, a row of a table, or code.

    `text` is as written, mojibake and all. `level` is that of a heading; `group` is the same for the rows of one table
    and for the items of one list.
    """

    kind: Literal["heading", "text", "item", "row", "code"]
    where: Where
    text: str = ""
    level: int = 0
    cells: tuple[str, ...] = ()
    is_header: bool = False
    language: str = ""
    group: int = 0


@cache
def parser() -> MarkdownIt:
    """Blocks only: what stands inside them is parsed where it is asked for."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable(["table", "strikethrough"])
    made.core.ruler.disable(["inline", "text_join"])
    return made


def read_blocks(lined: Lined, skipped: int = 0) -> list[Block]:
    """All blocks after the first `skipped` lines (a front matter), in order. HTML is not looked at."""
    if len(lined.starts) > MARKDOWN_LINES:
        reason = f"{len(lined.starts):,} lines; more than {MARKDOWN_LINES:,} are not read as a ticket"
        raise TicketError(lined.source.path, reason)
    body = "\n" * skipped + lined.text[lined.starts[skipped] :] if skipped < len(lined.starts) else ""
    body = JIRA.sub(lambda fence: f"{fence['lead']}```{fence['language'] or ''}", body) if "{" in body else body
    return [piece for block in from_tokens(lined, parser().parse(body)) for piece in split_labels(lined, block)]


def from_tokens(lined: Lined, tokens: list[Token]) -> Iterator[Block]:
    """One block for every token that holds text. Headings inside lists and quotes are plain text."""
    opened: list[Token] = []
    group, is_first, cells, is_header = 0, False, [""], False
    for token in tokens:
        if token.type in ("table_open", "bullet_list_open", "ordered_list_open"):
            group += 1
        elif token.type == "list_item_open":
            is_first = True
        elif token.type == "tr_open":
            cells, is_header = [], opened[-1].type == "thead_open"
        elif token.type == "inline" and opened[-1].type in ("td_open", "th_open"):
            cells.append(token.content)
        elif token.type == "inline":
            yield text_block(lined, token, opened, group, is_first)
            is_first = False
        elif token.type in ("fence", "code_block"):
            yield code_block(lined, token)
        elif token.type == "tr_close":
            yield Block("row", where(lined, opened[-1]), cells=tuple(cells), is_header=is_header, group=group)
        if token.nesting > 0:
            opened.append(token)
        elif token.nesting < 0:
            opened.pop()


def where(lined: Lined, token: Token) -> Where:
    first, end = token.map or (0, 1)
    return lined.where(first + 1, end)


def text_block(lined: Lined, token: Token, opened: list[Token], group: int, is_first: bool) -> Block:
    place = where(lined, token)
    if opened[-1].type == "heading_open" and len(opened) == 1:
        return Block("heading", place, token.content, level=int(opened[-1].tag[1:]))
    in_item = is_first and any(outer.type == "list_item_open" for outer in opened)
    return Block("item" if in_item else "text", place, token.content, group=group if in_item else 0)


def code_block(lined: Lined, token: Token) -> Block:
    """The block's place is that of its content, without the fences."""
    place = where(lined, token)
    if token.type == "fence":
        count = token.content.count("\n")
        place = lined.where(place.first + 1, place.first + max(count, 1))
    return Block("code", place, token.content, language=token.info.strip())


def split_labels(lined: Lined, block: Block) -> Iterator[Block]:
    """A paragraph of lines such as `**Priority:** P0` is one block for each of them, and one for prose behind them."""
    if block.kind not in ("text", "item"):
        yield block
        return
    if (whole := ITALIC.fullmatch(block.text)) and (label_of(whole["inner"]) or len(label_starts(whole["inner"])) > 1):
        block = replace(block, text=whole["inner"])
    lines = block.text.split("\n")
    begins = [0, *(number for number, pair in enumerate(pairwise(lines), 1) if label_of(pair[1]) or is_prose(*pair))]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        place = lined.where(block.where.first + begin, block.where.first + end - 1)
        piece = replace(block, where=place, text="\n".join(lines[begin:end]))
        yield from split_line(lined, piece) if end - begin == 1 else (piece,)


def is_prose(before: str, line: str) -> bool:
    """Whether a line goes on with prose behind a short field: `**Lines:** 37-38`, and then a sentence."""
    label = label_of(before)
    is_short = label and not label.is_alone and name_of(label.text) in SHORT
    return bool(is_short) and not before.rstrip().endswith((",", "(", "/")) and len(line.split()) >= PROSE


def split_line(lined: Lined, block: Block) -> Iterator[Block]:
    """`**Severity:** P1 | **Status:** open` is two blocks, each with its own characters."""
    cuts = label_starts(block.text)
    at = lined.text.find(block.text, block.where.span.start, block.where.span.end) if len(cuts) > 1 else -1
    if at < 0:
        yield block
        return
    for begin, end in zip(cuts, [*cuts[1:], len(block.text)], strict=True):
        text = block.text[begin:end].rstrip(" |\u00b7\u2022;,\t")
        span = Span(at + begin, at + begin + len(text))
        yield replace(block, text=text, where=replace(block.where, span=span))
