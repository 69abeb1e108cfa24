"""Choosing a device, and what every device can be asked."""

from __future__ import annotations

import json
import sys
import types
from typing import Any, ClassVar

import pytest
import torch

from fullgraph.validate.worker.devices import device, memory

without_accelerator = pytest.mark.skipif(torch.accelerator.is_available(), reason="there is an accelerator here")
with_accelerator = pytest.mark.skipif(not torch.accelerator.is_available(), reason="there is no accelerator here")


class Event:
    """An accelerator's event whose clock moves by 250 ms with every record."""

    clock: ClassVar[list[float]] = [0.0]

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None:
        self.clock[0] += 250
        self.at = self.clock[0]

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: Event) -> float:
        return end.at - self.at


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A machine with two cards, the second of which is current; nothing can be computed on them."""
    module = types.SimpleNamespace(
        Event=Event,
        get_device_name=lambda where: f"card {where.index}",
        get_device_properties=lambda where: types.SimpleNamespace(total_memory=1000),
        memory_allocated=lambda where: 100,
        max_memory_allocated=lambda where: 350,
        reset_peak_memory_stats=lambda where: None,
        get_rng_state=lambda: torch.zeros(16, dtype=torch.uint8),
        current=1,
    )
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "current_accelerator": lambda: torch.device("cuda"),
        "device_count": lambda: 2,
        "current_device_index": lambda: module.current,
        "set_device_index": lambda index: setattr(module, "current", index),
        "synchronize": lambda: None,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(torch.accelerator, name, answer)
    monkeypatch.setattr(torch, "get_device_module", lambda where: module)
    return module


@without_accelerator
def test_auto_is_the_cpu_where_there_is_nothing_else() -> None:
    assert device.choose("auto").name == device.choose("cpu").name == "cpu"


def test_auto_is_the_current_card_where_there_are_some(two_cards: Any) -> None:
    assert device.choose("auto").name == "cuda:1"
    assert device.choose("cuda").name == "cuda:1"
    assert device.choose("cuda:0").torch_device == torch.device("cuda", 0)
    assert two_cards.current == 0
    assert device.choose("cpu").name == "cpu"


def test_a_card_that_is_not_there_is_refused_with_what_there_is(two_cards: Any) -> None:
    with pytest.raises(device.NoDevice, match=r"no cuda:2 here; --device takes auto, cpu, cuda:1, cuda:0"):
        device.choose("cuda:2")
    with pytest.raises(device.NoDevice, match="no mps here"):
        device.choose("mps")


@without_accelerator
@pytest.mark.parametrize("name", ["cuda", "cuda:1", "mps", "xpu", "gpu", "cuda:x", "", "meta"])
def test_what_is_not_there_is_refused_with_the_way_out(name: str) -> None:
    with pytest.raises(device.NoDevice, match=r"auto, cpu, fake-cuda \(counts only\) or second"):
        device.choose(name)


def test_what_this_torch_cannot_make_up_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C, "_ensureCUDADeviceGuardSet")
    monkeypatch.delattr(torch.utils.backend_registration, "_setup_privateuseone_for_python_backend")
    with pytest.raises(device.NoDevice, match="too old for fake-cuda"):
        device.choose("fake-cuda")
    with pytest.raises(device.NoDevice, match="too old for second"):
        device.choose("second")
    with pytest.raises(device.NoDevice, match=r"--device takes auto or cpu$"):
        device.choose("gpu")


def test_a_description_is_json_and_says_what_cannot_be_shown() -> None:
    described = json.loads(json.dumps(device.Device().describe()))
    assert described["device"] == "cpu"
    assert described["name"]
    assert described["torch"] == torch.__version__
    assert described["threads"] == torch.get_num_threads()
    assert any("host read" in part for part in described["cannot_show"])
    assert not described["is_fake"]


def test_a_card_describes_itself(two_cards: Any) -> None:
    described = json.loads(json.dumps(device.choose("cuda:0").describe()))
    assert (described["device"], described["name"], described["memory_bytes"]) == ("cuda:0", "card 0", 1000)
    assert described["cannot_show"] == []


def test_a_timer_tells_seconds() -> None:
    with device.Device().timer() as timer:
        assert timer.seconds == 0
        sum(range(1000))
    assert timer.seconds > 0


def test_a_card_is_timed_by_its_own_events(two_cards: Any) -> None:
    with device.choose("cuda").timer() as timer:
        pass
    assert timer.seconds == 0.25


def test_the_peak_of_a_card_is_what_it_took_more_than_before(two_cards: Any) -> None:
    card = device.choose("cuda")
    assert card.peak_bytes() is None
    card.reset_peak()
    assert card.peak_bytes() == 250


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is forgotten on Linux only")
def test_the_peak_of_the_cpu_begins_anew_with_every_reset() -> None:
    cpu, block = device.Device(), 64 * 2**20
    cpu.reset_peak()
    torch.ones(block // 4).sum()
    big = cpu.peak_bytes()
    cpu.reset_peak()
    small = cpu.peak_bytes()
    assert big is not None
    assert small is not None
    assert big > block * 0.9
    assert small < block / 2


def test_where_the_kernel_does_not_forget_the_peak_only_more_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FORGET", "/nowhere/clear_refs")
    resident = memory.Resident()
    assert resident.peak() is None
    resident.reset()
    assert resident.peak() == 0


def test_a_seed_decides_the_state_of_every_generator(two_cards: Any) -> None:
    for chosen, names in ((device.Device(), ["torch"]), (device.choose("cuda"), ["torch", "cuda"])):
        chosen.seed(3)
        first = chosen.rng_state()
        torch.rand(1)
        assert not torch.equal(first[0][1], chosen.rng_state()[0][1])
        chosen.seed(3)
        assert [name for name, _ in first] == names
        assert all(torch.equal(one, two) for (_, one), (_, two) in zip(first, chosen.rng_state(), strict=True))


@pytest.mark.gpu
@with_accelerator
def test_auto_is_the_accelerator() -> None:
    chosen = device.choose("auto")
    assert chosen.torch_device.type == torch.accelerator.current_accelerator().type  # type: ignore[union-attr]
    x = torch.ones(1000, device=chosen.torch_device)
    with chosen.timer() as timer:
        x.sum()
    assert timer.seconds > 0
    assert json.dumps(chosen.describe())
    assert len(chosen.rng_state()) == 2


@pytest.mark.gpu
@with_accelerator
def test_the_peak_of_an_accelerator_is_what_a_run_takes() -> None:
    chosen = device.choose("auto")
    chosen.reset_peak()
    torch.ones(2**20, device=chosen.torch_device).sum()
    peak = chosen.peak_bytes()
    assert peak is None or peak >= 4 * 2**20
