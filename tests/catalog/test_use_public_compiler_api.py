"""What the table says of torch, asked of the torch that is installed; and rewritten fixtures, run on both sides."""

from __future__ import annotations

import importlib
import warnings
from typing import Any
from unittest import mock

import pytest
import torch

from fullgraph.codemods.topics.public_api.table import Row, table
from tests.cases import FIXTURES

ROWS = {row.new + row.old[0]: row for row in table().values()}
every_row = pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.old[0])
FORWARDED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "torch._dynamo.disable": ((print, False), {"reason": "told"}),
    "torch._dynamo.reset": ((), {}),
    "torch._dynamo.allow_in_graph": ((print,), {}),
    "torch._dynamo.assume_constant_result": ((print,), {}),
    "torch._dynamo.list_backends": ((("debug",),), {}),
    "torch._dynamo.set_stance": (("default",), {"skip_guard_eval_unsafe": False, "force_backend": None}),
    "torch._dynamo.external_utils.wrap_numpy": ((print,), {}),
    "torch._inductor.cudagraph_trees.mark_step_begin": ((), {}),
    "torch._C._is_tracing": ((), {}),
}


def named(dotted: str) -> Any:
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(dotted)


@every_row
def test_all_names_exist_and_the_old_ones_are_one(row: Row) -> None:
    assert callable(named(row.new))
    olds = [named(old) for old in row.old if not old.endswith("mark_step_begin")]
    assert all(old is olds[0] for old in olds)


@pytest.mark.parametrize("old", FORWARDED)
def test_the_public_name_passes_its_arguments_on(old: str) -> None:
    arguments, keywords = FORWARDED[old]
    with mock.patch(old) as replaced:
        named(table()[old].new)(*arguments, **keywords)
    replaced.assert_called_once_with(*arguments, **keywords)


@pytest.mark.parametrize("old", ["torch._dynamo.is_compiling", "torch._utils.is_compiling"])
def test_the_old_name_asks_the_public_one(old: str) -> None:
    with mock.patch("torch.compiler.is_compiling", return_value="asked"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert named(old)() == "asked"


def test_is_scripting_is_the_same_function() -> None:
    assert named("torch._jit_internal.is_scripting") is named("torch.jit.is_scripting")


def test_tracing_is_seen_by_both_guards() -> None:
    def guarded(x: torch.Tensor) -> torch.Tensor:
        assert named("torch.jit.is_tracing")() == named("torch._C._is_tracing")() == seen
        return x + 1

    seen = False
    guarded(torch.ones(2))
    seen = True
    named("torch.jit.trace")(guarded, torch.ones(2), check_trace=False)


def run(case: str, side: str) -> dict[str, Any]:
    """What a fixture binds, and what it warns of."""
    text = (FIXTURES / "use_public_compiler_api" / case / f"{side}.py").read_text()
    bound: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        exec(compile(text, f"{side}.py", "exec"), bound)
    bound["warned"] = [str(one.message) for one in warned if one.category is FutureWarning]
    return bound


def test_arguments_arrive_as_before() -> None:
    before, after = run("arguments", "before"), run("arguments", "after")
    assert before["warned"]
    assert not after["warned"]
    made = [name for name, value in before.items() if isinstance(value, (torch.amp.GradScaler, torch.autocast))]
    assert len(made) == 10
    for name in made:
        ours, theirs = vars(before[name]), vars(after[name])
        assert {k: (type(v), str(v)) for k, v in ours.items()} == {k: (type(v), str(v)) for k, v in theirs.items()}


def test_the_dtype_written_out_is_the_one_that_an_autocast_around_it_would_change() -> None:
    with torch.autocast("cpu", dtype=torch.float16), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert named("torch.cpu.amp.autocast")().fast_dtype is torch.bfloat16
        assert torch.amp.autocast("cpu").fast_dtype is torch.float16
        assert torch.amp.autocast("cpu", dtype=torch.bfloat16).fast_dtype is torch.bfloat16


@pytest.mark.parametrize("scale", [-1.5, 0.0, float("nan"), 3.0])
def test_custom_functions_give_the_same_gradients(scale: float) -> None:
    results = []
    for side in ("before", "after"):
        square = run("custom_functions", side)["Square"]
        x = torch.tensor([scale, 2.0], requires_grad=True)
        y = square.apply(x)
        y.sum().backward()
        results.append((y.detach(), x.grad))
    for first, second in zip(*results, strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=0, equal_nan=True)


def test_optimize_and_compile_give_the_same() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x.sin() * 2

    seen: list[str] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        seen.append(graph.code)
        return graph.forward

    x = torch.linspace(0, 1, 5)
    old = torch._dynamo.optimize(backend, nopython=True)(function)
    torch.compiler.reset()
    new = torch.compile(function, backend=backend, fullgraph=True)
    assert torch.equal(old(x), new(x))
    assert seen
    assert len(set(seen)) == 1
