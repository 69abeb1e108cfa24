"""The type of numbers: promoted, narrowed, made plain Python."""

from tests.attack.bank import Rewrite, calls

TYPES = """\
import numpy
import torch


def total(x):
    return x.sum()


def scaled(x):
    return x * torch.tensor(2.0)


def count(x):
    return (x > 0).sum().item()


def mean(x):
    return x.double().mean().float()


def flag(x):
    return bool((x > 0).all())


def size(x):
    return x.shape


def host(x):
    return x.numpy().astype(numpy.float32)


def half(x):
    return x.half() + 1
"""


def row(name: str, old: str, new: str, subject: str, case: str = "(torch.tensor([0.1, 0.2, 0.3]),)") -> Rewrite:
    return Rewrite(name, TYPES, {old: new}, calls(f"module.{subject}", case))


ROWS = (
    row(
        "a sum of bytes wraps",
        "return x.sum()",
        "return x.sum(dtype=x.dtype)",
        "total",
        "(torch.tensor([200, 100], dtype=torch.uint8),)",
    ),
    row(
        "a constant with a dimension promotes",
        "torch.tensor(2.0)",
        "torch.tensor([2.0])",
        "scaled",
        "(torch.ones(3).half(),)",
    ),
    row("a number becomes a tensor", ".sum().item()", ".sum()", "count"),
    row("an int becomes a float", "(x > 0).sum().item()", "float((x > 0).sum())", "count"),
    row(
        "summed in single precision",
        "x.double().mean().float()",
        "x.mean()",
        "mean",
        "(torch.cat([torch.tensor([1e8]), torch.ones(99)]),)",
    ),
    row("a bool becomes an int", "return bool((x > 0).all())", "return int((x > 0).all())", "flag"),
    row("a size becomes a tuple", "return x.shape", "return tuple(x.shape)", "size"),
    row("an array of doubles", "numpy.float32", "numpy.float64", "host"),
    row("bfloat16 for half", "x.half() + 1", "x.bfloat16() + 1", "half"),
)
