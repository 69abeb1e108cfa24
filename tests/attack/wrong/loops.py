"""Loops with several rounds: one too few, one too many, what one round leaves to the next."""

from tests.attack.bank import Rewrite, calls

LOOPS = """\
import torch


def discount(rewards):
    total, out = torch.zeros(()), []
    for reward in reversed(rewards):
        total = reward + 0.9 * total
        out.insert(0, total)
    return torch.stack(out)


def chunks(x):
    return [x[i : i + 2].sum() for i in range(0, len(x), 2)]


def smooth(x):
    y = x.clone()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i]
    return y


def pairs(x):
    return [x[i] * x[j] for i in range(len(x)) for j in range(i + 1, len(x))]


def search(x):
    for i in range(len(x)):
        if x[i] > 2:
            return i
    return -1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(5, 5) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


def makers(x):
    made = [lambda y, i=i: y * i for i in range(3)]
    return [make(x) for make in made]
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(
        name, LOOPS, {old: new}, calls(f"module.{subject}", "(torch.arange(5.0),)", compiled=subject == "Net()")
    )


ROWS = (
    row("from the front", "in reversed(rewards)", "in rewards", "discount"),
    row("the last chunk is lost", "range(0, len(x), 2)", "range(0, len(x) - 1, 2)", "chunks"),
    row("a recurrence made parallel", "y[i] = 0.5 * y[i - 1]", "y[i] = 0.5 * x[i - 1]", "smooth"),
    row("pairs with themselves", "range(i + 1, len(x))", "range(i, len(x))", "pairs"),
    row(
        "the last one and not the first",
        "for i in range(len(x)):\n        if",
        "for i in reversed(range(len(x))):\n        if",
        "search",
    ),
    row("one layer less", "for layer in self.layers:", "for layer in self.layers[:-1]:", "Net()"),
    row(
        "layers do not see each other",
        "x = x + layer(x)",
        "y = x; x = x + layer(y) * (layer is self.layers[0])",
        "Net()",
    ),
    row("every function has the last number", "lambda y, i=i: y * i", "lambda y: y * i", "makers"),
)
