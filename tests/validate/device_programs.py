# mypy: disable-error-code="no-untyped-call, no-any-return, misc, operator"
"""Programs that have the same values on any device; each is run on the CPU and on a device that is made up."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

X = torch.arange(6, dtype=torch.float32).reshape(2, 3)


def index(x: Tensor) -> Any:
    y = x.clone()
    y[0] = 5
    y[:, 1].mul_(2)
    y[y > 9] = 0.0
    return y, x[x > 2], x[1:, ::2], x[torch.tensor([1, 0], device=x.device)], x.nonzero(), torch.unique(x // 2)


def make(x: Tensor) -> Any:
    where = x.device
    made = [torch.zeros(2, device=where), torch.eye(2, device=where), torch.tensor([1, 2], device=where)]
    return [*made, torch.full((2,), 3.0, device=where), torch.linspace(0, 1, 3, device=where), torch.ones_like(x)]


def draw(x: Tensor) -> Any:
    """Numbers that do not depend on the device, because its generator is seeded as the CPU's is."""
    torch.manual_seed(3)
    generator = torch.Generator(device=x.device).manual_seed(4)
    return (
        torch.randn(3, device=x.device),
        torch.rand(2, device=x.device, generator=generator),
        torch.randperm(4, device=x.device, generator=generator),
    )


def grow(x: Tensor) -> Any:
    out = torch.empty(0, device=x.device)
    torch.add(x, x, out=out)
    resized = x.clone().resize_(3, 3)
    resized[2] = 1
    swapped = x.clone()
    swapped.data = torch.ones(2, device=x.device)
    return out, resized, swapped


def conjugate(x: Tensor) -> Any:
    z = torch.complex(x, x + 1)
    return z.conj() * 2, z.conj().imag, torch.fft.fft(x), torch.view_as_real(z.conj().resolve_conj())


def copy_and_store(x: Tensor) -> Any:
    buffer = io.BytesIO()
    torch.save(x, buffer)
    buffer.seek(0)
    layer = seeded(lambda: nn.Linear(3, 2)).to(x.device)
    return copy.deepcopy(x), torch.load(buffer), copy.deepcopy(layer)(x)


def solve(x: Tensor) -> Any:
    square = x @ x.T + torch.eye(2, device=x.device)
    return torch.linalg.inv(square), torch.linalg.solve(square, x), torch.linalg.svd(square).S, torch.linalg.det(square)


def differentiate(x: Tensor) -> Any:
    leaf = x.clone().requires_grad_()
    (leaf[0] * 2 + leaf.T[1, 0] * leaf[1]).relu().sum().backward()
    return leaf.grad, torch.func.grad(lambda a: (a**3).sum())(x), torch.func.jacrev(lambda a: (a * a).sum(0))(x)


def transform(x: Tensor) -> Any:
    doubled = torch.func.vmap(lambda row: row * row.sum())(x)
    return doubled, torch.einsum("ij,kj->ik", x, x), torch.cat([x, x]).sort(descending=True), x.cumsum(0), x.softmax(-1)


LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "lstm": (lambda: nn.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
    "lstm without bias": (lambda: nn.LSTM(3, 4, bias=False), (5, 2, 3)),
    "gru": (lambda: nn.GRU(3, 4, 2), (5, 2, 3)),
    "gru without bias": (lambda: nn.GRU(3, 4, bias=False), (5, 2, 3)),
    "convolution": (lambda: nn.Conv2d(4, 4, 3, groups=4, padding=1), (1, 4, 6, 6)),
    "convolution back": (lambda: nn.ConvTranspose2d(4, 2, 3, bias=False), (1, 4, 6, 6)),
    "batch norm": (lambda: nn.BatchNorm2d(4), (2, 4, 3, 3)),
    "pool": (lambda: nn.MaxPool2d(2), (1, 2, 4, 4)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 2, 4)),
}


def train_layers(x: Tensor) -> Any:
    found = []
    for make_layer, shape in LAYERS.values():
        layer = seeded(make_layer).to(x.device)
        given = torch.linspace(-1, 1, torch.Size(shape).numel()).reshape(shape).to(x.device).requires_grad_()
        output = layer(given)
        output = output[0] if isinstance(output, tuple) else output
        (output * output).sum().backward()
        found += [output, given.grad, *(parameter.grad for parameter in layer.parameters()), *layer.buffers()]
    return found


def train(x: Tensor) -> Any:
    found: list[Tensor] = []
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop):
        model = seeded(lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))).to(x.device)
        optimizer = kind(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        found += model.state_dict().values()
    return found


def loop(x: Tensor) -> Any:
    """As often as the values say."""
    steps, total = 0, x.sum()
    while total > 1:
        total = total / 2
        steps += 1
    return steps, total.item(), float(f"{total:.3f}"), x.tolist()


def seeded(make_layer: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make_layer()


PROGRAMS = [
    index,
    make,
    draw,
    grow,
    conjugate,
    copy_and_store,
    solve,
    differentiate,
    transform,
    train_layers,
    train,
    loop,
]


def compare(device: torch.device) -> dict[str, str]:
    """What is different on the device, by program."""
    found = {}
    for program in PROGRAMS:
        try:
            torch.testing.assert_close(gather(program(X.to(device)), device), gather(program(X)), rtol=1e-4, atol=1e-5)
        except (AssertionError, RuntimeError, NotImplementedError, TypeError) as error:
            found[program.__name__] = f"{type(error).__name__}: {error}"
    return found


def gather(result: Any, device: torch.device | None = None) -> list[Any]:
    """The leaves of a result, moved to the CPU; every tensor must have been on the device."""
    found = []
    for leaf in torch.utils._pytree.tree_leaves(result):
        if isinstance(leaf, Tensor):
            assert leaf.device.type == (device.type if device else "cpu"), leaf.device
            leaf = leaf.detach().cpu()
        found.append(leaf)
    return found
