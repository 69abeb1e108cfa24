"""What would be named must be seen again in fresh processes.

Where a process lies in memory, on which cores its threads run and what else the machine does can make one of two
processes with the same code faster for as long as it lives. So a pair of processes is one observation, however many
blocks it is timed for, and one is not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from fullgraph.validate.judge import BETTER, SAME, WORSE, Evidence, compare_speed, guard_tendency, memory_tendency
from fullgraph.validate.model import ValidateError
from fullgraph.validate.pair import CLEAR, Pair
from fullgraph.validate.speed import Stopwatch

TIMES = 2
TIMES_FOR_LITTLE = 3
"""How often a claim must be seen again; one that is close to nothing more often."""


@dataclass(frozen=True)
class Confirmation:
    """`start` gives pairs of processes that have read the scenario, numbered, so that no two are laid out alike."""

    evidence: Evidence
    stopwatch: Stopwatch
    start: Callable[[int], AbstractContextManager[Pair]]

    def run(self) -> None:
        for time in range(TIMES_FOR_LITTLE):
            claims = self.claims(time)
            if not claims:
                return
            self.see_again(claims, time + 1)

    def claims(self, seen: int) -> dict[str, str]:
        """What would be named, with its tendency, and has not been seen often enough."""
        names = ("memory",) if self.evidence.is_untimed else ("eager", "compiled", "guards", "memory")
        claimed = {name: self.tendency(name) for name in names}
        return {
            name: tendency
            for name, tendency in claimed.items()
            if tendency in (BETTER, WORSE) and seen < self.times_for(name)
        }

    def tendency(self, name: str) -> str:
        before, after = self.evidence.before, self.evidence.after
        if name in self.evidence.unconfirmed:
            return SAME
        if name in self.evidence.ratios:
            return compare_speed(name, name, self.evidence.ratios[name]).tendency
        if name == "guards":
            return guard_tendency(before.guard_us, after.guard_us)
        return memory_tendency(before.peak_bytes, after.peak_bytes) if name == "memory" else SAME

    def times_for(self, name: str) -> int:
        ratio = self.evidence.ratios.get(name)
        is_little = ratio is not None and ratio.low < CLEAR and ratio.high > 1 / CLEAR
        return TIMES_FOR_LITTLE if is_little else TIMES

    def see_again(self, claims: dict[str, str], number: int) -> None:
        """One more pair of processes. What is not seen again there is no longer named."""
        seen: set[str] = set()
        try:
            with self.start(number) as pair:
                seen = {name for name, tendency in claims.items() if self.holds(pair, name, tendency)}
        except ValidateError as error:
            self.evidence.notices.append(f"not measured again: {error}")
        self.evidence.unconfirmed |= claims.keys() - seen

    def holds(self, pair: Pair, name: str, tendency: str) -> bool:
        if name == "guards":
            told = pair.stage("graphs")
            totals = [sum(graph["guard_us"] for graph in told[side]["graphs"]) for side in told]
            return bool(totals) and guard_tendency(*totals) == tendency
        if name == "memory":
            pair.stage("eager")  # loads what the code imports when it first runs: that is no memory of the change
            told = pair.stage("eager")
            return bool(told) and memory_tendency(*(told[side]["peak_bytes"] for side in told)) == tendency
        if name == "compiled":
            pair.stage("warm_up")
        return self.stopwatch.time(pair, name, confirms=True) and self.tendency(name) == tendency
