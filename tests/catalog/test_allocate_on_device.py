"""What allocate_on_device's docstring claims at run time: the default changes nothing, and moves become no-ops."""

from __future__ import annotations

import copy
import pickle
import runpy
from collections.abc import Callable
from typing import Any

import pytest

from fullgraph import Project
from fullgraph.codemods.catalog.devices.allocate_on_device import AllocateOnDevice
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.source import decode
from tests.cases import FIXTURES

torch = pytest.importorskip("torch")

HOME = FIXTURES / "allocate_on_device"


def load(case: str, side: str) -> dict[str, Any]:
    return runpy.run_path(str(HOME / case / f"{side}.py"), run_name=f"{case}_{side}")


def run_rollout(kind: Any, device: str, **told: Any) -> Any:
    rollout = kind(3, 2, **told)
    rollout.record(1, obs=torch.ones(2, 6), rewards=torch.tensor([1.0, 2.0]))
    return rollout.advantages(), rollout.batch(torch.device(device))


def run_traces(kind: Any, device: str, **told: Any) -> Any:
    traces = kind(4, **told)
    traces.visit(2)
    first = traces.decayed(device)
    traces.reset()
    return first, traces.decayed(device)


def run_decisions(kind: Any, device: str, **told: Any) -> Any:
    decisions = kind(3, **told)
    decisions.record(0, {"slot": torch.tensor(0.5)})
    return decisions.batch(device)


def run_episode(kind: Any, device: str, **told: Any) -> Any:
    episode = kind(3, **told)
    episode.record(1, 2.5)
    return episode.mean(torch.device(device))


def run_returns(kind: Any, device: str, **told: Any) -> Any:
    returns = kind(3, **told)
    returns.rewards[1] = 2.0
    return returns.finish(torch.zeros((), device=device)), returns.batch(device)


RUNS: dict[str, tuple[str, Callable[..., Any]]] = {
    "basic": ("Rollout", run_rollout),
    "reset": ("Traces", run_traces),
    "containers": ("Decisions", run_decisions),
    "dataclass_post_init": ("Episode", run_episode),
    "goes_along": ("Gae", run_returns),
}
every_run = pytest.mark.parametrize("case", RUNS)


def tensors(value: Any) -> list[Any]:
    """All tensors of a nested value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value
    return [tensor for item in items for tensor in tensors(item)]


@every_run
def test_nothing_changes_by_default(case: str) -> None:
    name, run = RUNS[case]
    before, after = (tensors(run(load(case, side)[name], "cpu")) for side in ("before", "after"))
    assert len(before) == len(after) > 0
    for old, new in zip(before, after, strict=True):
        assert (old.dtype, old.device, old.shape, old.stride()) == (new.dtype, new.device, new.shape, new.stride())
        assert torch.equal(old, new)


@every_run
@pytest.mark.parametrize("how", ["set", "with"])
def test_the_default_is_torchs_default_device(case: str, how: str) -> None:
    name, run = RUNS[case]
    kinds = [load(case, side)[name] for side in ("before", "after")]
    if how == "with":
        with torch.device("meta"):
            found = [tensors(run(kind, "meta")) for kind in kinds]
    else:
        torch.set_default_device("meta")
        try:
            found = [tensors(run(kind, "meta")) for kind in kinds]
        finally:
            torch.set_default_device(None)
    assert {tensor.device.type for side in found for tensor in side} == {"meta"}


@every_run
def test_the_tensors_are_where_they_are_asked_for(case: str) -> None:
    name, run = RUNS[case]
    made = run(load(case, "after")[name], "meta", buffer_device="meta")
    assert {tensor.device.type for tensor in tensors(made)} == {"meta"}


def test_a_kept_move_shares_and_a_copying_one_does_not() -> None:
    rollout = load("basic", "after")["Rollout"](3, 2, buffer_device="cpu")
    batch = rollout.batch(torch.device("cpu"))
    rollout.record(0, rewards=torch.tensor([5.0, 5.0]))
    assert batch["rewards"][0] == 5.0
    window = load("copies", "after")["Window"](3, buffer_device="cpu")
    kept = window.snapshot("cpu")
    window.push(5.0)
    assert kept.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it.__dict__))])
def test_a_copy_knows_the_device(again: Callable[[Any], Any]) -> None:
    traces = load("reset", "after")["Traces"](3, buffer_device="cpu")
    made = again(traces)
    assert (made if isinstance(made, dict) else made.__dict__)["buffer_device"] == "cpu"


def test_every_generated_layout_parses_and_says_the_device_once() -> None:
    """Calls in all the layouts that a formatter and people leave behind."""
    arguments = ["n", "n,", "n, 2", "(n, 2)", "*s", "n, dtype=torch.long", "n, dtype=(torch.long)"]
    layouts = ["{}", " {} ", "\n            {}\n        ", "\n            {}  # why\n        ", "\n            {}\n"]
    for given in arguments:
        for layout in layouts:
            call = f"torch.zeros({layout.format(given)})"
            text = (
                "import torch\n\n\nclass A:\n    def __init__(self, n, s):\n"
                f"        self.x = {call}\n        self.y = [{call}, {call}]\n\n"
                "    def put(self, v):\n        self.x[0] = v\n\n"
                "    def get(self, d, device):\n        return self.x.to(device), self.y[0].to(device)\n"
            )
            raw = text.encode()
            [finding] = find(Project(HOME, ["a.py"], {"a.py": raw}), "a.py", [AllocateOnDevice()]).findings
            result = decode("a.py", raw).splice(finding.edits).decode()
            compile(result, "a.py", "exec")
            assert result.count("device=buffer_device") == 3, result
