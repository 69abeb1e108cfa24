"""The order in which a dict, a list or a state comes out."""

from tests.attack.bank import Rewrite, calls

ORDERS = """\
import collections

import torch


def losses(x):
    return {"policy": x.sum(), "value": x.mean()}


def merged(x, extra):
    extra["mean"] = x.mean()
    extra["sum"] = x.sum()
    return dict(extra)


def ranked(x):
    return sorted(range(len(x)), key=lambda i: -x[i].item())


def recent(x):
    kept = collections.OrderedDict(a=1, b=2)
    kept.move_to_end("a")
    return kept


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {}
        self.first = torch.nn.Linear(2, 2)
        self.second = torch.nn.Linear(2, 2)

    def forward(self, x):
        self.stats["mean"] = x.mean().item()
        self.stats["max"] = x.max().item()
        return x
"""
ONE = "(torch.tensor([1.0, 3.0, 3.0]),)"

ROWS = (
    Rewrite(
        "the keys of the output",
        ORDERS,
        {'{"policy": x.sum(), "value": x.mean()}': '{"value": x.mean(), "policy": x.sum()}'},
        calls("module.losses", ONE),
    ),
    Rewrite(
        "the keys of an argument",
        ORDERS,
        {
            '    extra["mean"] = x.mean()\n': "",
            '    extra["sum"] = x.sum()\n': "    extra.update(sum=x.sum(), mean=x.mean())\n",
        },
        calls("module.merged", "(torch.ones(3), {})"),
    ),
    Rewrite(
        "equal values the other way round",
        ORDERS,
        {"key=lambda i: -x[i].item())": "key=lambda i: x[i].item())[::-1]"},
        calls("module.ranked", ONE),
    ),
    Rewrite(
        "an OrderedDict",
        ORDERS,
        {'    kept.move_to_end("a")\n': '    kept.move_to_end("b")\n'},
        calls("module.recent", ONE),
    ),
    Rewrite(
        "the keys of a dict that is state",
        ORDERS,
        {
            '        self.stats["max"] = x.max().item()\n': "",
            "        self.stats[": '        self.stats["max"] = x.max().item()\n        self.stats[',
        },
        calls("module.Net()", ONE),
    ),
    Rewrite(
        "layers are registered in another order",
        ORDERS,
        {
            "        self.first = torch.nn.Linear(2, 2)\n        self.second = torch.nn.Linear(2, 2)\n": (
                "        first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n"
                "        self.second = second\n        self.first = first\n"
            )
        },
        calls("module.Net()", ONE),
    ),
)
