"""Iterators and generators: how far they are read, and when."""

from tests.attack.bank import Rewrite, calls

READING = """\
import itertools

import torch


def first(batches):
    return next(batches) * 2


def two(batches):
    return sum(itertools.islice(batches, 2))


def peek(batches):
    head = next(batches)
    return itertools.chain([head], batches)


class Loader:
    def __init__(self):
        self.data = iter([torch.ones(2) * i for i in range(6)])
        self.indexes = (i for i in range(10))

    def __call__(self, scale):
        if scale > 1 and next(self.indexes) >= 0:
            scale += 1
        return next(self.data) * scale


def both(batches):
    items = list(batches)
    return sum(items), len(items)


def talk(x):
    def run():
        got = yield x
        yield got

    return run()
"""
BATCHES = "(iter([torch.ones(2), torch.ones(2) * 2, torch.ones(2) * 3]),)"


def row(name: str, old: str, new: str, subject: str, *cases: str) -> Rewrite:
    return Rewrite(name, READING, {old: new}, calls(f"module.{subject}", *(cases or (BATCHES,))))


ROWS = (
    row("everything is read for the first", "return next(batches) * 2", "return list(batches)[0] * 2", "first"),
    row("one more is read", "sum(itertools.islice(batches, 2))", "sum(b for b, _ in zip(batches, range(2)))", "two"),
    row("the head is lost", "return itertools.chain([head], batches)", "return itertools.chain([], batches)", "peek"),
    row(
        "the loader's iterator is read twice",
        "return next(self.data) * scale",
        "return next(self.data) * 0 + next(self.data) * scale",
        "Loader()",
        "(1,)",
        "(1,)",
    ),
    row(
        "an index is drawn although it is not needed",
        "if scale > 1 and next(self.indexes) >= 0:",
        "if next(self.indexes) >= 0 and scale > 1:",
        "Loader()",
        "(1,)",
        "(2,)",
    ),
    row(
        "read before it is counted",
        "    return sum(items), len(items)",
        "    return sum(items), len(list(batches))",
        "both",
    ),
)
