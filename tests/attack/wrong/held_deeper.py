"""State that is held by a holder of a holder, or by an object that does not show it readily."""

from tests.attack.bank import Rewrite, calls

HELD = """\
import functools
import weakref

import torch

NOTES = weakref.WeakKeyDictionary()


class Meter:
    def __init__(self):
        self.total = 0.0

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __repr__(self):
        return "Meter()"

    def add(self, x):
        self.total += float(x.sum())
        return x + 1


class Log(list):
    name = ""


class Settings(dict):
    pass


class Singleton:
    instance = None

    def __init__(self):
        self.count = 0

    @classmethod
    def get(cls):
        cls.instance = cls.instance or cls()
        return cls.instance


def guarded(function):
    @functools.wraps(function)
    def run(x):
        return function(x)

    return run


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.meter = Meter()
        self.log = Log()
        self.settings = Settings(rate=1.0)
        self.lin = torch.nn.Linear(3, 3)
        meter = Meter()
        self.lin.register_forward_hook(lambda module, args, out: meter.add(args[0]) * 0 + out)

    def forward(self, x):
        self.log.name = f"run {len(x)}"
        self.settings.seen = len(x)
        NOTES[self] = x.sum().item()
        return self.lin(x)

    def measure(self, x):
        return self.meter.add(x)


def single(x):
    Singleton.get().count += 1
    return x + 1
"""
X = ("(torch.ones(3),)", "(torch.arange(3.0),)")
ADD = "self.total += float(x.sum())"


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, HELD, {old: new}, calls(subject, *X))


ROWS = (
    row("a bound method in a partial", ADD, "self.total = 1.0", "functools.partial(module.Meter().add)"),
    row("a bound method in a wrapper", ADD, "self.total = 1.0", "module.guarded(module.Meter().add)"),
    row("a bound method in a lambda's default", ADD, "self.total = 1.0", "lambda x, add=module.Meter().add: add(x)"),
    row("an object that is equal to all", ADD, "self.total = 1.0", "module.Net().measure"),
    row("an object in the cell of a hook", ADD, "self.total = 1.0", "module.Net()"),
    row("an attribute of a list", 'self.log.name = f"run {len(x)}"', 'self.log.name = "run"', "module.Net()"),
    row("an attribute of a dict", "self.settings.seen = len(x)", "self.settings.seen = 0", "module.Net()"),
    row("a weak dict of the module", "NOTES[self] = x.sum().item()", "NOTES[self] = 0.0", "module.Net()"),
    row("a single object of a class", "Singleton.get().count += 1", "Singleton().count += 1", "module.single"),
)
