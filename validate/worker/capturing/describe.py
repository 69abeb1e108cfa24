"""Arguments in words: shapes, dtypes and plain values as JSON, for people and for a first scenario."""

from __future__ import annotations

import dataclasses
from typing import Any

MOST = 8
LONGEST = 200


def describe(value: Any, depth: int = 0) -> dict[str, Any]:
    """`kind`: tensor, value, list, tuple, dict or object; what is too long or too deep is an object without parts."""
    import torch

    if isinstance(value, torch.Tensor):
        return describe_tensor(value)
    if value is None or type(value) in (bool, int, float, str):
        return {"kind": "value", "value": value} if len(repr(value)) < LONGEST else named(value)
    if depth < 3 and type(value) in (list, tuple) and len(value) <= MOST:
        return {"kind": type(value).__name__, "items": [describe(part, depth + 1) for part in value]}
    if depth < 3 and type(value) is dict and len(value) <= MOST and all(isinstance(key, str) for key in value):
        return {"kind": "dict", "items": {key: describe(part, depth + 1) for key, part in value.items()}}
    if depth < 3 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)[: 2 * MOST]}
        return {**named(value), "fields": {name: describe(part, depth + 1) for name, part in held.items()}}
    return named(value)


def describe_tensor(value: Any) -> dict[str, Any]:
    return {
        "kind": "tensor",
        "shape": [int(size) for size in value.shape],
        "dtype": str(value.dtype).partition(".")[2],
        "device": str(value.device),
        "requires_grad": bool(value.requires_grad),
    }


def named(value: Any) -> dict[str, Any]:
    return {"kind": "object", "type": f"{type(value).__module__}.{type(value).__qualname__}"}
