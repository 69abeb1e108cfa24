"""A second device that is written in Python: the same values as on the CPU, and nothing mixed up between the two."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fullgraph.validate.worker.devices import device, second
from tests.validate.counted_programs import ask

pytestmark = pytest.mark.everything


@pytest.fixture(scope="module")
def answer() -> Any:
    """What a process found that has the device; torch does not forget a device."""
    return ask("""
    import torch
    from tests.validate import device_programs
    from fullgraph.validate.worker.devices import device, memory

    def attempt(run):
        try:
            return str(run())
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    chosen = device.choose("second")
    answer = {"different": device_programs.compare(chosen.torch_device)}

    x = torch.arange(3.0)
    away = x.to("second")
    away += 1
    model = torch.nn.Linear(3, 1).to("second")
    moved = [parameter.device.type for parameter in model.parameters()]
    back = [parameter.device.type for parameter in model.cpu().parameters()]
    answer["migration"] = [x.tolist(), away.tolist(), str(away.device), away.cpu().is_cpu, moved, back]

    answer["errors"] = [
        attempt(lambda: away + x),
        attempt(lambda: torch.nn.functional.linear(away, torch.ones(3, 3))),
        attempt(lambda: away.index_select(0, torch.tensor([0]))),
        attempt(lambda: away[torch.tensor([0])] + torch.tensor(1.0)),
        attempt(lambda: away.numpy()),
        attempt(lambda: away.to_sparse()),
    ]

    chosen.seed(1)
    state = dict(chosen.rng_state())
    first = torch.randn(3, device="second")
    drawn = [name for name, before in state.items() if not torch.equal(before, dict(chosen.rng_state())[name])]
    chosen.seed(1)
    answer["random"] = [drawn, torch.equal(first, torch.randn(3, device="second"))]

    big = torch.ones(2**20, device="second")
    before = memory.read_status("VmRSS") or 0
    for _ in range(200):
        (big * 2).view(1024, -1)[0].cpu()
    answer["grown"] = (memory.read_status("VmRSS") or 0) - before
    answer["described"] = [device.choose("second").describe(), chosen.peak_bytes()]
    """)


def test_programs_give_the_values_of_the_cpu(answer: Any) -> None:
    assert answer["different"] == {}


def test_values_migrate_there_and_back(answer: Any) -> None:
    assert answer["migration"] == [[0, 1, 2], [1, 2, 3], "second:0", True, ["second"] * 2, ["cpu"] * 2]


def test_operands_on_two_devices_are_an_error(answer: Any) -> None:
    *mixed, allowed, numpy, sparse = answer["errors"]
    assert all("RuntimeError: Expected all tensors" in text and "second:0 and cpu" in text for text in mixed)
    assert allowed == "tensor([2.], device='second:0')"
    assert "TypeError: can't convert second:0" in numpy
    assert "second has no torch.sparse_coo tensors" in sparse


def test_random_numbers_come_from_a_generator_of_its_own(answer: Any) -> None:
    assert answer["random"] == [["second"], True]


def test_memory_is_given_back(answer: Any) -> None:
    assert answer["grown"] < 100 * 2**20


def test_it_describes_itself_and_can_be_chosen_twice(answer: Any) -> None:
    described, peak = answer["described"]
    assert described["device"] == "second"
    assert "times" in described["cannot_show"]
    assert described["is_untimed"]
    assert peak is None


def test_compiled_code_follows_from_one_device_to_the_other() -> None:
    """One graph for the CPU, one for the move, one for the second device."""
    assert ask("""
    import torch
    from types import SimpleNamespace as Case
    from tests.validate.reading_programs import Normalizer
    from fullgraph.validate.worker.devices import device
    from fullgraph.validate.worker.graphs import counting as graphs

    device.choose("second")
    answer = {}
    x = torch.arange(6.0).reshape(2, 3)
    plain = Normalizer()
    expected = [plain(x), plain(x)]
    for backend in ("eager", "aot_eager"):
        compiled = torch.compile(Normalizer(), backend=backend)
        found = [compiled(x), compiled(x.to("second"))]
        same = [torch.allclose(one.cpu(), other) for one, other in zip(found, expected)]
        leaf = x.to("second").requires_grad_()
        torch.compile(lambda a: (a * a).sum(), backend=backend)(leaf).backward()
        answer[backend] = [str(found[1].device), *same, torch.equal(leaf.grad.cpu(), 2 * x)]
    model = Normalizer()
    cases = [Case(name=str(n), args=(given,), kwargs={}) for n, given in enumerate((x, x.to("second"), x.to("second")))]
    counted = graphs.count_graphs(
        Case(call=model, owner=model, cases=cases, options={}), lambda call, case: call(*case.args)
    )
    answer["graphs"] = [len(counted["breaks"]), [bool(graph["recompile"]) for graph in counted["graphs"]]]
    """) == {
        "eager": ["second:0", True, True, True],
        "aot_eager": ["second:0", True, True, True],
        "graphs": [0, [False, True, True]],
    }


def test_another_device_in_its_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "npu")
    with pytest.raises(device.NoDevice, match="npu is there already; --device cpu works"):
        second.check()
