"""One issue of a document as a ticket."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from fullgraph.codemods.tickets.limits import ISSUES, MENTIONS, TEXT
from fullgraph.codemods.tickets.markdown.blocks import Block, read_blocks
from fullgraph.codemods.tickets.markdown.checks import categories_of, checks_of
from fullgraph.codemods.tickets.markdown.code import code_of
from fullgraph.codemods.tickets.markdown.fields import fields_of, labelled, near_fields
from fullgraph.codemods.tickets.markdown.front_matter import read_front_matter
from fullgraph.codemods.tickets.markdown.inline import box_of, label_of, plain, read_inline
from fullgraph.codemods.tickets.markdown.listed import listed
from fullgraph.codemods.tickets.markdown.placing import places_of
from fullgraph.codemods.tickets.markdown.plan import Issue, issues_in
from fullgraph.codemods.tickets.markdown.reviews import reviews_of, stated_ahead
from fullgraph.codemods.tickets.markdown.sections import Section, build_sections
from fullgraph.codemods.tickets.markdown.sweep import swept
from fullgraph.codemods.tickets.model import Field, NoTicketError, Review, Severity, Ticket, TicketError
from fullgraph.codemods.tickets.parts.references import identifiers
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.parts.status import (
    is_done_on,
    is_marked_done,
    is_settled,
    is_settled_group,
    is_told_done,
    settled_by_folder,
)
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import CODED, ISSUE, NUMBERED, bare_title, is_known, name_of, unmarked

RESOLUTION = re.compile(r"\W*(?:resolution|outcome|closure|closing note|update|status update)\b", re.IGNORECASE)
WORDS = re.compile(r"[A-Za-z][\w.]{3,}")
COUNTED = re.compile(r"[\s>]*\d+[.)]\s")
OPTION = re.compile(r"\W*(?:option|alternative|either|or)\b", re.IGNORECASE)
CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*(?:\.\w+)*)\(\)")


def read_markdown(lined: Lined) -> list[Ticket]:
    """The tickets of one document, in its order, each with an id of its own."""
    path = lined.source.path
    front, skipped = read_front_matter(lined)
    document = build_sections(read_blocks(lined, skipped))
    issues = issues_in(lined, document)
    if len(issues) == 1 and (rows := swept(lined, document)):
        return rows[:ISSUES]
    is_one = first_of([*front, *fields_of(lined, document)], "severity") is not None
    if len(issues) == 1 and not is_one and (items := listed(document)):
        issues = items
    if len(issues) > ISSUES:
        raise TicketError(path, f"{len(issues):,} issues; more than {ISSUES:,} are not read from one file")
    tickets = [read_issue(lined, issue, front) for issue in issues]
    if len(tickets) == 1 and not says_something(tickets[0]):
        raise NoTicketError(path, "no ticket in it: no severity, status, place, code or verification was found")
    return tickets


def says_something(ticket: Ticket) -> bool:
    return bool(ticket.severity.written or ticket.status or ticket.places or ticket.code or ticket.checks)


def read_issue(lined: Lined, issue: Issue, front: list[Field]) -> Ticket:
    section, around = issue.section, issue.around
    own = list(fields_of(lined, section))
    inherited = [*(field for outer in reversed(around) for field in outer_fields(lined, outer)), *front]
    fields = own if around else [*front, *own]
    reviews = (*([] if around else stated_ahead(front)), *reviews_of(lined, section))
    code = tuple(code_of(lined, section))
    title = title_of(issue, fields, lined)
    status, settled = status_of(lined, issue, fields, inherited)
    said = text_of(lined, section, "")
    return Ticket(
        source=lined.source.path,
        id=id_of(lined, issue, fields, inherited),
        title=title,
        severity=severity_of(issue, fields, inherited, reviews),
        status=status,
        is_resolved=bool(settled),
        why_resolved=settled,
        category=tuple(dict.fromkeys(category_of(section, fields) or outer_category(issue, inherited))),
        places=places_of(lined, issue, fields, inherited, code),
        mentions=mentions_of(section),
        summary=summary_of(section, fields),
        problem=text_of(lined, section, "problem") or ("" if issue.is_step else said),
        fix=text_of(lined, section, "fix") or (said if issue.is_step else ""),
        steps=tuple(steps_of(lined, section)),
        context=context_of(lined, issue, front) if issue.is_step else "",
        code=code,
        checks=tuple(checks_of(lined, section)),
        reviews=reviews,
        fields=tuple(fields),
        heading=issue.heading,
        where=lined.where(section.first, section.last) if around else lined.where(1, len(lined.starts)),
    )


def steps_of(lined: Lined, section: Section) -> Iterator[str]:
    """The numbered items of the fix: all are to be done, unless they are options."""
    fixes = [block for inner in section.walk() if inner.part == "fix" for block in inner.blocks if block.kind == "item"]
    for block in fixes:
        text = plain(block.text)
        if COUNTED.match(lined.line(block.where.first)) and not OPTION.match(text):
            yield text.partition("\n")[0]


def context_of(lined: Lined, issue: Issue, front: list[Field]) -> str:
    """What a plan says before its steps: its title, its summary and its goals."""
    plan, *outer = reversed(issue.around)
    before = [child for each in outer for child in each.children if child is not plan and child.first < plan.first]
    told = [plain(block.text) for each in (*before, plan) for block in spoken(lined, each)]
    summary = first_of(front, "summary")
    return "\n".join([*issue.heading[:-1], *([summary.value] if summary else []), *told])[:TEXT]


@lru_cache(16)
def outer_fields(lined: Lined, section: Section) -> tuple[Field, ...]:
    """The fields that all issues in a section share."""
    return tuple(near_fields(lined, section))


def first_of(fields: Iterable[Field], name: str) -> Field | None:
    return next((field for field in fields if field.name == name and field.value), None)


def headed(issue: Issue) -> str:
    """The heading of an issue; of a whole document its first one that is no part."""
    if issue.around:
        return issue.section.title
    sections = [child for child in issue.section.children if child.heading and not child.own_part]
    titled = (child for child in sections if child.is_title or not (name_of(child.title) or label_of(child.title)))
    first = next(titled, None)
    is_one_of_many = first and first.level > 2 and sum(each.level == first.level for each in sections) > 2
    return first.title if first and not is_one_of_many else ""


def title_of(issue: Issue, fields: list[Field], lined: Lined) -> str:
    titled = first_of(fields, "title")
    written = titled.value if titled and not issue.around else headed(issue)
    summary = first_of(fields, "summary")
    return bare_title(written) or (summary.value if summary else "") or PurePosixPath(lined.source.path).stem


def id_of(lined: Lined, issue: Issue, fields: list[Field], inherited: list[Field]) -> str:
    """As written; else from the title; else the file's name, with the issue's number in a plan."""
    title = unmarked(headed(issue))
    if (stated := first_of(fields, "id")) and (words := stated.value.split()):
        return words[0].strip("#`,:")
    if coded := CODED.match(title):
        return coded.group("id")
    outer = first_of(inherited, "id") if issue.around else None
    stem = outer.value if outer else PurePosixPath(lined.source.path.replace("\\", "/")).stem
    if not issue.around:
        return stem
    numbered = ISSUE.match(title) or NUMBERED.match(title)
    return f"{stem}#{numbered.group('number')}" if numbered else f"{stem}:{issue.section.first}"


def severity_of(issue: Issue, fields: list[Field], inherited: list[Field], reviews: tuple[Review, ...]) -> Severity:
    """As written for the issue, in its heading or around it; what reviews changed is effective."""
    stated = first_of(fields, "severity")
    titles = [headed(issue), *(outer.title for outer in reversed(issue.around))]
    written = stated.value if stated else next((level for title in titles if (level := level_in_title(title))), "")
    if not written and (outer := first_of(inherited, "severity")):
        written = outer.value
    for review in reversed(reviews):
        if review.severity:
            return Severity(written, review.severity, f"changed by {review.reviewer or 'a review'}")
    if revised := first_of(fields, "revised severity"):
        return Severity(written, level_of(revised.value), f"{revised.label}: {revised.value}")
    return Severity(written, level_of(written))


def level_in_title(title: str) -> str:
    """`[P1] ...`, `P0: ...`, `High priority`; a title that only happens to hold such a word says nothing."""
    coded = re.search(r"(?<![\w-])P[0-5](?![\w-])", title)
    worded = re.search(r"[\[(](critical|high|medium|low|blocker|major|minor)[\])]", title, re.IGNORECASE)
    ranked = re.fullmatch(
        r"\W*(critical|high|medium|low|minor|major)\W*(?:priority|severity|impact|issues|findings|\s)*",
        title,
        re.IGNORECASE,
    )
    return coded.group() if coded else worded.group(1) if worded else ranked.group(1) if ranked else ""


def status_of(lined: Lined, issue: Issue, fields: list[Field], inherited: list[Field]) -> tuple[str, str]:
    """The status as written, and why the ticket is settled, if it is."""
    stated = first_of(fields, "status") or first_of(inherited, "status")
    status = stated.value if stated else ""
    if stated and is_settled(status):
        return status, f"status: {status}"
    if folder := settled_by_folder(lined.source.path):
        return status, f"in the folder {folder}/"
    title = headed(issue)
    if title.startswith("[x]"):
        return status, "its box is ticked"
    is_struck = title.startswith("~~") and title.rstrip().endswith("~~")
    if is_struck or is_marked_done(title) or is_settled_group(bare_title(title)):
        return status, "its heading says so"
    if outer := next((each.title for each in issue.around if is_settled_group(each.title)), ""):
        return status, f"under the heading {outer}"
    return status, told_resolution(issue, fields)


def told_resolution(issue: Issue, fields: list[Field]) -> str:
    """What says that a ticket is settled though its status does not: `Fixed in: 12ab`, a section on its resolution."""
    if (done := first_of(fields, "resolved on")) and is_done_on(done.value):
        return f"{done.label}: {done.value}"
    if issue.is_step and (ticked := done_in(issue)):
        return ticked
    for inner in issue.section.walk():
        if RESOLUTION.match(inner.title) and inner.blocks and inner.blocks[0].kind in ("text", "item"):
            text = plain(inner.blocks[0].text)
            if is_told_done(text):
                return f"{inner.title}: {text.partition(chr(10))[0][:80]}"
    return ""


def done_in(issue: Issue) -> str:
    """What says that a step of a plan is done: a line of its own with a tick, or its box in the plan's check-list."""
    lines = [plain(block.text) for inner in issue.section.walk() for block in inner.blocks if block.kind != "code"]
    if line := next((each for each in lines if is_marked_done(each) and is_told_done(each)), ""):
        return line.partition("\n")[0].partition(" (")[0][:120]
    boxes = [
        (box[0], plain(block.text[box[2] :]))
        for outer in issue.around
        for child in outer.children
        for block in child.blocks
        if child.part == "verification" and block.kind == "item" and (box := box_of(block.text))
    ]
    meant = [(is_on, text) for is_on, text in boxes if is_like(text, bare_title(issue.section.title))]
    is_ticked = bool(meant) and all(is_on for is_on, _ in meant)
    return f"its box is ticked: {meant[0][1][:100]}" if is_ticked else ""


def is_like(text: str, title: str) -> bool:
    """Whether a text repeats most of the words that a title is made of."""
    words = {word.casefold()[:8] for word in WORDS.findall(title)}
    return len(words) > 1 and len(words & {word.casefold()[:8] for word in WORDS.findall(text)}) > 0.6 * len(words)


def category_of(section: Section, fields: list[Field]) -> list[str]:
    ticked = list(categories_of(section))
    stated = [field.value for field in fields if field.name == "category" and field.value]
    return ticked or [word.strip() for value in stated for word in value.split(",") if word.strip()]


def outer_category(issue: Issue, inherited: list[Field]) -> list[str]:
    """That of the document, unless it tags a plan of which each step has a subject of its own."""
    return [] if issue.is_step else category_of(issue.section, inherited)


def summary_of(section: Section, fields: list[Field]) -> str:
    stated = first_of(fields, "summary")
    if stated:
        return stated.value
    parts = (inner for inner in section.walk() if inner.own_part == "summary")
    texts = (
        plain(block.text)
        for inner in parts
        for block in inner.blocks
        if block.kind == "text" and not label_of(block.text)
    )
    return next(texts, "")


def text_of(lined: Lined, section: Section, part: str) -> str:
    """The words of one part, without its fields, boxes and code."""
    pieces: list[str] = []
    for inner in section.walk():
        if inner.part == part:
            is_option = inner is not section and part and not is_known(inner.title)
            pieces += [inner.title] if is_option else []
            pieces += [plain(block.text) for block in spoken(lined, inner)]
    return "\n".join(pieces)[:TEXT]


def spoken(lined: Lined, section: Section) -> Iterator[Block]:
    if name_of(section.title) and not section.is_title and section.part not in ("problem", "fix", "summary"):
        return
    for block in section.blocks:
        field = labelled(lined, block) if block.kind in ("text", "item") else None
        if block.kind in ("text", "item") and not (field and field.name) and not box_of(block.text):
            yield block


def mentions_of(section: Section) -> tuple[str, ...]:
    """Names in code spans of the title, the summary, the problem and the fix, in order; calls in headings too."""
    found: dict[str, None] = {}
    for inner in section.walk():
        if inner.part not in ("review", "related", "verification", "evidence"):
            texts = [block.text for block in inner.blocks if block.kind != "code"]
            texts += [inner.heading.text] if inner.heading else []
            found.update(dict.fromkeys(CALLED.findall(inner.title[:500])))
            found.update(dict.fromkeys(name for text in texts for name in identifiers(read_inline(text).codes)))
    return tuple(found)[:MENTIONS]
