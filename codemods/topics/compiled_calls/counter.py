"""The file that counts, as it is written into the user's project: it needs torch and nothing else."""

from __future__ import annotations

FILE, ENVIRONMENT = "compiled_calls.py", "COUNT_COMPILED_CALLS"


def counter_text(environment: str) -> str:
    """The whole file, switched on by this variable of the environment."""
    return COUNTER.replace(ENVIRONMENT, environment)


COUNTER = '''\
"""Count the calls of compiled code: how often, in which phase, with which inputs.

Off by default: `counted` then hands back the very object that it is given. It is
switched on by COUNT_COMPILED_CALLS=1 in the environment, or by
`compiled_calls.on = True` before anything is compiled. `compiled_calls.as_dict()`
and `compiled_calls.log(logger)` tell the counts.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import islice
from typing import Any, TypeVar, overload

import torch

COMPILED = TypeVar("COMPILED")
MOST_KINDS = 32
MOST_ITEMS = 8
DEEPEST = 4


@dataclass
class Phase:
    """The calls in one phase.

    `reentered` of them came while the backward of an earlier call was still to run.
    """

    calls: int = 0
    reentered: int = 0
    inputs: Counter[str] = field(default_factory=Counter)


class CompiledCalls:
    """The counts, by name and by phase: train or eval, with or without gradients.

    Whatever is compiled under one name counts as one. A call inside another compiled
    region is part of that region, and a copy of a module is not the module: neither is
    counted.
    """

    def __init__(self, on: bool) -> None:
        self.on = on
        self._lock = threading.Lock()
        self._names: dict[str, dict[str, Phase]] = {}
        self._modules: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()

    def is_new(self, module: torch.nn.Module) -> bool:
        """Whether a module was not counted before; from now on it is."""
        with self._lock:
            known = module in self._modules
            self._modules.add(module)
        return not known

    def add(self, name: str, phase: str, inputs: str, reentered: bool) -> None:
        """Count a call. So many kinds of inputs are told apart; others are "other"."""
        with self._lock:
            counts = self._names.setdefault(name, {}).setdefault(phase, Phase())
            counts.calls += 1
            counts.reentered += reentered
            is_known = inputs in counts.inputs or len(counts.inputs) < MOST_KINDS
            counts.inputs[inputs if is_known else "other"] += 1

    def as_dict(self) -> dict[str, dict[str, dict[str, Any]]]:
        """For every name and phase `calls`, `reentered`, and `inputs` by their kind."""
        with self._lock:
            return {
                name: {
                    phase: {**vars(counts), "inputs": dict(counts.inputs)}
                    for phase, counts in phases.items()
                }
                for name, phases in self._names.items()
            }

    def log(self, logger: logging.Logger, level: int = logging.INFO) -> None:
        """One record for each name and phase."""
        text = "%s (%s): %d calls, %d of them before an earlier backward; %s"
        for name, phases in self.as_dict().items():
            for phase, counts in phases.items():
                kinds = (
                    f"{count} x [{kind}]" for kind, count in counts["inputs"].items()
                )
                told = (counts["calls"], counts["reentered"], ", ".join(kinds))
                logger.log(level, text, name, phase, *told)

    def reset(self) -> None:
        """Begin again at nothing."""
        with self._lock:
            self._names.clear()


compiled_calls = CompiledCalls(
    on=os.environ.get("COUNT_COMPILED_CALLS", "0") not in ("", "0")
)


@overload
def counted(name: str, compiled: COMPILED) -> COMPILED: ...
@overload
def counted(name: str) -> Callable[[COMPILED], COMPILED]: ...
def counted(name: str, compiled: Any = None) -> Any:
    """Count the calls of what is compiled; without it, a decorator.

    A module stays the same object, counted once, be it from `torch.compile(module)`
    or after `module.compile()`. A function is wrapped. A module that is not compiled
    is not counted.
    """
    if compiled is None:
        return functools.partial(counted, name)
    if not is_counting() or isinstance(compiled, type):
        return compiled
    watch = Watch(name)
    if not isinstance(compiled, torch.nn.Module):
        return watch.wrap(compiled)
    watch.attach(compiled)
    return compiled


def is_counting() -> bool:
    return not torch.compiler.is_compiling() and compiled_calls.on


class Watch:
    """Sees the calls of one callable, and which of them wait for their backward.

    Holds no tensor, and nothing that would keep one alive.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.waiting: weakref.WeakSet[Backward] = weakref.WeakSet()

    def enter(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if is_counting():
            named = (f"{key}={describe(value)}" for key, value in kwargs.items())
            inputs = ", ".join([*map(describe, args), *named])
            reentered = len(self.waiting) > 0
            compiled_calls.add(self.name, phase_of(module), inputs, reentered)

    def leave(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any
    ) -> None:
        if is_counting():
            backward = Backward(self.waiting)
            given = () if torch.is_grad_enabled() else nodes_of((args, kwargs))
            for node in nodes_of(output).difference(given):
                node.register_prehook(backward)

    def attach(self, module: torch.nn.Module) -> None:
        """Count the calls of a module, outside of its graph."""
        call = getattr(module, "_compiled_call_impl", None)
        if isinstance(module, torch._dynamo.OptimizedModule):
            if compiled_calls.is_new(module):
                module.register_forward_pre_hook(self.enter, with_kwargs=True)
                module.register_forward_hook(self.leave, with_kwargs=True)
        elif call is not None and not hasattr(call, "is_counted"):
            # Hooks of a module that compiles itself would be part of its graph.
            module._compiled_call_impl = self.wrap(call)

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""
        owner = owner_of(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            known = (it for it in (owner, *args) if isinstance(it, torch.nn.Module))
            self.enter(next(known, None), args, kwargs)
            output = function(*args, **kwargs)
            self.leave(None, args, kwargs, output)
            return output

        call.is_counted = True  # type: ignore[attr-defined]
        return call


class Backward:
    """A backward that is still to run. Only the autograd graph holds it."""

    def __init__(self, waiting: weakref.WeakSet[Backward]) -> None:
        self.waiting = waiting
        waiting.add(self)

    def __call__(self, grads: Any) -> None:
        self.waiting.discard(self)


def owner_of(function: Any) -> Any:
    """The object of a bound method, whatever is wrapped around that."""
    while not hasattr(function, "__self__") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return getattr(function, "__self__", None)


def phase_of(module: Any) -> str:
    """`train, grad` or `eval, no grad`; where no module is known, `grad` alone."""
    grad = "grad" if torch.is_grad_enabled() else "no grad"
    if module is None:
        return grad
    mode = "train" if getattr(module, "_orig_mod", module).training else "eval"
    return f"{mode}, {grad}"


def parts_of(value: Any) -> Iterable[tuple[str, Any]] | None:
    """What a list, tuple, mapping or dataclass holds, each with its label."""
    if isinstance(value, Mapping):
        return ((f"{key}=", part) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return (("", part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in fields(value)]
        return ((f"{name}=", getattr(value, name, None)) for name in names)
    return None


def describe(value: Any, levels: int = DEEPEST) -> str:
    """`float32[8, 16]` for a tensor; the type of anything else, with what it holds."""
    if isinstance(value, torch.Tensor):
        shape = "nested" if value.is_nested else ", ".join(map(str, value.shape))
        return f"{str(value.dtype).replace('torch.', '')}[{shape}]"
    parts = parts_of(value) if levels else None
    if parts is None:
        return "None" if value is None else type(value).__name__
    first = list(islice(parts, MOST_ITEMS + 1))
    shown = [f"{label}{describe(part, levels - 1)}" for label, part in first]
    shown[MOST_ITEMS:] = ["..."] * (len(shown) > MOST_ITEMS)
    return f"{type(value).__name__}({', '.join(shown)})"


def nodes_of(value: Any) -> set[Any]:
    """Where the backward of a value begins."""
    return {it.grad_fn for it in tensors_in(value) if it.grad_fn is not None}


def tensors_in(value: Any, levels: int = DEEPEST) -> list[torch.Tensor]:
    """The tensors of a value, in whatever it holds them."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = parts_of(value) if levels else None
    return [it for _, part in parts or () for it in tensors_in(part, levels - 1)]
'''
