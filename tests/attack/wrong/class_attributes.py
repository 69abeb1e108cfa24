"""State on classes is shared by all of their objects."""

from tests.attack.bank import Rewrite, calls

CLASSES = """\
import torch


class Base:
    created = 0
    cache = {}


class Net(torch.nn.Module):
    calls = 0
    shapes = []

    def forward(self, x):
        Net.calls += 1
        self.shapes.append(tuple(x.shape))
        type(self).newest = x.sum().item()
        return x * 2


class Child(Base):
    @classmethod
    def make(cls, x):
        Base.created += 1
        cls.cache[len(x)] = x.mean().item()
        return x + 1


class Meta(type):
    total = 0


class Counted(metaclass=Meta):
    @staticmethod
    def run(x):
        Meta.total += 1
        return x - 1
"""
TWICE = ("(torch.ones(3),)", "(torch.ones(2),)")
NET = calls("module.Net()", *TWICE)
CHILD = calls("module.Child.make", *TWICE)

ROWS = (
    Rewrite("the count goes to the object", CLASSES, {"        Net.calls += 1\n": "        self.calls += 1\n"}, NET),
    Rewrite(
        "a list of the class becomes one of the object",
        CLASSES,
        {"self.shapes.append(tuple(x.shape))": "self.shapes = self.shapes + [tuple(x.shape)]"},
        NET,
    ),
    Rewrite("an attribute is not set", CLASSES, {"        type(self).newest = x.sum().item()\n": ""}, NET),
    Rewrite("the subclass counts for itself", CLASSES, {"Base.created += 1": "cls.created += 1"}, CHILD),
    Rewrite("a dict of the base class", CLASSES, {"cls.cache[len(x)] =": "cls.cache[0] ="}, CHILD),
    Rewrite("state of a metaclass", CLASSES, {"        Meta.total += 1\n": ""}, calls("module.Counted.run", *TWICE)),
)
