# mypy: disable-error-code="no-untyped-call, arg-type"
"""The backward pass without torch's engine gives what the engine gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from fullgraph.validate.worker.devices import backward

Program = Callable[[Tensor, Tensor], Tensor]


class Weighted(torch.autograd.Function):
    """Two outputs, and an argument that is no tensor between two that are."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: float, y: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x, y)
        ctx.weight = weight
        return x * y * weight, x + y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (x, y), (product, total) = ctx.saved_tensors, gradients
        return product * y * ctx.weight + total, None, product * x * ctx.weight + total


def write_into_a_view(x: Tensor, w: Tensor) -> Tensor:
    y = x.clone()
    y[0] = w
    y[1:].mul_(2)
    return (y * y).sum()


PROGRAMS: dict[str, Program] = {
    "broadcast": lambda x, w: ((x * w).relu() + w).sum(),
    "layers": lambda x, w: nn.functional.layer_norm(x @ x.T, (3,)).tanh().mean() + w.sum(),
    "two dtypes": lambda x, w: (x.double() * w).sum(),
    "view": write_into_a_view,
    "parts": lambda x, w: (x.split(2, 1)[0] * x.split(2, 1)[1]).sum() + x.unbind(0)[1].dot(w),
    "mask": lambda x, w: x[x > 0].sum() * w[0],
    "function": lambda x, w: sum((part.sum() for part in Weighted.apply(x, 3.0, w.expand(3, 4))), torch.zeros(())),
    "one of two outputs": lambda x, w: Weighted.apply(x, 3.0, w.expand(3, 4))[1].sum(),
    "unused": lambda x, w: x.sum(),
    "recurrent": lambda x, w: nn.RNN(4, 3)(x[:, None])[0].sum() + w.sum(),
    "checkpoint": lambda x, w: torch.utils.checkpoint.checkpoint(lambda x: (x * w).sin(), x, use_reentrant=False).sum(),
}


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    return lambda: monkeypatch.setattr(torch.autograd, "_engine_run_backward", backward.run_backward)


def leaves() -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return torch.randn(3, 4, requires_grad=True), torch.randn(4, requires_grad=True)


def run_backward(program: Program, times: int = 2) -> list[Tensor | None]:
    x, w = leaves()
    for _ in range(times):
        program(x, w).backward()
    return [x.grad, w.grad]


def run_grad(program: Program) -> list[Tensor | None]:
    x, w = leaves()
    return list(torch.autograd.grad(program(x, w), [x, w], allow_unused=True))


def run_twice(program: Program) -> list[Tensor | None]:
    x, w = leaves()
    first = torch.autograd.grad(program(x, w), [x, w], create_graph=True, allow_unused=True)
    total = sum(((gradient * gradient).sum() for gradient in first if gradient is not None), torch.zeros(()))
    return list(torch.autograd.grad(total + 0 * x.sum(), [x, w], allow_unused=True))


@pytest.mark.parametrize("run", [run_backward, run_grad, run_twice])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_the_engines(name: str, run: Any, no_engine: Callable[[], None]) -> None:
    expected = run(PROGRAMS[name])
    no_engine()
    torch.testing.assert_close(run(PROGRAMS[name]), expected, rtol=1e-6, atol=1e-7)


def test_the_gradient_of_what_is_no_leaf_can_be_asked_for(no_engine: Callable[[], None]) -> None:
    no_engine()
    x, w = leaves()
    between = x * w
    (gradient,) = torch.autograd.grad((between * between).sum(), between)
    torch.testing.assert_close(gradient, 2 * between)
    assert x.grad is None


def test_what_was_not_used_is_an_error_as_in_the_engine(no_engine: Callable[[], None]) -> None:
    no_engine()
    x, w = leaves()
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(x.sum(), w)


def test_hooks_of_leaves_are_called(no_engine: Callable[[], None]) -> None:
    no_engine()
    x, _ = leaves()
    seen: list[Tensor] = []
    x.register_hook(lambda gradient: gradient * 10)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    x.sum().backward()
    torch.testing.assert_close(seen, [torch.full((3, 4), 10.0)])


def test_only_what_is_asked_for_gets_a_gradient(no_engine: Callable[[], None]) -> None:
    no_engine()
    x, w = leaves()
    (x * w).sum().backward(inputs=[w])
    assert x.grad is None
    assert w.grad is not None
