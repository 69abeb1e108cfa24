"""The breaks of an observed run, each once, with the ways that led to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A line of a file, by the name that the report has for it."""

    file: str
    line: int


LIMIT = "GB0039"
"""The break that is no more than too many recompiles."""

Way = tuple[Line, ...]
"""From the line that broke up to what was compiled."""


@dataclass(frozen=True)
class Seen:
    """One break. `id` is torch's name for its kind, where it has one; `hint` is torch's own advice.

    `guards`: where torch gave up compiling a function again, all that had it do so.
    """

    place: Line
    function: str
    id: str
    reason: str
    hint: str
    count: int
    ways: tuple[Way, ...]
    guards: tuple[str, ...] = ()


def list_breaks(observed: Mapping[str, Any]) -> list[Seen]:
    """What several entries break on is one break."""
    found: dict[tuple[Line, str], Seen] = {}
    for seen in (read_break(entry, one) for entry in observed["entries"] for one in entry["breaks"]):
        known = found.get(key := (seen.place, seen.id or seen.reason))
        found[key] = add(known, seen) if known else seen
    return list(found.values())


def read_break(entry: Mapping[str, Any], one: Mapping[str, Any]) -> Seen:
    place = Line(one["file"], one["line"])
    ways = tuple(dict.fromkeys(read_ways(one))) or ((place,),)
    guards = failed_guards(entry, one) if one["id"] == LIMIT else ()
    return Seen(place, one["function"], one["id"], one["reason"], one.get("hint", ""), one["count"], ways, guards)


def failed_guards(entry: Mapping[str, Any], one: Mapping[str, Any]) -> tuple[str, ...]:
    """Why the function of a break was compiled again, each reason once."""
    places = [
        again for again in entry.get("recompiles", ()) if all(again[part] == one[part] for part in ("file", "function"))
    ]
    return tuple(sorted({again["guard"] for again in places}))


def read_ways(one: Mapping[str, Any]) -> Iterator[Way]:
    """Reports of older versions have none."""
    for stack in one.get("stacks", ()):
        way = tuple(Line(line["file"], line["line"]) for line in reversed(stack))
        if way:
            yield way


def add(first: Seen, second: Seen) -> Seen:
    ways = tuple(dict.fromkeys((*first.ways, *second.ways)))
    guards = tuple(sorted({*first.guards, *second.guards}))
    return replace(first, count=first.count + second.count, ways=ways, guards=guards)
