# ruff: noqa: B015, B018, UP031, UP032
# mypy: disable-error-code="no-untyped-call, no-any-return, misc, comparison-overlap, call-overload"
"""Small programs whose host reads and moves were counted by hand, and marked at the end of the line: reads; moves.

`in` is a copy from the host to the device, `out` one from the device to the host. A line without a mark makes none.
Every program gets the device and tensors on it.
"""

import contextlib
import io
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


@dataclass
class Given:
    """What a program starts with. `x` is 0 to 5 in two rows."""

    device: torch.device
    x: Tensor
    total: Tensor
    mask: Tensor
    numbers: Tensor
    one: Tensor


def give(device: torch.device) -> Given:
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3).to(device)
    numbers, one = torch.tensor([2, 0, 1]).to(device), torch.tensor(1).to(device)
    return Given(device, x, x.sum(), x > 2, numbers, one)


def numbers_are_read(g: Given) -> None:
    g.total.item()  #: item
    float(g.total)  #: float
    int(g.total)  #: int
    bool(g.total)  #: bool
    complex(g.total)  #: complex
    math.sqrt(g.total)  #: float
    range(g.one)  #: int
    ["a", "b"][g.one]  #: int
    torch.is_nonzero(g.total)  #: bool


def a_list_is_one_read(g: Given) -> None:
    g.x.tolist()  #: tolist
    g.total.tolist()  #: tolist
    [row.tolist() for row in g.x]  #: tolist*2
    [number.item() for number in g.numbers]  #: item*3


def conditions_are_read(g: Given) -> None:
    if g.total > 0:  #: bool
        pass
    while g.total < 0:  #: bool
        pass
    assert g.mask.any()  #: bool
    found = g.total > 0 and g.total > 1  #: bool
    not found  #: bool
    1 if torch.isnan(g.x).any() else 2  #: bool
    if g.x is not None and g.x.shape[0] > 1 and g.x.dim() == 2 and len(g.x) == 2:
        pass


def comparisons_are_read_when_they_are_needed(g: Given) -> None:
    g.x == g.x
    torch.isclose(g.x, g.x)
    torch.equal(g.x, g.x)  #: equal
    torch.allclose(g.x, g.x)  #: allclose
    3.0 in g.x  #: in
    3.0 in [g.total, 3.0]  #: bool
    max(g.total, g.total + 1)  #: bool
    sorted([g.total, g.total + 1])  #: bool
    sum([g.total, g.total])


def numpy_needs_one_copy(g: Given) -> None:
    g.x.detach().cpu().numpy()  #: cpu; out
    np.asarray(g.x.cpu())  #: cpu; out
    kept = g.x.cpu()  #: cpu; out
    kept.numpy()
    kept.tolist()
    kept[0, 1].item()
    (kept + 1).sum().item()
    float(kept.mean())
    kept[kept > 2].tolist()


def to_the_cpu_is_a_read(g: Given) -> None:
    g.x.to("cpu")  #: to; out
    g.x.to(device="cpu")  #: to; out
    g.x.to(torch.device("cpu"))  #: to; out
    g.x.to("cpu", torch.float64).tolist()  #: to; out
    g.x.to("cpu", non_blocking=True)  #:; out
    g.x.to(  #: to; out
        "cpu",
    )
    g.x.to(g.device)
    g.x.to(torch.float64)
    g.x.to(g.total)


def what_is_on_the_host_is_free(g: Given) -> None:
    host = torch.zeros(3, device="cpu")
    host.tolist()
    host.copy_(g.x[0])  #: copy; out
    host[0] = g.total  #: copy; out
    host[1:] = 2.0
    (host * 2).max().item()
    host.to(g.device).sum().item()  #: item; in
    g.x.cpu().to(g.device).sum().item()  #: cpu, item; out, in
    torch.from_numpy(np.ones(3)).sum().item()
    g.x.shape[0], g.x.size(0), g.x.numel(), g.x.is_floating_point()


def masks_are_read(g: Given) -> None:
    g.x[g.mask]  #: mask
    g.x[g.mask].sum()  #: mask
    g.x[:, g.mask[0]]  #: mask
    g.x.masked_select(g.mask)  #: masked_select
    changed = g.x.clone()
    changed[g.mask] = g.x[g.mask] * 2  #: mask*2
    changed.masked_fill_(g.mask, 0.0)
    torch.where(g.mask, g.x, 0.0)
    g.x * g.mask


def sizes_that_depend_on_values_are_read(g: Given) -> None:
    g.x.nonzero()  #: nonzero
    torch.nonzero(g.x, as_tuple=True)  #: nonzero
    torch.where(g.mask)  #: where
    torch.argwhere(g.mask)  #: argwhere
    torch.unique(g.x)  #: unique
    g.x.unique(return_counts=True)  #: unique
    torch.unique_consecutive(g.x)  #: unique_consecutive
    torch.bincount(g.numbers)  #: bincount
    g.x.repeat_interleave(g.numbers, dim=1)  #: repeat_interleave
    g.x.repeat_interleave(g.numbers, dim=1, output_size=3)
    g.x.repeat_interleave(2, dim=0)
    torch.count_nonzero(g.x)


def indices_are_read_only_where_the_host_needs_them(g: Given) -> None:
    g.x[:, g.numbers]
    g.x.index_select(1, g.numbers)
    g.x.gather(1, g.numbers[None])
    g.x[g.one]  #: int
    g.x[: g.one]  #: int
    g.x[g.one : g.one + 1, : g.one]  #: int*3
    g.x[0, 1:]
    g.x.narrow(1, 0, g.one)  #: narrow
    torch.zeros(g.one, device=g.device)  #: zeros
    torch.arange(g.one, device=g.device)  #: arange
    torch.full((2,), g.total, device=g.device)  #: full


def text_is_read(g: Given) -> None:
    "%.2f" % g.total  #: float
    f"{g.total:.3f}"  #: format
    f"{g.total} {g.x}"  #: format*2
    "{}".format(g.total)  #: format
    str(g.x)  #: repr
    print(g.total, g.x)  #: repr*2
    print(g.x.shape, g.x.device)


def a_tensor_of_tensors_reads_each(g: Given) -> None:
    torch.tensor([g.total, g.total])  #: tensor*2
    torch.tensor([[g.total, 1.0], [2.0, g.total]])  #: tensor*2
    torch.as_tensor([g.total.item()])  #: item
    torch.stack([g.total, g.total])
    torch.tensor([1.0, 2.0])
    torch.tensor([1.0, 2.0], device=g.device)  #:; in
    torch.tensor([g.total, g.total], device=g.device)  #: tensor*2; in


def checks_of_values_are_read(g: Given) -> None:
    torch.distributions.Categorical(logits=g.x, validate_args=False).sample()
    torch.distributions.Normal(g.total, 1.0, validate_args=False)  #:; in
    torch.normal(g.x, g.x)  #: normal
    torch.normal(g.x, 1.0)
    torch.multinomial(g.x + 1, 1)
    torch.linalg.inv(torch.eye(2, device=g.device))  #: linalg_inv
    torch.linalg.inv_ex(torch.eye(2, device=g.device))
    nn.functional.one_hot(g.numbers)  #: one_hot
    nn.functional.one_hot(g.numbers, 3)
    torch.quantile(g.x, 0.5)


def training_itself_reads_nothing(g: Given) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Dropout(0.1), nn.Linear(4, 2)).to(g.device)  #:; in*6
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(g.x), g.numbers[:2].clamp(max=1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def a_loss_that_is_logged_every_step(g: Given) -> None:
    model = nn.Linear(3, 1).to(g.device)  #:; in*2
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(5):
        loss = model(g.x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())  #: item*5
        if step % 2 == 0:
            print(f"{step}: {loss:.3f}")  #: format*3


def a_loss_that_is_logged_at_the_end(g: Given) -> None:
    model = nn.Linear(3, 1).to(g.device)  #:; in*2
    losses = []
    for _ in range(5):
        loss = model(g.x).pow(2).mean()
        loss.backward()
        losses.append(loss.detach())
    for value in torch.stack(losses).cpu():  #: cpu; out
        print(value.item())


class RolloutBuffer:
    """Steps of an environment, kept on the device or on the host."""

    def __init__(self, steps: int, device: torch.device) -> None:
        self.rewards = torch.zeros(steps, device=device)
        self.done = torch.zeros(steps, dtype=torch.bool, device=device)
        self.length = 0

    def add(self, reward: Tensor, done: Tensor) -> None:
        self.rewards[self.length] = reward
        self.done[self.length] = done
        self.length += 1

    def returns(self, discount: float) -> Tensor:
        running, out = torch.zeros_like(self.rewards[0]), list[Tensor]()
        for step in reversed(range(self.length)):
            running = self.rewards[step] + discount * running * (~self.done[step])
            out.append(running)
        return torch.stack(out[::-1])


def a_rollout_on_the_device(g: Given) -> None:
    buffer = RolloutBuffer(4, g.device)
    for step in range(4):
        reward = g.x[step % 2].sum()
        done = reward > 10
        buffer.add(reward, done)
        if done:  #: bool*4
            pass
    returns = buffer.returns(0.9)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    returns[buffer.done].mean().item()  #: mask, item


class Normalizer(nn.Module):
    """Follows its input to whatever device that is on."""

    mean: Tensor
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        if self.mean.device != x.device:
            self.mean = self.mean.to(x.device)  #:; in
            self.count = self.count.to(x.device)  #:; in
        self.count += x.shape[0]
        self.mean += (x.mean(0) - self.mean) / self.count
        return x - self.mean


def a_normalizer_follows_its_input(g: Given) -> None:
    normalizer = Normalizer()
    for _ in range(3):
        normalizer(g.x)


def no_grad_and_inference_mode(g: Given) -> None:
    with torch.no_grad():
        g.total.item()  #: item
        g.x[g.mask]  #: mask
    with torch.inference_mode():
        (g.x * 2).sum().item()  #: item
        g.x.tolist()  #: tolist
        torch.where(g.x > 1)  #: where
        g.x[g.x > 1]  #: mask
        (g.x + 1).cpu()  #: cpu; out
        nn.functional.linear(g.x, g.x).sum() > 0


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.scale = x.abs().max().item()  #: item
        return x / ctx.scale

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        if gradient.isnan().any():  #: bool
            raise ValueError("nan")
        return gradient / ctx.scale


def reads_in_a_function_of_autograd(g: Given) -> None:
    x = g.x.clone().requires_grad_()
    Scaled.apply(x).sum().backward()


@torch.compile(backend="eager")
def compiled(x: Tensor) -> Tensor:
    if x.sum() > 0:  #: bool
        return x * 2
    return x


def what_is_compiled_is_counted_as_eager(g: Given) -> None:
    compiled(g.x)


def read_in_thread(tensor: Tensor) -> None:
    tensor.item()  #: item*3


def threads_are_counted(g: Given) -> None:
    thread = threading.Thread(target=read_in_thread, args=(g.total,))
    thread.start()
    thread.join()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read_in_thread, [g.total, g.total]))


def what_fails_reads_nothing(g: Given) -> None:
    with contextlib.suppress(RuntimeError):
        bool(g.x)
    with contextlib.suppress(RuntimeError):
        g.x.item()
    with contextlib.suppress(TypeError):
        range(g.total)


def reads_inside_torch_belong_to_the_line_that_called(g: Given) -> None:
    torch.distributions.Categorical(logits=g.x, validate_args=True)  #: bool
    nn.utils.clip_grad_norm_([nn.Parameter(g.x)], 1.0, error_if_nonfinite=False)
    torch.testing.assert_close(g.x, g.x)  #: bool


PROGRAMS = {
    name: program
    for name, program in list(globals().items())
    if getattr(program, "__annotations__", {}).get("g") is Given
}


def prepare(name: str, device: torch.device) -> Callable[[], None]:
    """The program, ready to run; what it prints is thrown away."""
    given = give(device)

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            PROGRAMS[name](given)

    return run
