"""A table with one finding in each row."""

from __future__ import annotations

from itertools import groupby

from codemods.tickets.markdown.fields import Record, records
from codemods.tickets.markdown.inline import read_inline
from codemods.tickets.markdown.placing import attribute, from_fields, loose_lines, symbols_of
from codemods.tickets.markdown.sections import Section
from codemods.tickets.model import Place, Severity, Ticket
from codemods.tickets.parts.references import identifiers, merge
from codemods.tickets.parts.severity import level_of
from codemods.tickets.parts.status import is_settled
from codemods.tickets.text import Lined

TELLING = {"file", "symbol", "lines"}
NAMING = {"id", "severity", "title", "summary"}


def swept(lined: Lined, document: Section) -> list[Ticket]:
    """The tickets of all tables in which two rows or more name a place and a severity, an id or a title."""
    found: list[Ticket] = []
    for section in document.walk():
        for kind, blocks in groupby(section.blocks, key=lambda block: block.kind):
            rows = [record for record in records(lined, blocks) if is_finding(record)] if kind == "row" else []
            found += [
                read_row(lined, record, section, number) for number, record in enumerate(rows, 1) if len(rows) > 1
            ]
    return found


def is_finding(record: Record) -> bool:
    named = {name for name, field in record.items() if field.value}
    return bool(named & TELLING) and len(named & NAMING) > 1


def read_row(lined: Lined, record: Record, section: Section, number: int) -> Ticket:
    values = {name: field.value for name, field in record.items()}
    fields = list(record.values())
    title = values.get("title") or values.get("summary") or values.get("id", "")
    status = values.get("status", "")
    problem = next((field.value for field in fields if not field.name and len(field.value) > 20), "")
    return Ticket(
        source=lined.source.path,
        id=values.get("id") or f"row {number}",
        title=title,
        severity=Severity(values.get("severity", ""), level_of(values.get("severity", ""))),
        status=status,
        is_resolved=is_settled(status),
        why_resolved=f"status: {status}" if is_settled(status) else "",
        category=tuple(filter(None, [values.get("category", "")])),
        places=places_of(record),
        mentions=tuple(dict.fromkeys(name for field in fields for name in identifiers(read_inline(field.raw).codes))),
        summary=values.get("summary", ""),
        problem=problem,
        fields=tuple(fields),
        heading=(section.title,) if section.title else (),
        where=fields[0].where,
    )


def places_of(record: Record) -> tuple[Place, ...]:
    fields = list(record.values())
    found = merge([*from_fields(fields, "file"), *from_fields(fields, "lines")]) or [Place(where=fields[0].where)]
    return tuple(attribute(found, fields, loose_lines(fields), symbols_of(fields)))
