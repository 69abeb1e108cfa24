"""The simple keys of a front matter, YAML's or TOML's: `key: value`, lists, quotes, one key inside another."""

from __future__ import annotations

import re

from fullgraph.codemods.model import Span
from fullgraph.codemods.tickets.model import Field
from fullgraph.codemods.tickets.text import Lined, repair
from fullgraph.codemods.tickets.words import name_of

KEY = re.compile(r"(?P<key>[A-Za-z][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(?P<value>.*?))?[ \t]*$")
INNER = re.compile(r"[ \t]+(?:-[ \t]+)?(?P<key>[A-Za-z][\w .-]{0,60}?)[ \t]*:[ \t]+(?P<value>[^ \t].*?)[ \t]*$")
ASSIGNED = re.compile(r"(?P<key>[A-Za-z][\w.-]{0,60})[ \t]*=[ \t]*(?P<value>.*?)[ \t]*$")
BLOCKS = ("|", ">", "|-", ">-")
ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*?)[ \t]*$")
COMMENT = re.compile(r"\s+#.*$")
LONGEST = 500


def read_front_matter(lined: Lined) -> tuple[list[Field], int]:
    """The fields, and how many lines the front matter takes: none if the document does not begin with one."""
    key = ASSIGNED if lined.line(1).rstrip() == "+++" else KEY
    end = closing_line(lined, key)
    fields: list[Field] = []
    for number in range(2, end):
        line = lined.line(number)
        if found := key.match(line) or inner_key(line, fields):
            fields.append(field_at(lined, number, found))
        elif fields and (item := ITEM.match(line)):
            fields[-1] = with_item(fields[-1], unquote(item.group("value")))
        elif fields and line[:1] in (" ", "\t") and fields[-1].raw in (*BLOCKS, ""):
            fields[-1] = with_item(fields[-1], line.strip(), " ")
    return fields, end


def inner_key(line: str, fields: list[Field]) -> re.Match[str] | None:
    """`  verdict: reject`, if it is a field of its own and no part of a longer text."""
    found = INNER.match(line) if fields and fields[-1].raw not in BLOCKS else None
    return found if found and name_of(found["key"]) else None


def closing_line(lined: Lined, key: re.Pattern[str]) -> int:
    """The line that ends the front matter, or 0. A rule between blank lines begins none."""
    opening = lined.line(1).rstrip()
    if opening not in ("---", "+++") or len(lined.starts) < 3 or not key.match(lined.line(2)):
        return 0
    lines = range(2, min(len(lined.starts), LONGEST) + 1)
    return next((number for number in lines if lined.line(number).rstrip() in (opening, "...")), 0)


def field_at(lined: Lined, number: int, found: re.Match[str]) -> Field:
    raw = COMMENT.sub("", found.group("value") or "")
    value = unquote(raw)
    begin = lined.starts[number - 1] + (found.start("value") if raw else found.end())
    at = begin + raw.find(value)
    key = found.group("key")
    shown = "" if value in BLOCKS else list_of(value)
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
