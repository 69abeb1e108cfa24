"""The validator trusts nothing: rewrites that are wrong on purpose, each in its own way, are all called different."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.validate.model import Ruling
from tests.validate.proofs import prove_texts

MODULE = """
import warnings

import torch


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.seen = 0
        self.pairs = {}

    def forward(self, x, scale=1.0):
        if x.shape[-1] != 4:
            raise ValueError(f"expected 4 features, got {x.shape[-1]}")
        y = self.lin(x) * scale
        self.mean.mul_(0.9).add_(0.1 * y.detach().mean(0))
        self.seen += 1
        noise = torch.rand(())
        rows = 3
        pairs = {}
        for i in range(rows):
            for j in range(rows):
                pairs[i * rows + j] = y[i % len(y)] * j
        total = sum(pairs[i * rows + 1] for i in range(rows))
        index = torch.arange(4, dtype=torch.int64)
        print("seen", x.shape[0])
        x.add_(1.0)
        return {"loss": total.sum() + 0 * noise, "last": y[-1], "index": index, "mask": y > 0}
"""
SCENARIO = """
import torch
from module import Memory


def build(device):
    return Memory().to(device)


def cases(device, seed):
    make = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(5, 4, generator=make).to(device),),
        {"x": torch.randn(3, 4, generator=make).to(device), "scale": 2.0},
        (torch.randn(3, 5, generator=make).to(device),),
    ]
"""
WRONG = {
    "off by one in the stride": ("pairs[i * rows + 1] for", "pairs[i * (rows - 1) + 1] for", "output['loss']"),
    "dropped dtype": ("torch.arange(4, dtype=torch.int64)", "torch.arange(4.0)", "output['index']"),
    "changed order of keys": (
        '"last": y[-1], "index": index',
        '"index": index, "last": y[-1]',
        "output",
    ),
    "lost update in place of an argument": ("x.add_(1.0)", "x = x + 1.0", "args[0]"),
    "lost update in place of a buffer": (
        "self.mean.mul_(0.9).add_(0.1 * y.detach().mean(0))",
        "self.mean.mul(0.9).add(0.1 * y.detach().mean(0))",
        "state",
    ),
    "lost count": ("self.seen += 1", "pass", "state"),
    "swallowed exception": (
        'raise ValueError(f"expected 4 features, got {x.shape[-1]}")',
        "return {}",
        "exception",
    ),
    "another message": ("expected 4 features", "wanted 4 features", "exception"),
    "changed use of random numbers": ("torch.rand(())", "torch.rand(2)[0]", "rng"),
    "a warning too many": ("rows = 3", 'rows = 3\n        warnings.warn("slow")', "warnings"),
    "one print less": ('print("seen", x.shape[0])', "pass", "stdout"),
    "faster because it skips work": ("total.sum() + 0 * noise", "total[0] + 0 * noise", "output['loss']"),
    "lost gradient": ("y = self.lin(x) * scale", "y = self.lin(x).detach() * scale", "output"),
    "list instead of a tensor": ('"last": y[-1]', '"last": y[-1].tolist()', "output['last']"),
    "comparison that is not strict": ("y > 0", "y >= y.max()", "output['mask']"),
    "the last row only": (
        "y = self.lin(x) * scale",
        "y = self.lin(x) * scale; y = torch.cat([y[:-1], y[-1:] + 1e-6])",
        "output",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_different(name: str, tmp_path: Path) -> None:
    right, wrong, path = WRONG[name]
    assert MODULE.count(right) == 1
    verdict = prove_texts(tmp_path, MODULE, MODULE.replace(right, wrong), SCENARIO)
    assert verdict.ruling is Ruling.DIFFERENT, verdict.sentence
    assert verdict.differences[0].path.startswith(path), verdict.differences
