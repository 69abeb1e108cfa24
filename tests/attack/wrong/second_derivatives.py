"""The program differentiates twice: a gradient that is right once and wrong after that."""

from tests.attack.bank import Rewrite, calls

CUBE = """\
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, given):
        (x,) = ctx.saved_tensors
        return given * 3 * x * x


def slope(x):
    y = Cube.apply(x)
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return grad


def penalty(x):
    grad = slope(x)
    return ((grad.norm() - 1) ** 2) + Cube.apply(x).sum()
"""
LEAF = "(torch.arange(1.0, 4.0).requires_grad_(),)"

ROWS = (
    Rewrite(
        "the graph of the gradient is not made",
        CUBE,
        {"return grad\n": "return grad.detach()\n"},
        calls("module.slope", LEAF),
    ),
    Rewrite(
        "the saved tensor is detached",
        CUBE,
        {"given * 3 * x * x": "given * 3 * x.detach() * x.detach()"},
        calls("module.slope", LEAF),
    ),
    Rewrite(
        "half of the second derivative",
        CUBE,
        {"given * 3 * x * x": "given * 3 * x * x.detach()"},
        calls("module.penalty", LEAF),
    ),
    Rewrite(
        "the backward runs without gradients",
        CUBE,
        {"    def backward": "    @torch.autograd.function.once_differentiable\n    def backward"},
        calls("module.slope", LEAF),
    ),
)
