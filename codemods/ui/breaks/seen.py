"""The breaks of an observed run, each once, with the ways that led to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A line of a file, by the name that the report has for it."""

    file: str
    line: int


Way = tuple[Line, ...]
"""From the line that broke up to what was compiled."""


@dataclass(frozen=True)
class Seen:
    """One break. `id` is torch's name for its kind, where it has one; `hint` is torch's own advice."""

    place: Line
    function: str
    id: str
    reason: str
    hint: str
    count: int
    ways: tuple[Way, ...]


def list_breaks(observed: Mapping[str, Any]) -> list[Seen]:
    """What several entries break on is one break."""
    found: dict[tuple[Line, str], Seen] = {}
    for one in (one for entry in observed["entries"] for one in entry["breaks"]):
        seen = read_break(one)
        known = found.get(key := (seen.place, seen.id or seen.reason))
        found[key] = add(known, seen) if known else seen
    return list(found.values())


def read_break(one: Mapping[str, Any]) -> Seen:
    place = Line(one["file"], one["line"])
    ways = tuple(dict.fromkeys(read_ways(one))) or ((place,),)
    return Seen(place, one["function"], one["id"], one["reason"], one.get("hint", ""), one["count"], ways)


def read_ways(one: Mapping[str, Any]) -> Iterator[Way]:
    """Reports of older versions have none."""
    for stack in one.get("stacks", ()):
        way = tuple(Line(line["file"], line["line"]) for line in reversed(stack))
        if way:
            yield way


def add(first: Seen, second: Seen) -> Seen:
    ways = tuple(dict.fromkeys((*first.ways, *second.ways)))
    return replace(first, count=first.count + second.count, ways=ways)
