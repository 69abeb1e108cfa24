"""Which outputs, arguments and states share memory shows as soon as one of them is written to."""

from tests.attack.bank import Rewrite, calls

SHARING = """\
import torch


class Keeper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(3))
        self.kept = None

    def forward(self, x):
        self.last.copy_(x)
        return self.last.clone()

    def keep(self, x):
        self.kept = x.clone()
        return x + 1


def same(x):
    return x.clone()


def halves(x):
    y = x * 2
    return y[:2].clone(), y[:2].clone()


def rows(x):
    return [torch.zeros(2) for _ in range(3)] + [x]


def grid(x):
    return x[:, None].repeat(1, 3)
"""
ONE = ("(torch.arange(3.0),)",)

ROWS = (
    Rewrite("the output is the argument", SHARING, {"return x.clone()": "return x"}, calls("module.same", *ONE)),
    Rewrite(
        "the output is a view of the argument",
        SHARING,
        {"return x.clone()": "return x.view(3)"},
        calls("module.same", *ONE),
    ),
    Rewrite(
        "the output is the buffer",
        SHARING,
        {"return self.last.clone()": "return self.last"},
        calls("module.Keeper()", *ONE),
    ),
    Rewrite(
        "the argument is kept and not a copy of it",
        SHARING,
        {"self.kept = x.clone()": "self.kept = x"},
        calls("module.Keeper().keep", *ONE),
    ),
    Rewrite(
        "two outputs are one memory",
        SHARING,
        {"return y[:2].clone(), y[:2].clone()": "return (y[:2].clone(),) * 2"},
        calls("module.halves", *ONE),
    ),
    Rewrite(
        "two outputs overlap",
        SHARING,
        {"return y[:2].clone(), y[:2].clone()": "return y[:2], y[:2]"},
        calls("module.halves", *ONE),
    ),
    Rewrite(
        "a list holds one tensor three times",
        SHARING,
        {"[torch.zeros(2) for _ in range(3)]": "[torch.zeros(2)] * 3"},
        calls("module.rows", *ONE),
    ),
    Rewrite("expand for repeat", SHARING, {".repeat(1, 3)": ".expand(-1, 3)"}, calls("module.grid", *ONE)),
)
