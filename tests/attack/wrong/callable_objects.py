"""Objects with __call__, bound methods and trainers hold state, at any depth."""

from tests.attack.bank import Rewrite, calls

TRAINER = """\
import collections

import torch


class Averager:
    def __init__(self):
        self.decay = 0.9
        self.shadow = torch.zeros(3)
        self.window = collections.deque(maxlen=2)

    def update(self, x):
        self.shadow.lerp_(x, 1 - self.decay)
        self.window.append(x.sum().item())


class Slotted:
    __slots__ = ("total",)

    def __init__(self):
        self.total = 0.0


class Trainer:
    def __init__(self):
        self.average = Averager()
        self.nets = {"policy": [torch.nn.Linear(3, 3)]}
        self.slotted = Slotted()
        self.epoch = iter(range(100))
        self._private = set()

    def __call__(self, x):
        self.average.update(x)
        next(self.epoch)
        self._private.add(int(x.sum()))
        return x.clone()

    def step(self, x):
        self.slotted.total += float(x.sum())
        with torch.no_grad():
            self.nets["policy"][0].bias += 1
        return x * 2
"""
TWICE = ("(torch.ones(3),)", "(torch.arange(3.0),)")

ROWS = (
    Rewrite(
        "a tensor two objects deep",
        TRAINER,
        {"self.shadow.lerp_(": "self.shadow.lerp("},
        calls("module.Trainer()", *TWICE),
    ),
    Rewrite(
        "a deque two objects deep",
        TRAINER,
        {"self.window.append(x.sum().item())": "self.window.appendleft(x.sum().item())"},
        calls("module.Trainer()", "(torch.ones(3),)", "(torch.ones(3) * 2,)"),
    ),
    Rewrite(
        "an iterator that is held goes on twice",
        TRAINER,
        {"next(self.epoch)": "next(self.epoch), next(self.epoch)"},
        calls("module.Trainer()", *TWICE),
    ),
    Rewrite(
        "a set that is held",
        TRAINER,
        {"self._private.add(int(x.sum()))": "self._private.add(0)"},
        calls("module.Trainer()", *TWICE),
    ),
    Rewrite(
        "a slot behind a bound method",
        TRAINER,
        {"self.slotted.total += float(x.sum())": "self.slotted.total = float(x.sum())"},
        calls("module.Trainer().step", *TWICE),
    ),
    Rewrite(
        "a net in a list in a dict behind a bound method",
        TRAINER,
        {'self.nets["policy"][0].bias += 1': 'self.nets["policy"][0].bias + 1'},
        calls("module.Trainer().step", *TWICE),
    ),
)
