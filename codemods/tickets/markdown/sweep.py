"""A table with one finding in each row."""

from __future__ import annotations

from itertools import groupby
from pathlib import PurePosixPath

from fullgraph.codemods.tickets.markdown.fields import Record, records
from fullgraph.codemods.tickets.markdown.inline import read_inline
from fullgraph.codemods.tickets.markdown.placing import attribute, from_fields, loose_lines, symbols_of
from fullgraph.codemods.tickets.markdown.sections import Section
from fullgraph.codemods.tickets.model import Place, Review, Severity, Ticket
from fullgraph.codemods.tickets.parts.references import identifiers, merge
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.codemods.tickets.parts.verdicts import stated_verdict
from fullgraph.codemods.tickets.text import Lined
from fullgraph.codemods.tickets.words import part_of

TELLING = {"file", "symbol", "lines"}
NAMING = {"id", "severity", "title", "summary"}
COUNTS = {"#", "No", "No.", "Nr", "Nr."}


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
    return bool(named & TELLING) and len(named & NAMING) + bool(told(record, "problem")) > 1


def told(record: Record, part: str) -> str:
    """The cell under a heading that is the name of a part: `Finding`, `Suggestion`."""
    cells = (field.value for field in record.values() if not field.name and part_of(field.label) == part)
    return next(filter(None, cells), "")


def named(lined: Lined, record: Record, number: int) -> str:
    """The id of a row; a bare number belongs to the file."""
    stated = record["id"].value if "id" in record else ""
    counted = stated or next((field.value for field in record.values() if field.label in COUNTS), "")
    bare = counted.strip("#. ")
    stem = PurePosixPath(lined.source.path.replace("\\", "/")).stem
    return f"{stem}#{bare or number}" if bare.isdigit() or not bare else counted


def read_row(lined: Lined, record: Record, section: Section, number: int) -> Ticket:
    values = {name: field.value for name, field in record.items()}
    fields = list(record.values())
    loose = next((field.value for field in fields if not field.name and len(field.value) > 20), "")
    problem = told(record, "problem") or loose
    title = values.get("title") or values.get("summary") or told(record, "problem") or values.get("id") or loose
    status = values.get("status", "")
    verdict, is_rejecting = stated_verdict(values.get("verdict", ""))
    return Ticket(
        source=lined.source.path,
        id=named(lined, record, number),
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
        fix=told(record, "fix"),
        reviews=(Review(verdict, values.get("reviewer", ""), is_rejecting, where=fields[0].where),) if verdict else (),
        fields=tuple(fields),
        heading=(section.title,) if section.title else (),
        where=fields[0].where,
    )


def places_of(record: Record) -> tuple[Place, ...]:
    fields = list(record.values())
    found = merge([*from_fields(fields, "file"), *from_fields(fields, "lines")]) or [Place(where=fields[0].where)]
    return tuple(attribute(found, fields, loose_lines(fields), symbols_of(fields)))
