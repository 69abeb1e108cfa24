"""A function, an iterator or an object that is returned is what it does, not what it is called."""

from tests.attack.bank import Rewrite, calls

RETURNING = """\
import functools

import torch


def scaler(x):
    factor = x.sum().item()

    def scale(y):
        return y * factor

    return scale


def ready(x):
    return functools.partial(torch.add, alpha=2)


def rows(x):
    for row in x:
        yield row * 2


def lazy(x):
    return map(lambda row: row + 1, x)


def walker(x):
    return iter([row * 2 for row in x])


class Result:
    def __init__(self, value):
        self._value = value

    def get(self):
        return self._value


def result(x):
    return Result(x.sum()).get


def table(x):
    return {"loss": lambda y: (y - x).square().mean()}


def kept(x, into):
    into["hook"] = lambda grad: grad * 2
    return x + 1
"""


def row(name: str, old: str, new: str, subject: str, case: str = "(torch.ones(3),)") -> Rewrite:
    return Rewrite(name, RETURNING, {old: new}, calls(f"module.{subject}", case))


ROWS = (
    row("a closure over another number", "x.sum().item()", "x.mean().item()", "scaler"),
    row("a closure with another body", "        return y * factor", "        return y / factor", "scaler"),
    row("a partial with other arguments", "alpha=2", "alpha=3", "ready"),
    row("a generator yields other values", "yield row * 2", "yield row * 3", "rows"),
    row("a generator ends early", "for row in x:", "for row in x[:-1]:", "rows"),
    row("a map with another function", "row + 1", "row + 2", "lazy"),
    row(
        "an iterator has begun",
        "return iter([row * 2 for row in x])",
        "it = iter([row * 2 for row in x]); next(it); return it",
        "walker",
    ),
    row("a bound method of another object", "Result(x.sum()).get", "Result(x.sum() + 1).get", "result"),
    row("a lambda in a dict", "square().mean()", "abs().mean()", "table"),
    row("a lambda left in an argument", "grad * 2", "grad * 4", "kept", "(torch.ones(3), {})"),
)
