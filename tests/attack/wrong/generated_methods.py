"""How results compare, which no line of code says; and whether a sparse one is ready to be read."""

from tests.attack.bank import Rewrite, calls

RESULTS = """\
import dataclasses

import torch


@dataclasses.dataclass(eq=True)
class Stats:
    loss: float
    note: str = dataclasses.field(default="", compare=True)


def measure(x):
    return Stats(float(x.sum()))


def edges(x):
    made = torch.sparse_coo_tensor(torch.tensor([[0, 0, 2]]), x, (3,))
    return made.coalesce()
"""


def row(name: str, old: str, new: str, subject: str = "measure") -> Rewrite:
    moved = {"float(x.sum())": "float(x.sum(0))"} if subject == "measure" else {}
    return Rewrite(name, RESULTS, {old: new, **moved}, calls(f"module.{subject}", "(torch.ones(3),)"))


ROWS = (
    row("equality is identity", "(eq=True)", "(eq=False)"),
    row("results can be ordered", "(eq=True)", "(eq=True, order=True)"),
    row("a field is left out of comparisons", "compare=True", "compare=False"),
    row("a sparse tensor is not coalesced", "made.coalesce()", "made", "edges"),
)
