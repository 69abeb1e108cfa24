"""CUDA without CUDA: the CUDA path of a program is run, counted, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.validate.counted_programs import ask
from validate.worker import device, fake

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")

STARTED = """
    import torch
    from validate.worker import device, fake
    chosen = device.choose("fake-cuda")
"""


def on_fake_cuda(program: str) -> Any:
    return ask(STARTED + program)


def test_programs_give_the_values_of_the_cpu() -> None:
    assert not on_fake_cuda("""
    from tests.validate import device_programs
    with chosen.active():
        answer = device_programs.compare(chosen.torch_device)
""")


def test_what_programs_ask_of_cuda_is_answered() -> None:
    answer = on_fake_cuda("""
    with chosen.active():
        x = torch.ones(2, 2).cuda()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.cuda.device(0):
            there = x.to("cuda", non_blocking=True)
        x.record_stream(stream)
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        event.synchronize()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.manual_seed_all(3)
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            half = x @ x
        scaler = torch.amp.GradScaler("cuda", init_scale=2.0)
        answer = [
            torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device(), x.is_cuda, x.get_device(),
            str(torch.zeros(1, device="cuda").device), str(torch.accelerator.current_accelerator()), str(half.dtype),
            there is x, torch.cuda.get_device_name(), torch.cuda.memory_allocated(), scaler.scale(x).sum().item(),
            str(torch.nn.Linear(2, 2).cuda().weight.device), torch.ones(2).pin_memory().sum().item(),
        ]
""")
    assert answer[:8] == [True, 1, 0, True, 0, "cuda:0", "cuda", "torch.bfloat16"]
    assert answer[8:] == [True, "fake CUDA device", 0, 8.0, "cuda:0", 2.0]


def test_afterwards_there_is_no_cuda_again() -> None:
    answer = on_fake_cuda("""
    def look():
        kept = torch.Generator, torch.cuda.Stream, torch.autograd._engine_run_backward, torch.Tensor.pin_memory
        return [torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.is_available(), *map(id, kept)]

    def attempt():
        try:
            return str(torch.zeros(1, device="cuda").device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            return "error"

    before = look()
    answer = []
    for _ in range(2):
        with chosen.active():
            answer.append(attempt())
        answer.append(attempt())
    answer.append(look() == before)
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    answer.append([leaf.grad.tolist(), torch.UntypedStorage(4).nbytes(), hasattr(torch._C, "_cuda_getDeviceCount")])
""")
    has_cuda = hasattr(torch._C, "_cuda_getDeviceCount")
    assert answer == ["cuda:0", "error", "cuda:0", "error", True, [[1, 1], 4, has_cuda]]


def test_what_a_program_raises_comes_through_and_cuda_is_gone_too() -> None:
    assert on_fake_cuda("""
    try:
        with chosen.active():
            raise KeyError("mine")
    except KeyError as error:
        answer = [str(error), torch.cuda.is_available()]
""") == ["'mine'", False]


def test_breaks_and_recompiles_of_the_cuda_path_are_counted() -> None:
    answer = on_fake_cuda("""
    from types import SimpleNamespace as Case
    from tests.validate.reading_programs import Normalizer
    from validate.worker import graphs

    class Logged(torch.nn.Module):
        def __init__(self, device):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3, device=device)

        def forward(self, x):
            y = self.layer(x)
            if x.is_cuda and torch.cuda.is_available():
                print("on cuda")
            return y.relu()

    def count(model, *given):
        cases = [Case(name=str(number), args=(one,), kwargs={}) for number, one in enumerate(given)]
        subject = Case(call=model, owner=model, cases=cases, options={})
        counted = graphs.count_graphs(subject, lambda call, case: call(*case.args))
        return [len(counted["breaks"]), counted["recompiles"], len(counted["graphs"])]

    with chosen.active():
        x = torch.ones(2, 3)
        answer = [
            count(Logged("cpu"), x),
            count(Logged("cuda"), x.cuda()),
            count(Normalizer(), x, x.cuda(), x.cuda()),
        ]
""")
    assert answer == [[0, 0, 1], [1, 0, 2], [0, 1, 2]]


def test_training_steps_are_compiled_and_go_backward() -> None:
    answer = on_fake_cuda("""
    answer = []
    with chosen.active():
        for backend in ("eager", "aot_eager"):
            torch.manual_seed(0)
            model = torch.nn.Linear(3, 1).cuda()
            compiled = torch.compile(model, backend=backend)
            compiled(torch.ones(2, 3, device="cuda")).pow(2).sum().backward()
            answer.append([str(model.weight.grad.device), round(model.bias.grad.item(), 4)])
    torch.manual_seed(0)
    plain = torch.nn.Linear(3, 1)
    plain(torch.ones(2, 3)).pow(2).sum().backward()
    answer.append(["cuda:0", round(plain.bias.grad.item(), 4)])
""")
    assert answer[0] == answer[1] == answer[2]


def test_it_says_that_it_has_no_values_and_no_times() -> None:
    described = device.choose("fake-cuda").describe()
    assert described["device"] == "fake-cuda"
    assert described["is_fake"]
    assert "times" in described["cannot_show"]
    assert not torch.cuda.is_available()


def test_there_is_nothing_to_fake_where_there_is_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(device.NoDevice, match="--device cuda"):
        fake.check()
