"""The simple keys of a front matter: `key: value`, lists, quotes. Whatever else YAML can do is passed over."""

from __future__ import annotations

import re

from codemods.model import Span
from codemods.tickets.model import Field
from codemods.tickets.text import Lined, repair
from codemods.tickets.words import name_of

KEY = re.compile(r"(?P<key>[A-Za-z][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*$")
ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*$")
COMMENT = re.compile(r"\s+#.*$")
LONGEST = 500


def read_front_matter(lined: Lined) -> tuple[list[Field], int]:
    """The fields, and how many lines the front matter takes: none if the document does not begin with one."""
    end = closing_line(lined)
    fields: list[Field] = []
    for number in range(2, end):
        line = lined.line(number)
        if found := KEY.match(line):
            fields.append(field_at(lined, number, found))
        elif fields and (item := ITEM.match(line)):
            fields[-1] = with_item(fields[-1], unquote(item.group("value")))
        elif fields and line[:1] in (" ", "\t") and fields[-1].raw in ("|", ">", "|-", ">-", ""):
            fields[-1] = with_item(fields[-1], line.strip(), " ")
    return fields, end


def closing_line(lined: Lined) -> int:
    """The line that ends the front matter, or 0. A rule between blank lines begins none."""
    if lined.line(1).rstrip() != "---" or len(lined.starts) < 3 or not KEY.match(lined.line(2)):
        return 0
    lines = range(2, min(len(lined.starts), LONGEST) + 1)
    return next((number for number in lines if lined.line(number).rstrip() in ("---", "...")), 0)


def field_at(lined: Lined, number: int, found: re.Match[str]) -> Field:
    raw = COMMENT.sub("", found.group("value") or "")
    value = unquote(raw)
    begin = lined.starts[number - 1] + (found.start("value") if raw else found.end())
    at = begin + raw.find(value)
    key = found.group("key")
    shown = "" if value in ("|", ">", "|-", ">-") else list_of(value)
    return Field(name_of(key), key, repair(shown), value, lined.where(number, number), Span(at, at + len(value)))


def with_item(field: Field, value: str, between: str = ", ") -> Field:
    joined = between.join(filter(None, (field.value, repair(value))))
    return Field(field.name, field.label, joined, field.raw, field.where)


def unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def list_of(value: str) -> str:
    """`[a, "b"]` as `a, b`."""
    if not (value.startswith("[") and value.endswith("]")):
        return value
    return ", ".join(unquote(item.strip()) for item in value[1:-1].split(","))
