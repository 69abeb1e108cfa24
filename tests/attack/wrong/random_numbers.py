"""Random numbers: drawn in another order, another number of times, from another generator."""

from tests.attack.bank import Rewrite, calls

DRAWING = """\
import random

import torch

OWN = torch.Generator().manual_seed(3)


def noisy(x):
    a = torch.rand(3)
    b = torch.randn(3)
    return x + a * b


def masked(x):
    mask = torch.rand(3) > 2
    return x.masked_fill(mask, 0)


def shuffled(x):
    order = list(range(len(x)))
    random.shuffle(order)
    return x.sum()


def own(x):
    torch.rand(2, generator=OWN)
    return x + 1


class Sampler:
    def __init__(self):
        self.generator = torch.Generator().manual_seed(0)
        self.python = random.Random(0)

    def draw(self, x):
        torch.rand(1, generator=self.generator)
        self.python.random()
        return x + 1


def seeded(x):
    return x + torch.rand(3)
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, DRAWING, {old: new}, calls(f"module.{subject}", "(torch.ones(3),)", "(torch.zeros(3),)"))


ROWS = (
    row(
        "drawn the other way round",
        "    a = torch.rand(3)\n    b = torch.randn(3)\n",
        "    b = torch.randn(3)\n    a = torch.rand(3)\n",
        "noisy",
    ),
    row("a draw that changes nothing is left out", "torch.rand(3) > 2", "torch.zeros(3) > 2", "masked"),
    row("Python's generator is not used", "    random.shuffle(order)\n", "", "shuffled"),
    row("a generator of the module draws more", "torch.rand(2, generator=OWN)", "torch.rand(3, generator=OWN)", "own"),
    row("a generator of an object draws more", "torch.rand(1, gen", "torch.rand(2, gen", "Sampler().draw"),
    row("a random.Random of an object is not used", "        self.python.random()\n", "", "Sampler().draw"),
    row(
        "seeded with zero in each call",
        "    return x + torch.rand(3)\n",
        "    torch.manual_seed(0)\n    return x + torch.rand(3)\n",
        "seeded",
    ),
    row("uniform for normal", "b = torch.randn(3)", "b = torch.rand(3)", "noisy"),
    Rewrite(
        "seeded anew before each draw",
        DRAWING,
        {"    return x + torch.rand(3)\n": "    torch.manual_seed(0)\n    return x + torch.rand(3)\n"},
        calls("lambda x: (module.seeded(x), module.seeded(x))", "(torch.ones(3),)"),
    ),
)
