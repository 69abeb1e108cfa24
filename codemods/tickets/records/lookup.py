"""Values in JSON objects, by any of the names that tools give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fullgraph.codemods.tickets.limits import LAST_LINE, TEXT
from fullgraph.codemods.tickets.model import CodeBlock, CodeKind, Lines
from fullgraph.codemods.tickets.parts.references import lines_in
from fullgraph.codemods.tickets.parts.snippet import parse_snippet
from fullgraph.codemods.tickets.text import clean

Record = dict[str, Any]


def pick(record: Any, *paths: str) -> Any:
    """The first value that is there and not empty; `location.row` looks inside."""
    for path in paths:
        value = record
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value not in (None, "", [], {}):
            return value
    return None


def text(value: Any) -> str:
    """A value as words: a list is joined, and of an object its text, name or message is taken."""
    if isinstance(value, dict):
        value = pick(value, "text", "markdown", "name", "message", "title", "login", "value")
        return text(value) if not isinstance(value, dict) else ""
    if isinstance(value, list):
        return ", ".join(filter(None, (text(item) for item in value[:100] if not isinstance(item, list))))
    return clean(str(value)[:TEXT]) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def words(value: Any) -> tuple[str, ...]:
    """A list, or a text with commas, as its words."""
    items = value if isinstance(value, list) else text(value).split(",")
    return tuple(dict.fromkeys(filter(None, (text(item).strip() for item in items[:100]))))


def number(value: Any) -> int:
    """A line number, or 0 for anything else."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 9:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LAST_LINE else 0


def lines_between(first: Any, last: Any) -> tuple[Lines, ...]:
    begin, end = number(first), number(last)
    return (Lines(min(begin, end or begin), max(begin, end)),) if begin else ()


def lines_from(value: Any) -> tuple[Lines, ...]:
    """`12`, `"12-14, 20"`, `[12, 14]` for a range, `[[1, 2], [5, 6]]`, `{"start": 12, "end": 14}`."""
    if isinstance(value, dict):
        return lines_between(pick(value, "start", "first", "from", "begin"), pick(value, "end", "last", "to"))
    if isinstance(value, list) and len(value) == 2 and all(number(item) for item in value):
        return lines_between(*value)
    if isinstance(value, list):
        return tuple(dict.fromkeys(line for item in value[:50] if not is_nested(item) for line in lines_from(item)))
    return lines_in(text(value))


def is_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, list) for item in value)


def code_block(kind: CodeKind, value: Any) -> CodeBlock | None:
    """A snippet in a string, or as a list of lines."""
    code = "\n".join(item for item in value if isinstance(item, str)) if isinstance(value, list) else value
    if not isinstance(code, str) or not code.strip():
        return None
    code = clean(code)
    return CodeBlock(kind, "python", code, parse_snippet(code))


def present(blocks: Iterable[CodeBlock | None]) -> tuple[CodeBlock, ...]:
    return tuple(block for block in blocks if block)
