"""Small programs that break, recompile or do not compile at all. A comment `<- name` marks the line to blame."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import logging.config
import threading
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

log = logging.getLogger(__name__)


def line_of(mark: str) -> int:
    """The line with a mark."""
    lines = inspect.getsource(inspect.getmodule(line_of) or SimpleNamespace()).splitlines()  # type: ignore[arg-type]
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"# <- {mark}")]
    return number


# Breaks


def lone_print(x: Tensor) -> Tensor:
    print("here")  # <- lone print
    return x


def print_in_loop(x: Tensor) -> Tensor:
    for step in range(3):
        x = x + step
        print(step)  # <- in loop
    return x


def item_in_loop(x: Tensor) -> Tensor:
    total = 0.0
    for value in x:
        total += value.item()  # <- item in loop
    return x * total


def item_in_comprehension(x: Tensor) -> Tensor:
    values: list[float] = [value.item() for value in x + 1]  # <- in comprehension
    return x * values[0]


def item_in_generator(x: Tensor) -> Tensor:
    y = x + 1
    total: float = sum(value.item() for value in y)  # <- in generator
    return y * total


def item_in_lambda(x: Tensor) -> Tensor:
    y = x + 1
    order = sorted(range(4), key=lambda at: y[at].item())  # <- in lambda
    return y[order]


def helper(x: Tensor) -> Tensor:
    y = x * 2
    print("helping")  # <- in helper
    return y + 1


def inlined(x: Tensor) -> Tensor:
    return helper(x + 1) - 1


def inlined_in_loop(x: Tensor) -> Tensor:
    for _ in range(2):
        x = helper(x)
    return x


def nested(x: Tensor) -> Tensor:
    def inside(y: Tensor) -> Tensor:
        print("inside")  # <- nested
        return y + 1

    return inside(x * 2) * 3


def recursive(x: Tensor, depth: int = 2) -> Tensor:
    if depth == 0:
        print("bottom")  # <- recursive
        return x
    return recursive(x + 1, depth - 1) * 2


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        result = function(*args)
        print("called")  # <- in wrapper
        return result

    return wrapper


@traced
def wrapped(x: Tensor) -> Tensor:
    return x * 2


def branch_on_data(x: Tensor) -> Tensor:
    if x.sum() > 0:  # <- branch
        return x + 1
    return x - 1


@torch.compiler.disable  # type: ignore[untyped-decorator]
def switched_off(x: Tensor) -> Tensor:
    return x + 1


def calls_switched_off(x: Tensor) -> Tensor:
    y = x * 2
    z: Tensor = switched_off(y)  # <- disabled
    return z * 3


@torch.compiler.disable(recursive=False)  # type: ignore[no-untyped-call, untyped-decorator]
def once_off(x: Tensor) -> Tensor:
    return sine(x) + 1


def sine(x: Tensor) -> Tensor:
    return x.sin() * 2


def calls_once_off(x: Tensor) -> Tensor:
    y: Tensor = once_off(x + 1)  # <- disabled once
    return y * 2


def warns(x: Tensor) -> Tensor:
    y = x * 2
    warnings.warn("careful", stacklevel=1)  # <- warning
    return y * 3


def logs_tensor(x: Tensor) -> Tensor:
    y = x * 2
    log.error("%s", y)  # <- logging
    return y * 3


def two_on_a_line(x: Tensor) -> Tensor:
    y = x + 1
    print(y.sum().item())  # <- two
    return y * 2


def same_name(x: Tensor) -> Tensor:
    def assert_close(y: Tensor) -> Tensor:
        torch.testing.assert_close(y, y)  # <- same name
        return y + 1

    return assert_close(x)


def in_try(x: Tensor) -> Tensor:
    y = x + 1
    try:
        print("trying")  # <- in try
        y = y * 2
    except ValueError:
        pass
    return y


def parts(x: Tensor) -> Iterator[Tensor]:
    for step in range(2):
        yield x + step


def feeds_on_generator(x: Tensor) -> Tensor:
    for part in parts(x * 2):
        x = x + part
        print("part")  # <- between yields
    return x


@contextlib.contextmanager
def announced() -> Iterator[None]:
    print("enter")  # <- in context
    yield


def in_context(x: Tensor) -> Tensor:
    y = x + 1
    with announced():
        y = y * 2
    return y + 1


def explicit(x: Tensor) -> Tensor:
    y = x + 1
    torch._dynamo.graph_break()  # <- explicit
    return y * 2


def say_hook(module: nn.Module, args: Any, output: Tensor) -> Tensor:
    print("hooked")  # <- in hook
    return output


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        if y.sum() > 100:  # <- in layer
            y = y * 2
        return y.relu()


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Trainer:
    def __init__(self) -> None:
        self.net = nn.Linear(4, 4)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x: Tensor) -> Tensor:
        loss: Tensor = self.net(x).sum()
        self.learn(loss)
        return loss.detach()

    def learn(self, loss: Any) -> None:
        loss.backward()  # <- backward
        self.optimizer.step()  # <- optimizer


# Nothing to compile, or not compiled


def pure(x: Tensor) -> int:
    return len(x.shape)


def empty_at_first(x: Tensor, bias: Tensor | None = None) -> Tensor:
    if bias is None:
        return x
    return x + bias


def raises(x: Tensor, wrong: bool = True) -> Tensor:
    y = x * 2
    if wrong:
        raise ValueError("wrong")  # <- raised
    return y + 1


def mismatched(x: Tensor) -> Tensor:
    return x @ torch.ones(77, 3)  # <- mismatch


def scalar(x: Tensor) -> Tensor:
    return x + x.sum().item()  # <- scalar


# Clean


def add_one(x: Tensor) -> Tensor:
    return x + 1


def add_length(x: Tensor, text: str) -> Tensor:
    return x + len(text)


def add_all(x: Tensor, terms: dict[Any, Tensor]) -> Tensor:
    for key in terms.keys():  # noqa: SIM118
        x = x + terms[key]
    return x


def apply(module: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    return module(x)


def sometimes_says(x: Tensor, loud: bool) -> Tensor:
    y = x * 2
    if loud:
        print("loud")  # <- loud
    return y + 1


def decides(x: Tensor) -> Tensor:
    chosen: Tensor = torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))
    return chosen * 2


class Clean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.layers(x)
        return result + 1


class Scale:
    """An object that can be called."""

    def __call__(self, x: Tensor) -> Tensor:
        return x * 3


# Code that compiles itself


@torch.compile
def compiled_print(x: Tensor) -> Tensor:
    y = x * 2
    print("compiled")  # <- compiled
    return y + 1


@torch.compile
def compiled_clean(x: Tensor) -> Tensor:
    return x * 2 + 1


@torch.compile(fullgraph=True)
def compiled_whole(x: Tensor) -> Tensor:
    y = x * 2
    print("whole")  # <- whole
    return y


def refuse(graph: Any, inputs: Any) -> Any:
    raise ValueError("this backend refuses")


@torch.compile(backend=refuse)
def compiled_by_bad_backend(x: Tensor) -> Tensor:  # <- bad backend
    return x + 1


class Compiled(nn.Module):
    @torch.compile
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        print("method")  # <- method
        return y + 1


def compiles_inside(x: Tensor) -> Tensor:
    print("eager code may print")
    doubled: Tensor = torch.compile(lambda y: y.sin() * 2)(x)
    return compiled_clean(doubled)


def silences_logging(x: Tensor) -> Tensor:
    logging.disable(logging.CRITICAL)
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})
    return compiled_print(x)


def compiles_in_a_thread(x: Tensor) -> Tensor:
    results: list[Tensor] = []
    thread = threading.Thread(target=lambda: results.append(compiled_print(x)))
    thread.start()
    thread.join()
    return results[0]
