"""The numbers of a verdict as rows: before, after, and what follows from them. For the terminal and the page alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from fullgraph.validate.judge import compare_speed, guard_tendency, memory_tendency, ratio_text
from fullgraph.validate.model import Measurement, Ratio, Verdict

ABSENT = "not measured"
WORDS = {"noisy": "too noisy to tell"}
"""What a tendency is called where its own word would not do: measured, and yet not known."""

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))

TIMES = {"eager": "eager_s", "compiled": "compiled_s", "cold start": "cold_s"}
"""The name of a ratio, and the field of a measurement that has the blocks it was made of."""


@dataclass(frozen=True)
class Row:
    """One number on both sides. `tendency` is a reason's, or empty where the number decides nothing."""

    name: str
    before: str
    after: str
    follows: str
    tendency: str = ""

    @property
    def is_measured(self) -> bool:
        return (self.before, self.after) != (ABSENT, ABSENT)


Counting = Callable[[Measurement], int | None]


def rows(verdict: Verdict) -> list[Row]:
    """Every number that a verdict knows, also those that were not measured."""
    return [
        case_row(verdict),
        count_row(verdict, "graphs", graph_count),
        count_row(verdict, "graph breaks", break_count, reason="breaks", less_is_better=True),
        fullgraph_row(verdict),
        count_row(verdict, "recompiles", recompile_count, reason="recompiles", less_is_better=True),
        count_row(verdict, "guards", guard_count),
        guard_time_row(verdict),
        count_row(verdict, "host reads", sync_count, reason="host reads", less_is_better=True),
        count_row(verdict, "device copies", move_count, reason="moves"),
        count_row(verdict, "operators", operator_count),
        *time_rows(verdict),
        memory_row(verdict),
    ]


def graph_count(side: Measurement) -> int | None:
    return None if side.graphs is None else len(side.graphs)


def break_count(side: Measurement) -> int | None:
    return side.break_count


def recompile_count(side: Measurement) -> int | None:
    return None if side.recompiles is None else len(side.recompiles)


def guard_count(side: Measurement) -> int | None:
    return None if side.graphs is None else sum(graph.guards for graph in side.graphs)


def operator_count(side: Measurement) -> int | None:
    return None if side.graphs is None else sum(graph.operators for graph in side.graphs)


def sync_count(side: Measurement) -> int | None:
    return None if side.syncs is None else sum(sync.count for sync in side.syncs)


def move_count(side: Measurement) -> int | None:
    return None if side.moves is None else sum(move.count for move in side.moves)


def tendency_of(verdict: Verdict, name: str) -> str:
    """What the reason of this name says; empty if there is none."""
    return next((reason.tendency for reason in verdict.reasons if reason.name == name), "")


T = TypeVar("T")


def shown(before: T | None, after: T | None, write: Callable[[T], str]) -> tuple[str, str]:
    """Both sides of a number as text."""
    return (ABSENT if before is None else write(before), ABSENT if after is None else write(after))


def count_row(verdict: Verdict, name: str, counted: Counting, reason: str = "", less_is_better: bool = False) -> Row:
    before, after = counted(verdict.before), counted(verdict.after)
    texts = shown(before, after, "{:,}".format)
    if before is None or after is None:
        return Row(name, *texts, follows=missing(before, after))
    tendency = tendency_of(verdict, reason)
    if less_is_better and not tendency:
        tendency = ("same", "worse", "better")[(after > before) - (after < before)]
    return Row(name, *texts, follows=change_in(before, after), tendency=tendency)


def missing(before: object, after: object) -> str:
    return ABSENT if before is after is None else f"{ABSENT} {'before' if before is None else 'after'}"


def change_in(before: int, after: int) -> str:
    if before == after:
        return "same"
    return f"{after - before:,} more" if after > before else f"{before - after:,} fewer"


def case_row(verdict: Verdict) -> Row:
    tendency = tendency_of(verdict, "equivalence")
    follows = {"same": "equivalent", "different": "different"}.get(tendency, "not compared")
    texts = shown(verdict.before, verdict.after, cases_text)
    return Row("cases", *texts, follows="different" if verdict.differences else follows, tendency=tendency)


def cases_text(side: Measurement) -> str:
    if not side.cases:
        return ABSENT
    return f"{len(side.cases)}" + (f", {side.raised} raised" if side.raised else "")


def fullgraph_row(verdict: Verdict) -> Row:
    sides = (verdict.before.fullgraph, verdict.after.fullgraph)
    follows: dict[tuple[bool | None, bool | None], str] = {
        (False, True): "compiles now",
        (True, False): "compiles no more",
        (True, True): "same",
        (False, False): "same",
    }
    tendency = tendency_of(verdict, "fullgraph")
    texts = shown(*sides, write=lambda compiles: "yes" if compiles else "no")
    return Row("fullgraph=True", *texts, follows=follows.get(sides) or missing(*sides), tendency=tendency)


def guard_time_row(verdict: Verdict) -> Row:
    before, after = finite(verdict.before.guard_us), finite(verdict.after.guard_us)
    texts = shown(before, after, lambda us: seconds_text(us / 1e6))
    tendency = tendency_of(verdict, "guards")
    return Row(
        "guard time",
        *texts,
        follows=share_of(before, after, tendency or guard_tendency(before, after)),
        tendency=tendency,
    )


def memory_row(verdict: Verdict) -> Row:
    before, after = verdict.before.peak_bytes, verdict.after.peak_bytes
    texts = shown(before, after, bytes_text)
    tendency = tendency_of(verdict, "memory")
    return Row(
        "peak memory",
        *texts,
        follows=share_of(before, after, tendency or memory_tendency(before, after)),
        tendency=tendency,
    )


def share_of(before: float | None, after: float | None, tendency: str) -> str:
    """How much more or less, in words where that need not mean anything."""
    if before is None or after is None:
        return missing(before, after)
    percent = f"{100 * (after - before) / before:+.0f} %" if before else ""
    if tendency in ("better", "worse"):
        return percent
    shown = f" ({percent})" if percent.strip("+-0 %") else ""
    return f"{WORDS.get(tendency, 'same')}{shown}"


def time_rows(verdict: Verdict) -> Iterator[Row]:
    for name in TIMES:
        before, after = (typical(blocks_of(side, name)) for side in (verdict.before, verdict.after))
        texts = shown(before, after, seconds_text)
        label = name if name == "cold start" else f"{name} pass"
        ratio = verdict.ratios.get(name)
        if ratio and is_finite(ratio):
            tendency = speed_tendency(verdict, name, ratio)
            yield Row(label, *texts, follows=ratio_text(ratio, tendency), tendency=tendency)
        else:
            yield Row(label, *texts, follows="not compared" if before and after else missing(before, after))


def speed_tendency(verdict: Verdict, name: str, ratio: Ratio) -> str:
    """The judge's word, also where the ruling does not rest on it."""
    return tendency_of(verdict, name) or compare_speed(name, name, ratio).tendency


def blocks_of(side: Measurement, name: str) -> list[float]:
    """The finite seconds of all blocks, in order."""
    blocks: Sequence[float] = getattr(side, TIMES[name])
    return [seconds for seconds in blocks if math.isfinite(seconds)]


def typical(blocks: Sequence[float]) -> float | None:
    return median(blocks) if blocks else None


def finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def is_finite(ratio: Ratio) -> bool:
    return all(math.isfinite(number) and number > 0 for number in (ratio.ratio, ratio.low, ratio.high))


def seconds_text(seconds: float) -> str:
    """Three digits and the unit that fits: `1.83 ms`."""
    size, unit = next((entry for entry in UNITS if abs(seconds) >= entry[0]), UNITS[-1] if seconds else UNITS[0])
    return f"{three_digits(seconds / size)} {unit}"


def bytes_text(number: int) -> str:
    size, unit = next((entry for entry in SIZES if number >= entry[0]), SIZES[-1])
    return f"{number} {unit}" if size == 1 else f"{three_digits(number / size)} {unit}"


def three_digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2f}"
