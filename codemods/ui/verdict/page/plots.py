"""Times as plots: every block as a dot, and the ratios with their intervals on one axis. SVG that grows with the page.

Lengths across are in percent and lengths upward in pixels, so that text keeps its size at any width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import quantiles

from fullgraph.codemods.ui.verdict.page.markup import Html, element, markup
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

HEIGHT, AXIS, MIDDLE = 44, 24, 22
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


def speed_section(verdict: Verdict) -> Html:
    figures = [figure for name in TIMES if (figure := time_figure(verdict, name))]
    if not figures:
        return element("p", "Not measured.", class_="quiet")
    return markup(element("div", figures, class_="figures"), ratio_figure(verdict))


def time_figure(verdict: Verdict, name: str) -> Html | None:
    """The blocks of both sides as two rows of dots above one axis."""
    before, after = blocks_of(verdict.before, name), blocks_of(verdict.after, name)
    if not before and not after:
        return None
    scale = Scale(*fences([*before], [*after]))
    lanes = [
        part
        for label, blocks in (("before", before), ("after", after))
        for part in (lane_label(label, blocks), dots(label, blocks, scale))
    ]
    ratio = verdict.ratios.get(name)
    told = ratio_text(ratio, speed_tendency(verdict, name, ratio)) if ratio and is_finite(ratio) else "not compared"
    title = name if name == "cold start" else f"{name} pass"
    caption = element("figcaption", element("b", title.capitalize()), ", ", told)
    beyond = sum(not scale.low <= seconds <= scale.high for seconds in (*before, *after))
    return element(
        "figure",
        caption,
        element("div", lanes, element("span"), time_axis(scale), class_="plot"),
        element("p", f"{beyond} beyond the edge, drawn at it", class_="quiet") if beyond else None,
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


def lane_label(label: str, blocks: Sequence[float]) -> Html:
    middle = typical(blocks)
    value = "not measured" if middle is None else seconds_text(middle)
    return element("span", element("b", label), element("span", value, class_="quiet"), class_="lane-label")


def dots(label: str, blocks: Sequence[float], scale: Scale) -> Html:
    """Every block a dot, above each other where they would hide each other; the middle half and the median behind."""
    middle = typical(blocks)
    if middle is None:
        return element("span")
    parts: list[Html] = []
    if len(blocks) > 1:
        first, _, third = (scale.place(seconds) for seconds in quantiles(blocks, n=4, method="inclusive"))
        parts.append(element("rect", x=f"{first:.2f}%", y=4, width=f"{third - first:.2f}%", height=36, class_="half"))
    parts += [
        element("circle", cx=f"{across:.2f}%", cy=f"{up:.1f}", r=2.6, class_="dot")
        for across, up in swarm(blocks, scale)
    ]
    at = f"{scale.place(middle):.2f}%"
    parts.append(element("line", x1=at, x2=at, y1=2, y2=HEIGHT - 2, class_="median"))
    told = f"{label}: {len(blocks)} blocks, median {seconds_text(middle)}"
    return element("svg", parts, role="img", aria_label=told, height=HEIGHT, width="100%", class_=f"dots {label}")


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


def time_axis(scale: Scale) -> Html:
    size, unit = next(entry for entry in (*UNITS, UNITS[-1]) if abs(scale.high) >= entry[0] or entry is UNITS[-1])
    ticks = nice_ticks(scale.low / size, scale.high / size)
    parts: list[Html] = [element("line", x1="0%", x2="100%", y1=1, y2=1, class_="rule")]
    for number, tick in enumerate(ticks):
        at = f"{scale.place(tick * size):.2f}%"
        label = f"{tick:g} {unit}" if number == len(ticks) - 1 else f"{tick:g}"
        parts += [
            element("line", x1=at, x2=at, y1=1, y2=6, class_="rule"),
            element("text", label, x=at, y=19, text_anchor="middle"),
        ]
    return element("svg", parts, height=AXIS, width="100%", class_="axis", aria_hidden="true")


def nice_ticks(low: float, high: float) -> list[float]:
    """Two to five round numbers between two others."""
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * factor for factor in (1, 2, 5, 10) if power * factor >= raw), power * 10)
    first = math.ceil(low / step - 1e-9)
    ticks = [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]
    return ticks or [float(f"{(low + high) / 2:.3g}")]


def ratio_figure(verdict: Verdict) -> Html | None:
    """Seconds before over seconds after: right of 1 is faster."""
    found = {name: verdict.ratios[name] for name in TIMES if name in verdict.ratios and is_finite(verdict.ratios[name])}
    if not found:
        return None
    edge = max(max(ratio.high, 1 / ratio.low) for ratio in found.values())
    reach = math.log(min(max(edge * 1.05, 1.12), 110))
    rows = []
    for name, ratio in found.items():
        tendency = speed_tendency(verdict, name, ratio)
        label = element(
            "span", element("b", name), element("span", f"{ratio.ratio:.2f}", class_="quiet"), class_="lane-label"
        )
        rows += [label, interval(name, ratio, reach, tendency)]
    caption = element(
        "figcaption",
        element("b", "Ratio of the times"),
        ", before over after, with its 95 % interval: right of 1 is faster",
    )
    return element("figure", caption, element("div", rows, element("span"), ratio_axis(reach), class_="plot ratios"))


def on_ratio_axis(ratio: float, reach: float) -> float:
    return min(max(50 + 46 * math.log(ratio) / reach, 2), 98)


def interval(name: str, ratio: Ratio, reach: float, tendency: str) -> Html:
    low, at, high = (f"{on_ratio_axis(one, reach):.2f}%" for one in (ratio.low, ratio.ratio, ratio.high))
    told = f"{name}: {ratio.ratio:.2f}, 95 % interval {ratio.low:.2f} to {ratio.high:.2f}, {ratio.blocks} blocks"
    parts = [
        element("line", x1="50%", x2="50%", y1=0, y2=40, class_="one"),
        element("line", x1=low, x2=high, y1=20, y2=20, class_="interval"),
        element("line", x1=low, x2=low, y1=14, y2=26, class_="interval"),
        element("line", x1=high, x2=high, y1=14, y2=26, class_="interval"),
        element("circle", cx=at, cy=20, r=4.5, class_="point"),
    ]
    return element("svg", parts, role="img", aria_label=told, height=40, width="100%", class_=f"ratio {tendency}")


def ratio_axis(reach: float) -> Html:
    parts: list[Html] = [element("line", x1="0%", x2="100%", y1=1, y2=1, class_="rule")]
    for tick in ratio_ticks(reach):
        at = f"{on_ratio_axis(tick, reach):.2f}%"
        parts += [
            element("line", x1=at, x2=at, y1=1, y2=6, class_="rule"),
            element("text", f"{tick:g}", x=at, y=19, text_anchor="middle", class_="one" if tick == 1 else None),
        ]
    return element("svg", parts, height=AXIS, width="100%", class_="axis", aria_hidden="true")


def ratio_ticks(reach: float) -> list[float]:
    """1 and what is left of the round ratios when none may stand too close to another."""
    chosen = [1.0]
    for tick in sorted(RATIOS, key=lambda one: abs(math.log(one))):
        apart = min(abs(math.log(tick / other)) for other in chosen)
        if abs(math.log(tick)) <= reach and apart >= reach / 4.5:
            chosen.append(tick)
    return sorted(chosen)
