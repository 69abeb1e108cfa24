"""Inputs at the edge: empty, one element, NaN, infinite, zero with a sign, the largest integer."""

from tests.attack.bank import Rewrite, calls

EDGES = """\
import torch


def average(x):
    return x.mean() if x.numel() else torch.zeros(())


def spread(x):
    return x.std(correction=1)


def largest(x):
    return torch.maximum(x, torch.zeros_like(x))


def safe(x):
    return torch.where(x.isnan(), torch.zeros_like(x), x)


def is_same(x):
    return bool((x == x).all())


def inverse(x):
    return 1 / x


def middle(x):
    return x // 2


def double(x):
    return x + x


def squeeze(x):
    return x.squeeze(0)


def first(items):
    return items[0] if items else None


def rest(x):
    return torch.fmod(x, 3)


def rounded(x):
    return x.round()
"""
NAN = "(torch.tensor([1.0, float('nan'), -2.0]),)"


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, EDGES, {old: new}, calls(f"module.{subject}", "(torch.tensor([1.0, 2.0]),)", *cases))


ROWS = (
    row("the mean of nothing", "x.mean() if x.numel() else torch.zeros(())", "x.mean()", "average", "(torch.ones(0),)"),
    row("the spread of one", "x.std(correction=1)", "x.std(correction=1).nan_to_num()", "spread", "(torch.ones(1),)"),
    row("NaN is dropped", "torch.maximum(", "torch.fmax(", "largest", NAN),
    row(
        "infinity is replaced, too",
        "torch.where(x.isnan(), torch.zeros_like(x), x)",
        "x.nan_to_num()",
        "safe",
        "(torch.tensor([math.inf]),)".replace("math.inf", "float('inf')"),
    ),
    row("NaN is equal to itself", "bool((x == x).all())", "True", "is_same", NAN),
    row("the sign of zero", "1 / x", "1 / (x + 0)", "inverse", "(torch.tensor([-0.0]),)"),
    row(
        "towards zero and not down",
        "x // 2",
        "torch.div(x, 2, rounding_mode='trunc')",
        "middle",
        "(torch.tensor([-3.0]),)",
    ),
    row("an integer overflows", "x + x", "(x.double() * 2).to(x.dtype)", "double", "(torch.tensor([2**62 + 1]),)"),
    row("all dimensions of one", "x.squeeze(0)", "x.squeeze()", "squeeze", "(torch.ones(1, 1, 2),)"),
    Rewrite(
        "an empty list",
        EDGES,
        {"items[0] if items else None": "items[0]"},
        calls("module.first", "([1],)", "([],)"),
    ),
    row("the sign of the remainder", "torch.fmod(x, 3)", "x % 3", "rest", "(torch.tensor([-4.0]),)"),
    row("halves are rounded up", "x.round()", "(x + 0.5).floor()", "rounded", "(torch.tensor([0.5, 2.5]),)"),
)
