"""The gate, as it stands in the user's package: what runs when, what fails, and what stays what it was."""

from __future__ import annotations

import copy
import gc
import inspect
import logging
import pickle
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fullgraph.codemods.topics.gates.gate_text import gate_text

torch = pytest.importorskip("torch")

EAGER = {"backend": "eager"}


@pytest.fixture(autouse=True)
def forget_compiled_code() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def gate() -> types.ModuleType:
    """The file, imported, with a bound of three calls."""
    module = types.ModuleType("gate_under_test")
    exec(compile(gate_text(3), "gate_under_test.py", "exec"), vars(module))
    return module


class Flaky:
    """A backend that runs graphs as they are, and fails at the calls with these numbers."""

    def __init__(self, *fails_at: int) -> None:
        self.fails_at = fails_at
        self.calls = 0

    def __call__(self, graph: Any, inputs: Any) -> Callable[..., Any]:
        self.calls += 1
        if self.calls in self.fails_at:
            raise RuntimeError("planted")
        forward: Callable[..., Any] = graph.forward
        return forward


class Gain(torch.nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.linear(x) + 1


def double(x: Any) -> Any:
    return 2 * x


def as_function(gate: types.ModuleType, backend: Any, **switches: bool) -> Any:
    return gate.gated("COMPILE_DOUBLE", torch.compile(double, backend=backend), **switches)


def as_module(gate: types.ModuleType, backend: Any, **switches: bool) -> Any:
    return gate.gated("COMPILE_DOUBLE", torch.compile(Gain(), backend=backend), **switches)


def as_module_of_torch(gate: types.ModuleType, backend: Any, **switches: bool) -> Any:
    return gate.gated("COMPILE_DOUBLE", torch.compile(torch.nn.Linear(3, 3), backend=backend), **switches)


def in_place(gate: types.ModuleType, backend: Any, **switches: bool) -> Any:
    net = Gain()
    net.compile(backend=backend)
    assert gate.gated("COMPILE_DOUBLE", net, **switches) is net
    return net


def as_bound_method(gate: types.ModuleType, backend: Any, **switches: bool) -> Any:
    return gate.gated("COMPILE_DOUBLE", torch.compile(Gain().forward, backend=backend), **switches)


FORMS = pytest.mark.parametrize("form", [as_function, as_module, as_module_of_torch, in_place, as_bound_method])


def calls_of(run: Any, backend: Flaky, times: int) -> list[int]:
    """How often the backend has been asked by the end of each call."""
    asked = []
    for _ in range(times):
        run(torch.ones(2, 3))
        asked.append(backend.calls)
    return asked


@FORMS
def test_a_failure_is_logged_once_and_tried_again(form: Any, gate: Any, caplog: pytest.LogCaptureFixture) -> None:
    backend = Flaky(1, 2)
    assert calls_of(form(gate, backend), backend, 10) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    (record,) = [record for record in caplog.records if record.name == gate.__name__]
    assert record.levelno == logging.WARNING
    assert "COMPILE_DOUBLE: compiling failed, tried again after 3 calls" in record.getMessage()
    assert "planted" in record.getMessage()


@FORMS
def test_each_phase_has_its_own_flag(form: Any, gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Flaky()
    run = form(gate, backend)
    for training, inference, expected in (("0", "off", 0), ("false", "1", 1), ("yes", "No", 2), ("", "", 2)):
        monkeypatch.setenv("COMPILE_DOUBLE", training)
        monkeypatch.setenv("COMPILE_DOUBLE_INFERENCE", inference)
        run(torch.ones(2, 3))
        with torch.no_grad():
            run(torch.ones(2, 3))
        assert backend.calls == expected


@FORMS
def test_switches_that_are_given_do_not_ask_the_environment(
    form: Any, gate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILE_DOUBLE", "0")
    backend = Flaky()
    run = form(gate, backend, training=True, inference=False)
    with torch.inference_mode():
        run(torch.ones(2, 3))
    assert backend.calls == 0
    run(torch.ones(2, 3))
    assert backend.calls == 1


@FORMS
def test_values_are_those_of_the_plain_function(form: Any, gate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    run = form(gate, Flaky(1))
    failed, waiting = (run(torch.ones(2, 3)) for _ in range(2))
    monkeypatch.setenv("COMPILE_DOUBLE", "0")
    off = run(torch.ones(2, 3))
    assert torch.equal(failed, off)
    assert torch.equal(waiting, off)


def test_a_failure_in_one_phase_does_not_pause_the_other(gate: Any) -> None:
    backend = Flaky(1)
    run = as_function(gate, backend)
    run(torch.ones(3))
    with torch.no_grad():
        run(torch.ones(3))
    assert backend.calls == 2


# What had run already


def test_behind_a_graph_break_a_failure_is_raised_and_nothing_runs_twice(gate: Any) -> None:
    seen = []

    def step(x: Any) -> Any:
        y = x.sin()
        seen.append("first part")
        torch._dynamo.graph_break()
        return y.cos()

    run = gate.gated("COMPILE_STEP", torch.compile(step, backend=Flaky(2)))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        run(torch.ones(3))
    assert seen == ["first part"]
    run(torch.ones(3))
    assert seen == ["first part"] * 2


def test_hooks_that_have_run_do_not_run_twice(gate: Any) -> None:
    seen = []
    net = Gain()
    net.register_forward_pre_hook(lambda module, inputs: seen.append("hook"))
    run = gate.gated("COMPILE_NET", torch.compile(net, backend=Flaky(1)))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        run(torch.ones(2, 3))
    assert seen == ["hook"]


def test_a_layer_that_has_run_does_not_run_twice(gate: Any) -> None:
    class Noisy(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            torch._dynamo.graph_break()
            return x

    norm = torch.nn.BatchNorm1d(3)
    run = gate.gated("COMPILE_NET", torch.compile(torch.nn.Sequential(norm, Noisy(), Gain()), backend=Flaky(1)))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        run(torch.randn(4, 3))
    assert norm.num_batches_tracked.item() == 1


def test_a_function_that_dynamo_skips_is_not_run_twice(gate: Any) -> None:
    seen = []

    def step(x: Any) -> Any:
        for scale in (1, 2):
            seen.append(scale)
            torch._dynamo.graph_break()
            x = double(x)
        return x

    run = gate.gated("COMPILE_STEP", torch.compile(step, backend=Flaky(1)))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        run(torch.ones(3))
    assert seen == [1]


def test_the_failure_of_another_compiled_function_inside_is_not_taken_for_ones_own(gate: Any) -> None:
    inner = torch.compile(double, backend=Flaky(1))
    seen = []

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def call_inner(x: Any) -> Any:
        seen.append("inner")
        return inner(x)

    run = gate.gated("COMPILE_OUTER", torch.compile(lambda x: call_inner(x + 1), **EAGER))
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
        run(torch.ones(3))
    assert seen == ["inner"]


# What passes


@pytest.mark.parametrize("fullgraph", [False, True])
def test_an_error_of_the_program_passes(gate: Any, fullgraph: bool, caplog: pytest.LogCaptureFixture) -> None:
    def fail(x: Any) -> Any:
        raise ValueError("mine")

    plain = torch.compile(fail, fullgraph=fullgraph, **EAGER)
    run = gate.gated("COMPILE_FAIL", torch.compile(fail, fullgraph=fullgraph, **EAGER))
    results = []
    for each in (plain, run):
        torch._dynamo.reset()
        with pytest.raises(Exception, match="mine") as caught:
            each(torch.ones(3))
        results.append((caught.type, str(caught.value)))
    assert results[0] == results[1]
    assert [record for record in caplog.records if record.name == gate.__name__] == []


def test_an_error_inside_compiled_code_passes_as_torch_raises_it(gate: Any) -> None:
    def index(x: Any, at: Any) -> Any:
        return x[at] + 1

    plain = torch.compile(index, **EAGER)
    run = gate.gated("COMPILE_INDEX", torch.compile(index, **EAGER))
    for at in (torch.tensor([0]), torch.tensor([9])):
        results = []
        for each in (plain, run):
            try:
                results.append(each(torch.ones(3), at).tolist())
            except Exception as error:
                results.append((type(error), str(error)))
        assert results[0] == results[1]


def test_what_fullgraph_refuses_is_raised(gate: Any) -> None:
    def noisy(x: Any) -> Any:
        torch._dynamo.graph_break()
        return x + 1

    run = gate.gated("COMPILE_NOISY", torch.compile(noisy, fullgraph=True, **EAGER))
    for _ in range(2):
        with pytest.raises(torch._dynamo.exc.Unsupported):
            run(torch.ones(3))


def test_what_is_not_compiled_is_given_back(gate: Any) -> None:
    assert gate.gated("COMPILE_DOUBLE", double) is double
    net = Gain()
    assert gate.gated("COMPILE_NET", net) is net
    assert torch.equal(net(torch.ones(1, 3)), net.linear(torch.ones(1, 3)) + 1)


# What stays what it was


def test_a_compiled_module_stays_the_object_that_torch_made(gate: Any) -> None:
    plain = torch.compile(Gain(), **EAGER)
    compiled = torch.compile(Gain(), **EAGER)
    assert gate.gated("COMPILE_NET", compiled) is compiled
    assert type(compiled) is type(plain)
    assert list(compiled.state_dict()) == list(plain.state_dict())
    assert [name for name, _ in compiled.named_parameters()] == [name for name, _ in plain.named_parameters()]
    assert compiled.eval().training is False
    assert compiled._orig_mod.training is False
    compiled.extra = 3
    assert compiled._orig_mod.extra == 3
    assert compiled.linear is compiled._orig_mod.linear


def test_a_copy_of_a_gated_module_still_runs(gate: Any) -> None:
    compiled = gate.gated("COMPILE_NET", torch.compile(Gain(), **EAGER))
    twin = copy.deepcopy(compiled)
    assert torch.equal(twin(torch.ones(1, 3)), compiled(torch.ones(1, 3)))
    net = in_place(gate, "eager")
    again = pickle.loads(pickle.dumps(net))
    assert torch.equal(again(torch.ones(1, 3)), net(torch.ones(1, 3)))


def test_the_gate_keeps_nothing_alive(gate: Any) -> None:
    compiled = gate.gated("COMPILE_NET", torch.compile(Gain(), **EAGER))
    gone = weakref.ref(compiled)
    gc.disable()
    try:
        del compiled
        assert gone() is None
    finally:
        gc.enable()


def test_methods_bind_and_keep_their_names(gate: Any) -> None:
    class Scorer:
        weight = 3

        @gate.gated("COMPILE_SCORE")  # type: ignore[untyped-decorator]
        @torch.compile(fullgraph=True, **EAGER)  # type: ignore[untyped-decorator]
        def score(self, x: Any, *, shift: float = 0.0) -> Any:
            """Weighted."""
            return x * self.weight + shift

        @staticmethod
        @gate.gated("COMPILE_PLAIN")  # type: ignore[untyped-decorator]
        @torch.compile(**EAGER)  # type: ignore[untyped-decorator]
        def plain(x: Any) -> Any:
            return x + 1

    assert Scorer().score(torch.ones(1), shift=2).item() == 5
    assert Scorer().plain(torch.ones(1)).item() == 2
    assert Scorer.score.__doc__ == "Weighted."
    assert Scorer.score.__name__ == "score"
    assert list(inspect.signature(Scorer.score).parameters) == ["self", "x", "shift"]


def test_gradients_flow(gate: Any) -> None:
    for backend in (Flaky(), Flaky(1)):
        run = as_module(gate, backend)
        run(torch.ones(2, 3)).sum().backward()
        assert torch.equal(run.linear.bias.grad, torch.full((3,), 2.0))


# Inside and around each other


@pytest.mark.parametrize("flag", ["1", "0"])
def test_inside_compiled_code_a_gate_is_inlined(gate: Any, flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILE_DOUBLE", flag)
    inner, backend = Flaky(), Flaky()
    parts = [as_function(gate, inner), as_module(gate, inner)]
    outer = torch.compile(lambda x: parts[1](parts[0](x)) + 1, fullgraph=True, backend=backend)
    outer(torch.ones(2, 3))
    assert (inner.calls, backend.calls) == (0, 1)


def test_a_gate_that_is_off_lets_what_it_calls_be_compiled(gate: Any) -> None:
    inner, outer = Flaky(), Flaky()
    part = as_function(gate, inner)
    run = gate.gated("COMPILE_OUTER", torch.compile(lambda x: part(x) + 1, backend=outer), training=False)
    assert run(torch.ones(1)).item() == 3
    assert (inner.calls, outer.calls) == (1, 0)


def test_recursion_goes_through_the_gate(gate: Any) -> None:
    def power(x: Any, times: int) -> Any:
        return x if not times else x * run(x, times - 1)

    backend = Flaky(1)
    run = gate.gated("COMPILE_POWER", torch.compile(power, backend=backend))
    assert [run(torch.full((1,), 2.0), 3).item() for _ in range(4)] == [16.0] * 4


def test_threads_share_a_gate(gate: Any, caplog: pytest.LogCaptureFixture) -> None:
    backend = Flaky(1)
    run = as_function(gate, backend)
    found: list[float] = []
    threads = [
        threading.Thread(target=lambda: found.extend(run(torch.ones(1)).item() for _ in range(5))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2.0] * 20
    assert len([record for record in caplog.records if record.name == gate.__name__]) == 1
