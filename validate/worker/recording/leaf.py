"""What a value is once it is taken apart: leaves, which are plain tuples that a file can hold."""

from __future__ import annotations

import contextlib
import ctypes
import re
import types
from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple

import torch

from ..process.own import open_file

Leaf = tuple[str, str, Any]
"""Where it is (`output['loss'][0]`), what it says about that place (`dtype`, `int`, `value`), and the fact itself."""

SCALARS = (type(None), bool, int, float, complex, str, bytes)
NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme)

HEAP_TYPE = 1 << 9
"""The flag of types that were made at run time, as all classes of Python code are."""

HEX_NUMBER = re.compile(r"\b0x[0-9A-Fa-f]{9,16}\b")
LOWEST_ADDRESS = 1 << 32
NEAR = 1 << 26
"""How far from the memory that a process has now it may have had some: in bytes."""

mappings: list[tuple[int, int]] = []
"""Where this process has memory, as of the last look."""


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


def mask_addresses(text: str) -> str:
    """Without the addresses of this process's memory. Any other number in base 16 is a value and stays."""
    return HEX_NUMBER.sub(lambda found: "0x..." if is_address(int(found[0], 16)) else found[0], text)


def is_address(number: int) -> bool:
    """Whether this process has memory there, or near: what was there may be gone."""
    if number < LOWEST_ADDRESS:
        return False
    if not is_mapped(number):
        mappings[:] = read_mappings()
    return is_mapped(number)


def is_mapped(number: int) -> bool:
    return any(start - NEAR <= number < end + NEAR for start, end in mappings)


def read_mappings() -> list[tuple[int, int]]:
    """Where a system does not tell, all numbers of that size may be addresses."""
    try:
        with open_file("/proc/self/maps", encoding="ascii", errors="replace") as file:
            spans = [line.partition(" ")[0].split("-") for line in file]
    except OSError:
        return [(LOWEST_ADDRESS, 1 << 64)]
    return [(int(start, 16), int(end, 16)) for start, end in spans if int(start, 16) < 1 << 63]


def read_attributes(value: object) -> dict[str, Any]:
    """What an object holds in its `__dict__` and its slots, without asking its own code."""
    found: dict[str, Any] = {}
    for kind in reversed(type(value).__mro__):
        for name, member in list(kind.__dict__.items()) if "__slots__" in kind.__dict__ else ():
            if type(member) is types.MemberDescriptorType and kind.__flags__ & HEAP_TYPE:
                with contextlib.suppress(AttributeError):
                    found[name] = member.__get__(value)
    with contextlib.suppress(AttributeError):
        found.update(read_dict(value))
    return found


def read_dict(value: object) -> dict[str, Any]:
    """The dict of an instance, also where its class says that it is another."""
    for kind in type(value).__mro__:
        if "__dict__" in kind.__dict__ and type(kind.__dict__["__dict__"]) is not types.GetSetDescriptorType:
            read = ctypes.pythonapi.PyObject_GenericGetDict
            read.restype, read.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
            return dict(read(value, None))
    return dict(object.__getattribute__(value, "__dict__"))
