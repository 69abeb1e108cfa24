"""How each observed break ends: repaired, left to a setting of torch, or declined, and what helps then."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.topics.breaks.remedies import Remedy, remedy_of
from fullgraph.codemods.ui.breaks.ground import Ground, Spot, stands_at
from fullgraph.codemods.ui.breaks.seen import Seen, Way

if TYPE_CHECKING:
    from fullgraph.codemods.ui.report.model import Line, Report

REPAIRED, REPAIRABLE, SETTING, DECLINED, ECHO = "repaired", "repairable", "torch setting", "declined", "echo"
SETTER = "compile_setting"
"""The codemod whose findings stand where something is compiled, and name the lines that they are about."""

NONE = Remedy()
NOBODY = "no codemod repairs it here"
SAID = {"declined": "you declined it", "not asked about": "you were not asked about it"}


@dataclass(frozen=True)
class End:
    """One break, and what became of it: by which codemod, or for which reason not.

    `spot` is the line that was looked at: the break's own, or one that leads to it.
    """

    seen: Seen
    outcome: str
    codemod: str = ""
    reason: str = ""
    spot: Spot | None = None
    remedy: Remedy = NONE

    def as_json(self) -> dict[str, Any]:
        seen, spot = self.seen, self.spot
        return {
            "file": seen.place.file,
            "line": seen.place.line,
            "function": seen.function,
            "id": seen.id,
            "kind": seen.reason,
            "count": seen.count,
            "end": self.outcome,
            "codemod": self.codemod,
            "reason": self.reason,
            "at": {"root": str(spot.root), "path": spot.path, "line": spot.line} if spot else None,
            "setting": self.remedy.setting,
            "remedy": self.remedy.advice,
        }


def ends_of(report: Report, ground: Ground, repairing: Collection[str]) -> list[End]:
    """Every break once for each line that was looked at because of it."""
    lines = [line for line in report.lines if line.finding.codemod in repairing]
    ends = [end for seen in ground.seen for end in dict.fromkeys(ends_of_break(seen, ground, lines))]
    return [as_echo(end, ends) for end in ends]


def as_echo(end: End, ends: Sequence[End]) -> End:
    """Of a break that another one causes, that it ends with it; else the end as it is."""
    if end.outcome == REPAIRED or not remedy_of(end.seen.id, end.seen.reason).is_echo:
        return end
    causes = [one for one in ends if causes_echo(one.seen, end.seen)]
    if not causes:
        return end
    left = [one for one in causes if one.outcome != REPAIRED]
    cause = (left or causes)[0]
    reason = f"of the break in {cause.seen.place.file}:{cause.seen.place.line}"
    return End(end.seen, ECHO if left else REPAIRED, cause.codemod, reason if left else "", cause.spot)


def causes_echo(one: Seen, echo: Seen) -> bool:
    """Whether a break stands in the function of an echo, or on a way from its line."""
    if remedy_of(one.id, one.reason).is_echo:
        return False
    is_inside = (one.place.file, one.function) == (echo.place.file, echo.function)
    return is_inside or any(echo.place in way for way in one.ways)


def ends_of_break(seen: Seen, ground: Ground, lines: Sequence[Line]) -> Iterator[End]:
    for way in seen.ways:
        spots = ground.along(way)
        spot = next((spot for spot in spots if any(is_at(line, spot) for line in lines)), None)
        here = [line for line in lines if spot and is_at(line, spot)]
        setters = [line for line in lines if any(names(line, one) for one in spots)]
        yield judge(seen, way, ground, spot, here, setters)


def judge(
    seen: Seen, way: Way, ground: Ground, spot: Spot | None, here: Sequence[Line], setters: Sequence[Line]
) -> End:
    """What is done wins over what is left; of what is left, a setting over nothing."""
    for line in (line for line in here if line.outcome == "fixed"):
        return End(seen, REPAIRED, line.finding.codemod, spot=spot)
    for line in (line for line in here if line.outcome == "found" and line.finding.is_fixable):
        return End(seen, REPAIRABLE, line.finding.codemod, line.finding.caveat, spot)
    remedy = remedy_of(seen.id, seen.reason, seen.hint)
    first = [*here, *setters][:1]
    reason = why_left(first[0]) if first else why_untouched(seen, way, ground)
    codemod = first[0].finding.codemod if first else ""
    for line in setters:
        if line.outcome == "fixed":
            return End(seen, REPAIRED, SETTER, remedy=remedy)
        if line.finding.is_fixable:
            return End(seen, SETTING, SETTER, why_left(line), remedy=remedy)
    if remedy.setting and seen.place.file not in ground.reasons and not is_refused(remedy, [*here, *setters]):
        return End(seen, SETTING, codemod, reason, spot, remedy)
    return End(seen, DECLINED, codemod, reason, spot, replace(remedy, setting=""))


def is_refused(remedy: Remedy, lines: Sequence[Line]) -> bool:
    """Whether a codemod has looked at the line, and does not say that the setting helps there."""
    name = remedy.setting.partition(" ")[0].partition("(")[0]
    left = [line.finding.left_alone for line in lines if line.finding.left_alone]
    return bool(left) and not any(name in reason for reason in left)


def is_at(line: Line, spot: Spot) -> bool:
    return line.root == spot.root and stands_at(line.finding, spot)


def names(line: Line, spot: Spot) -> bool:
    """Whether a finding at the place where something is compiled is about a line."""
    place = re.compile(rf"(?<![\w./-]){re.escape(f'{spot.path}:{spot.line}')}(?!\d)")
    is_named = any(place.search(text) for text in (line.finding.message, *line.finding.notes))
    return line.finding.codemod == SETTER and line.root == spot.root and is_named


def why_left(line: Line) -> str:
    reason = line.reason or (f"unsafe: {line.finding.caveat}" if line.finding.caveat else "")
    return SAID.get(reason, reason)


def why_untouched(seen: Seen, way: Way, ground: Ground) -> str:
    """Why there is no finding: the file stays as it is, or no codemod knows what stands there."""
    name = way[0].file if way else seen.place.file
    return NOBODY if name in ground.spots else f"{ground.why_not(name)}"


# For people


def ends_text(ends: Sequence[End], is_dry: bool) -> Iterator[str]:
    """A line with all numbers, then a line for each break."""
    counts = Counter(end.outcome for end in ends)
    where = {REPAIRED: f"{REPAIRED} in the patch"} if is_dry else {}
    told = [
        f"{counts[one]} {where.get(one, one)}" for one in (REPAIRED, REPAIRABLE, SETTING, DECLINED, ECHO) if counts[one]
    ]
    yield f"observed breaks: {', '.join(told)}"
    for end in ends:
        yield from end_text(end)


def end_text(end: End) -> Iterator[str]:
    from fullgraph.codemods.ui.observed.as_text import place_of
    from fullgraph.codemods.ui.screen import on_one_line

    place = place_of({"file": end.seen.place.file, "line": end.seen.place.line})
    named = f" ({end.seen.id})" if end.seen.id else ""
    yield on_one_line(f"  {place}{named}: {what_became(end)}")
    if end.outcome in (SETTING, DECLINED):
        yield on_one_line(f"      remedy: {end.remedy.advice}")


def what_became(end: End) -> str:
    """`repaired by log_without_break at pkg/model.py:12`"""
    is_elsewhere = end.spot is not None and not is_place(end.spot, end.seen)
    at = f" at {end.spot.path}:{end.spot.line}" if is_elsewhere and end.spot else ""
    if end.outcome in (REPAIRED, REPAIRABLE):
        return f"{end.outcome} by {end.codemod}{at}{f' (unsafe: {end.reason})' if end.reason else ''}"
    if end.outcome == ECHO:
        return f"{ECHO} {end.reason}"
    setting = f": {end.remedy.setting}" if end.outcome == SETTING and end.remedy.setting else ""
    reason = f"; {end.reason}" if setting and end.reason else f": {end.reason}" if end.reason else ""
    return f"{end.outcome}{setting}{reason}{f' ({end.codemod}{at})' if end.codemod else ''}"


def is_place(spot: Spot, seen: Seen) -> bool:
    return spot.line == seen.place.line and Path(seen.place.file).as_posix().endswith(spot.path)
