"""Results that depend on the order of a set of texts, which is another one in each process.

The texts stand in the order that a set of them has with the hash seed 0: whoever runs both sides with that seed alone
sees no difference.
"""

from tests.attack.bank import Rewrite, calls

SETS = """\
import torch

NAMES = ("reward", "return", "entropy", "value", "advantage", "policy", "critic")
NUMBERS = dict(zip(NAMES, [5, 1, 1, 2, 0, 2, 2]))


def joined(x):
    return ",".join(NAMES)


def stacked(x):
    return torch.stack([x * len(name) for name in NAMES])


def bucket(x):
    return [NUMBERS[name] for name in NAMES]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleDict({name: torch.nn.Linear(2, 1) for name in NAMES})

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads.values()], -1)
"""


def row(name: str, old: str, new: str, subject: str) -> Rewrite:
    return Rewrite(name, SETS, {old: new}, calls(f"module.{subject}", "(torch.ones(2),)"), is_fresh=True)


ROWS = (
    row("a text of a set", '",".join(NAMES)', '",".join(set(NAMES))', "joined"),
    row("rows of a set", "for name in NAMES])", "for name in set(NAMES)])", "stacked"),
    row("hashes for numbers", "NUMBERS[name] for", "hash(name) % 7 for", "bucket"),
    row("layers of a set", "for name in NAMES})", "for name in set(NAMES)})", "Net()"),
)
