"""From a file's bytes to its tickets, whatever it is written in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from fullgraph.codemods.tickets.limits import CODE, FINDINGS, MARKDOWN_BYTES, RECORD_BYTES
from fullgraph.codemods.tickets.model import NoTicketError, Ticket, TicketError
from fullgraph.codemods.tickets.parts.status import settled_by_folder
from fullgraph.codemods.tickets.text import open_ticket, split_lines

RECORDS = (".json", ".sarif", ".jsonl", ".ndjson")
PROSE = (".md", ".markdown", ".mdx", ".txt", ".rst", "")


def read_tickets(path: str, raw: bytes) -> list[Ticket]:
    """The tickets of one file, in its order: at least one, or a TicketError that says why there is none.

    The path, best relative to the project, is only looked at: its suffix says what the file is, and its folders
    may say that a ticket is settled. Nothing else is read.
    """
    limit = RECORD_BYTES if is_record(path, raw) else MARKDOWN_BYTES
    if len(raw) > limit:
        raise TicketError(path, f"{len(raw):,} bytes; more than {limit:,} are not read as a ticket")
    source = open_ticket(path, raw)
    if is_record(path, raw):
        return distinct(settle(path, read_records(path, load(path, source.text))))
    from fullgraph.codemods.tickets.markdown.ticket import read_markdown

    return distinct(read_markdown(split_lines(source)))


def is_record(path: str, raw: bytes) -> bool:
    """Whether a file holds JSON: by its suffix, or by its first character if that says nothing."""
    suffix = PurePosixPath(path).suffix.casefold()
    return suffix in RECORDS or (suffix not in PROSE and raw[:100].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["))


def load(path: str, text: str) -> Any:
    """The JSON value of a text; several, one a line, are a list."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise TicketError(path, "JSON that is nested too deeply") from error
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and path.endswith((".jsonl", ".ndjson")):
            return [load(path, line) for line in lines[: FINDINGS + 1]]
        raise TicketError(path, f"not JSON: {str(error)[:200]}") from error


def read_records(path: str, data: Any) -> Iterator[Ticket]:
    """The findings of a JSON document. SARIF and GitHub's issues are known by their shape."""
    from fullgraph.codemods.tickets.records.findings import read_finding
    from fullgraph.codemods.tickets.records.gathering import Gathering
    from fullgraph.codemods.tickets.records.github import check_bodies, read_tracker_issue
    from fullgraph.codemods.tickets.records.sarif import is_sarif, read_result, results_in
    from fullgraph.codemods.tickets.records.trackers import as_issue

    stem = re.sub(r"\.(json|sarif)$", "", PurePosixPath(path.replace("\\", "/")).stem)
    if is_sarif(data):
        for number, (result, rule) in enumerate(results_in(data), 1):
            yield read_result(path, result, rule, f"{stem}#{number}")
        return
    records = Gathering(path).gather(data)
    check_bodies(path, [issue for record in records if (issue := as_issue(record))])
    for number, record in enumerate(records, 1):
        name = f"{stem}#{number}" if len(records) > 1 else stem
        issue = as_issue(record)
        yield from read_tracker_issue(path, issue, name) if issue else [read_finding(path, record, name)]


def settle(path: str, tickets: Iterable[Ticket]) -> list[Ticket]:
    """All of them, settled if the folder says so; too many or none are errors."""
    folder = settled_by_folder(path)
    found: list[Ticket] = []
    code = 0
    for ticket in tickets:
        is_new = folder and not ticket.is_resolved
        found.append(replace(ticket, is_resolved=True, why_resolved=f"in the folder {folder}/") if is_new else ticket)
        code += sum(len(block.text) for block in ticket.code)
        if len(found) > FINDINGS:
            raise TicketError(path, f"more than {FINDINGS:,} findings are not read from one file")
        if code > CODE:
            raise TicketError(path, f"more than {CODE:,} characters of code are not read from one file of findings")
    if not found:
        raise NoTicketError(path, "JSON without a ticket in it: no findings, SARIF results or issues were found")
    return found


def distinct(tickets: list[Ticket]) -> list[Ticket]:
    """The tickets with an id of their own each: the second of a name is `name-2`."""
    seen: Counter[str] = Counter()
    taken = {ticket.id for ticket in tickets}
    named: list[Ticket] = []
    for ticket in tickets:
        seen[ticket.id] += 1
        name = ticket.id
        while seen[ticket.id] > 1 and name in taken:
            name = f"{ticket.id}-{seen[ticket.id]}"
            seen[ticket.id] += name in taken
        taken.add(name)
        named.append(replace(ticket, id=name))
    return named
