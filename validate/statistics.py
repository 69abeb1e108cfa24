"""How sure a ratio of times is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import fmean, median, stdev

from fullgraph.validate.model import Ratio

RESAMPLES = 2000
FEW = 12
"""Pairs below which resampling would be too sure of itself: the interval is then all that was seen."""

T = {2: 12.71, 3: 4.31, 4: 3.19, 5: 2.78}
"""Below six pairs all that was seen is too little, too: Student's factors for 95 %."""

UNKNOWN = log(10)
"""How far off a single pair may be; nothing is known of its spread."""


def ratio_of(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """Before divided by after, from blocks that were timed in turns: the median of the pairs, bootstrapped.

    Which side comes first in a turn can matter more than the code, so two turns in a row are one pair where there are
    enough of them.
    """
    turns = [log(first / second) for first, second in zip(before, after, strict=True)]
    pairs = balanced(turns)
    low, high = resampled(pairs) if len(turns) >= FEW else seen(pairs)
    return Ratio(exp(median(pairs)), exp(low), exp(high), len(turns))


def balanced(turns: list[float]) -> list[float]:
    if len(turns) < 2 * FEW:
        return turns
    return [(first + second) / 2 for first, second in zip(turns[::2], turns[1::2], strict=False)]


def resampled(pairs: list[float]) -> tuple[float, float]:
    draw = random.Random(0)
    medians = sorted(median(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return medians[round(0.025 * RESAMPLES)], medians[round(0.975 * RESAMPLES) - 1]


def seen(pairs: list[float]) -> tuple[float, float]:
    """From the lowest to the highest, and wider where these are too few to be 95 %."""
    if len(pairs) == 1:
        return pairs[0] - UNKNOWN, pairs[0] + UNKNOWN
    spread = T.get(len(pairs), 0.0) * stdev(pairs) / sqrt(len(pairs))
    return min(*pairs, fmean(pairs) - spread), max(*pairs, fmean(pairs) + spread)


def joined(ratios: Sequence[Ratio]) -> Ratio:
    """What holds in every one of several measurements: the interval that covers all of theirs."""
    middle = exp(sum(log(ratio.ratio) for ratio in ratios) / len(ratios))
    low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
    return Ratio(middle, low, high, sum(ratio.blocks for ratio in ratios))
