"""What is measured of one model: the model, and the calls it gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

Call = dict[str, torch.Tensor]


@dataclass
class Subject:
    """A model in eval mode with its calls.

    Breaks are counted over `calls`. `others` take branches that the stock forward does not reach: their results and
    messages count as well, but not what breaks in them.
    """

    model: torch.nn.Module
    calls: list[Call]
    others: list[Call] = field(default_factory=list)

    @property
    def all_calls(self) -> list[Call]:
        return self.calls + self.others


class Dice:
    """Numbers that are the same in every process, whatever the model has drawn before."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def tokens(self, *shape: int, low: int = 3, high: int = 60) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def numbers(self, *shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator)


def mask(batch: int, length: int, padding: int = 0) -> torch.Tensor:
    """Ones; the last row ends in zeros."""
    ones = torch.ones(batch, length, dtype=torch.long)
    if padding:
        ones[-1, length - padding :] = 0
    return ones


def seeded(build: Any, config: Any) -> torch.nn.Module:
    """The model with the weights that its own initialisation draws from seed 0."""
    torch.manual_seed(0)
    model: torch.nn.Module = build(config)
    return model.eval()
