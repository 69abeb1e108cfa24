"""What a closure or a lambda keeps in its cells is state of the program."""

from tests.attack.bank import Rewrite, calls

COUNTER = """\
import torch


def counter():
    count = 0
    history = []
    mean = torch.zeros(3)

    def run(x):
        nonlocal count
        count += 1
        history.append(count)
        mean.mul_(0.9).add_(x, alpha=0.1)
        return x * 2

    return run


def scaled(model, x):
    model.scale *= 2
    return x + 1


class Model:
    scale = 1.0

    def __init__(self):
        self.scale = 1.0


def outer():
    kept = {}

    def inner(x):
        kept[len(kept)] = x.sum()
        return x

    def middle(x):
        return inner(x) * 3

    return middle
"""
TWICE = ("(torch.ones(3),)", "(torch.arange(3.0),)")

ROWS = (
    Rewrite(
        "a nonlocal number is not counted",
        COUNTER,
        {"        count += 1\n": "        count = count\n"},
        calls("module.counter()", *TWICE),
    ),
    Rewrite(
        "a list in a cell is not grown",
        COUNTER,
        {"        history.append(count)\n": "        history[:] = []\n"},
        calls("module.counter()", *TWICE),
    ),
    Rewrite(
        "a tensor in a cell is not updated",
        COUNTER,
        {"mean.mul_(0.9).add_(x, alpha=0.1)": "mean.mul(0.9).add_(x, alpha=0.1)"},
        calls("module.counter()", *TWICE),
    ),
    Rewrite(
        "an object that a lambda holds",
        COUNTER,
        {"    model.scale *= 2\n": ""},
        calls(
            "held()",
            *TWICE,
            more="\ndef held():\n    model = module.Model()\n    return lambda x: module.scaled(model, x)\n",
        ),
    ),
    Rewrite(
        "an object that is a lambda's default",
        COUNTER,
        {"    model.scale *= 2\n": "    model.scale *= 3\n"},
        calls("lambda x, model=module.Model(): module.scaled(model, x)", *TWICE),
    ),
    Rewrite(
        "a closure within a closure",
        COUNTER,
        {"kept[len(kept)] = x.sum()": "kept[0] = x.sum()"},
        calls("module.outer()", *TWICE),
    ),
)
