"""What stands inside one block: plain words, code, links, and a label in front."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fullgraph.codemods.tickets.limits import INLINE
from fullgraph.codemods.tickets.text import repair
from fullgraph.codemods.tickets.words import name_of, part_of

if TYPE_CHECKING:
    from markdown_it.token import Token

BOLD = re.compile(
    r"\s*(?:\*\*|__)(?P<label>[^*\n]{1,80}?)(?P<colon>:?)\s*(?:\*\*|__)[ \t]*(?P<after>[:\u2013\u2014-]?)[ \t]*"
)
PLAIN = re.compile(r"\s*(?P<label>[A-Za-z][\w /()'-]{1,40}?)[ \t]*:(?:[ \t]+|$)")
BOX = re.compile(r"\s*(?:\[(?P<mark>[ xX\u2713\u2714-]?)\](?=\s|$)|(?P<sign>[\u2610\u2611\u2612]))\s*")
FURTHER = re.compile(
    r"[|\u00b7\u2022;,]?\s*(?<=[\s|;,\u00b7\u2022])(?=(?:\*\*|__)[A-Z][^*_\n]{1,40}(?::\s*(?:\*\*|__)|(?:\*\*|__):))"
)
BARS = {"|", "\u00b7", "\u2022"}
UNKNOWN = re.compile(r"[A-Z][\w /()'-]{1,40}?:\s")
BEHIND = re.compile(r"[|;,\u00b7\u2022]\s+(?=[A-Z][\w /()'-]{1,40}?:\s)")
LONGEST = 1_000
TICKS = set("xX\u2713\u2714\u2611\u2612")


@dataclass(frozen=True, slots=True)
class Inline:
    """`text` without markup (what is struck out keeps its tildes); the code spans and the links in it."""

    text: str
    codes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Label:
    """A label in front of a text: `end` is where its value begins, in the text as written."""

    text: str
    end: int
    is_alone: bool
    is_bold: bool = True


@lru_cache(20_000)
def read_inline(content: str) -> Inline:
    """The content of one block, repaired. Beyond the limit only the beginning is looked at."""
    from fullgraph.codemods.tickets.markdown.blocks import parser

    content = repair(content[:INLINE])
    tokens: list[Token] = []
    parser().inline.parse(content, parser(), {}, tokens)
    words = "".join(word_of(token) for token in tokens)
    codes = tuple(token.content for token in tokens if token.type == "code_inline")
    links = tuple(str(token.attrs["href"]) for token in tokens if token.type == "link_open")
    return Inline(words.strip(), codes, links)


def word_of(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    if token.type in ("s_open", "s_close"):
        return "~~"
    if token.type == "html_inline":
        return "\n" if token.content.casefold().startswith("<br") else ""
    return token.content if token.type in ("text", "text_special", "code_inline", "image") else ""


def plain(content: str) -> str:
    return read_inline(content).text


def label_of(line: str) -> Label | None:
    """The label that a text begins with: any in bold before a colon, and any known one before a colon."""
    if found := BOLD.match(line[:200]):
        label = repair(found.group("label"))
        is_alone = not line[found.end() :].strip()
        if found.group("colon") or found.group("after") or (is_alone and (name_of(label) or part_of(label))):
            return Label(label.strip(), found.end(), is_alone)
    if (found := PLAIN.match(line[:200])) and (name_of(found.group("label")) or part_of(found.group("label"))):
        return Label(found.group("label"), found.end(), not line[found.end() :].strip(), is_bold=False)
    return None


def label_starts(line: str) -> list[int]:
    """Where the labels of a line begin, bold or all of them plain, if it begins with one; else only its beginning."""
    first = label_of(line)
    if len(line) > LONGEST or (first and not (first.is_bold or name_of(first.text))):
        return [0]
    pattern = FURTHER if first and first.is_bold else BEHIND
    cuts = [found.end() for found in pattern.finditer(line, first.end if first else 0) if is_label(line, found)]
    is_row = first or (UNKNOWN.match(line) and any(label_of(line[cut:]) for cut in cuts))
    return sorted({0, *cuts}) if is_row else [0]


def is_label(line: str, found: re.Match[str]) -> bool:
    """Whether a label begins behind a match: a known one, or any behind a bar or a dot."""
    label = label_of(line[found.end() :])
    return found.group().strip() in BARS or bool(label and name_of(label.text))


def box_of(text: str) -> tuple[bool, int, int] | None:
    """Whether the box in front of an item is ticked, where its mark stands, and where the words begin."""
    found = BOX.match(text)
    if not found:
        return None
    at = found.start("mark") if found.group("mark") is not None else found.start("sign")
    return (found.group("mark") or found.group("sign") or " ") in TICKS, at, found.end()
