"""sample_timer_sync: what the fixtures cannot say, because it shows only when the timers run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cases import FIXTURES

torch = pytest.importorskip("torch")

NEW = {"enabled", "every", "_intervals", "_measured"}


class Ticking:
    """A clock that goes on by 1, 2, 3 ... whenever it is asked, and waits that are counted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits = self.asked = self.now = 0
        for name in ("perf_counter", "time"):
            monkeypatch.setattr(time, name, self.read)
        monkeypatch.setattr(torch.cuda, "synchronize", self.wait)
        monkeypatch.setattr(torch.accelerator, "synchronize", self.wait)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "Event", lambda **options: Event(self))

    def read(self) -> float:
        self.asked += 1
        self.now += self.asked
        return float(self.now)

    def wait(self, device: object = None) -> None:
        self.waits += 1


class Event:
    def __init__(self, clock: Ticking) -> None:
        self.clock, self.at = clock, 0.0

    def record(self) -> None:
        self.at = self.clock.read()

    def synchronize(self) -> None:
        self.clock.wait()

    def elapsed_time(self, last: Event) -> float:
        return last.at - self.at


def block(timer: Any) -> Any:
    with timer:
        pass
    return vars(timer).get("ms")


def between(begin: str, end: str) -> Callable[[Any], Any]:
    def run(timer: Any) -> Any:
        getattr(timer, begin)()
        return getattr(timer, end)()

    return run


TIMERS: list[tuple[str, str, tuple[Any, ...], Callable[[Any], Any]]] = [
    ("basic", "StepTimer", (), between("start", "stop")),
    ("events", "CudaTimer", ("cpu",), between("start", "stop")),
    ("context_manager", "timed", ("x",), block),
    ("dataclass", "Stopwatch", ("cpu",), between("tic", "toc")),
    ("without_init", "BlockTimer", (), block),
    ("resets", "PhaseTimer", ("x",), between("start", "stop")),
    ("guarded", "PauseTimer", (), between("start", "stop")),
]
every_timer = pytest.mark.parametrize(("case", "name", "args", "run"), TIMERS, ids=[timer[0] for timer in TIMERS])


def loaded(case: str, side: str, name: str) -> Any:
    file = FIXTURES / "sample_timer_sync" / case / f"{side}.py"
    scope: dict[str, Any] = {"__name__": "timers"}
    exec(compile(file.read_text(), file.name, "exec", dont_inherit=True), scope)
    return scope[name]


def intervals(case: str, side: str, timer: Any, run: Callable[[Any], Any], count: int = 5, **settings: Any) -> Any:
    """What each interval gives back, how often the host has waited after it, and the state at the end."""
    with pytest.MonkeyPatch.context() as patch:
        clock = Ticking(patch)
        name, args = timer
        made = loaded(case, side, name)(*args, **settings)
        steps = [(run(made), clock.waits) for _ in range(count)]
        state = {key: value for key, value in vars(made).items() if key not in NEW}
        return SimpleNamespace(steps=steps, waits=clock.waits, state=comparable(state), made=made)


def comparable(state: dict[str, Any]) -> dict[str, Any]:
    return {key: value.at if isinstance(value, Event) else value for key, value in state.items()}


@every_timer
def test_without_arguments_nothing_changes(case: str, name: str, args: Any, run: Any) -> None:
    before, after = (intervals(case, side, (name, args), run) for side in ("before", "after"))
    assert after.steps == before.steps
    assert after.state == before.state
    assert [type(value) for value, _ in after.steps] == [type(value) for value, _ in before.steps]


@every_timer
def test_every_third_interval_waits(case: str, name: str, args: Any, run: Any) -> None:
    all_of_them = intervals(case, "before", (name, args), run, 1).waits
    sampled = intervals(case, "after", (name, args), run, 7, every=3)
    waited = [waits for _, waits in sampled.steps]
    assert waited == [all_of_them * (1 + number // 3) for number in range(7)]


@every_timer
def test_a_disabled_timer_never_waits_and_stays_usable(case: str, name: str, args: Any, run: Any) -> None:
    assert intervals(case, "after", (name, args), run, 4, enabled=False).waits == 0


def test_what_is_not_measured_returns_the_last_time_measured() -> None:
    timer = ("CudaTimer", ("cpu",))
    values = [value for value, _ in intervals("events", "after", timer, between("start", "stop"), 6, every=3).steps]
    assert values[0] == values[1] == values[2] != values[3] == values[4] == values[5]
    never = intervals("events", "after", timer, between("start", "stop"), 1, enabled=False).steps[0][0]
    assert math.isnan(never)


def test_sums_and_counts_are_of_what_was_measured() -> None:
    timer = intervals("basic", "after", ("StepTimer", ()), between("start", "stop"), 6, every=2).made
    assert timer.steps == 3
    assert timer._intervals == 6
