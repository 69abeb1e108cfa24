"""Which sections of a document are tickets of their own: all of it, or every issue of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from codemods.tickets.markdown.fields import held_by_heading, near_fields
from codemods.tickets.markdown.sections import LABELLED, Section
from codemods.tickets.text import Lined
from codemods.tickets.words import CODED, ISSUE, LEVEL, name_of, unmarked

TELLING = {"severity", "lines", "file", "symbol", "id"}
CLOSED = {"review", "related", "problem", "fix", "verification", "metadata", "location", "category", "evidence"}


@dataclass(frozen=True)
class Issue:
    """A section that is a ticket, and the sections around it, the document first."""

    section: Section
    around: tuple[Section, ...] = ()

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
    return inner


def is_issue(lined: Lined, section: Section) -> bool:
    """Whether a heading has fields of a ticket right below it, or is numbered as an issue and has anything below it."""
    held = held_by_heading(lined, section)
    if section.own_part or (name_of(section.title) and not section.is_title) or (held and held.name != "file"):
        return False
    if any(field.name in TELLING and field.value for field in near_fields(lined, section)):
        return True
    parts = {child.own_part for child in section.children}
    title = unmarked(section.title)
    is_titled = ISSUE.match(title) or CODED.match(title) or LEVEL.match(title)
    return bool(is_titled and (section.blocks or section.children)) or {"problem", "fix"} <= parts
