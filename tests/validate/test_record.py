"""A record holds everything that can be seen of one case, and making it leaves nothing behind."""

from __future__ import annotations

import io
import logging
import os
import random
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils.checkpoint import checkpoint

from fullgraph.validate.worker.devices.device import Device
from fullgraph.validate.worker.recording.record import CASE_SEED, record_case, seed_all
from fullgraph.validate.worker.subject import Case, Subject
from tests.validate.recording import places, record

ONES = torch.ones(3)


def values(leaves: list[Any]) -> dict[str, Any]:
    """What stands at each path, without what is said about it."""
    return {path: fact for path, kind, fact in leaves if kind in ("value", "int", "float", "str", "same as", "None")}


# Running


def test_a_record_is_the_same_twice() -> None:
    def step(x: torch.Tensor) -> Any:
        print("step", random.random(), np.random.rand(), torch.rand(1))
        return torch.dropout(x, 0.5, True)

    assert not places(record(step, ONES.clone()), record(step, ONES.clone()))


def test_arguments_and_output_are_told_by_their_paths() -> None:
    def scale(x: torch.Tensor, *, by: dict[str, float]) -> Any:
        return {"scaled": x * by["factor"]}

    found = record(scale, ONES, by={"factor": 2.0})
    assert values(found["output"])["output['scaled']"].tolist() == [2, 2, 2]
    assert values(found["args"])["args[0]"].tolist() == [1, 1, 1]
    assert values(found["args"])["kwargs['by']['factor']"] == 2.0


def test_what_a_case_does_to_its_arguments_is_seen() -> None:
    def fill(x: torch.Tensor, into: list[Any]) -> None:
        into.append(x.add_(1))

    found = record(fill, ONES.clone(), [])
    assert found["mutated"]
    assert values(found["args"])["args[0]"].tolist() == [2, 2, 2]
    assert values(found["args"])["args[1][0]"] == "args[0]"
    assert not record(lambda x: x + 1, ONES)["mutated"]
    assert record(lambda x: None, io.StringIO())["mutated"]


def test_inputs_are_told_as_they_were_before() -> None:
    def grow(x: torch.Tensor) -> None:
        x.add_(1)

    assert record(grow, ONES.clone())["inputs"] == record(abs, ONES.clone())["inputs"]
    assert record(grow, ONES.clone())["inputs"] != record(grow, ONES * 2)["inputs"]


def test_state_is_all_of_the_module_that_is_called() -> None:
    module = torch.nn.BatchNorm1d(2)
    found = record(module, torch.tensor([[1.0, 2.0], [3.0, 6.0]]))
    assert values(found["state"])["state.running_mean"].tolist() == pytest.approx([0.2, 0.4])


def test_state_is_what_the_scenario_says() -> None:
    def reader(call: Any) -> Any:
        return {"three": 3}

    assert values(record(abs, ONES, reader=reader)["state"]) == {"state['three']": 3}


def test_a_state_that_fails_is_said_to_be_opaque() -> None:
    def reader(call: Any) -> Any:
        raise KeyError("x")

    assert record(abs, ONES, reader=reader)["opaque"][0][0] == "state"


def test_a_state_that_replaces_the_output_makes_it_count_for_nothing() -> None:
    def reader(call: Any, output: Any) -> Any:
        return list(output)

    def give(x: torch.Tensor) -> Iterator[torch.Tensor]:
        return iter([x, x * 2])

    found = record(give, ONES, reader=reader)
    assert (found["opaque"], found["output"]) == ([], [])
    assert values(found["state"])["state[1]"].tolist() == [2, 2, 2]


def test_only_what_was_asked_for_is_opaque() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

        def forward(self, given: Any) -> Any:
            return {"rows": io.StringIO()}

    found = record(Model(), io.StringIO())
    assert found["opaque"] == [["output['rows']", "_io.StringIO"]]
    assert [path for path, _ in found["unseen"]] == ["args[0]", "state.lock"]


MODEL = torch.nn.Linear(2, 2)


def test_surroundings_of_a_plain_function_are_looked_at() -> None:
    def forward(x: torch.Tensor) -> Any:
        return MODEL(x)

    name = f"surroundings['{__name__}.MODEL']"
    found = record(forward, torch.ones(1, 2), roots=(__file__,))
    assert f"{name}.weight" in values(found["surroundings"])
    assert f"{name}.bias.grad" in values(found["grads"])


# Random numbers


def test_all_generators_are_seeded() -> None:
    def draw() -> Any:
        return random.random(), np.random.rand(), torch.rand(1), random.getrandbits(9)

    first, again, other = record(draw), record(draw), record(draw, seed=1)
    assert not places(first, again)
    assert {path for path, _ in places(first, other)} >= {"output[0]", "rng.random"}
    seed_all(2**40, Device())


@pytest.mark.parametrize("draw", [lambda: torch.rand(1), lambda: np.random.rand(), lambda: random.random()])
def test_a_use_of_random_numbers_is_seen(draw: Callable[[], Any]) -> None:
    quiet, loud = record(lambda: None), record(lambda: draw() and None)
    assert (quiet["random"], loud["random"]) == (False, True)
    assert [what for path, what in places(quiet, loud) if path.startswith("rng.")] == ["value"]


def test_reading_results_draws_no_random_numbers() -> None:
    def forward(x: torch.Tensor) -> Any:
        return MODEL(x)

    record(forward, torch.ones(1, 2), seed=5)
    drawn = torch.rand(1)
    torch.manual_seed(5 + CASE_SEED)
    assert torch.equal(drawn, torch.rand(1))


def test_numpy_need_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy")
    found = record(lambda x: {"sum": x.sum(), "set": {1, 2}}, ONES)
    assert [path for path, _, _ in found["rng"]] == ["rng.random", "rng.torch"]
    assert found["opaque"] == []


def test_modes_that_a_case_leaves_behind_are_seen() -> None:
    try:
        found = places(record(lambda: None), record(lambda: torch.set_grad_enabled(False) and None))
    finally:
        torch.set_grad_enabled(True)
    assert ("modes['grad']", "value") in found


# Exceptions


def test_an_exception_is_told_with_type_text_and_place() -> None:
    def fail(x: torch.Tensor) -> None:
        x.add_(1)
        raise KeyError(f"no {object()}")

    found = record(fail, ONES.clone())
    kind, text, trace, more = found["exception"]
    assert (kind, text) == ("KeyError", "'no <object object at 0x...>'")
    assert trace.splitlines()[-2].strip().startswith("raise KeyError")
    assert "worker/record.py" not in trace
    assert more.startswith("LookupError, Exception, BaseException; ; ")
    assert values(found["args"])["args[0]"].tolist() == [2, 2, 2]


def recurse() -> None:
    recurse()


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


ERRORS = [SystemExit(3), MemoryError(), torch.OutOfMemoryError("full"), GeneratorExit(), MuteError()]


@pytest.mark.parametrize("error", ERRORS)
def test_any_exception_is_one_of_the_case(error: BaseException) -> None:
    def fail() -> None:
        raise error

    assert record(fail)["exception"][0].endswith(type(error).__name__)


def test_a_recursion_without_end_is_one_too() -> None:
    assert record(recurse)["exception"][0] == "RecursionError"


def test_an_interrupt_passes_and_everything_is_put_back() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    before = sys.stdout, warnings.showwarning, logging.Logger.callHandlers, os.fstat(1)
    with pytest.raises(KeyboardInterrupt):
        record(interrupt)
    assert before == (sys.stdout, warnings.showwarning, logging.Logger.callHandlers, os.fstat(1))


def test_an_error_that_comes_when_the_device_catches_up_is_one_of_the_case() -> None:
    class Late(Device):
        def synchronize(self) -> None:
            raise RuntimeError("device-side assert")

    subject = Subject(abs, None, [])
    found = record_case(subject, abs, Case("late", (-1,)), Late(), seed=0, backward=True)
    assert found["exception"][1] == "device-side assert"


# Gradients


def test_gradients_arrive_at_arguments_and_parameters() -> None:
    module = torch.nn.Linear(2, 2)
    inputs = torch.ones(3, 2, requires_grad=True)
    found = record(module, inputs)
    told = values(found["grads"])
    assert list(told) == ["args[0].grad", "state.weight.grad", "state.bias.grad"]
    assert inputs.grad is None
    assert not places(found, record(module, inputs))


def test_gradients_flow_through_every_output_and_kind_of_number() -> None:
    def forward(x: torch.Tensor) -> Any:
        return [x.half(), {"a": x.double()}, x.to(torch.complex64), x.long(), x.to_sparse(), x[:0], (x, x)]

    found = record(forward, torch.ones(2, requires_grad=True))
    assert found["backward"] is None
    assert values(found["grads"])["args[0].grad"].abs().sum() > 0


def test_a_gradient_that_does_not_arrive_is_none() -> None:
    def forward(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x * y.detach()

    found = record(forward, torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True))
    assert values(found["grads"])["args[1].grad"] is None


def test_code_that_runs_backward_itself_is_left_alone() -> None:
    def step(x: torch.Tensor) -> Any:
        loss = (MODEL(x).relu() ** 2).sum()
        MODEL.zero_grad()
        loss.backward()
        return loss

    found = record(step, torch.ones(1, 2), roots=(__file__,))
    assert found["grads"] == [("grads", "backward", "the graph is used up already")]
    assert values(found["surroundings"])[f"surroundings['{__name__}.MODEL'].weight.grad"] is not None


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise ValueError("no way back")


def test_checkpoints_that_allow_no_gradients_to_be_asked_for_are_told() -> None:
    def forward(x: torch.Tensor) -> Any:
        return checkpoint(torch.sin, x, use_reentrant=True)

    found = record(forward, torch.ones(2, requires_grad=True))
    assert (found["backward"], [leaf[1] for leaf in found["grads"]]) == (None, ["backward"])


def test_a_backward_that_fails_is_told() -> None:
    def forward(x: torch.Tensor) -> Any:
        return Failing.apply(x)  # type: ignore[no-untyped-call]

    found = record(forward, torch.ones(2, requires_grad=True))
    assert found["exception"] is None
    assert found["backward"][:2] == ["ValueError", "no way back"]
    assert record(forward, torch.ones(2, requires_grad=True), backward=False)["backward"] is None


# Memory that is shared


def test_an_output_in_the_memory_of_an_argument_is_told() -> None:
    def split(x: torch.Tensor) -> Any:
        return x, x[1:], x + 1, x.detach()

    found = record(split, torch.ones(3))
    assert found["aliases"] == [(f"output[{place}]", "memory", "args[0]") for place in (0, 1, 3)]
    assert values(found["output"])["output[0]"] == "args[0]"


def test_empty_tensors_and_those_without_memory_share_nothing() -> None:
    def give(x: torch.Tensor, y: torch.Tensor) -> Any:
        return x[:0], torch.ones(2, device="meta"), torch.eye(2).to_sparse(), y

    assert record(give, torch.empty(0), torch.ones(2, device="meta"))["aliases"] == []


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged], ids=str)
def test_gradients_flow_through_the_parts_of_a_nested_output(layout: torch.layout) -> None:
    def nest(x: torch.Tensor, y: torch.Tensor) -> Any:
        return {"nested": torch.nested.as_nested_tensor([x * 2, x[:1] * 2], layout=layout), "plain": y * 2}

    def lose(x: torch.Tensor, y: torch.Tensor) -> Any:
        return nest(x, y.detach() + y * 0)

    first, second = (record(call, *(torch.ones(2, requires_grad=True) for _ in range(2))) for call in (nest, lose))
    assert first["backward"] is None
    assert values(first["grads"])["args[0].grad"].abs().sum() > 0
    assert places(first, second, channels=["output", "grads", "backward"]) == [("args[1].grad", "value")]


def test_a_wrapper_that_no_plain_gradient_fits_is_left_out() -> None:
    def wrap(x: torch.Tensor) -> Any:
        return TwoTensor(x * 2, x * 3) * 2  # type: ignore[no-untyped-call]

    found = record(wrap, torch.ones(2, requires_grad=True))
    assert (found["backward"], found["grads"]) == (None, [])


def test_memory_that_several_share_is_that_of_the_first() -> None:
    x = torch.ones(3)
    assert record(lambda whole, part: part[1:], x, x[1:])["aliases"] == [
        ("args[1]", "memory", "args[0]"),
        ("output", "memory", "args[0]"),
    ]
