"""What the text says about a value: whether it is a tensor, which kind of numbers it holds, its shape, its device."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

Device = tuple[ast.AST | None, str]
"""Something on whose device a value is: a variable as (scope, name), or an expression as (None, text)."""

Kind = Literal["", "float", "int", "bool"]
What = Literal["", "tensor", "list", "dict", "distribution", "other"]


@dataclass(frozen=True)
class Known:
    """What is known about a value; empty fields are not known. A value that may be None is not known to be a tensor.

    `devices`: whatever is surely on the same device. Two values with one of these in common are on one device.
    `shape`: equal for values of equal shape. `item`: what the items of a list or the values of a dict are.
    `parts`: what each item of a tuple is, where its length is known.
    """

    what: What = ""
    kind: Kind = ""
    ndim: int | None = None
    devices: frozenset[Device] = frozenset()
    shape: str = ""
    item: Known | None = None
    parts: tuple[Known, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.what == "tensor"

    @property
    def is_number(self) -> bool:
        return self.what == "other" and self.ndim == 0

    def but(self, **changes: object) -> Known:
        return replace(self, **changes)  # type: ignore[arg-type]

    def seen_outside(self) -> Known:
        """The same value in another function, where variables that tell a device or a shape mean nothing."""
        item = self.item.seen_outside() if self.item else None
        parts = tuple(part.seen_outside() for part in self.parts)
        return replace(self, devices=frozenset(), shape="()" if self.ndim == 0 else "", item=item, parts=parts)

    def reduced(self, kind: Kind, dims: int | None, text: str) -> Known:
        """The result of a reduction over this many dimensions; None: over all of them."""
        ndim = 0 if dims is None else None if self.ndim is None else self.ndim - dims
        shape = "()" if dims is None else f"{self.shape} {text}" if self.shape else ""
        return replace(self, kind=kind, ndim=ndim, shape=shape, what="tensor")


UNKNOWN = Known()
NUMBER = Known("other", ndim=0)
OTHER = Known("other")
FOREIGN = ("numpy", "pandas", "jax", "cupy", "tensorflow", "scipy", "polars")


def is_foreign(dotted: str | None) -> bool:
    """Whether a name is of another library that has arrays of its own."""
    return (dotted or "").partition(".")[0] in FOREIGN


def tensor(kind: Kind = "", ndim: int | None = None, devices: frozenset[Device] = frozenset()) -> Known:
    return Known("tensor", kind, ndim, devices, "()" if ndim == 0 else "")


def agreed(found: Iterable[Known]) -> Known:
    """What holds for whichever of these values it is."""
    values = list(found)
    return reduce(both, values) if values else UNKNOWN


def both(one: Known, other: Known) -> Known:
    return Known(
        one.what if one.what == other.what else "",
        one.kind if one.kind == other.kind else "",
        one.ndim if one.ndim == other.ndim else None,
        one.devices & other.devices,
        one.shape if one.shape == other.shape else "",
        both(one.item, other.item) if one.item and other.item else None,
        tuple(map(both, one.parts, other.parts)) if len(one.parts) == len(other.parts) else (),
    )


def refined(seen: Known, said: Known) -> Known:
    """What is seen of a value, and what its annotation says where that tells more."""
    if not said.what or said.what == seen.what:
        items = [item for item in (seen.item, said.item) if item]
        is_alike = len(seen.parts) == len(said.parts)
        parts = tuple(map(refined, seen.parts, said.parts)) if is_alike else seen.parts or said.parts
        return seen.but(item=refined(items[0], items[-1]) if items else None, parts=parts)
    return said.but(devices=seen.devices) if not seen.what else seen


def believed(values: list[Known], said: Known) -> Known:
    """What holds for all of these values, and what an annotation says of them unless one of them is something else."""
    is_untrue = any(value.what not in ("", said.what) for value in values)
    return agreed(values) if is_untrue else refined(agreed(values), said)


def combined(one: Known, other: Known, kind: Kind) -> Known:
    """The result of an operator on two values: on the device of both."""
    if not one.is_tensor and not other.is_tensor:
        return UNKNOWN
    if one.is_number or other.is_number:
        return (other if one.is_number else one).but(kind=kind)
    is_sure = one.ndim is not None and other.ndim is not None and one.is_tensor and other.is_tensor
    ndim = max(one.ndim or 0, other.ndim or 0) if is_sure else None
    shape = one.shape if one.shape == other.shape else ""
    return Known("tensor", kind, ndim, one.devices | other.devices, shape)
