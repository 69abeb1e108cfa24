"""scope_autocast: the same values, dtypes and gradients, and autocast is off again afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.codemods.ui.explain import explain
from tests.cases import FIXTURES

torch = pytest.importorskip("torch")


def load(case: str, side: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile((FIXTURES / "scope_autocast" / case / f"{side}.py").read_text(), case, "exec"), names)
    return names


def trained(case: str, side: str, seed: int, outer: bool) -> list[Any]:
    """Loss and gradients of a step, with what autocast is like behind it."""
    torch.manual_seed(seed)
    names = load(case, side)
    model = names["Classifier"](8)
    x, labels = torch.randn(6, 8), torch.randint(3, (6,))
    with torch.autocast("cpu", dtype=torch.float16, enabled=outer):
        loss = names["train_step"](model, x, labels)
    return [loss.detach(), *(parameter.grad for parameter in model.parameters()), torch.is_autocast_enabled("cpu")]


def are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return bool(one.dtype == other.dtype) and torch.equal(one, other)
    return bool(one == other)


@pytest.mark.parametrize("outer", [False, True], ids=["alone", "inside another autocast"])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_bit_equal(seed: int, outer: bool) -> None:
    before, after = (trained("basic", side, seed, outer) for side in ("before", "after"))
    assert len(before) == len(after)
    assert all(map(are_equal, before, after))


@pytest.mark.parametrize("side", ["before", "after"])
def test_the_output_is_in_the_dtype_of_the_region(side: str) -> None:
    names = load("may_hold_its_own_kind", side)
    assert names["run"](torch.ones(2, 4)).dtype == torch.float32
    wrapper = names["Wrapper"](torch.nn.Linear(4, 4))
    assert wrapper(torch.ones(2, 4)).dtype == (torch.bfloat16 if side == "after" else torch.float32)
    assert not torch.is_autocast_enabled("cpu")


def test_explain_names_the_source_against_backward_under_autocast() -> None:
    shown = " ".join(explain("scope_autocast").split())
    assert "docs.pytorch.org/docs/stable/amp.html" in shown
    assert "not recommended" in shown
