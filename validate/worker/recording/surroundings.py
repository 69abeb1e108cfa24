"""What every module of the project holds: variables, attributes of classes and functions, defaults that can change."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from .functions import CACHED, INSTALLED, peel, read_held, read_members

SCENARIO = "fullgraph_scenario"
CONSTANT = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType, types.FunctionType, CACHED)


def read_surroundings(roots: Sequence[str]) -> dict[str, Any]:
    """By a path that tells where each is: `surroundings['train.model']`, `surroundings['train.Net.count']`."""
    found: dict[str, Any] = {}
    for module in list_modules(roots):
        for name, value in read_names(module):
            found[f"surroundings[{module.__name__ + '.' + name!r}]"] = value
    return found


def list_modules(roots: Sequence[str]) -> list[types.ModuleType]:
    """Those whose file is below one of the folders, or is one of them; not what is installed there."""
    folders = [os.path.realpath(root) for root in roots]
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__dict__", {}).get("__file__")
        if type(file) is str and (name == SCENARIO or is_inside(os.path.realpath(file), folders)):
            found[id(module)] = module
    return sorted(found.values(), key=lambda module: module.__name__)


def is_inside(file: str, folders: Sequence[str]) -> bool:
    for folder in folders:
        if file == folder:
            return True
        if file.startswith(os.path.join(folder, "")):
            return not any(part in INSTALLED for part in file[len(folder) :].split(os.sep))
    return False


def read_names(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """What can change while the program runs. The modules that a module has imported are told by themselves."""
    names = vars(module)
    for name in sorted(names, key=lambda name: (name.startswith("_"), name)):
        value = names[name]
        if (name.startswith("__") and name != "__all__") or issubclass(type(value), types.ModuleType):
            continue
        yield from read_definition(module.__name__, name, value)


def read_definition(module: str, name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Of a function or a class that is defined here only what can change; anything else is a variable."""
    value = peel(value)
    if not is_defined(module, name, value):
        yield name, value
    elif issubclass(type(value), type):
        if not issubclass(value, Enum):
            for member, part in sorted(read_members(value).items()):
                yield from read_definition(module, f"{name}.{member}", part)
    elif holds_state(value):
        yield name, value


def is_defined(module: str, name: str, value: Any) -> bool:
    if not issubclass(type(value), (type, types.FunctionType, CACHED)):
        return False
    return bool(value.__module__ == module and value.__qualname__ == name)


def holds_state(function: Any) -> bool:
    """Whether a function holds something that can change: plain defaults cannot."""
    if type(function) is CACHED:
        return holds_state(function.__wrapped__)
    held = read_held(function)
    return any(not (name.endswith("=") and issubclass(type(value), CONSTANT)) for name, value in held.items())
