"""What the demo has measured before and after: one table, and the criteria that it must reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Generic, NamedTuple, TypeVar

from fullgraph.codemods.ui.layout import Entry, table_lines
from fullgraph.validate.judge import BETTER, compare_speed
from fullgraph.validate.model import count_breaks
from fullgraph.validate.statistics import ratio_of

T = TypeVar("T")


class Sides(NamedTuple, Generic[T]):
    """The same of the files before and after."""

    before: T
    after: T


@dataclass(frozen=True)
class Side:
    """What was measured with one version of the files: in the proof, under observation, and epoch by epoch."""

    fullgraph: bool
    graphs: int
    breaks: int
    reads: int
    seconds: Sequence[float]
    losses: Sequence[Sequence[float]]


def side_of(measured: dict[str, Any], observed: dict[str, Any], epochs: Sequence[Any]) -> Side:
    """From a side of the policy's verdict, the report of a run, and what the epochs answered."""
    return Side(
        fullgraph=bool(measured["fullgraph"]),
        graphs=len(measured["graphs"]),
        breaks=sum(count_breaks(entry["breaks"]) for entry in observed["entries"]),
        reads=sum(int(one["count"]) for one in observed["reads"]),
        seconds=[seconds for seconds, _ in epochs],
        losses=[losses for _, losses in epochs],
    )


def table(sides: Sides[Side], width: int) -> str:
    before, after = sides
    ratio = ratio_of(before.seconds, after.seconds)
    rows = [
        ("", "before", "after", "gain"),
        (
            "policy forward compiles with fullgraph=True",
            *("yes" if side.fullgraph else "no" for side in sides),
            f"graphs {before.graphs} > {after.graphs}",
        ),
        ("graph breaks in training", str(before.breaks), str(after.breaks), f"{before.breaks - after.breaks} fewer"),
        ("host reads per epoch", str(before.reads), str(after.reads), f"{before.reads - after.reads} fewer"),
        (
            "an epoch, CPU time",
            *(f"{1000 * median(side.seconds):.0f} ms" for side in sides),
            f"{ratio.ratio:.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]",
        ),
        (
            f"policy loss after {len(before.losses) + 1} epochs",
            *(f"{side.losses[-1][1]:.8f}" for side in sides),
            "same" if before.losses == after.losses else "DIFFERENT",
        ),
    ]
    return "\n".join(table_lines([Entry(row) for row in rows], color=False, width=width))


def criteria(sides: Sides[Side]) -> dict[str, bool]:
    """What the plan asks for; faster is said by the rule of the proofs."""
    before, after = sides
    speed = compare_speed("eager", "eager", ratio_of(before.seconds, after.seconds))
    return {
        "the policy's forward compiles with fullgraph=True: no > yes": after.fullgraph and not before.fullgraph,
        "training had graph breaks, and has none now": before.breaks > 0 and after.breaks == 0,
        "an epoch reads fewer values from the device": before.reads > after.reads,
        "an epoch is faster beyond its 95 % interval": speed.tendency == BETTER,
        "returns and losses are equal, digit for digit": before.losses == after.losses,
    }
