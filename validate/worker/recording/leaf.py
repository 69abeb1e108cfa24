"""What a value is once it is taken apart: leaves, which are plain tuples that a file can hold."""

from __future__ import annotations

import contextlib
import re
import types
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple

import torch

Leaf = tuple[str, str, Any]
"""Where it is (`output['loss'][0]`), what it says about that place (`dtype`, `int`, `value`), and the fact itself."""

SCALARS = (type(None), bool, int, float, complex, str, bytes)
NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme)

HEAP_TYPE = 1 << 9
"""The flag of types that were made at run time, as all classes of Python code are."""

REPR_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")
ANY_ADDRESS = re.compile(r"\b0x[0-9A-Fa-f]{8,16}\b")


class Opened(NamedTuple):
    """A value taken apart by one step: facts about it, and its parts, each with what it adds to the path."""

    facts: list[tuple[str, Any]]
    parts: Iterable[tuple[str, Any]] = ()
    shared: bool = True
    """Whether a program can tell this very object from an equal one."""


def name_type(kind: type) -> str:
    """`torch.Tensor`; of Python's own types only the name: `dict`."""
    module, name = getattr(kind, "__module__", ""), getattr(kind, "__qualname__", kind.__name__)
    return name if module == "builtins" else f"{module}.{name}"


def is_plain(key: object) -> bool:
    """Whether `spell` tells all there is to tell about a key."""
    if type(key) is tuple:
        return all(map(is_plain, key))
    return type(key) in SCALARS or issubclass(type(key), (Enum, type, *NAMED))


def spell(key: object) -> str:
    """A key as it stands in a path."""
    if type(key) is tuple:
        return f"({', '.join(map(spell, key))}{',' * (len(key) == 1)})"
    if issubclass(type(key), Enum):
        return f"{type(key).__name__}.{key._name_}"  # type: ignore[attr-defined]
    if issubclass(type(key), type):
        return name_type(key)  # type: ignore[arg-type]
    if type(key) in SCALARS or issubclass(type(key), NAMED):
        return repr(key)
    return f"<{name_type(type(key))}>"


def mask_repr(text: str) -> str:
    """Without the addresses that Python's own representations carry."""
    return REPR_ADDRESS.sub("at 0x...", text)


def mask_addresses(text: str) -> str:
    """Without anything that may be an address: for messages, where nobody counts on a number in base 16."""
    return ANY_ADDRESS.sub("0x...", mask_repr(text))


def read_attributes(value: object) -> dict[str, Any]:
    """What an object holds in its `__dict__` and its slots, without asking its own code."""
    found: dict[str, Any] = {}
    for kind in reversed(type(value).__mro__):
        for name, member in list(kind.__dict__.items()):
            if type(member) is types.MemberDescriptorType and kind.__flags__ & HEAP_TYPE:
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    with contextlib.suppress(AttributeError):
        found.update(object.__getattribute__(value, "__dict__"))
    return found
