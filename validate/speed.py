"""How fast the two sides are, eager and compiled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fullgraph.validate.judge import Evidence
from fullgraph.validate.pair import SIDES, Pair
from fullgraph.validate.statistics import joined, ratio_of

SECONDS = 12.0
"""How long the blocks of one kind may take, if the time limit allows it."""


@dataclass(frozen=True)
class Stopwatch:
    """Times one scenario; `given` is what the workers must know of it: cases to leave out, arguments to make anew."""

    evidence: Evidence
    given: dict[str, Any]

    def time(self, pair: Pair, kind: str, *, confirms: bool = False) -> bool:
        """Blocks of both sides in turns; whether there are any. A second measurement of a kind joins the first."""
        taken = pair.blocks(kind, SECONDS, confirms=confirms, **self.given)
        if not taken:
            return False
        for side in SIDES:
            self._add(side, f"{kind}_s", taken[side])
        ratio = ratio_of(taken["before"], taken["after"])
        earlier = self.evidence.ratios.get(kind)
        self.evidence.ratios[kind] = joined([earlier, ratio]) if earlier else ratio
        return True

    def _add(self, side: str, name: str, seconds: list[float]) -> None:
        measured = getattr(self.evidence, side)
        setattr(self.evidence, side, replace(measured, **{name: (*getattr(measured, name), *seconds)}))
