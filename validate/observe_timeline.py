"""The run in time: when something was compiled and broke, and how many host reads fell into each part of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PARTS = 120


def make_timeline(told: Sequence[dict[str, Any]], start: float, seconds: float) -> dict[str, Any]:
    """Of all processes together, in seconds since the program was started. `reads`: one count for each equal part."""
    compiles = [{**one, "at": round(one["at"] - start, 3)} for process in told for one in process["compiles"]]
    return {
        "compiles": sorted(compiles, key=lambda one: (one["at"], one["entry"])),
        "reads": count_parts([process["read_moments"] for process in told], start, seconds),
    }


def count_parts(moments: Sequence[dict[str, Any]], start: float, seconds: float) -> list[int]:
    """A bin counts where its middle lies; what lies outside of the run is counted at its end."""
    parts = [0] * PARTS
    for one in moments:
        for number, count in enumerate(one["counts"]):
            middle = one["start"] + (number + 0.5) * one["width"] - start
            parts[min(max(int(PARTS * middle / seconds), 0), PARTS - 1)] += count
    return parts
