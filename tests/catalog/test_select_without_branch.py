"""What `select_without_branch` writes computes the same: eager and compiled, on both sides, with gradients."""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cases import FIXTURES

torch = pytest.importorskip("torch")
FOLDER = FIXTURES / "select_without_branch"
STEPS = [path for path in sorted(FOLDER.glob("*/after.py")) if "def step(" in path.read_text()]
CASES = [path.parent.name for path in STEPS if "@torch.no_grad" not in path.read_text()]
"""Dynamo imports the module of a decorated function by its name, and a script that was run has none."""
SIDES = ("before", "after", "after")
INF, NAN = float("inf"), float("nan")
ROWS = [
    [[1.0, 2.0, 3.0], [0.5, 0.25, 4.0]],
    [[-1.0, -2.0, -3.0], [-0.5, -0.25, -4.0]],
    [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
    [[INF, 1.0, 1.0], [1.0, 1.0, 1.0]],
    [[-INF, 1.0, 0.0], [1.0, 1.0, 1.0]],
    [[NAN, 1.0, -1.0], [0.0, 0.0, 1.0]],
]


def step_of(case: str, side: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The fixture's function as it is written, not compiled yet."""
    with monkeypatch.context() as patched:
        patched.setattr(torch, "compile", lambda function: function)
        found: Callable[..., Any] = runpy.run_path(str(FOLDER / case / f"{side}.py"))["step"]
        return found


def tensors() -> Iterator[Any]:
    """Floats of both signs and odd values, in several dtypes, shapes and strides; then integers, bools and nothing."""
    yield from (torch.tensor(rows, requires_grad=True) for rows in ROWS)
    yield from (torch.tensor(ROWS[1]), torch.tensor(ROWS[0]).half(), torch.tensor(ROWS[3]).half())
    yield from (torch.tensor(ROWS[0]).t(), torch.tensor(2.0), torch.tensor([-2.0], requires_grad=True))
    yield from (torch.tensor([[1, 2], [3, -4]]), torch.tensor([True, False]), torch.zeros(0, 3))


def arguments(function: Callable[..., Any], x: Any) -> dict[str, Any]:
    given = {"x": x, "y": (x.detach() * 2).requires_grad_(x.requires_grad), "flag": False, "limit": 1, "scale": 0.5}
    given["mask"] = x.detach() < 0
    return {name: given[name] for name in inspect.signature(function).parameters}


def outcome(function: Callable[..., Any], x: Any) -> dict[str, Any]:
    """Everything that a call leaves: the result, its gradients, and what became of the argument."""
    x = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype).copy_(x.detach()).requires_grad_(x.requires_grad)
    try:
        result = function(**arguments(function, x))
    except (RuntimeError, TypeError) as error:
        return {"error": isinstance(error, RuntimeError)}
    if result.requires_grad:
        result.sum().backward()
    found = {"value": result.detach(), "gradient": x.grad, "argument": x.detach()}
    return found | {"facts": (result.dtype, result.shape, result.requires_grad, x.grad is None)}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    assert one.get("facts") == other.get("facts")
    for name in ("value", "gradient", "argument"):
        if one.get(name) is not None:
            torch.testing.assert_close(one[name], other[name], equal_nan=True)


@pytest.mark.parametrize("case", CASES)
def test_eager_and_compiled_code_compute_what_the_branch_did(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = (step_of(case, side, monkeypatch) for side in ("before", "after"))
    import torch._dynamo.config as config

    torch._dynamo.reset()
    compiled = torch.compile(after, backend="aot_eager")
    with config.patch(recompile_limit=64):
        for x in tensors():
            expected = outcome(before, x)
            for function in (after, compiled):
                assert_same(expected, outcome(function, x))
    torch._dynamo.reset()


@pytest.mark.parametrize("case", CASES)
def test_the_graph_is_whole_where_no_gradients_are_recorded(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    after = step_of(case, "after", monkeypatch)
    dtype = torch.float16 if "static_part" in case else torch.float32
    torch._dynamo.reset()
    with torch.no_grad():
        x = torch.tensor(ROWS[0], dtype=dtype)
        torch.compile(after, backend="eager", fullgraph=True)(**arguments(after, x))
    torch._dynamo.reset()


def test_cond_loses_gradients_that_two_of_them_share() -> None:
    """Why it is written for code without gradients only; this is about torch, and may be mended there."""

    def twice(x: Any, y: Any) -> Any:
        h = x * y
        one = torch.cond(h.sum() > 0, lambda: h.exp(), lambda: h.sin())
        return one + torch.cond(h.sum() > 0, lambda: h.cos(), lambda: h.sin())

    x = torch.linspace(0.1, 2, 12).reshape(3, 4).requires_grad_()
    y = torch.linspace(-1, 2, 12).reshape(3, 4)
    torch._dynamo.reset()
    torch.compile(twice, backend="inductor", fullgraph=True)(x, y).sum().backward()
    h = (x * y).detach()
    right = torch.allclose(x.grad, (h.exp() - h.sin()) * y)
    torch._dynamo.reset()
    assert not right or not torch.__version__.startswith("2.13"), "then it may be written for training too"


@pytest.mark.parametrize("case", ["stored_buffer", "stored_attribute"])
def test_a_place_that_both_sides_store_to_holds_the_same_values(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one graph, for both sides in turn; eager code leaves the very objects that it left before."""
    kind = "Rope" if case == "stored_buffer" else "Layer"
    place = "table" if case == "stored_buffer" else "scale"
    with monkeypatch.context() as patched:
        patched.setattr(torch, "compile", lambda function: function)
        old, new, eager = (runpy.run_path(str(FOLDER / case / f"{side}.py"))[kind]() for side in SIDES)
    torch._dynamo.reset()
    compiled = torch.compile(new, backend="eager", fullgraph=True)
    for last in (2, 6, 2, 4, 5, 9, 1):
        x = torch.arange(last + 1) if case == "stored_buffer" else torch.full((3,), 1.0) * (-1) ** last
        expected = old(x)
        torch.testing.assert_close(compiled(x), expected, rtol=0, atol=0)
        torch.testing.assert_close(eager(x), expected, rtol=0, atol=0)
        torch.testing.assert_close(getattr(new, place), getattr(old, place), rtol=0, atol=0)
        assert held(eager, place) == held(old, place)


def held(module: Any, place: str) -> list[str]:
    """The attributes that are the very tensor of a place."""
    every = {**module.__dict__, **module._buffers}
    return sorted(name for name, value in every.items() if value is getattr(module, place))


def test_tables_of_different_shapes_take_the_old_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(torch, "compile", lambda function: function)
        layer = runpy.run_path(str(FOLDER / "stored_attribute" / "after.py"))["Layer"]()
    layer.low = torch.ones(1)
    torch._dynamo.reset()
    compiled = torch.compile(layer, backend="eager")
    for sign in (1.0, -1.0):
        assert compiled(torch.full((3,), sign)).tolist() == ([0.0] * 3 if sign > 0 else [-1.0] * 3)
        assert layer.scale is (layer.high if sign > 0 else layer.low)
