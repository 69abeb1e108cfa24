"""From `module:Class.method` to what is called: one way for the program that is watched and for the proof."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import UserError

GENERATORS = 0x20 | 0x80 | 0x100 | 0x200
"""Flags of code that runs only when somebody asks for its next value: generators, coroutines and both in one."""

MISSING = object()


class Named(NamedTuple):
    """A function found by its name. `owner` is the class of a method, whose first argument is self or cls."""

    function: Any
    owner: Any = None

    @property
    def is_method(self) -> bool:
        return self.owner is not None


def look_up(namespace: Mapping[str, Any], module: str, qualname: str) -> Named:
    """The function as callers get it, decorators included. Raises UserError with the way out."""
    owner, found = find(namespace, qualname)
    if found is MISSING:
        raise UserError(missing(module, qualname, names_in(namespace)))
    return checked(f"{module}:{qualname}", found, owner)


def missing(module: str, qualname: str, known: Iterator[str]) -> str:
    return f"there is no {qualname!r} in module {module!r}{suggest(qualname, known)}"


def find(namespace: Mapping[str, Any], qualname: str) -> tuple[Any, Any]:
    """What stands under a dotted name, unbound, and the class that it was found in; MISSING if there is nothing."""
    first, *rest = qualname.split(".")
    owner, found = None, namespace.get(first, MISSING)
    for part in rest:
        owner, found = found, attribute(found, part)
    return owner, found


def attribute(holder: Any, name: str) -> Any:
    """What a class holds under a name, its bases included, before any binding."""
    for kind in getattr(holder, "__mro__", ()):
        if name in vars(kind):
            return vars(kind)[name]
    return MISSING


def checked(target: str, found: Any, owner: Any) -> Named:
    """The function behind the descriptor; what is no plain function is refused."""
    if isinstance(found, staticmethod):
        found, owner = found.__func__, None
    elif isinstance(found, classmethod):
        found = found.__func__
    if isinstance(found, property):
        raise UserError(f"{target} is a property; name a function or a method")
    if isinstance(found, type):
        methods = [name for name in ("forward", "__call__", "step", "run") if attribute(found, name) is not MISSING]
        raise UserError(f"{target} is a class; name one of its methods, like {target}.{(methods or ['method'])[0]}")
    function = python_function(found)
    if function is None:
        raise UserError(
            f"{target} is an object of the class {type(found).__name__}, not a Python function; name the function "
            "or the method that it runs"
        )
    refuse_generators(target, function)
    return Named(found, owner)


def python_function(found: Any) -> types.FunctionType | None:
    """The function whose code runs first when `found` is called; caches written in C stand for what they wrap."""
    while not isinstance(found, types.FunctionType):
        found = getattr(found, "__wrapped__", None)
        if found is None:
            return None
    return found


def refuse_generators(target: str, function: Any) -> None:
    while function is not None:
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & GENERATORS:
            kind = "generator" if code.co_flags & 0x20 else "coroutine"
            raise UserError(
                f"{target} is a {kind} function: calling it runs nothing yet; name a plain function that it calls"
            )
        function = getattr(function, "__wrapped__", None)


def names_in(namespace: Mapping[str, Any]) -> Iterator[str]:
    """The functions of a module and the methods of its classes."""
    for name, value in list(namespace.items()):
        if isinstance(value, type):
            yield from (f"{name}.{inner}" for inner, held in vars(value).items() if callable(held))
        elif callable(value):
            yield name


def suggest(name: str, known: Iterator[str]) -> str:
    """`; did you mean X?` for the nearest names, or nothing."""
    names = sorted(known)
    tail = name.rpartition(".")[2]
    near = [other for other in names if other.rpartition(".")[2] == tail and other != name]
    near += [other for other in difflib.get_close_matches(name, names, n=2) if other not in near]
    return f"; did you mean {' or '.join(near[:2])}?" if near else ""
