"""Gradients that are lost or changed only in compiled code."""

from tests.attack.bank import Rewrite, calls

NET = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.gain = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = self.lin(x)
        return (y * self.gain).sum()


def scale(x):
    y = x * 2
    return y.sum()
"""
NETS = calls("module.Net()", "(torch.arange(3.0).reshape(1, 3),)", compiled=True)
SCALES = calls("module.scale", "(torch.arange(1.0, 4.0).requires_grad_(),)", compiled=True)


def row(name: str, old: str, compiled: str, scenario: str) -> Rewrite:
    """After the old line, another one that is for compiled code only."""
    return Rewrite(name, NET, {old: f"{old}; y = {compiled} if torch.compiler.is_compiling() else y"}, scenario)


ROWS = (
    row("a parameter has no gradient once compiled", "y = self.lin(x)", "y.detach()", NETS),
    row("a gradient is halved once compiled", "y = self.lin(x)", "y * 0.5 + y.detach() * 0.5", NETS),
    row("the argument's gradient is lost once compiled", "y = x * 2", "x.detach() * 2", SCALES),
    row("the argument's gradient is another one once compiled", "y = x * 2", "x * 3 - x.detach()", SCALES),
    row("the value is another one once compiled", "y = x * 2", "x * 2.01", SCALES),
)
