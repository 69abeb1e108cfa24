"""Autocast, and constants of another dtype."""

from tests.attack.bank import Rewrite, calls

CASTING = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.head = torch.nn.Linear(3, 1)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.lin(x)
        return self.head(y.float())

    def whole(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.lin(x)
            with torch.autocast("cpu", enabled=False):
                return self.head(y.float())


def padded(x):
    return torch.cat([x, torch.zeros(1, dtype=x.dtype)])


def pi(x):
    return x * torch.tensor(3.141592653589793, dtype=torch.float64)


def weight(x):
    return x * x.new_full((), 0.1)


def steps(x):
    return torch.linspace(0, 1, 4, dtype=torch.float64) + x
"""
X = "(torch.tensor([[0.1, 0.2, 0.3]]),)"


def row(name: str, old: str, new: str, subject: str, case: str = X) -> Rewrite:
    return Rewrite(name, CASTING, {old: new}, calls(f"module.{subject}", case))


CAST = '        with torch.autocast("cpu", dtype=torch.bfloat16):\n            y = self.lin(x)\n        return'
ROWS = (
    row("no autocast", CAST, "        y = self.lin(x)\n        return", "Net()"),
    row(
        "autocast around too much",
        "        return self.head(y.float())\n\n    def whole",
        "            return self.head(y.float())\n\n    def whole",
        "Net()",
    ),
    row("the inner region is cast, too", "enabled=False", "enabled=True", "Net().whole"),
    row(
        "autocast stays switched on",
        "    return x * x.new_full((), 0.1)\n",
        '    torch.set_autocast_enabled("cpu", True)\n    return x * x.new_full((), 0.1)\n',
        "weight",
    ),
    row("padding promotes", "torch.zeros(1, dtype=x.dtype)", "torch.zeros(1)", "padded", "(torch.ones(2).half(),)"),
    row(
        "a constant of single precision",
        "dtype=torch.float64)\n\n\ndef weight",
        "dtype=torch.float32)\n\n\ndef weight",
        "pi",
        "(torch.ones(2).double(),)",
    ),
    row("a constant is rounded first", "x.new_full((), 0.1)", "x.new_full((1,), 0.1).half().to(x.dtype)", "weight"),
    row(
        "steps of single precision",
        "linspace(0, 1, 4, dtype=torch.float64)",
        "linspace(0, 1, 4)",
        "steps",
        "(torch.ones(4).double(),)",
    ),
)
