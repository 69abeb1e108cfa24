"""skip_redundant_wait_stream: which waits are skipped, and that nothing else moves."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cases import FIXTURES

torch = pytest.importorskip("torch")

BASIC = FIXTURES / "skip_redundant_wait_stream" / "basic"
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA: real streams and events")


def load(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def scenario(side: str) -> Iterator[Any]:
    """The scenario of the fixture, with one side of it as its `module`."""
    kept = sys.modules.get("module")
    try:
        load(BASIC / f"{side}.py", "module")
        yield load(BASIC / "scenario.py", f"scenario_{side}")
    finally:
        sys.modules.pop("module", None)
        if kept:
            sys.modules["module"] = kept


def log_of(side: str, batches: int, gpu_preload: bool) -> list[Any]:
    with scenario(side) as recording:
        log: list[Any] = recording.recorded(batches, gpu_preload)
        return log


def waits(log: list[Any]) -> list[Any]:
    return [entry for entry in log if entry[0] == "wait"]


@pytest.mark.parametrize("batches", [0, 1, 4])
def test_with_the_flag_off_everything_happens_in_the_same_order(batches: int) -> None:
    assert log_of("after", batches, False) == log_of("before", batches, False)


def test_with_the_flag_on_only_waits_in_the_loop_are_skipped() -> None:
    before, after = log_of("before", 4, True), log_of("after", 4, True)
    assert (len(waits(before)), len(waits(after))) == (10, 2)
    assert after[: len(after) - 8] == before[:3]
    assert [entry for entry in after if entry[0] == "work"] == [entry for entry in before if entry[0] == "work"]


def test_all_work_follows_what_it_reads() -> None:
    for preload in (False, True):
        missing = [entry[3] for entry in log_of("after", 4, preload) if entry[0] == "work"]
        assert not any(missing)


def test_a_batch_that_is_picked_on_the_way_would_be_read_too_early() -> None:
    """What the codemod refuses where it sees it, and its caveat warns of: indexing preloaded data is work as well."""
    missing = {}
    for side in ("before", "after"):
        with scenario(side) as recording:
            log = recording.recorded(2, True, picked=True)
        missing[side] = {name for entry in log if entry[0] == "work" for name in entry[3]}
    assert missing == {"before": set(), "after": {"pick x0", "pick x1"}}


@pytest.mark.gpu
@needs_cuda
@pytest.mark.parametrize("side", ["before", "after"])
def test_on_a_gpu_preloaded_batches_do_not_wait_for_other_work(side: str) -> None:
    """An event on the replica's stream against one behind unrelated work on the default stream."""
    module = load(BASIC / f"{side}.py", f"basic_{side}")
    device = torch.device("cuda")
    done = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

    class Replica:
        stream = torch.cuda.Stream()

        def train_batch(self, x: Any, y: Any) -> None:
            (x @ y).sum()
            done[0].record(self.stream)

    def batches() -> Iterator[tuple[Any, Any]]:
        torch.cuda._sleep(200_000_000)
        done[1].record(torch.cuda.default_stream())
        yield pair

    pair = (torch.ones(64, 64, device=device), torch.ones(64, 64, device=device))
    torch.cuda.synchronize()
    module.train([Replica()], batches(), device, True)
    torch.cuda.synchronize()
    waited = done[1].elapsed_time(done[0]) > 0
    assert waited is (side == "before")


@pytest.mark.gpu
@needs_cuda
def test_on_a_gpu_copied_batches_arrive_whole() -> None:
    results = []
    for side in ("before", "after"):
        module = load(BASIC / f"{side}.py", f"basic_{side}")
        seen: list[Any] = []

        class Replica:
            stream = torch.cuda.Stream()

            def train_batch(self, x: Any, y: Any, seen: list[Any] = seen) -> None:
                seen.append((x + y).sum())

        make = torch.Generator().manual_seed(0)
        batches = [tuple(torch.randn(1 << 20, generator=make).pin_memory() for _ in range(2)) for _ in range(8)]
        module.train([Replica()], batches, torch.device("cuda"), False)
        torch.cuda.synchronize()
        results.append([value.item() for value in seen])
    assert results[0] == results[1]
