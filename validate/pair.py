"""The two sides of a proof: alive at once, asked together, and measured in turns."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any

from fullgraph.validate.exercised import changed_lines
from fullgraph.validate.judge import COLD_MARGIN
from fullgraph.validate.launch import Deadline, Died, Refused, Worker
from fullgraph.validate.model import Outcome, Ratio, Scenario, Settings, Sides
from fullgraph.validate.statistics import ratio_of

Progress = Callable[[str, str], None]
"""Told the stage and what is being done in it."""

SIDES = ("before", "after")
MEASURING = ("syncs", "graphs", "warm_up", "cold", "prepare", "block")
"""Stages that only count and time: what fails there is missing from the verdict, and no difference."""

HANGS = 3
"""How many times the other side's time a side must take to hang, and not merely be late."""

BLOCK_SECONDS = 0.04
FEWEST_BLOCKS = 24
MOST_BLOCKS = 150
SLACK = 0.003
"""Seconds by which the clocks of a worker and its controller may disagree about a block."""

COLD_STARTS = 6
NARROW = 1.02
"""An interval whose ends are closer than this ratio is narrow enough."""

CLEAR = 1.1
"""An interval beyond this ratio is clear enough where only the direction is asked for."""


class Pair:
    """A worker for each side. A side that fails has an outcome, and is not asked again."""

    def __init__(
        self,
        python: str,
        scenario: Scenario,
        sides: Sides,
        settings: Settings,
        scratch: Path,
        progress: Progress,
        deadline: Deadline,
        seed: int = 0,
        varied: bool = False,
    ) -> None:
        """`varied`: sets have another order on the second side, so that what rests on it is seen."""
        self.python = python
        self.scenario = scenario
        self.sides = sides
        self.settings = settings
        self.scratch = scratch
        self.progress = progress
        self.deadline = deadline
        self.seeds = {"before": seed, "after": seed + varied}
        self.outcomes: dict[str, Outcome] = {}
        self.gaps: list[str] = []
        """Measurements that failed, and say nothing about the code: what, and why."""

        self.late = ""
        """Where the time limit was over although nothing hangs."""

        self.refusals: dict[str, Refused] = {}
        self.digests: dict[str, str] = {}
        """By `before/eager`: what the side says that it has stored."""

        self.workers: dict[str, Worker] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Pair:
        with ExitStack() as stack:
            for side in SIDES:
                worker = Worker(self.python, side, self.sides.root, self.scratch, self.seeds[side])
                self.workers[side] = stack.enter_context(worker)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def is_varied(self) -> bool:
        return len(set(self.seeds.values())) > 1

    @property
    def is_whole(self) -> bool:
        return not self.outcomes and not self.late

    def hello(self) -> dict[str, Any]:
        """Who answers, on either side the same. Raises what the python there cannot do."""
        self.progress("start", self.python)
        for worker in self.workers.values():
            worker.send("hello")
        answers = [worker.answer("hello", self.deadline.left) for worker in self.workers.values()]
        return dict(answers[0])

    def open(self, shared_cache: Path) -> dict[str, Any]:
        """Let both sides lay their files over the tree and read the scenario."""
        return self._both("open", lambda side: self._opening(side, side, shared_cache))

    def _opening(self, side: str, folder: str, shared_cache: Path) -> dict[str, Any]:
        """What a worker must know to be a side; it keeps its records in a folder of its own."""
        root, paths = self.sides.root, self.sides.paths()
        texts = getattr(self.sides, side)
        return {
            "files": {str(root / path): encoded(texts.get(path)) for path in paths},
            "scratch": str(self.scratch / folder),
            "scenario": asdict(self.scenario),
            "settings": {**asdict(self.settings), "roots": [str(root)]},
            "watched": [str(root / path) for path in paths],
            "followed": {str(root / path): lines for path, lines in changed_lines(self.sides)[side].items()},
            "shared_cache": str(shared_cache),
        }

    def again(self, shared_cache: Path, **stages: dict[str, Any]) -> bool:
        """Run stages of the version before once more, in a process of its own; whether that went well.

        Its sets have the order of the version after.
        """
        self.progress("again", "before")
        with Worker(self.python, "again", self.sides.root, self.scratch, self.seeds["after"]) as worker:
            try:
                worker.ask("open", limit=self.deadline.left, **self._opening("before", "again", shared_cache))
                for stage, given in stages.items():
                    self._note("again", stage, worker.ask("run", limit=self.deadline.left, stage=stage, **given))
            except (Died, Refused):
                return False
        return True

    def _note(self, side: str, name: str, answer: Any) -> Any:
        if isinstance(answer, dict) and "digest" in answer:
            self.digests[f"{side}/{name}"] = answer["digest"]
        return answer

    def stage(self, name: str, **given: Any) -> dict[str, Any]:
        """One stage on both sides at once, by side. Empty if it could not be done on both."""
        self.progress(name, "before and after")
        return self._both("run", lambda side: {"stage": name, **given}, name)

    def _both(self, request: str, given: Callable[[str], dict[str, Any]], name: str = "") -> dict[str, Any]:
        if not self.is_whole:
            return {}
        limit = self.deadline.left
        for side in SIDES:
            self.workers[side].send(request, **given(side))
        answers = {side: self._note(side, name, self._answer(side, name or request)) for side in SIDES}
        self._forgive_lateness(name or request, limit)
        well = {side: answer for side, answer in answers.items() if answer is not None}
        return well if len(well) == 2 or request == "open" else {}

    def _answer(self, side: str, stage: str) -> Any:
        """A side's answer. A death is its outcome; so is a refusal, but of a mere measurement it is a gap."""
        try:
            return self.workers[side].answer(stage, self.deadline.left)
        except Died as died:
            self.outcomes[side] = died.outcome
        except Refused as refused:
            if refused.kind == "error" and stage in MEASURING:
                self.gaps.append(f"{stage}, {side}: {refused.text.strip().splitlines()[-1]}")
            else:
                self.outcomes[side] = refused.outcome
                self.refusals[side] = refused
        return None

    def _forgive_lateness(self, stage: str, limit: float) -> None:
        """A side that is not ready in time hangs only if the other was ready long before."""
        hung = [side for side, outcome in self.outcomes.items() if outcome.kind == "hang"]
        if len(self.outcomes) == len(hung) == 1:
            other = next(side for side in SIDES if side not in hung)
            if self.workers[other].took * HANGS > limit:
                self.late = stage
                del self.outcomes[hung[0]]

    def one(self, side: str, stage: str, **given: Any) -> Any:
        """One stage on one side, while the other waits. There is nothing to tell a hang by, so it is late."""
        self.workers[side].send("run", stage=stage, **given)
        answer = self._note(side, given.get("name", stage), self._answer(side, stage))
        if side in self.outcomes and self.outcomes[side].kind == "hang":
            self.late = stage
            del self.outcomes[side]
        return answer

    # In turns

    def cold_starts(self, **given: Any) -> dict[str, list[float]]:
        """First compiled passes with empty caches, in turns: one of each side, and more while they tell a difference.

        Six that all say the same happen by chance in three of a hundred; before that nothing is claimed.
        """
        taken: dict[str, list[float]] = {side: [] for side in SIDES}
        for turn in range(COLD_STARTS):
            for side in order(turn):
                self.progress("cold start", f"{side}, {turn + 1} of up to {COLD_STARTS}")
                seconds = self.one(side, "cold", **given)
                if not seconds:
                    return {}
                taken[side].append(seconds)
            ratio = ratio_of(taken["before"], taken["after"])
            is_telling = ratio.low > COLD_MARGIN or ratio.high < 1 / COLD_MARGIN
            if not is_telling or 4 * sum(times[-1] for times in taken.values()) > self.deadline.left / 2:
                break
        return taken

    def blocks(self, kind: str, seconds: float, *, confirms: bool, **given: Any) -> dict[str, list[float]]:
        """Blocks of passes in turns, until the ratio is known well or the time is over. Empty if one fails.

        `confirms`: it is known already, and only has to be seen again.
        """
        taken: dict[str, list[float]] = {side: [] for side in SIDES}
        waited: dict[str, list[float]] = {side: [] for side in SIDES}
        slowest = 0.0
        for side in SIDES:
            self.progress(kind, f"{side} warms up")
            ready = self.one(side, "prepare", kind=kind, **given)
            if not ready or not self._ticks(kind, side, ready["seconds"]):
                return {}
            each = ready["seconds"] + (ready["around"] / 4 if given["fresh_arguments"] else 0.0)
            slowest = max(slowest, each)
        passes = max(1, ceil(BLOCK_SECONDS / max(slowest, 1e-7)))
        until = Deadline(min(seconds, self.deadline.left / 2))
        for turn in range(self.settings.repeat or MOST_BLOCKS):
            for side in order(turn):
                self.progress(kind, f"block {turn + 1}")
                block = self.one(side, "block", kind=kind, passes=passes)
                if block is None or not self._ticks(kind, side, block):
                    return {}
                taken[side].append(block)
                waited[side].append(self.workers[side].took / passes)
            if not self.settings.repeat and is_enough(taken, until, confirms):
                break
        is_steady = not given["fresh_arguments"] and self.scenario.kind != "pytest"
        if not is_believed(taken, waited, SLACK / passes, is_steady=is_steady):
            self.gaps.append(f"{kind}: the clock of a worker and that of its controller disagree")
            return {}
        return taken

    def _ticks(self, kind: str, side: str, seconds: float) -> bool:
        """User code may have stopped the clock, as some tests do."""
        if seconds <= 0:
            self.gaps.append(f"{kind}, {side}: the clock stands still")
        return seconds > 0


def is_believed(
    taken: dict[str, list[float]], waited: dict[str, list[float]], slack: float, *, is_steady: bool
) -> bool:
    """Whether the seconds that the workers tell can be true, by those that passed here until they told them.

    A worker spends time beside what it measures. Where that is the same on both sides (`is_steady`), the difference of
    the sides must be seen here, too.
    """
    told, here = ({side: median(times) for side, times in both.items()} for both in (taken, waited))
    if any(told[side] > here[side] + slack for side in SIDES):
        return False
    gained, seen = told["before"] - told["after"], here["before"] - here["after"]
    return not is_steady or abs(gained - seen) <= abs(gained) / 2 + slack


def is_enough(taken: dict[str, list[float]], until: Deadline, confirms: bool) -> bool:
    blocks = len(taken["before"])
    if blocks < FEWEST_BLOCKS:
        return blocks >= 3 and not until.left
    if blocks % 4:
        return not until.left
    ratio: Ratio = ratio_of(taken["before"], taken["after"])
    is_clear = confirms and (ratio.low > CLEAR or ratio.high < 1 / CLEAR)
    return is_clear or ratio.high / ratio.low < NARROW or not until.left


def order(turn: int) -> tuple[str, ...]:
    """Before, after, after, before, ...: what drifts hits both alike."""
    return SIDES if turn % 2 == 0 else SIDES[::-1]


def encoded(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
