"""Strides: a caller's view raises, or sees the elements in another order."""

from tests.attack.bank import Rewrite, calls

LAYOUT = """\
import torch


def turned(x):
    return x.t().contiguous()


def images(x):
    return x.contiguous(memory_format=torch.channels_last)


def table(x):
    return {"rows": [x[:, ::2].clone()]}


def like(x):
    return torch.zeros_like(x, memory_format=torch.contiguous_format)


class Keeper(torch.nn.Module):
    def forward(self, x):
        self.kept = x.t().contiguous()
        return x.sum()
"""
WIDE = "(torch.arange(6.0).reshape(2, 3),)"

ROWS = (
    Rewrite(
        "the transpose is a view",
        LAYOUT,
        {"return x.t().contiguous()": "return x.clone().t()"},
        calls("module.turned", WIDE),
    ),
    Rewrite(
        "channels come first",
        LAYOUT,
        {"x.contiguous(memory_format=torch.channels_last)": "x.clone(memory_format=torch.contiguous_format)"},
        calls("module.images", "(torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(0)),)"),
    ),
    Rewrite("a slice with gaps", LAYOUT, {"x[:, ::2].clone()": "x.clone()[:, ::2]"}, calls("module.table", WIDE)),
    Rewrite(
        "as the argument is laid out",
        LAYOUT,
        {", memory_format=torch.contiguous_format": ""},
        calls("module.like", "(torch.ones(2, 3).t(),)"),
    ),
    Rewrite(
        "what is kept has other strides",
        LAYOUT,
        {"self.kept = x.t().contiguous()": "self.kept = x.clone().t()"},
        calls("module.Keeper()", WIDE),
    ),
)
