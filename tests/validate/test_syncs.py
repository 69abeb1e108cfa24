"""Host reads and moves, counted by line. The programs and their counts are in reading_programs.py."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.devices import device, syncs
from fullgraph.validate.worker.devices.hosts import OneMemory
from tests.validate import counted_programs, reading_programs
from tests.validate.counted_programs import FILE, expect, tidy

CPU = device.Device()
HERE = str(Path(__file__).resolve().parent)


def count(run: Any, roots: list[str] | None = None) -> dict[str, Any]:
    return syncs.count_syncs(run, CPU, [HERE] if roots is None else roots)


@pytest.mark.parametrize("name", reading_programs.PROGRAMS)
def test_reads_on_the_cpu_are_what_was_counted_by_hand(name: str) -> None:
    counted = count(reading_programs.prepare(name, torch.device("cpu")))
    assert tidy(counted) == expect(name, moves=False)
    assert counted["moves"] == []
    assert counted["how"] == "intercepted on the CPU"


@pytest.mark.parametrize(
    ("device_name", "shown", "how"),
    [
        ("second", "second:0", "intercepted on the second device"),
        ("fake-cuda", "cuda:0", "intercepted on fake CUDA tensors"),
    ],
)
def test_reads_and_moves_on_a_device_are_what_was_counted_by_hand(device_name: str, shown: str, how: str) -> None:
    counted = counted_programs.count_elsewhere(device_name)
    assert {name: tidy(one) for name, one in counted.items()} == {
        name: expect(name, moves=True) for name in reading_programs.PROGRAMS
    }
    calls = {one["call"] for program in counted.values() for one in program["moves"]}
    assert calls == {f"cpu>{shown}", f"{shown}>cpu"}
    assert {program["how"] for program in counted.values()} == {how}


def test_a_number_into_a_mask_is_no_read_on_cuda() -> None:
    x = torch.arange(6.0)

    def run() -> None:
        x[x > 2] = 0.0
        x[x > 2] = x.sum()

    lines = [one["line"] for one in count(run)["syncs"]]
    assert lines == [run.__code__.co_firstlineno + 2]


def test_counting_changes_no_value() -> None:
    def train() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(), torch.nn.Linear(8, 1)
        )
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(3):
            loss = model(torch.randn(5, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.cpu().numpy if loss.item() else None
        return [*model.state_dict().values()]

    watched: list[torch.Tensor] = []
    count(lambda: watched.extend(train()))
    assert all(torch.equal(first, second) for first, second in zip(train(), watched, strict=True))


def test_a_read_below_the_roots_wins_over_one_deeper_in_another_package(tmp_path: Path) -> None:
    library = load(tmp_path / "site-packages" / "library.py", "def read(x):\n    return x.item()\n")
    program = load(tmp_path / "program.py", "def run(read, x):\n\n    return read(x)\n")
    x = torch.ones(())
    run = lambda: program["run"](library["read"], x)  # noqa: E731
    assert places(count(run, [str(tmp_path)])) == [(str(tmp_path / "program.py"), 3)]
    assert places(count(run, ["/nowhere"])) == [(str(tmp_path / "site-packages" / "library.py"), 2)]


def test_without_a_line_of_the_users_it_is_torchs() -> None:
    layer = torch.nn.BatchNorm1d(2, momentum=None)
    counted = count(lambda: layer(torch.ones(2, 2)), ["/nowhere"])
    assert [one["call"] for one in counted["syncs"]] == ["float"]


def test_what_a_run_raises_comes_through_and_leaves_nothing_behind() -> None:
    def fail() -> None:
        torch.ones(()).item()
        raise KeyError("mine")

    before = (threading.Thread._bootstrap_inner, torch.autograd._engine_run_backward)  # type: ignore[attr-defined]
    with pytest.raises(KeyError, match="mine"):
        count(fail)
    assert before == (threading.Thread._bootstrap_inner, torch.autograd._engine_run_backward)  # type: ignore[attr-defined]
    assert torch._C._len_torch_dispatch_stack() == 0
    assert torch._C._len_torch_function_stack() == 0
    assert count(lambda: None)["syncs"] == []


def test_a_copy_on_the_host_shares_memory_as_without_counting() -> None:
    x = torch.zeros(3)
    shared: list[bool] = []

    def run() -> None:
        held = x.cpu()
        held += 1
        shared.append(bool(held.data_ptr() == x.data_ptr()))

    count(run)
    assert shared == [True]
    assert x.tolist() == [1, 1, 1]


def test_what_torch_itself_tells_is_counted_where_nothing_else_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card of CUDA is not needed to have torch's warning, only its words."""
    modes: list[object] = []
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    card = device.Device()
    card.kind = "cuda"

    def wait(value: float) -> float:
        warnings.warn("called a synchronizing CUDA operation (at ...)", stacklevel=2)
        return value

    def run() -> None:
        torch.ones(1).apply_(wait)
        torch.ones(2).apply_(wait)
        wait(1.0)
        warnings.warn("something else", stacklevel=2)

    with pytest.warns(UserWarning, match="something else") as caught:
        counted = syncs.count_syncs(run, card, [HERE])
    start = run.__code__.co_firstlineno
    assert [(one["line"] - start, one["call"], one["count"]) for one in counted["syncs"][1:]] == [
        (1, "apply", 1),
        (2, "apply", 1),
    ]
    assert counted["syncs"][0]["call"] == "sync"
    assert [str(one.message) for one in caught] == ["something else"]
    assert modes == ["warn", 0]


def test_what_the_host_holds_is_told_apart_as_long_as_it_lives() -> None:
    hosts = OneMemory()
    tensor = torch.ones(3)
    hosts.add(tensor)
    assert tensor in hosts
    assert torch.ones(3) not in hosts
    del tensor
    assert not hosts._known


def test_the_marks_of_the_programs_are_read() -> None:
    marked = [number for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1) if "#:" in line]
    expected = [line for name in reading_programs.PROGRAMS for line in expect(name, moves=True)]
    assert expected == marked
    assert len(reading_programs.PROGRAMS) >= 20


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
@pytest.mark.parametrize("name", reading_programs.PROGRAMS)
def test_reads_and_moves_on_cuda_are_what_was_counted_by_hand(name: str) -> None:
    chosen = device.choose("cuda")
    counted = syncs.count_syncs(reading_programs.prepare(name, chosen.torch_device), chosen, [HERE])
    assert tidy(counted) == expect(name, moves=True)


def load(file: Path, text: str) -> dict[str, Any]:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    return names


def places(counted: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["file"], one["line"]) for one in counted["syncs"]]
