"""Attributes and mutable defaults of functions outlive a call."""

from tests.attack.bank import Rewrite, calls

FUNCTIONS = """\
import functools

import torch


def tracked(x):
    tracked.calls += 1
    tracked.shapes.append(len(x))
    return x + 1


tracked.calls = 0
tracked.shapes = []


def gather(x, into=[]):
    into.append(x.sum().item())
    return x * 2


def keyword(x, *, memo={}):
    memo[len(x)] = x.max().item()
    return x - 1


def helper(x, seen={"count": 0}):
    seen["count"] += 1
    return x


def caller(x):
    return helper(x) * 2


def counted(function):
    @functools.wraps(function)
    def run(x):
        run.count += 1
        return function(x)

    run.count = 0
    return run


@counted
def wrapped(x):
    return x / 2
"""
TWICE = ("(torch.ones(3),)", "(torch.ones(2),)")


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, FUNCTIONS, {old: new}, calls(f"module.{subject}", *TWICE))


ROWS = (
    row("an attribute is not counted", "    tracked.calls += 1\n", "    tracked.calls = 1\n", "tracked"),
    row("a list that is an attribute", "    tracked.shapes.append(len(x))\n", "", "tracked"),
    row("a mutable default", "    into.append(x.sum().item())\n", "    into = into + [x.sum().item()]\n", "gather"),
    row(
        "the default becomes None", "def gather(x, into=[]):\n", "def gather(x, into=None):\n    into = []\n", "gather"
    ),
    row("a keyword's default", "memo[len(x)] = x.max().item()", "memo[len(x)] = x.sum().item()", "keyword"),
    row("the default of a helper", '    seen["count"] += 1\n', "", "caller"),
    row("an attribute of a wrapper", "        run.count += 1\n", "", "wrapped"),
)
