"""How sure a ratio of times is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log
from statistics import median

from validate.model import Ratio

RESAMPLES = 2000
FEW = 12
"""Pairs below which resampling would be too sure of itself: the interval is then all that was seen."""


def ratio_of(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """Before divided by after, from blocks that were timed in turns: the median of the pairs, bootstrapped."""
    pairs = [log(first / second) for first, second in zip(before, after, strict=True)]
    if len(pairs) < FEW:
        return Ratio(exp(median(pairs)), exp(min(pairs)), exp(max(pairs)), len(pairs))
    draw = random.Random(0)
    medians = sorted(median(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    low, high = medians[round(0.025 * RESAMPLES)], medians[round(0.975 * RESAMPLES) - 1]
    return Ratio(exp(median(pairs)), exp(low), exp(high), len(pairs))


def joined(ratios: Sequence[Ratio]) -> Ratio:
    """What holds in every one of several measurements: the interval that covers all of theirs."""
    middle = exp(sum(log(ratio.ratio) for ratio in ratios) / len(ratios))
    low, high = min(ratio.low for ratio in ratios), max(ratio.high for ratio in ratios)
    return Ratio(middle, low, high, sum(ratio.blocks for ratio in ratios))
