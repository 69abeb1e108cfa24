"""Small pieces of code that one codemod or another would rewrite, to be put together into one function."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent, indent

SMELLS: dict[str, str] = {
    "reads": """
        for i in range(len(names)):
            seen.append(scores[i, 0].item())
    """,
    "range": """
        low = scores.min().item()
        high = scores.max().item()
        seen += [low, high]
    """,
    "keys": """
        raw = {name: scores * 2 for name in HEADS}
        for key in raw.keys():
            seen.append(raw[key])
    """,
    "autocast": """
        for _ in range(3):
            with torch.autocast("cpu") if self.use_amp and self.kind.startswith("c") else nullcontext():
                scores = scores @ scores.T
    """,
    "old name": """
        with torch.cuda.amp.autocast(enabled=False):
            scores = scores * 2
        if torch._dynamo.is_compiling():
            scores = scores + 1
    """,
    "import": """
        from torch.nn import functional as F

        scores = F.relu(scores)
    """,
    "constant": """
        scores = scores * torch.tensor([1, 2, 3], device=scores.device)
    """,
    "loop constant": """
        for name in names:
            weights = torch.arange(3)
            seen.append(scores * weights)
    """,
    "query": """
        for name in names:
            if self.has_slot(name):
                seen.append(name)
            if self.has_slot(name):
                seen.append(scores)
    """,
    "moved": """
        if scores.device != self.table.device:
            self.table = self.table.to(scores.device)
    """,
    "table": """
        kinds = {"a": 1, "b": 2, "c": 3}
        seen.append(kinds["a"])
    """,
}
HEAD = """\
from contextlib import nullcontext

import torch
from torch import nn

HEADS = ("slot", "gate")


class Step(nn.Module):
    def __init__(self, use_amp: bool, kind: str):
        super().__init__()
        self.use_amp = use_amp
        self.kind = kind
        self.active = {}
        self.table = torch.zeros(3)

    def has_slot(self, name):
        return name in self.active

    def forward(self, scores: torch.Tensor, names: list[str]):
        seen = []
"""
TAIL = "        return scores, seen\n"


def program(names: Sequence[str]) -> bytes:
    """A module whose `forward` has these smells, one after the other."""
    body = "".join(indent(dedent(SMELLS[name]).lstrip("\n"), " " * 8) for name in names)
    return (HEAD + body + TAIL).encode()
