"""What a compiled entry was called with, and in which phase, in words; no tensor is kept."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import torch

LEAVES = 24
INSIDE = 8
"""Arguments that are described, and values inside each of them."""

DEEPEST = 2
SCALARS = (int, float, complex, str, bytes)


def name_phase(module: Any) -> str:
    """`train, grad`, `eval, no grad`, `inference`; without a module only the second word."""
    grad = "inference" if torch.is_inference_mode_enabled() else "grad" if torch.is_grad_enabled() else "no grad"
    if module is None:
        return grad
    return f"{'train' if module.training else 'eval'}, {grad}"


def find_module(owner: Any, args: tuple[Any, ...]) -> Any:
    """The module whose phase counts: the entry's own, else the first that it is given."""
    if owner is not None:
        return owner
    return next((one for one in args[:8] if isinstance(one, torch.nn.Module)), None)


def describe_inputs(args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """`float32[32, 8], int, mask=bool[32]`, no longer than can be read."""
    parts: list[str] = []
    with torch._C.DisableTorchFunction():
        for text in describe_all(args, options):
            if len(parts) == LEAVES:
                parts.append("...")
                break
            parts.append(text)
    return ", ".join(parts)


def describe_all(args: tuple[Any, ...], options: dict[str, Any]) -> Iterator[str]:
    for value in args:
        yield describe(value)
    for name, value in options.items():
        yield f"{name}={describe(value)}"


def describe(value: Any, depth: int = 0) -> str:
    if isinstance(value, torch.Tensor):
        return describe_tensor(value)
    kind = type(value)
    if value is None or kind is bool:
        return str(value)
    if kind in SCALARS:
        return kind.__name__
    if depth == DEEPEST:
        return kind.__qualname__
    if kind in (list, tuple, dict):
        return describe_container(value, depth + 1)
    return kind.__qualname__ + describe_fields(value, depth + 1)


def describe_container(value: Any, depth: int) -> str:
    if isinstance(value, dict):
        return "{" + join(describe_pairs(value, ": ", depth), len(value)) + "}"
    inside = join((describe(one, depth) for one in value[:INSIDE]), len(value))
    return f"[{inside}]" if isinstance(value, list) else f"({inside})"


def describe_fields(value: Any, depth: int) -> str:
    """Of a dataclass or a named tuple its fields, without running code of the user's; of another object nothing."""
    if isinstance(value, tuple) and hasattr(type(value), "_fields"):
        held = dict(zip(type(value)._fields, tuple.__iter__(value)))  # type: ignore[attr-defined]
    elif hasattr(type(value), "__dataclass_fields__") and hasattr(value, "__dict__"):
        held = object.__getattribute__(value, "__dict__")
    else:
        return ""
    return f"({join(describe_pairs(held, '=', depth), len(held))})"


def describe_pairs(pairs: dict[Any, Any], sign: str, depth: int) -> Iterator[str]:
    for key, value in itertools.islice(pairs.items(), INSIDE):
        yield f"{key if type(key) in SCALARS else type(key).__name__}{sign}{describe(value, depth)}"


def join(parts: Iterable[str], number: int) -> str:
    return ", ".join(parts) + (", ..." if number > INSIDE else "")


def describe_tensor(value: torch.Tensor) -> str:
    """`float32[32, 8]`, with its device unless that is the CPU, and its class unless that is a plain one."""
    try:
        shape: tuple[Any, ...] = tuple(value.shape)
    except RuntimeError:  # a nested tensor has no shape
        shape = ("nested",)
    return spell(shape, value.dtype, "" if value.is_cpu else value.device.type, type(value))


@functools.lru_cache(maxsize=512)
def spell(shape: tuple[Any, ...], dtype: torch.dtype, device: str, kind: type) -> str:
    named = "" if kind in (torch.Tensor, torch.nn.Parameter) else kind.__qualname__
    return " ".join(filter(None, [f"{str(dtype)[6:]}[{', '.join(map(str, shape))}]", device, named]))
