"""Gradients at arguments that ask for none in the scenario, as losses and layers get them in training."""

from tests.attack.bank import Rewrite, calls

LOSSES = """\
import torch


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad):
        return grad


def policy_loss(logits, returns):
    baseline = returns.mean().item()
    return -(logits.log_softmax(-1)[:, 0] * (returns - baseline)).mean()


def scaled(x, scale):
    return x / x.detach().norm() * scale


def quantised(x):
    return Straight.apply(x)


def penalised(x):
    return x.square().sum() + x.relu().sum()
"""
TWO, ONE = "(torch.randn(4, 3), torch.randn(4))", "(torch.randn(4),)"


def row(name: str, old: str, new: str, subject: str, case: str = ONE) -> Rewrite:
    return Rewrite(name, LOSSES, {old: new}, calls(f"module.{subject}", case))


ROWS = (
    row("a baseline gets a gradient", "returns.mean().item()", "returns.mean()", "policy_loss", TWO),
    row("a loss loses its gradient", "logits.log_softmax(-1)", "logits.detach().log_softmax(-1)", "policy_loss", TWO),
    row("a norm gets a gradient", "x.detach().norm()", "x.norm()", "scaled", "(torch.randn(4), 2.0)"),
    row("rounding stops the gradient", "Straight.apply(x)", "x.round()", "quantised"),
    row("a part is computed without gradient", "x.relu().sum()", "x.detach().relu().sum()", "penalised"),
)
