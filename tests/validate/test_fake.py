"""CUDA without CUDA: the CUDA path of a program is run, counted, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fullgraph.validate.worker.devices import device, fake
from tests.validate.counted_programs import ask

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")


@pytest.fixture(scope="module")
def answer() -> Any:
    """What a process found that believed in CUDA, and no longer does."""
    return ask("""
    import torch
    from tests.validate import device_programs
    from fullgraph.validate.worker.devices import device

    def look():
        kept = torch.Generator, torch.cuda.Stream, torch.autograd._engine_run_backward, torch.Tensor.pin_memory
        return [torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.is_available(), *map(id, kept)]

    def make():
        try:
            return str(torch.zeros(1, device="cuda").device)
        except (RuntimeError, AssertionError, NotImplementedError):
            return "error"

    before = look()
    chosen = device.choose("fake-cuda")
    answer = {}
    with chosen.active():
        made = [make()]
        answer["different"] = device_programs.compare(chosen.torch_device)
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
        answer["asked"] = {
            "available": [torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device()],
            "accelerator": str(torch.accelerator.current_accelerator()),
            "name": torch.cuda.get_device_name(),
            "allocated": torch.cuda.memory_allocated(),
            "tensor": [x.is_cuda, x.get_device(), there is x],
            "module": str(torch.nn.Linear(2, 2).cuda().weight.device),
            "autocast": str(half.dtype),
            "scaled": scaler.scale(x).sum().item(),
            "pinned": torch.ones(2).pin_memory().sum().item(),
        }
    made.append(make())
    try:
        with chosen.active():
            made.append(make())
            raise KeyError("mine")
    except KeyError as error:
        made.append(str(error))
    answer["made"] = [*made, make()]
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    answer["afterwards"] = [look() == before, leaf.grad.tolist(), torch.UntypedStorage(4).nbytes()]
    """)


def test_programs_give_the_values_of_the_cpu(answer: Any) -> None:
    assert answer["different"] == {}


def test_what_programs_ask_of_cuda_is_answered(answer: Any) -> None:
    assert answer["asked"] == {
        "available": [True, 1, 0],
        "accelerator": "cuda",
        "name": "fake CUDA device",
        "allocated": 0,
        "tensor": [True, 0, True],
        "module": "cuda:0",
        "autocast": "torch.bfloat16",
        "scaled": 8.0,
        "pinned": 2.0,
    }


def test_afterwards_there_is_no_cuda_again(answer: Any) -> None:
    assert answer["made"] == ["cuda:0", "error", "cuda:0", "'mine'", "error"]
    assert answer["afterwards"] == [True, [1, 1], 4]


def test_breaks_and_recompiles_of_the_cuda_path_are_counted() -> None:
    """The normalizer is compiled for the CPU, for its move, and for CUDA once it is there."""
    assert ask("""
    import torch
    from types import SimpleNamespace as Case
    from tests.validate.reading_programs import Normalizer
    from fullgraph.validate.worker.devices import device
    from fullgraph.validate.worker.graphs import counting as graphs

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
        return [len(counted["breaks"]), [bool(graph["recompile"]) for graph in counted["graphs"]]]

    def train(backend):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1).to(where)
        torch.compile(model, backend=backend)(torch.ones(2, 3, device=where)).pow(2).sum().backward()
        return [str(model.bias.grad.device), round(model.bias.grad.item(), 4)]

    answer = {}
    where = "cuda"
    with device.choose("fake-cuda").active():
        x = torch.ones(2, 3)
        answer["on the CPU"] = count(Logged("cpu"), x)
        answer["on CUDA"] = count(Logged("cuda"), x.cuda())
        answer["from one to the other"] = count(Normalizer(), x, x.cuda(), x.cuda())
        trained = [train("eager"), train("aot_eager")]
    where = "cpu"
    answer["trained"] = [device for device, gradient in trained if gradient == train("eager")[1]]
    """) == {
        "on the CPU": [0, [False]],
        "on CUDA": [1, [False, False]],
        "from one to the other": [0, [False, True, True]],
        "trained": ["cuda:0", "cuda:0"],
    }


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
