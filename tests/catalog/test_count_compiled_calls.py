"""The counter as it is written into a project, run: what it counts, what it leaves as it was, what it costs."""

from __future__ import annotations

import ast
import copy
import gc
import logging
import pickle
import sys
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import nn

from fullgraph.codemods.topics.compiled_calls.counter import ENVIRONMENT, counter_text
from fullgraph.codemods.topics.gates.gate_text import gate_text
from fullgraph.validate.worker.graphs.counting import watching
from tests.cases import FIXTURES, Case

X = torch.arange(8.0).reshape(2, 4)


class Net(nn.Module):
    """Two outputs, one of them in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, scale: int = 1) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        return self.layer(x) * scale, {"hidden": self.layer(x).relu()}


@dataclass
class Batch:
    x: torch.Tensor
    lengths: list[int]
    mask: torch.Tensor | None = None


@pytest.fixture(autouse=True)
def forget_compiled_code() -> None:
    torch._dynamo.reset()


@pytest.fixture
def counter() -> Iterator[Any]:
    """The file as a module of its own, switched on."""
    module = load("compiled_calls", counter_text())
    module.compiled_calls.on = True
    yield module
    del sys.modules["compiled_calls"]


def load(name: str, text: str) -> Any:
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def compiled_net(counter: Any, form: str, name: str = "net") -> Any:
    """A counted net, from `torch.compile(net)` or after `net.compile()`."""
    torch.manual_seed(0)
    net = Net()
    if form == "in place":
        net.compile(backend="aot_eager")
        return counter.counted(name, net)
    return counter.counted(name, torch.compile(net, backend="aot_eager"))


both_forms = pytest.mark.parametrize("form", ["wrapped", "in place"])


def test_the_file_is_python_3_9() -> None:
    ast.parse(counter_text(), feature_version=(3, 9))


def test_the_variable_of_the_environment_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_COUNTS", "1")
    assert ENVIRONMENT not in counter_text("MY_COUNTS")
    assert load("compiled_calls", counter_text("MY_COUNTS")).compiled_calls.on
    monkeypatch.setenv("MY_COUNTS", "0")
    assert not load("compiled_calls", counter_text("MY_COUNTS")).compiled_calls.on


def test_off_it_is_the_very_object_without_hooks(counter: Any) -> None:
    counter.compiled_calls.on = False
    net, function = torch.compile(Net(), backend="eager"), torch.compile(torch.sin, backend="eager")
    assert counter.counted("net", net) is net
    assert not net._forward_hooks
    assert not net._forward_pre_hooks
    assert counter.counted("f", function) is function
    assert counter.counted("f")(function) is function
    plain = counter.counted("plain", Net())
    assert type(plain) is Net
    plain(X)
    assert counter.compiled_calls.as_dict() == {}


@both_forms
def test_calls_are_told_apart_by_phase_and_by_inputs(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    net(X)
    net(X, scale=2)
    with torch.no_grad():
        net(X)
    net.eval()
    net(X[:1])
    with torch.inference_mode():
        net(X)
    counts = counter.compiled_calls.as_dict()["net"]
    assert {phase: held["calls"] for phase, held in counts.items()} == {
        "train, grad": 2,
        "train, no grad": 1,
        "eval, grad": 1,
        "eval, no grad": 1,
    }
    assert counts["train, grad"]["inputs"] == {"float32[2, 4]": 1, "float32[2, 4], scale=int": 1}
    assert counts["eval, grad"]["inputs"] == {"float32[1, 4]": 1}


def reentered(counter: Any, name: str = "net") -> int:
    return sum(held["reentered"] for held in counter.compiled_calls.as_dict()[name].values())


@both_forms
def test_a_call_before_the_last_backward_is_a_reentry_in_whatever_phase(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    loss = net(X)[0].sum()
    with torch.no_grad():
        net(X)
    assert counter.compiled_calls.as_dict()["net"]["train, no grad"]["reentered"] == 1
    loss.backward(retain_graph=True)
    net(X)
    loss.backward()
    net(X)
    assert reentered(counter) == 1


@both_forms
def test_a_graph_that_was_dropped_waits_for_nothing(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    for _ in range(3):
        net(X)
    assert reentered(counter) == 0
    kept = net(X)[1]["hidden"]
    net(X)
    assert reentered(counter) == 1
    kept = kept.detach()
    net(X)
    assert reentered(counter) == 1


@both_forms
def test_the_gradient_may_be_asked_for_in_any_way(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    first, rest = net(X)
    torch.autograd.grad(rest["hidden"].sum(), list(net.parameters()), retain_graph=True)
    net(X)
    assert reentered(counter) == 0
    assert first.requires_grad


def test_an_output_in_a_dataclass_waits_too(counter: Any) -> None:
    layer = nn.Linear(4, 4)
    run = counter.counted("run", torch.compile(lambda x: Batch(layer(x), [1]), backend="eager"))
    kept = run(X)
    run(X)
    assert reentered(counter, "run") == 1
    kept.x.sum().backward()
    run(X)
    assert reentered(counter, "run") == 1


@both_forms
def test_a_call_that_raises_is_counted_and_waits_for_nothing(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    with pytest.raises(Exception, match=r"mat1|size|dim"):
        net(torch.ones(2, 3))
    net(X)
    assert counter.compiled_calls.as_dict()["net"]["train, grad"]["calls"] == 2
    assert reentered(counter) == 0


@both_forms
def test_nothing_is_kept_alive(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    output = net(X)
    held = [weakref.ref(output[0]), weakref.ref(output[0].grad_fn), weakref.ref(next(net.parameters()))]
    gc.collect()
    gc.disable()
    try:
        del output
        assert held[0]() is None
        assert held[1]() is None
    finally:
        gc.enable()
    del net
    torch._dynamo.reset()
    gc.collect()
    assert held[2]() is None


@both_forms
def test_what_is_counted_is_the_same_module(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    counter.compiled_calls.on = False
    plain = compiled_net(counter, form)
    counter.compiled_calls.on = True
    assert list(net.state_dict()) == list(plain.state_dict())
    assert [name for name, _ in net.named_modules()] == [name for name, _ in plain.named_modules()]
    assert isinstance(net, type(plain))
    assert repr(net) == repr(plain)
    net(X)[0].sum().backward()
    plain(X)[0].sum().backward()
    for mine, theirs in zip(net.parameters(), plain.parameters(), strict=True):
        assert torch.equal(mine, theirs)
        assert torch.equal(mine.grad, theirs.grad)


@both_forms
def test_copies_and_pickles_are_as_without_a_counter(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    for twin in (copy.deepcopy(net), copy.copy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(twin(X)[0], net(X)[0])
        assert list(twin.state_dict()) == list(net.state_dict())
    if form == "in place":
        assert type(copy.deepcopy(net)) is Net
    assert counter.compiled_calls.as_dict()["net"]["train, grad"]["calls"] == 3


@both_forms
def test_calls_in_another_compiled_region_are_not_counted_and_break_nothing(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    score = counter.counted("score", torch.compile(lambda x: x.sum(), backend="aot_eager"))
    outer = torch.compile(lambda x: net(x)[0].sum() + score(x), backend="aot_eager", fullgraph=True)
    assert torch.isfinite(outer(X))
    assert counter.compiled_calls.as_dict() == {}


@both_forms
def test_a_module_is_counted_once_however_often_that_is_asked(counter: Any, form: str) -> None:
    net = compiled_net(counter, form)
    assert counter.counted("again", net) is net
    net(X)
    assert counter.compiled_calls.as_dict() == {
        "net": {"train, grad": {"calls": 1, "reentered": 0, "inputs": {"float32[2, 4]": 1}}}
    }


def test_a_module_that_is_compiled_anew_in_place_can_be_counted_anew(counter: Any) -> None:
    net = compiled_net(counter, "in place")
    net.compile(backend="eager")
    counter.counted("again", counter.counted("again", net))(X)
    assert {name: held["train, grad"]["calls"] for name, held in counter.compiled_calls.as_dict().items()} == {
        "again": 1
    }


def test_counting_makes_no_class_that_others_could_see(counter: Any) -> None:
    made = []

    class Registered(nn.Module):
        def __init_subclass__(cls, *, name: str) -> None:
            made.append(name)

    class Shift(Registered, name="shift"):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    net = Shift()
    net.compile(backend="eager")
    assert type(counter.counted("net", net)) is Shift
    net(X)
    assert made == ["shift"]
    assert counter.compiled_calls.as_dict()["net"]["train, grad"]["calls"] == 1


def test_a_module_that_is_not_compiled_stays_as_it_is(counter: Any) -> None:
    net = counter.counted("net", Net())
    net(X)
    assert not net._forward_hooks
    assert counter.compiled_calls.as_dict() == {}


def test_a_graph_that_passes_through_without_gradients_is_not_waited_for(counter: Any) -> None:
    run = counter.counted("run", torch.compile(lambda x, state: (x + 1, state), backend="eager"))
    state = torch.ones(4, requires_grad=True) * 2
    with torch.no_grad():
        kept = [run(X, state), run(X, state=state)]
    assert kept[0][1] is state
    assert reentered(counter, "run") == 0


def test_an_input_changed_in_place_waits_for_its_backward(counter: Any) -> None:
    weight = torch.ones(4, requires_grad=True)
    run = counter.counted("run", torch.compile(lambda x: x.mul_(weight), backend="eager"))
    kept = [run(X.clone()), run(X.clone())]
    assert len(kept) == 2
    assert reentered(counter, "run") == 1


def test_around_a_gate_every_call_is_counted_with_the_phase_of_its_module(
    counter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = load("compile_gate", gate_text(100))
    net, attempts = Net(), []

    def fail(graph: Any, inputs: Any) -> Any:
        attempts.append(graph)
        raise RuntimeError("planted")

    run = counter.counted("run", gate.gated("COMPILE_RUN", torch.compile(net.forward, backend=fail)))
    run(X)
    net.eval()
    run(X)
    monkeypatch.setenv("COMPILE_RUN", "0")
    run(X)
    assert len(attempts) == 1
    counts = counter.compiled_calls.as_dict()["run"]
    assert {phase: held["calls"] for phase, held in counts.items()} == {"train, grad": 1, "eval, grad": 2}


def graphs_of(counter: Any, form: str, on: bool) -> tuple[list[str], list[Any]]:
    """The functions that were compiled in three training steps, and the breaks in them."""
    torch._dynamo.reset()
    counter.compiled_calls.on = on
    with watching() as seen:
        net = compiled_net(counter, form)
        score = counter.counted("score")(torch.compile(lambda x: x.sum(), backend="aot_eager"))
        for _ in range(3):
            score(net(X)[0]).backward()
    return [f"{frame.file}: {frame.place}" for frame in seen.graphs], seen.breaks


@both_forms
def test_the_graphs_are_the_same_with_and_without_and_have_no_break(counter: Any, form: str) -> None:
    off, on = graphs_of(counter, form, False), graphs_of(counter, form, True)
    assert counter.compiled_calls.as_dict()["net"]["train, grad"]["calls"] == 3
    assert len(on[0]) == 2
    assert on == off
    assert on[1] == []


def test_a_method_knows_the_phase_of_its_module(counter: Any) -> None:
    class Head(Net):
        @counter.counted("head")  # type: ignore[untyped-decorator]
        @torch.compile(backend="eager")
        def run(self, x: torch.Tensor) -> Any:
            return self.layer(x)

    head = Head().eval()
    head.run(X)
    bound = counter.counted("bound", torch.compile(head.forward, backend="eager"))
    bound(X)
    free = counter.counted("free", torch.compile(torch.sin, backend="eager"))
    free(X)
    counts = counter.compiled_calls.as_dict()
    assert counts["head"]["eval, grad"]["inputs"] == {"Head, float32[2, 4]": 1}
    assert list(counts["bound"]) == ["eval, grad"]
    assert list(counts["free"]) == ["grad"]


def test_many_kinds_of_inputs_take_no_more_room(counter: Any) -> None:
    calls = counter.compiled_calls
    for size in range(100):
        calls.add("net", "grad", f"float32[{size}]", False)
    held = calls.as_dict()["net"]["grad"]
    assert held["calls"] == 100
    assert len(held["inputs"]) == counter.MOST_KINDS + 1
    assert held["inputs"]["other"] == 100 - counter.MOST_KINDS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "bool"),
        (torch.ones((), dtype=torch.bfloat16), "bfloat16[]"),
        ({"x": torch.ones(2), "n": 3}, "dict(x=float32[2], n=int)"),
        ([torch.ones(1)] * 20, f"list({'float32[1], ' * 8}...)"),
        (Batch(torch.ones(2), [1]), "Batch(x=float32[2], lengths=list(int), mask=None)"),
        (Batch, "type"),
        (torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]), "float32[nested]"),
        (torch.Size([2]), "Size(int)"),
    ],
)
def test_inputs_are_told_by_shape_and_dtype(counter: Any, value: Any, text: str) -> None:
    assert counter.describe(value) == text


def test_what_holds_itself_is_told_up_to_a_depth(counter: Any) -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert counter.describe(endless).count("list") == counter.DEEPEST + 1
    assert counter.tensors_in(endless) == []


def test_no_call_of_many_threads_is_lost(counter: Any) -> None:
    run = counter.counted("run", lambda x: x + 1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, [X] * 400))
    assert counter.compiled_calls.as_dict()["run"]["grad"]["calls"] == 400


def test_the_log_has_a_record_for_each_phase_and_reset_begins_anew(
    counter: Any, caplog: pytest.LogCaptureFixture
) -> None:
    run = counter.counted("run", lambda x: x + 1)
    run(X)
    with torch.no_grad():
        run(X)
    with caplog.at_level(logging.INFO):
        counter.compiled_calls.log(logging.getLogger("counts"))
    assert [record.getMessage() for record in caplog.records] == [
        "run (grad): 1 calls, 0 of them before an earlier backward; 1 x [float32[2, 4]]",
        "run (no grad): 1 calls, 0 of them before an earlier backward; 1 x [float32[2, 4]]",
    ]
    counter.compiled_calls.reset()
    assert counter.compiled_calls.as_dict() == {}


def losses(counter: Any, text: bytes) -> list[torch.Tensor]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = load("module_under_test", text.decode())
    trainer = module.Trainer(4)
    found = []
    for batch in (X, X, X[:1]):
        loss = trainer.loss(batch)
        loss.backward()
        found += [loss.detach(), *(parameter.grad.clone() for parameter in trainer.encoder.parameters())]
    del sys.modules["module_under_test"]
    return found


@pytest.mark.parametrize("case", ["switched_on", "in_place"])
@pytest.mark.parametrize("on", [False, True])
def test_a_rewritten_module_computes_the_same_and_its_calls_are_counted(counter: Any, case: str, on: bool) -> None:
    fixture = Case(FIXTURES / "count_compiled_calls" / case)
    before = losses(counter, fixture.before["module.py"])
    counter.compiled_calls.on = on
    after = losses(counter, fixture.after["module.py"])
    assert len(before) == len(after) > 0
    assert all(map(torch.equal, before, after))
    told = {
        name: {phase: (held["calls"], held["reentered"]) for phase, held in phases.items()}
        for name, phases in counter.compiled_calls.as_dict().items()
    }
    expected: dict[str, Any] = {"encoder": {"train, grad": (3, 0)}}
    if case == "switched_on":
        expected = {
            "encoder": {"train, grad": (3, 0), "train, no grad": (3, 3)},
            "spread": {"grad": (6, 3)},
        }
    assert told == (expected if on else {})
