"""A project as people write it: shapes in docstrings, optional tensors, a config with required fields, two requests."""

from __future__ import annotations

from pathlib import Path

SETTINGS = """
from dataclasses import dataclass


@dataclass
class Sizes:
    width: int
    depth: int
    heads: int = 2


@dataclass
class Run:
    name: str
    sizes: Sizes
    mode: str = "max-autotune-no-cudagraphs"
    device: str = "cpu"
"""

NETS = '''
import torch
import torch.nn.functional as F
from torch import nn

from lens.settings import Sizes


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)
        return (x.float() * scale).type_as(x) * self.weight


class FocusNet(nn.Module):
    def __init__(self, width: int = 8, levels: int = 3):
        super().__init__()
        self.level = nn.Embedding(levels, width)
        self.norm = nn.LayerNorm(width)
        self.score = nn.Linear(width, 1)

    def forward(self, blocks: torch.Tensor, levels: torch.Tensor, pad_mask: torch.Tensor | None = None):
        """blocks [B, N, E], levels [B, N] long, pad_mask [B, N] True = padding -> [B, N]"""
        h = blocks + self.level(levels)
        scores = self.score(self.norm(h)).squeeze(-1)
        return scores if pad_mask is None else scores.masked_fill(pad_mask, 0.0)


class GistNet(nn.Module):
    def __init__(self, sizes: Sizes):
        super().__init__()
        self.blocks = nn.ModuleList(Norm(sizes.width) for _ in range(sizes.depth))

    def encode(self, emb: torch.Tensor, mask: torch.Tensor):
        """emb [B, N, C, D], mask [B, N] -> [B, N, D]"""
        b, n, c, d = emb.shape
        x = emb.reshape(b * n, c, d)
        for block in self.blocks:
            x = block(x)
        return x.sum(1).view(b, n, d) * mask.unsqueeze(-1)

    def forward(self, emb: torch.Tensor, mask: torch.Tensor):
        return self.encode(emb, mask)


class TileNet(nn.Module):
    def __init__(self, channels: int = 4):
        super().__init__()
        self.conv = nn.Conv2d(channels, 6, 3)

    def forward(self, tiles: torch.Tensor):
        scale = torch.tensor([2.0, 2.0, 2.0, 1.0], device=tiles.device)
        x = (tiles - 0.5) * scale.view(1, -1, 1, 1)
        return F.relu(self.conv(x)).amax(dim=(2, 3))


class WideTileNet(TileNet):
    pass
'''

CONTROLLER = """
import torch

from lens.nets import TileNet
from lens.settings import Run, Sizes


class Controller:
    def __init__(self, run: Run, focus_net, gist_net, tiles=None) -> None:
        self.focus_net = torch.compile(focus_net, mode=run.mode)
        gist_net.encode = torch.compile(gist_net.encode, dynamic=True)
        self.tiles = (tiles or TileNet(4))
        self.tiles_call = torch.compile(self.tiles, fullgraph=True)


def sizes():
    return Sizes(width=12, depth=2)
"""

BENCH = """
import torch

from lens.nets import TileNet

if __name__ == "__main__":
    tiles = TileNet()
    print(torch.compile(tiles, backend="eager")(torch.rand(2, 4, 9, 9)))
"""

TELEMETRY = """
from typing import Iterable

import torch
from torch import nn


def norms(model: nn.Module):
    return [p.grad.norm() for p in model.parameters() if p.grad is not None]


def norm(params: Iterable[torch.Tensor]):
    return torch.stack([p.grad.norm() for p in params if p.grad is not None]).norm()


@torch.compiler.disable
def report(x: torch.Tensor):
    return x.sum().item()


def place(batch: torch.Tensor, device):
    return batch.to(device) * 2
"""


def make_focus_project(folder: Path) -> Path:
    package = folder / "src" / "lens"
    package.mkdir(parents=True)
    (folder / ".git").mkdir()
    texts = {"settings": SETTINGS, "nets": NETS, "controller": CONTROLLER, "telemetry": TELEMETRY, "__init__": ""}
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    (folder / "bench.py").write_text(BENCH)
    return folder
