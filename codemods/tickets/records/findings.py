"""Lists of findings in JSON, as linters and reviewers write them: no schema, only the usual names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fullgraph.codemods.tickets.model import CheckItem, Place, Review, Severity, Ticket
from fullgraph.codemods.tickets.parts.references import merge, places_in, symbols_in
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.codemods.tickets.parts.verdicts import stated_verdict
from fullgraph.codemods.tickets.records.lookup import (
    Record,
    code_block,
    lines_between,
    lines_from,
    pick,
    present,
    text,
    words,
)

TITLES = (
    "title",
    "summary",
    "headline",
    "message",
    "extra.message",
    "msg",
    "issue_text",
    "description",
    "text",
    "name",
)
PATHS = (
    *(
        "file",
        "path",
        "filename",
        "file_path",
        "filepath",
        "files",
        "location.file",
        "location.path",
        "location.filename",
    ),
    *("filePath", "fileName", "most_recent_instance.location.path", "location", "locations", "abspath", "uri"),
    *("source_file", "where", "places", "component"),
)
FIRST = (
    *("start_line", "startLine", "start.line", "location.row", "location.start.line", "location.line", "line_start"),
    *("textRange.startLine", "most_recent_instance.location.start_line"),
    *("line", "lineno", "line_number", "lineNumber", "row", "location.lines", "lines", "line_range"),
)
LAST = (
    *("end_line", "endLine", "end.line", "end_location.row", "location.end.line", "line_end", "end_row", "end_lineno"),
    *("textRange.endLine", "most_recent_instance.location.end_line"),
)
SYMBOLS = (
    "function",
    "obj",
    "method",
    "class",
    "scope",
    "symbols",
    "functions",
    "location.function",
    "symbol",
    "qualname",
)
IDS = ("id", "ticket_id", "ticketId", "finding_id", "key", "uid", "number")
RULES = ("test_id", "check_name", "rule.id", "rule_id", "ruleId", "rule", "check_id", "code", "message-id", "messageId")
FIXES = (
    "recommended_fix",
    "recommendedFix",
    "fix.message",
    "fix",
    "suggestion",
    "recommendation",
    "remediation",
    "solution",
    "extra.fix",
)
FIX_CODE = ("fix_code", "fixed_code", "suggested_code", "after", "fix.code", "patch", "fix.content", "extra.fix")
EVIDENCE = ("snippet", "code_snippet", "evidence", "before", "source_code", "context", "extra.lines", "current_code")
PROBLEM = (
    "problem",
    "description",
    "details",
    "detail",
    "explanation",
    "message",
    "extra.message",
    "body",
    "rationale",
    "issue_text",
)
SEVERITIES = ("severity", "priority", "extra.severity", "issue_severity", "rule.severity", "level", "type", "impact")
TELLING = (*PATHS, *FIRST, "range", "severity", "priority")
PATH = 2_000
"""Characters of one value in which files are looked for."""
MARGIN = re.compile(r"^[ \t]*\d{1,6}(?: |$)", re.MULTILINE)


def is_finding(item: Any) -> bool:
    return isinstance(item, dict) and pick(item, *TITLES, *PROBLEM) is not None and pick(item, *TELLING) is not None


def read_finding(path: str, record: Record, default_id: str) -> Ticket:
    written = text(pick(record, *SEVERITIES))
    revised = text(pick(record, "revised_severity", "effective_severity", "new_severity"))
    status = text(pick(record, "status", "state", "resolution"))
    reviews = tuple(reviews_in(record))
    changed = next((review.severity for review in reversed(reviews) if review.severity), "") or level_of(revised)
    return Ticket(
        source=path,
        id=text(pick(record, *IDS)) or default_id,
        title=(text(pick(record, *TITLES)) or text(pick(record, *PROBLEM))).strip().partition("\n")[0],
        severity=Severity(written, changed or level_of(written), "changed by a review" if changed else ""),
        status=status,
        is_resolved=is_settled(status) or record.get("resolved") is True,
        why_resolved=f"status: {status}" if is_settled(status) else "resolved: true" * (record.get("resolved") is True),
        category=category_in(record),
        places=places_of(record),
        summary=text(pick(record, "summary")),
        problem=text(pick(record, *PROBLEM)),
        fix=text(pick(record, *FIXES)),
        code=present([*(code_block("evidence", code) for code in evidence_in(record)), fix_block(record)]),
        checks=checks_in(record),
        reviews=reviews,
    )


def evidence_in(record: Record) -> Iterator[Any]:
    """The code that is shown; a `code` of several lines is some too, perhaps with numbers in its margin."""
    yield from (pick(record, key) for key in EVIDENCE)
    code = record.get("code")
    if isinstance(code, str) and "\n" in code:
        lines = code.rstrip("\n").split("\n")
        yield MARGIN.sub("", code) if all(map(MARGIN.match, lines)) else code


def rule_of(record: Record) -> str:
    return text(pick(record, *RULES)).partition("\n")[0]


def category_in(record: Record) -> tuple[str, ...]:
    found = words(pick(record, "category", "categories", "tags", "labels", "extra.metadata.category"))
    return tuple(dict.fromkeys([*found, *filter(None, [rule_of(record)])]))


def fix_block(record: Record) -> Any:
    edits = pick(record, "fix.edits")
    if isinstance(edits, list):
        return code_block("fix", "\n".join(text(pick(edit, "content", "new_text")) for edit in edits[:100]))
    found = code_block("fix", pick(record, *FIX_CODE))
    return found if found and found.snippet else None


def places_of(record: Record) -> tuple[Place, ...]:
    """The files of one finding; its lines belong to each that has none of its own."""
    lines = lines_of(record)
    stated = pick(record, *PATHS)
    found = [place for item in (stated if isinstance(stated, list) else [stated]) for place in one_place(item)]
    symbols = symbols_in(text(item) for item in as_list(pick(record, *symbol_keys(record))))
    if not found and not lines and not symbols:
        return ()
    places = merge(found) or [Place()]
    return tuple(
        Place(each.path, each.lines or lines, tuple(dict.fromkeys((*each.symbols, *symbols)))) for each in places
    )


def symbol_keys(record: Record) -> tuple[str, ...]:
    """Pylint's `symbol` is the name of its message, not of the code."""
    return tuple(key for key in SYMBOLS if key != "symbol" or not pick(record, "message-id", "messageId"))


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def lines_of(record: Record) -> tuple[Any, ...]:
    """The lines of a finding. An editor's `range` counts from 0; a review's comment ends at its `line`."""
    if isinstance(begin := pick(record, "range.start.line"), int) and isinstance(pick(record, "range"), dict):
        end = pick(record, "range.end.line")
        return lines_between(begin + 1, end + 1 if isinstance(end, int) else begin + 1)
    first = pick(record, *FIRST)
    last = pick(record, *LAST) or (pick(record, "line") if pick(record, "start_line") else None)
    return lines_between(first, last) if isinstance(first, int) else lines_from(first)


def one_place(item: Any) -> Iterator[Place]:
    if isinstance(item, dict):
        path = text(pick(item, "file", "path", "filename", "uri"))
        symbols = symbols_in(text(each) for each in as_list(pick(item, "function", "symbol", "symbols", "class")))
        if path:
            yield Place(path.removeprefix("file://"), lines_of(item), symbols)
    elif isinstance(item, str):
        item = item[:PATH]
        named = places_in(item, is_field=True)
        yield from named or ([Place(item.strip())] if "/" in item and not item.startswith("http") else [])


def checks_in(record: Record) -> tuple[CheckItem, ...]:
    items = as_list(pick(record, "verification", "checks", "acceptance_criteria", "checklist"))
    return tuple(CheckItem(text(item), done_in(item)) for item in items[:200] if text(item))


def done_in(item: Any) -> bool | None:
    done = pick(item, "done", "checked", "ticked") if isinstance(item, dict) else None
    if isinstance(item, dict) and any(item.get(key) is False for key in ("done", "checked", "ticked")):
        return False
    return done if isinstance(done, bool) else None


def reviews_in(record: Record) -> Iterator[Review]:
    for item in as_list(pick(record, "reviews", "cross_reviews", "votes", "review"))[:100]:
        if isinstance(item, dict) and (said := text(pick(item, "verdict", "decision", "vote"))):
            verdict, is_rejecting = stated_verdict(said)
            level = level_of(text(pick(item, "severity", "revised_severity")))
            words_said = text(pick(item, "text", "comment", "evaluation", "reason", "notes"))
            yield Review(verdict, text(pick(item, "reviewer", "author", "by")), is_rejecting, level, words_said)
