"""What the bytes of a file say about telemetry, before anything is parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator

HEAD = re.compile(rb"(?:\A|[\r\n])[ \t\f]*(?:async[ \t]+)?\Z")
WINDOW = 80
READS = (b".item()", b".tolist()")
FLOAT = re.compile(rb"float\([^#;\r\n]{0,80}\.(?:norm|mean|std|var|sum|min|max|am|median|abs|sqrt)")
SINKS = re.compile(
    rb"\b(?:print|debug|info|warning|error|log|log_\w+|add_\w+|writerow|write|echo|record|emit|scalar|histogram)\(|"
    rb"(?:telemetry|stat|metric|log|monitor|diagnostic|report|debug)\w*(?:[\[.]| =)"
)


def telemetry_in(raw: bytes) -> Iterator[int]:
    """Where values are read in a piece of a function that also has something which telemetry goes to."""
    end = 0
    for place in reads_in(raw):
        if place >= end:
            start, end = definition_before(raw, place), definition_behind(raw, place)
            if SINKS.search(raw, start, end):
                yield place


def reads_in(raw: bytes) -> list[int]:
    """Where values are read, as far as the text tells."""
    found = [match.start() for match in FLOAT.finditer(raw)] if b"float(" in raw else []
    for needle in READS:
        place = raw.find(needle)
        while place >= 0:
            found.append(place)
            place = raw.find(needle, place + 1)
    return sorted(found)


def definition_before(raw: bytes, place: int) -> int:
    while place > 0 and (place := raw.rfind(b"def ", 0, place)) >= 0 and not begins_line(raw, place):
        pass
    return max(place, 0)


def definition_behind(raw: bytes, place: int) -> int:
    while (place := raw.find(b"def ", place + 1)) >= 0 and not begins_line(raw, place):
        pass
    return place if place >= 0 else len(raw)


def begins_line(raw: bytes, place: int) -> bool:
    return HEAD.search(raw, max(0, place - WINDOW), place) is not None
