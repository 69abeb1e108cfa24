"""Functions, classes and modules taken apart.

One that can be imported from a library is what it is called. Any other one is more than its name: its code, and what it
holds: the variables of the functions around it, its defaults, its attributes.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import sysconfig
import types
from typing import Any

import torch

from .leaf import Opened, name_type, read_dict
from .tensors import COMPILER_MARKS

BUILT_IN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)
CACHED = type(functools.lru_cache(len))
LIBRARIES = tuple(
    {
        os.path.join(os.path.realpath(folder), "")
        for folder in (
            *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
            os.path.dirname(torch.__file__),
        )
    }
)
INSTALLED = ("site-packages", "dist-packages")
ORIGINAL = "_torchdynamo_orig_callable"


class Held:
    """What a function holds, whatever it is called and whatever it does."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function


def open_function(value: Any) -> Opened | None:
    """A function, a class or a module; None if it is none of these."""
    kind = type(value)
    if kind is Held:
        return open_held(value.function)
    if issubclass(kind, type):
        return open_class(value)
    if issubclass(kind, types.ModuleType):
        return Opened([("module", value.__name__)], shared=False)
    if issubclass(kind, types.FunctionType):
        return open_python(without_compiler(value))
    if kind is CACHED:
        return Opened([("function", name_of(value))], [(".__wrapped__", value.__wrapped__)], shared=False)
    if issubclass(kind, BUILT_IN):
        return Opened([("function", name_of(value))], read_receiver(value), shared=False)
    return None


def open_python(function: Any) -> Opened:
    """With `code` and all that it holds, unless it can be imported from a library."""
    if not issubclass(type(function), types.FunctionType):
        return Opened([], [("", function)], shared=False)
    if is_foreign(function) and is_importable(function):
        return Opened([("function", name_of(function))], shared=False)
    facts, parts, _ = open_held(function)
    own = [("function", name_of(function)), ("code", digest_code(function.__code__))]
    return Opened([*own, *facts], parts, shared=bool(parts))


def open_held(function: Any) -> Opened:
    held = read_held(function)
    return Opened([("held", ", ".join(held))], [(f".{name}", value) for name, value in held.items()], shared=False)


def open_class(value: Any) -> Opened:
    """One that was made at run time is what is written in it; all others are what they are called."""
    if is_importable(value):
        return Opened([("class", name_type(value))], shared=False)
    members = {name: member for name, member in read_members(value).items() if type(member) is not types.ModuleType}
    facts = [("class", name_type(value)), ("bases", ", ".join(map(name_type, value.__bases__)))]
    parts = [(f".{name}", member) for name, member in sorted(members.items())]
    return Opened([*facts, ("attributes", ", ".join(sorted(members)))], parts)


def read_members(kind: type) -> dict[str, Any]:
    """What the body of a class has set: no annotations, slots, or what Python and `abc` add themselves."""
    return {
        name: unbind(member)
        for name, member in list(kind.__dict__.items())
        if (not name.startswith(("__", "_abc_")) or issubclass(type(unbind(member)), types.FunctionType))
        and type(member) not in (types.MemberDescriptorType, types.GetSetDescriptorType)
    }


def unbind(member: Any) -> Any:
    """The function behind a static method, a class method or a property."""
    if type(member) in (staticmethod, classmethod):
        return member.__func__
    return member.fget if type(member) is property else member


def read_held(function: Any) -> dict[str, Any]:
    """Variables around it by their name, defaults as `name=`, attributes; not what torch.compile leaves there."""
    held: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            held[name] = cell.cell_contents
        except ValueError:
            continue  # not bound yet
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][-len(defaults) :] if defaults else ()
    held.update((f"{name}=", default) for name, default in zip(names, defaults))
    held.update((f"{name}=", default) for name, default in (function.__kwdefaults__ or {}).items())
    attributes = read_dict(function)
    held.update((name, attributes[name]) for name in sorted(attributes) if not name.startswith(HIDDEN))
    return held


HIDDEN = (*COMPILER_MARKS, "_torchdynamo", "__signature__", "__annotations__")


def read_receiver(function: Any) -> list[tuple[str, Any]]:
    """The object that a method of a built-in type is bound to."""
    receiver = getattr(function, "__self__", None)
    kind = type(receiver)
    is_named = receiver is None or issubclass(kind, (types.ModuleType, type)) or kind.__module__.startswith("torch._C")
    return [] if is_named else [(".__self__", receiver)]


def without_compiler(value: Any) -> Any:
    """What torch.compile and torch.compiler.disable were given."""
    while issubclass(type(value), types.FunctionType) and ORIGINAL in value.__dict__:
        value = value.__dict__[ORIGINAL]
    return value


def peel(value: Any) -> Any:
    """The function behind decorators of libraries: those change how it runs, and hold nothing for others."""
    value = without_compiler(value)
    while issubclass(type(value), types.FunctionType) and is_foreign(value) and "__wrapped__" in value.__dict__:
        value = without_compiler(value.__dict__["__wrapped__"])
    return value


def name_of(function: Any) -> str:
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", "")
    return f"{module}.{name}" if module else str(name)


def is_importable(value: Any) -> bool:
    """Whether its module has it under its name: nobody else can be called so."""
    found: Any = sys.modules.get(getattr(value, "__module__", None) or "")
    for part in value.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return unbind(found) is value


def is_foreign(function: Any) -> bool:
    """Whether the code stands in a library; what has no file is where its module is."""
    file = function.__code__.co_filename
    if file.startswith("<"):
        file = getattr(sys.modules.get(function.__module__ or ""), "__file__", None) or ""
    return is_library(file)


@functools.lru_cache(maxsize=4096)
def is_library(file: str) -> bool:
    real = os.path.realpath(file)
    return real.startswith(LIBRARIES) or any(part in INSTALLED for part in real.split(os.sep))


@functools.lru_cache(maxsize=4096)
def digest_code(code: types.CodeType) -> str:
    """What it does, whatever its lines, its file and its variables are called."""
    constants = [digest_code(one) if type(one) is types.CodeType else tell_constant(one) for one in code.co_consts]
    names = code.co_names, code.co_freevars, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    told = code.co_code, constants, names, code.co_argcount, code.co_kwonlyargcount, code.co_flags
    return hashlib.blake2b(repr(told).encode(), digest_size=16).hexdigest()


def tell_constant(constant: Any) -> str:
    if type(constant) in (tuple, frozenset):
        parts = [tell_constant(one) for one in constant]
        return f"{type(constant).__name__}({', '.join(parts if type(constant) is tuple else sorted(parts))})"
    return f"{type(constant).__name__} {constant!r}"
