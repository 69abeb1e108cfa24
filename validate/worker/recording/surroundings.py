"""What a plain function works with without being given it: modules, optimizers and tensors that it uses by name."""

from __future__ import annotations

import inspect
import types
from typing import Any

import torch

KINDS = (torch.nn.Module, torch.optim.Optimizer, torch.Tensor)
MOST = 200
"""Functions to look into, from the one that is called down."""


def read_surroundings(call: Any) -> dict[str, Any]:
    """By a path that tells where each is used: `surroundings['train.model']`. Follows the functions that are called."""
    found: dict[str, Any] = {}
    waiting = [call]
    seen: set[types.FunctionType] = set()
    while waiting and len(seen) < MOST:
        function = unwrap(waiting.pop())
        if function is None or function in seen or is_foreign(function):
            continue
        seen.add(function)
        for name, value in read_names(function).items():
            if issubclass(type(value), KINDS):
                found[f"surroundings[{function.__module__ + '.' + name!r}]"] = value
            elif issubclass(type(value), types.FunctionType):
                waiting.append(value)
    return dict(sorted(found.items()))


def unwrap(call: Any) -> types.FunctionType | None:
    """The function behind decorators, partial functions and torch.compile."""
    call = getattr(call, "func", call)
    try:
        call = inspect.unwrap(call)
    except ValueError:
        return None
    return call if isinstance(call, types.FunctionType) else None


def read_names(function: types.FunctionType) -> dict[str, Any]:
    """Names that the function takes from around it, or from its module."""
    try:
        used = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return {}
    return {**used.globals, **used.nonlocals}


def is_foreign(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in ("torch", "numpy")
