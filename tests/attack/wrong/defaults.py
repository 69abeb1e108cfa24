"""Signatures: another default, other names, what is still accepted."""

from tests.attack.bank import Rewrite, calls

SIGNATURES = """\
import torch


def loss(x, reduction="mean", eps=1e-5):
    y = (x + eps).log()
    return y.mean() if reduction == "mean" else y.sum()


def clip(x, low=-1.0, high=1.0):
    return x.clamp(low, high)


def blend(x, *, weight=0.5):
    return x * weight


def flexible(x, *rest, **options):
    return x + len(rest) + len(options)


class Net(torch.nn.Module):
    def __init__(self, width=4, bias=True):
        super().__init__()
        self.lin = torch.nn.Linear(3, width, bias=bias)

    def forward(self, x, mask=None):
        y = self.lin(x)
        return y if mask is None else y * mask
"""
X = "torch.ones(2, 3)"


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, SIGNATURES, {old: new}, calls(f"module.{subject}", *(cases or (f"({X},)",))))


ROWS = (
    row("another string", 'reduction="mean", eps', 'reduction="sum", eps', "loss"),
    row("another number", "eps=1e-5", "eps=1e-6", "loss"),
    row("two parameters change places", "low=-1.0, high=1.0", "high=1.0, low=-1.0", "clip", f"({X}, 0.0, 0.5)"),
    row(
        "a parameter has another name",
        "def blend(x, *, weight=0.5):\n    return x * weight",
        "def blend(x, *, scale=0.5):\n    return x * scale",
        "blend",
        f'{{"x": {X}, "weight": 0.25}}',
        f'{{"x": {X}}}',
    ),
    row(
        "keywords are not accepted",
        "def flexible(x, *rest, **options):",
        "def flexible(x, *rest):\n    options = {}",
        "flexible",
        f'{{"x": {X}, "a": 1}}',
        f"({X}, 1)",
    ),
    row("a layer without its bias", "bias=True", "bias=False", "Net()"),
    row("a layer of another width", "width=4", "width=5", "Net()"),
    row(
        "an empty mask is none",
        "if mask is None else",
        "if mask is None or not mask.any() else",
        "Net()",
        f"({X}, torch.zeros(4))",
    ),
    row(
        "keyword only becomes positional",
        "def blend(x, *, weight=0.5)",
        "def blend(x, weight=0.5)",
        "blend",
        f"({X}, 2.0)",
        f"({X},)",
    ),
)
