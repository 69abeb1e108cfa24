"""What a caller can still do with a tensor: differentiate it, write to it, watch its gradient."""

from tests.attack.bank import Rewrite, calls

FLAGS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 2)
        self.target = torch.nn.Linear(3, 2)

    def forward(self, x):
        y = self.lin(x)
        return y, y.detach()

    def values(self, x):
        with torch.no_grad():
            return self.target(x)

    def freeze(self, x):
        for parameter in self.target.parameters():
            parameter.requires_grad_(False)
        return x + 1


def noise(x):
    return torch.full_like(x, 0.5).requires_grad_()


def watched(x):
    y = x * 2
    y.retain_grad()
    return y, (y * y).sum()


def mark(x):
    x.requires_grad_()
    return x.detach() * 2


def frozen_output(x):
    y = x * 3
    return y.detach()
"""
ONE = "(torch.arange(3.0).reshape(1, 3),)"
LEAF = "(torch.arange(3.0).requires_grad_(),)"

ROWS = (
    Rewrite(
        "inference mode for no_grad",
        FLAGS,
        {"with torch.no_grad():": "with torch.inference_mode():"},
        calls("module.Net().values", ONE),
    ),
    Rewrite(
        "gradients reach the target",
        FLAGS,
        {"        with torch.no_grad():\n            return": "        if True:\n            return"},
        calls("module.Net().values", ONE),
    ),
    Rewrite(
        "the second output is attached",
        FLAGS,
        {"return y, y.detach()": "return y, y.clone()"},
        calls("module.Net()", ONE),
    ),
    Rewrite(
        "the first output is detached",
        FLAGS,
        {"return y, y.detach()": "return y.detach(), y.detach().clone()"},
        calls("module.Net()", ONE),
    ),
    Rewrite(
        "parameters stay trainable",
        FLAGS,
        {"parameter.requires_grad_(False)": "parameter.requires_grad_(True)"},
        calls("module.Net().freeze", ONE),
    ),
    Rewrite(
        "a new leaf is no leaf",
        FLAGS,
        {").requires_grad_()\n\n\ndef watched": ").requires_grad_() * 1.0\n\n\ndef watched"},
        calls("module.noise", ONE),
    ),
    Rewrite("a leaf without gradients", FLAGS, {"0.5).requires_grad_()": "0.5)"}, calls("module.noise", ONE)),
    Rewrite("a gradient is not retained", FLAGS, {"    y.retain_grad()\n": ""}, calls("module.watched", LEAF)),
    Rewrite(
        "the argument is not marked",
        FLAGS,
        {"    x.requires_grad_()\n": ""},
        calls("module.mark", "(torch.arange(3.0),)"),
    ),
    Rewrite(
        "frozen by zero and not by detach",
        FLAGS,
        {"return y.detach()\n": "return y.detach() + 0 * x\n"},
        calls("module.frozen_output", LEAF),
    ),
)
