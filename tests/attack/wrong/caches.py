"""Values that are kept: too long, under the wrong key, as the one that a caller writes to."""

from tests.attack.bank import Rewrite, calls

CACHES = """\
import functools

import torch


class Table:
    def __init__(self):
        self.known = {}
        self.positions = torch.arange(8.0)
        self.weight = 1.0

    def mask(self, n, dtype):
        key = (n, dtype)
        if key not in self.known:
            self.known[key] = torch.ones(n, dtype=dtype)
        return self.known[key].clone()

    def scaled(self, x):
        self.weight += 1
        return x * self.weight

    def position(self, n):
        return self.positions[:n].clone()


def zeros(n):
    return torch.zeros(n)


def power(x, n):
    return x**n


def total(x):
    return x.sum()


def use(x):
    first = zeros(3)
    first += x
    return first, zeros(3)
"""


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, CACHES, {old: new}, calls(f"module.{subject}", *cases))


X = ("(torch.ones(3),)", "(torch.ones(3) * 2,)")
ROWS = (
    row(
        "the key has no dtype", "key = (n, dtype)", "key = n", "Table().mask", "(3, torch.float32)", "(3, torch.int64)"
    ),
    row(
        "the cached tensor is given away",
        "return self.known[key].clone()",
        "return self.known[key]",
        "Table().mask",
        "(3, torch.float32)",
        "(3, torch.float32)",
    ),
    row("an old number is used", "return x * self.weight", "return x * 2.0", "Table().scaled", *X),
    row(
        "the buffer is given away",
        "return self.positions[:n].clone()",
        "return self.positions[:n]",
        "Table().position",
        "(3,)",
    ),
    row(
        "a function that makes new tensors is cached", "def zeros(n):", "@functools.lru_cache\ndef zeros(n):", "use", *X
    ),
    Rewrite(
        "cached by the object and not by the value",
        CACHES,
        {"def total(x):": "@functools.lru_cache\ndef total(x):"},
        calls("twice", *X, more="\ndef twice(x):\n    return module.total(x), module.total(x.add_(1))\n"),
    ),
    row(
        "cached by the first argument",
        "    return x**n\n",
        "    return power.__dict__.setdefault(len(x), x**n)\n",
        "power",
        "(torch.arange(3.0), 2)",
        "(torch.arange(3.0), 3)",
    ),
    row(
        "nothing is remembered",
        "            self.known[key] = torch",
        "            return torch",
        "Table().mask",
        "(3, torch.float32)",
    ),
)
