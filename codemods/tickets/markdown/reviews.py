"""Reviewers' verdicts, under whatever heading they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from fullgraph.codemods.tickets.limits import TEXT
from fullgraph.codemods.tickets.markdown.blocks import Block
from fullgraph.codemods.tickets.markdown.fields import Record, labelled, own_fields, records
from fullgraph.codemods.tickets.markdown.inline import box_of, plain
from fullgraph.codemods.tickets.markdown.sections import Section
from fullgraph.codemods.tickets.model import Field, Review
from fullgraph.codemods.tickets.parts.severity import changed_level, level_of
from fullgraph.codemods.tickets.parts.verdicts import stated_verdict, told_rejection, verdict_in
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import name_of, part_of

WHO = re.compile(
    r"\((?P<paren>[^()]{2,60})\)|(?:\s-\s|[\u2013\u2014:])\s*(?P<dash>[^()\u2013\u2014:]{2,60})$|\bby\s+(?P<by>.{2,60})$"
)
SPEAKER = re.compile(r"[\s>*_`\-]*(?P<who>@?[A-Za-z][\w. \-]{1,40}?)\s*(?:\([^()]{1,40}\))?\s*[:\u2013\u2014]")
SIGNED = re.compile(r"\breview(?:ed[- ]by|er)\s*:?\s*(?P<who>@?[A-Z][\w.]{1,30}(?: [A-Z][\w.]{1,30})?)", re.IGNORECASE)
AFTER = re.compile(r"[*_`\s]*\((?P<who>[^()]{2,40})\)")
QUIET = {"problem", "fix", "summary", "verification", "category", "location", "metadata"}
"""Parts in which only a field can be a verdict: there `not a bug` may be part of the story."""


def reviews_of(lined: Lined, section: Section) -> Iterator[Review]:
    """Every review in a ticket, in the order in which they stand."""
    for inner in section.walk():
        fields = {field.name: field for field in reversed(list(own_fields(lined, inner))) if field.name}
        tables = [record for record in table_records(lined, inner) if "verdict" in record]
        if len(tables) > 1:
            yield from (from_record(record, "") for record in tables)
        elif "verdict" in fields and fields["verdict"].value and name_of(inner.title) != "verdict":
            yield from_section(inner, fields)
        elif inner.part not in QUIET:
            yield from from_prose(lined, inner)
        else:
            yield from refusals(inner)


def stated_ahead(front: list[Field]) -> Iterator[Review]:
    """The verdicts of a front matter: each with the last reviewer named before it, else the next one."""
    reviewers = [field for field in front if field.name == "reviewer" and field.value]
    for number, field in enumerate(front):
        if field.name == "verdict" and field.value:
            before = [who for who in reviewers if who in front[:number]]
            who = next(reversed(before), reviewers[0] if reviewers else None)
            yield from_record({"verdict": field, "reviewer": who} if who else {"verdict": field}, "")
        elif field.name in ("", "reviewer") and (word := told_rejection(field.value)):
            yield Review(word, is_rejecting=True, text=field.value, where=field.where)


def table_records(lined: Lined, section: Section) -> Iterator[Record]:
    for kind, blocks in groupby(section.blocks, key=lambda block: block.kind):
        if kind == "row":
            yield from records(lined, blocks)


def from_record(record: Record, text: str, who: str = "") -> Review:
    stated = record["verdict"]
    verdict, is_rejecting = stated_verdict(stated.value)
    said = text or " ".join(field.value for field in record.values())
    revised = record.get("revised severity") or (record.get("severity") if text else None)
    level = level_of(revised.value) if revised else changed_level(said)
    reviewer = record["reviewer"].value if "reviewer" in record else who
    return Review(verdict, reviewer, is_rejecting, level, said[:TEXT], stated.where)


def from_section(section: Section, fields: Record) -> Review:
    text = "\n".join(plain(block.text) for block in section.blocks if block.kind in ("text", "item"))
    return from_record(fields, text or section.title, who_in(section.title))


def who_in(title: str) -> str:
    found = WHO.search(title)
    return next((name.strip() for name in found.groups() if name), "") if found else ""


def from_prose(lined: Lined, section: Section) -> Iterator[Review]:
    """Paragraphs and items that say a verdict. A review that only asks for another severity counts too."""
    is_review = section.part == "review"
    for block in section.blocks:
        if is_said(lined, block, is_review=is_review):
            text = block.text if block.kind == "code" else plain(block.text)
            found = verdict_in(text, is_review=is_review)
            level = changed_level(text) if found or is_review else ""
            if found or level:
                verdict, is_rejecting = found or ("", False)
                yield Review(verdict, speaker(text, verdict, section), is_rejecting, level, text[:TEXT], block.where)


def refusals(section: Section) -> Iterator[Review]:
    """`None: this is not a bug` where the fix should stand, and a reviewer's line at the end of any part."""
    for number, block in enumerate(section.blocks):
        text = plain(block.text) if block.kind in ("text", "item") else ""
        found = verdict_in(text[:60], is_review=False) if section.part == "fix" and number == 0 else None
        if (found and found[1]) or (found := (told_rejection(text), True))[0]:
            signed = SIGNED.search(text)
            who = signed.group("who").strip() if signed else ""
            yield Review(found[0], who, is_rejecting=True, text=text[:TEXT], where=block.where)


def is_said(lined: Lined, block: Block, *, is_review: bool) -> bool:
    """Whether a block is somebody's word: no other field, no box left empty, and code only where it is none."""
    if block.kind == "code":
        return is_review and block.language in ("", "text")
    box = box_of(block.text)
    return block.kind in ("text", "item") and not (box and not box[0]) and not is_other_field(lined, block)


def is_other_field(lined: Lined, block: Block) -> bool:
    """`**Status:** Rejected` is a status, and no review."""
    field = labelled(lined, block)
    return field is not None and field.name not in ("", "verdict", "revised severity", "reviewer")


def speaker(text: str, verdict: str, section: Section) -> str:
    """Who says it: before a colon, or in brackets behind the verdict, or in the heading of a review."""
    found = SPEAKER.match(text)
    who = found.group("who").strip() if found else ""
    if who and who.casefold() != verdict.casefold() and len(who.split()) <= 4 and not (name_of(who) or part_of(who)):
        return who
    at = text.find(verdict) if verdict else -1
    behind = AFTER.match(text, at + len(verdict)) if at >= 0 else None
    if behind:
        return behind.group("who").strip()
    return who_in(section.title) if section.part == "review" else ""
