"""A second device that is written in Python: the same values as on the CPU, and nothing mixed up between the two."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.validate.counted_programs import ask
from validate.worker import device, second

STARTED = """
    import torch
    from validate.worker import device
    chosen = device.choose("second")
"""


def on_second(program: str) -> Any:
    return ask(STARTED + program)


def test_programs_give_the_values_of_the_cpu() -> None:
    assert not on_second("""
    from tests.validate import device_programs
    answer = device_programs.compare(chosen.torch_device)
""")


def test_values_migrate_there_and_back() -> None:
    answer = on_second("""
    x = torch.arange(3.0)
    away = x.to("second")
    away += 1
    model = torch.nn.Linear(3, 1).to("second")
    moved = [parameter.device.type for parameter in model.parameters()]
    back = [parameter.device.type for parameter in model.cpu().parameters()]
    answer = [x.tolist(), away.tolist(), str(away.device), away.cpu().is_cpu, moved, back, x.second().is_second]
""")
    assert answer == [[0, 1, 2], [1, 2, 3], "second:0", True, ["second"] * 2, ["cpu"] * 2, True]


def test_operands_on_two_devices_are_an_error() -> None:
    answer = on_second("""
    def attempt(run):
        try:
            return str(run())
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    x = torch.ones(2, device="second")
    answer = [
        attempt(lambda: x + torch.ones(2)),
        attempt(lambda: torch.nn.functional.linear(x, torch.ones(2, 2))),
        attempt(lambda: x.index_select(0, torch.tensor([0]))),
        attempt(lambda: x[torch.tensor([0])] + torch.tensor(1.0)),
        attempt(lambda: x.numpy()),
        attempt(lambda: x.to_sparse()),
    ]
""")
    assert all("at least two devices, second:0 and cpu" in text for text in answer[:3])
    assert answer[3] == "tensor([2.], device='second:0')"
    assert "TypeError: can't convert second:0" in answer[4]
    assert "second has no torch.sparse_coo tensors" in answer[5]


def test_compiled_code_follows_from_one_device_to_the_other() -> None:
    answer = on_second("""
    from types import SimpleNamespace as Case
    from tests.validate.reading_programs import Normalizer
    from validate.worker import graphs

    answer = {}
    x = torch.arange(6.0).reshape(2, 3)
    for backend in ("eager", "aot_eager"):
        model = Normalizer()
        compiled = torch.compile(model, backend=backend)
        there = compiled(x), compiled(x.to("second"))
        answer[backend] = [str(there[1].device), (there[1].cpu() - Normalizer()(x) / 3 * 0).isnan().any().item()]
        leaf = x.to("second").requires_grad_()
        torch.compile(lambda a: (a * a).sum(), backend=backend)(leaf).backward()
        answer[backend].append(torch.equal(leaf.grad.cpu(), 2 * x))
    model = Normalizer()
    cases = [Case(name=str(n), args=(given,), kwargs={}) for n, given in enumerate((x, x.to("second"), x.to("second")))]
    subject = Case(call=model, owner=model, cases=cases, options={})
    counted = graphs.count_graphs(subject, lambda call, case: call(*case.args))
    answer["graphs"] = [len(counted["breaks"]), counted["recompiles"]]
""")
    assert answer == {"eager": ["second:0", False, True], "aot_eager": ["second:0", False, True], "graphs": [0, 1]}


def test_random_numbers_come_from_a_generator_of_its_own() -> None:
    answer = on_second("""
    chosen.seed(1)
    state = dict(chosen.rng_state())
    first = torch.randn(3, device="second")
    drawn = [name for name, before in state.items() if not torch.equal(before, dict(chosen.rng_state())[name])]
    chosen.seed(1)
    answer = [drawn, torch.equal(first.cpu(), torch.randn(3, device="second").cpu())]
""")
    assert answer == [["second"], True]


def test_memory_is_given_back() -> None:
    grown = on_second("""
    from validate.worker import memory
    x = torch.ones(2**20, device="second")
    torch.save(x, "/dev/null")
    before = memory.read_status("VmRSS")
    for _ in range(200):
        y = (x * 2).view(1024, -1)[0].cpu()
    answer = (memory.read_status("VmRSS") or 0) - (before or 0)
""")
    assert grown < 100 * 2**20


def test_it_describes_itself_and_can_be_chosen_twice() -> None:
    described = on_second("answer = [device.choose('second').describe(), chosen.peak_bytes()]".join("\n\n"))
    assert described[0]["device"] == "second"
    assert "times" in described[0]["cannot_show"]
    assert described[0]["is_untimed"]
    assert described[1] is None


def test_another_device_in_its_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._C, "_get_privateuse1_backend_name", lambda: "npu")
    with pytest.raises(device.NoDevice, match="npu is there already; --device cpu works"):
        second.check()
