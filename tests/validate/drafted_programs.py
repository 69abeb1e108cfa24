"""Models, losses and steps as people write them, as the text of a module."""

from __future__ import annotations

MODELS = '''
import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Optional, Sequence

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class DigitNet(nn.Module):
    def __init__(self):
        super(DigitNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(self.dropout(x), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


class QNetwork(nn.Module):
    def __init__(self, frames: int = 4, n_actions: int = 6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(frames, 32, kernel_size=8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, kernel_size=4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, kernel_size=3, stride=1),
            nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Linear(7 * 7 * 64, 512), nn.ReLU(), nn.Linear(512, n_actions))

    def forward(self, x):
        x = self.features(x / 255.0)
        return self.head(x.view(x.size(0), -1))


class Attention(nn.Module):
    def __init__(self, dim, num_heads=4, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        weights = ((q @ k.transpose(-2, -1)) * self.scale).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, dim: int, heads: int, ratio: float = 4.0):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, int(dim * ratio)), nn.GELU(), nn.Linear(int(dim * ratio), dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@dataclass
class WriterConfig:
    block_size: int = 64
    vocab_size: int = 50
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 16


class Writer(nn.Module):
    def __init__(self, config: WriterConfig):
        super().__init__()
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.places = nn.Embedding(config.block_size, config.n_embd)
        self.blocks = nn.ModuleList([Block(config.n_embd, config.n_head) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size)

    def forward(self, idx, targets=None):
        b, t = idx.size()
        x = self.tokens(idx) + self.places(torch.arange(t, device=idx.device))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Tagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super().__init__()
        self.words = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True)
        self.tags = nn.Linear(hidden_dim, tagset_size)

    def forward(self, sentence):
        out, _ = self.lstm(self.words(sentence))
        return F.log_softmax(self.tags(out), dim=-1)


class Autoencoder(nn.Module):
    def __init__(self, latent=20):
        super().__init__()
        self.enter = nn.Linear(784, 40)
        self.middle = nn.Linear(40, latent)
        self.leave = nn.Linear(latent, 784)

    def encode(self, x):
        return self.middle(F.relu(self.enter(x)))

    def decode(self, z):
        return torch.sigmoid(self.leave(z))

    def forward(self, x):
        return self.decode(self.encode(x.view(-1, 784)))


class Stack(nn.Module):
    def __init__(self, sizes: Sequence[int], activation: Literal["relu", "tanh"] = "relu"):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


class Scale(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class LowRank(nn.Module):
    def __init__(self, in_features, out_features, rank=4):
        super().__init__()
        self.a = nn.Parameter(torch.randn(in_features, rank))
        self.b = nn.Parameter(torch.zeros(rank, out_features))

    def forward(self, x):
        return x @ self.a @ self.b


def focal_loss(logits: Tensor, targets: Tensor, gamma: float = 2.0, reduction: str = "mean") -> Tensor:
    loss = F.cross_entropy(logits, targets, reduction="none")
    loss = (1 - torch.exp(-loss)) ** gamma * loss
    return loss.mean() if reduction == "mean" else loss.sum()


def dice_loss(pred, target, smooth=1.0):
    pred = torch.sigmoid(pred)
    return 1 - (2 * (pred * target).sum() + smooth) / (pred.sum() + target.sum() + smooth)


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, loss_fn=F.mse_loss):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def plain_step(model, optimizer, criterion, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


class Mode(Enum):
    MEAN = "mean"
    SUM = "sum"


def pool(x: Tensor, mode: Mode, dim: int, keep: bool) -> Tensor:
    return x.mean(dim, keepdim=keep) if mode is Mode.MEAN else x.sum(dim, keepdim=keep)


@dataclass
class Batch:
    images: Tensor
    labels: Tensor
    weights: Optional[Tensor] = None


def batch_loss(model: DigitNet, batch: Batch) -> Tensor:
    return F.nll_loss(model(batch.images), batch.labels)


def scan(xs: list[Tensor], h: Tensor) -> Tensor:
    for x in xs:
        h = torch.tanh(h + x)
    return h


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v)


def normalize(x, mode):
    if mode == "l2":
        return x / x.norm()
    if mode == "max":
        return x / x.max()
    raise ValueError(mode)


def form(a: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.einsum("bi,ij,bj->b", a, w, b)


def look_up(table: Tensor, ids: Tensor) -> Tensor:
    return F.embedding(ids, table)


def contract(x: Tensor, w: Tensor) -> Tensor:
    """Multiply every step of a sequence.

    Args:
        x: (batch, seq, dim) the sequence
        w: (dim, out) the weights
    """
    assert x.dim() == 3
    return x @ w


def masked_mean(x, mask):
    return x.masked_fill(~mask, 0).sum(-1) / mask.sum(-1).clamp(min=1)


def zeros(n: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    return torch.zeros(n, device=device, dtype=dtype)


def shift(x: Tensor, *, scale: float, by: Tensor) -> Tensor:
    return x * scale + by


def add(x: Tensor, y: Tensor, /, *, scale: float) -> Tensor:
    return x * scale + y


def join(*tensors: Tensor) -> Tensor:
    return torch.cat(tensors)


def build(x: Tensor) -> Tensor:
    return x


def pick(x: Tensor, names: dict[str, Tensor]) -> Tensor:
    return sum(names[name] for name in HEADS) + x


HEADS = ("left", "right", "middle")


class Trainer:
    def __init__(self, model: DigitNet, lr: float = 0.1):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def train_batch(self, images: Tensor, labels: Tensor) -> float:
        loss = F.nll_loss(self.model(images), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @staticmethod
    def smooth(x: Tensor, beta: float) -> Tensor:
        return x * beta

    @classmethod
    def make(cls, lr: float):
        return cls(DigitNet(), lr)


class Statistics:
    def __init__(self, dim):
        self.mean = torch.zeros(dim)

    def update(self, x):
        self.mean = self.mean + x.reshape(-1, x.shape[-1]).mean(0)


def counting(x):
    yield x


async def waiting(x):
    return x


def mystery(thing, x: Tensor):
    return thing.weigh(x)


class Plain:
    def method(self, x: Tensor) -> Tensor:
        return x

    @property
    def size(self):
        return 1


CONSTANT = 3
'''

RUNNING = [
    *("DigitNet", "QNetwork", "Attention", "Block", "Writer", "Tagger", "Autoencoder", "Autoencoder.encode"),
    *("Autoencoder.decode", "Stack", "Scale", "LowRank", "focal_loss", "dice_loss", "train_step", "plain_step"),
    *("pool", "batch_loss", "scan", "attend", "normalize", "form", "look_up", "contract", "masked_mean", "zeros"),
    *("shift", "add", "join", "build", "pick", "Trainer.train_batch", "Trainer.smooth", "Trainer.make"),
    *("Statistics.update", "Plain.method"),
]
"""What the text says enough about for a scenario that runs as it is written."""
