"""Which sections of a document are tickets of their own: all of it, or every issue of a plan."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullgraph.codemods.tickets.markdown.fields import held_by_heading, near_fields
from fullgraph.codemods.tickets.markdown.sections import LABELLED, Section
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import CODED, ISSUE, LEVEL, NUMBERED, name_of, unmarked

TELLING = {"severity", "lines", "file", "symbol", "id"}
CLOSED = {"review", "related", "problem", "fix", "verification", "metadata", "location", "category", "evidence"}
PLAN = re.compile(
    r"\b(?:plan|steps?|tasks?|road ?map|phases?|milestones?|to-?dos?|work items?|actions?)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Issue:
    """A section that is a ticket, and the sections around it, the document first.

    `is_step`: it is a numbered step of a plan, so that all its words say what is to be done.
    """

    section: Section
    around: tuple[Section, ...] = ()
    is_step: bool = False

    @property
    def heading(self) -> tuple[str, ...]:
        return tuple(section.title for section in (*self.around, self.section) if section.title)


def issues_in(lined: Lined, document: Section) -> list[Issue]:
    """The issues of a plan if there are two or more, else the whole document as one."""
    found = collect(lined, document, ())
    return found if len(found) > 1 else [Issue(document)]


def collect(lined: Lined, section: Section, around: tuple[Section, ...]) -> list[Issue]:
    """The innermost issues; a ticket with one issue-like section inside it stays one ticket."""
    inner: list[Issue] = []
    for child in section.children:
        if child.part not in CLOSED and child.level < LABELLED:
            inner += collect(lined, child, (*around, section))
    is_own = section.level > 0 and is_issue(lined, section)
    if is_own and len(inner) < 2:
        return [Issue(section, around)]
    return inner or steps_in(lined, section, around)


def steps_in(lined: Lined, section: Section, around: tuple[Section, ...]) -> list[Issue]:
    """The numbered headings below `Plan`, two or more, unless the plan belongs to one ticket."""
    if not PLAN.search(section.title) or any(is_telling(lined, each) for each in (*around, section)):
        return []
    steps = [child for child in section.children if is_step(child)]
    return [Issue(child, (*around, section), is_step=True) for child in steps] if len(steps) > 1 else []


def is_step(section: Section) -> bool:
    is_numbered = section.level < LABELLED and NUMBERED.match(unmarked(section.title))
    return bool(is_numbered and not section.own_part and (section.blocks or section.children))


def is_telling(lined: Lined, section: Section) -> bool:
    """Whether fields of a ticket stand right below a heading."""
    return any(field.name in TELLING and field.value for field in near_fields(lined, section))


def is_issue(lined: Lined, section: Section) -> bool:
    """Whether a heading has fields of a ticket right below it, or is numbered as an issue and has anything below it."""
    held = held_by_heading(lined, section)
    if section.own_part or (name_of(section.title) and not section.is_title) or (held and held.name != "file"):
        return False
    if is_telling(lined, section):
        return True
    parts = {child.own_part for child in section.children}
    title = unmarked(section.title)
    is_titled = ISSUE.match(title) or CODED.match(title) or LEVEL.match(title)
    return bool(is_titled and (section.blocks or section.children)) or {"problem", "fix"} <= parts
