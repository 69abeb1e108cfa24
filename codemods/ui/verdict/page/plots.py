"""Times as plots: every block as a dot, and the ratios with their intervals on one axis. Places are in percent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import quantiles

from fullgraph.codemods.ui.verdict.rows import (
    TIMES,
    UNITS,
    blocks_of,
    is_finite,
    seconds_text,
    speed_tendency,
    typical,
)
from fullgraph.validate.judge import ratio_text
from fullgraph.validate.model import Ratio, Verdict

MIDDLE = 22
BINS = 90
FAR = 10.0
"""Times that lie so many widths of the middle half outside it are drawn at the edge: they would flatten the rest."""

RATIOS = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    0.67,
    0.8,
    0.9,
    0.95,
    1.0,
    1.05,
    1.1,
    1.25,
    1.5,
    2.0,
    5.0,
    10.0,
    20.0,
    50.0,
    100.0,
)


Ticks = list[tuple[str, str]]
"""Where each stands, and its label."""


@dataclass(frozen=True)
class TimeLane:
    """One side. `half`: where the middle half begins and how wide it is."""

    label: str
    value: str
    told: str = ""
    half: tuple[str, str] | None = None
    dots: Sequence[tuple[str, str]] = ()
    median: str | None = None


@dataclass(frozen=True)
class Figure:
    """The blocks of both sides as two rows of dots above one axis."""

    title: str
    told: str
    lanes: list[TimeLane]
    ticks: Ticks
    beyond: int


@dataclass(frozen=True)
class RatioRow:
    name: str
    value: str
    told: str
    tendency: str
    low: str
    at: str
    high: str


@dataclass(frozen=True)
class Speed:
    figures: list[Figure]
    ratios: list[RatioRow]
    ticks: Ticks


def speed_of(verdict: Verdict) -> Speed:
    figures = [figure for name in TIMES if (figure := time_figure(verdict, name))]
    found = {name: verdict.ratios[name] for name in TIMES if name in verdict.ratios and is_finite(verdict.ratios[name])}
    if not found:
        return Speed(figures, [], [])
    edge = max(max(ratio.high, 1 / ratio.low) for ratio in found.values())
    reach = math.log(min(max(edge * 1.05, 1.12), 110))
    rows = [ratio_row(name, ratio, reach, speed_tendency(verdict, name, ratio)) for name, ratio in found.items()]
    ticks = [(percent(on_ratio_axis(tick, reach)), f"{tick:g}") for tick in ratio_ticks(reach)]
    return Speed(figures, rows, ticks)


def percent(place: float) -> str:
    return f"{place:.2f}"


def time_figure(verdict: Verdict, name: str) -> Figure | None:
    before, after = blocks_of(verdict.before, name), blocks_of(verdict.after, name)
    if not before and not after:
        return None
    scale = Scale(*fences([*before], [*after]))
    ratio = verdict.ratios.get(name)
    told = ratio_text(ratio, speed_tendency(verdict, name, ratio)) if ratio and is_finite(ratio) else "not compared"
    return Figure(
        name if name == "cold start" else f"{name} pass",
        told,
        [time_lane(label, blocks, scale) for label, blocks in (("before", before), ("after", after))],
        time_ticks(scale),
        sum(not scale.low <= seconds <= scale.high for seconds in (*before, *after)),
    )


class Scale:
    """Seconds as percent of the width, with a margin on both sides."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def place(self, seconds: float) -> float:
        inside = min(max(seconds, self.low), self.high)
        return 4 + 92 * (inside - self.low) / (self.high - self.low)


def fences(*sides: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest time that is drawn in its place."""
    lows, highs = [], []
    for blocks in filter(None, sides):
        first, _, third = quantiles(blocks, n=4, method="inclusive") if len(blocks) > 1 else (blocks[0],) * 3
        room = FAR * max(third - first, abs(first) * 0.002)
        lows.append(max(min(blocks), first - room))
        highs.append(min(max(blocks), third + room))
    low, high = min(lows), max(highs)
    return (low, high) if high > low else (low - abs(low) * 0.01 - 1e-9, high + abs(high) * 0.01 + 1e-9)


def time_lane(label: str, blocks: Sequence[float], scale: Scale) -> TimeLane:
    """Every block a dot, above each other where they would hide each other; the middle half and the median behind."""
    middle = typical(blocks)
    if middle is None:
        return TimeLane(label, "not measured")
    half = None
    if len(blocks) > 1:
        first, _, third = (scale.place(seconds) for seconds in quantiles(blocks, n=4, method="inclusive"))
        half = (percent(first), percent(third - first))
    value = seconds_text(middle)
    dots = [(percent(across), f"{up:.1f}") for across, up in swarm(blocks, scale)]
    told = f"{label}: {len(blocks)} blocks, median {value}"
    return TimeLane(label, value, told, half, dots, percent(scale.place(middle)))


def swarm(blocks: Sequence[float], scale: Scale) -> Iterator[tuple[float, float]]:
    """Where each dot stands: as many as share a bin are spread around the middle line."""
    bins: dict[int, list[float]] = {}
    for seconds in blocks:
        across = scale.place(seconds)
        bins.setdefault(int(across * BINS / 100), []).append(across)
    for _, members in sorted(bins.items()):
        step = min(5.0, 32 / max(len(members) - 1, 1))
        for number, across in enumerate(members):
            yield across, MIDDLE + step * ((number + 1) // 2) * (-1) ** number


def time_ticks(scale: Scale) -> Ticks:
    size, unit = next(entry for entry in (*UNITS, UNITS[-1]) if abs(scale.high) >= entry[0] or entry is UNITS[-1])
    ticks = nice_ticks(scale.low / size, scale.high / size)
    labels = [*(f"{tick:g}" for tick in ticks[:-1]), f"{ticks[-1]:g} {unit}"]
    return [(percent(scale.place(tick * size)), label) for tick, label in zip(ticks, labels, strict=True)]


def nice_ticks(low: float, high: float) -> list[float]:
    """Two to five round numbers between two others."""
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * factor for factor in (1, 2, 5, 10) if power * factor >= raw), power * 10)
    first = math.ceil(low / step - 1e-9)
    ticks = [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return ticks or [float(f"{(low + high) / 2:.3g}")]


def on_ratio_axis(ratio: float, reach: float) -> float:
    return min(max(50 + 46 * math.log(ratio) / reach, 2), 98)


def ratio_row(name: str, ratio: Ratio, reach: float, tendency: str) -> RatioRow:
    """Seconds before over seconds after: right of 1 is faster."""
    low, at, high = (percent(on_ratio_axis(one, reach)) for one in (ratio.low, ratio.ratio, ratio.high))
    told = f"{name}: {ratio.ratio:.2f}, 95 % interval {ratio.low:.2f} to {ratio.high:.2f}, {ratio.blocks} blocks"
    return RatioRow(name, f"{ratio.ratio:.2f}", told, tendency, low, at, high)


def ratio_ticks(reach: float) -> list[float]:
    """1 and what is left of the round ratios when none may stand too close to another."""
    chosen = [1.0]
    for tick in sorted(RATIOS, key=lambda one: abs(math.log(one))):
        apart = min(abs(math.log(tick / other)) for other in chosen)
        if abs(math.log(tick)) <= reach and apart >= reach / 4.5:
            chosen.append(tick)
    return sorted(chosen)
