"""Exceptions: another type, text, cause, or none."""

from tests.attack.bank import Rewrite, calls

RAISING = """\
import torch


class ShapeError(ValueError):
    def __init__(self, text, size):
        super().__init__(text)
        self.size = size


def check(x):
    if len(x) > 2:
        raise ShapeError(f"too long: {len(x)}", len(x))
    return x + 1


def chained(x):
    try:
        return x + 1 // int(x.sum().item())
    except ZeroDivisionError as error:
        raise RuntimeError("no sum") from error


def tidy(x, log):
    try:
        check(x)
    finally:
        log.append("closed")
    return x


def ends(x):
    if len(x) > 2:
        raise KeyboardInterrupt("stop")
    return x


def first(x):
    if len(x) > 2:
        raise KeyError("size")
    return x


def converted(x):
    if len(x) > 2:
        raise ValueError("size 3")
    return x
"""
TWO = ("(torch.ones(2),)", "(torch.ones(3),)")


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, RAISING, {old: new}, calls(f"module.{subject}", *(cases or TWO)))


ROWS = (
    row("another base class", "class ShapeError(ValueError)", "class ShapeError(Exception)", "check"),
    row("the base class is raised", "raise ShapeError(", "raise (lambda text, size: ValueError(text))(", "check"),
    row("another number in the text", 'f"too long: {len(x)}", len(x)', 'f"too long: {len(x) - 1}", len(x)', "check"),
    row("another attribute", "self.size = size", "self.size = size + 1", "check"),
    row("an exception is swallowed", 'raise ShapeError(f"too long: {len(x)}", len(x))', "return x", "check"),
    row("raised one element later", "len(x) > 2:\n        raise Shape", "len(x) > 3:\n        raise Shape", "check"),
    row(
        "the exception is not chained", " from error", " from None", "chained", "(torch.ones(2),)", "(torch.zeros(2),)"
    ),
    row(
        "not tidied up after it",
        "    finally:\n",
        "    except KeyError:\n",
        "tidy",
        "(torch.ones(2), [])",
        "(torch.ones(3), [])",
    ),
    row("an interrupt becomes an error", "KeyboardInterrupt(", "RuntimeError(", "ends"),
    row("two arguments in place of one", 'ValueError("size 3")', 'ValueError("size", 3)', "converted"),
    row("a key error becomes an index error", "KeyError(", "IndexError(", "first"),
)
