"""Python's own values taken apart. No method that a user could have overridden is called."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import fractions
import functools
import pathlib
import re
import types
import uuid
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import torch

from .leaf import NAMED, Opened, is_plain, mask_addresses, name_type, read_attributes, spell

TOLD_BY_REPR = (
    *NAMED,
    range,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    pathlib.PurePath,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    re.Pattern,
    types.GenericAlias,
    torch.finfo,
    torch.iinfo,
    torch.SymInt,
    torch.SymFloat,
    torch.SymBool,
    torch._ops.OpOverload,
    torch._ops.OpOverloadPacket,
    type(...),
    type(NotImplemented),
)
LIBRARIES = ("builtins", "datetime", "zoneinfo", "pathlib", "decimal", "fractions", "uuid", "re", "types", "torch")
"""Where the classes are defined that tell the truth in their `repr`; a class made of one of them need not."""

EMPTY: dict[str, Any] = {}
ORDERED: collections.OrderedDict[str, Any] = collections.OrderedDict()
VIEWS = tuple(type(view) for one in (EMPTY, ORDERED) for view in (one.keys(), one.values(), one.items()))
LONG = 1000
LONGEST_INT = 1024
"""In bits. Longer ones are kept as text: a loader that admits only plain values refuses them."""


def open_value(value: object) -> Opened | None:
    """A number, a text or a container of Python; None if it is none of these."""
    for open_kind in (open_scalar, open_text, open_sequence, open_mapping, open_call):
        opened = open_kind(value)
        if opened is not None:
            return opened
    return None


def open_scalar(value: Any) -> Opened | None:
    kind = type(value)
    if value is None:
        return Opened([("None", None)], shared=False)
    if issubclass(kind, Enum):
        return Opened([("enum", f"{name_type(kind)}.{value._name_}")], [(".value", value._value_)], shared=False)
    if kind is bool:
        return Opened([("bool", value)], shared=False)
    if issubclass(kind, int):
        return Opened([*told(kind, int), ("int", pack_int(int.__index__(value)))], own_attributes(value), shared=False)
    if issubclass(kind, float):
        return Opened([*told(kind, float), ("float", float.__float__(value))], own_attributes(value), shared=False)
    if issubclass(kind, complex):
        real, imaginary = (member.__get__(value) for member in (complex.real, complex.imag))  # type: ignore[attr-defined,unused-ignore]
        facts = [("type", name_type(kind)), ("real", real), ("imaginary", imaginary)]
        return Opened(facts, own_attributes(value), shared=False)
    return None


def open_text(value: Any) -> Opened | None:
    kind = type(value)
    if issubclass(kind, str):
        text = mask_addresses(str.__str__(value))
        return Opened([*told(kind, str), ("str", text)], own_attributes(value), shared=False)
    if issubclass(kind, (bytes, bytearray, memoryview)):
        facts = [("type", name_type(kind)), ("bytes", memoryview(value).tobytes().decode("latin-1"))]
        return Opened(facts, own_attributes(value), shared=kind is bytearray)
    if issubclass(kind, TOLD_BY_REPR):
        truthful: Any = next(base for base in kind.__mro__ if base.__module__.partition(".")[0] in LIBRARIES)
        facts = [("type", name_type(kind)), ("text", mask_addresses(truthful.__repr__(value)))]
        slotted = {name for base in truthful.__mro__ for name in base.__dict__}
        added = [] if truthful is kind else [part for part in own_attributes(value) if part[0][1:] not in slotted]
        return Opened(facts, added, shared=False)
    return None


def open_sequence(value: Any) -> Opened | None:
    kind = type(value)
    if issubclass(kind, tuple):
        return open_tuple(value)
    if issubclass(kind, list):
        return open_items(value, list.__iter__, list.__len__)
    if issubclass(kind, collections.deque):
        opened = open_items(value, collections.deque.__iter__, collections.deque.__len__)
        return Opened([*opened.facts, ("maxlen", value.maxlen)], opened.parts)
    if issubclass(kind, array.array):
        return Opened([("type", f"{name_type(kind)} {value.typecode}"), ("length", len(value))], number(value.tolist()))
    if kind in VIEWS:
        return Opened([("type", name_type(kind)), ("length", len(value))], number(value), shared=False)
    return None


def open_tuple(value: Any) -> Opened:
    opened = open_items(value, tuple.__iter__, tuple.__len__)
    fields = getattr(type(value), "_fields", None)
    if type(fields) is tuple and len(fields) == len(value):
        named = [(f".{fields[place]}", item) for place, item in enumerate(tuple.__iter__(value))]
        return Opened(opened.facts, [*named, *own_attributes(value)], shared=False)
    return Opened(opened.facts, opened.parts, shared=False)


def open_items(value: Any, iterate: Callable[[Any], Iterator[Any]], count: Callable[[Any], int]) -> Opened:
    """A long list of numbers is told as one tensor, and is then no longer too long to be told."""
    facts: list[tuple[str, Any]] = [("type", name_type(type(value))), ("length", count(value))]
    if count(value) >= LONG:
        packed = pack_numbers(iterate, value)
        if packed is not None:
            return Opened([*facts, *packed], own_attributes(value))
        facts.append(("items", "of several kinds"))
    return Opened(facts, [*number(iterate(value)), *own_attributes(value)])


def pack_numbers(iterate: Callable[[Any], Iterator[Any]], value: Any) -> list[tuple[str, Any]] | None:
    kinds = {type(item) for item in iterate(value)}
    kind = kinds.pop()
    if kinds or kind not in (int, float, bool):
        return None
    dtype = {int: torch.int64, float: torch.float64, bool: torch.bool}[kind]
    try:
        numbers = torch.tensor(list(iterate(value)), dtype=dtype, device="cpu")
    except (OverflowError, RuntimeError, TypeError, ValueError):
        return None
    return [("items", kind.__name__), ("floats" if kind is float else "value", numbers)]


def open_mapping(value: Any) -> Opened | None:
    """A dict in its order."""
    kind = type(value)
    if kind is types.MappingProxyType:
        return Opened([("type", "mappingproxy")], [("", dict(value))], shared=False)
    if not issubclass(kind, dict):
        return None
    items = list(
        collections.OrderedDict.items(value) if issubclass(kind, collections.OrderedDict) else dict.items(value)
    )
    facts = [("type", name_type(kind)), ("keys", ", ".join(spell(key) for key, _ in items))]
    keys = [(f".keys()[{place}]", key) for place, (key, _) in enumerate(items) if not is_plain(key)]
    parts = [(f"[{spell(key)}]", item) for key, item in items]
    if issubclass(kind, collections.defaultdict):
        keys.append((".default_factory", value.default_factory))
    return Opened(facts, [*keys, *parts, *own_attributes(value, besides=dict(items))])


def open_call(value: Any) -> Opened | None:
    """What is called with something already given: bound methods, partial functions; and slices, which hold three."""
    kind = type(value)
    if kind is types.MethodType:
        return Opened(
            [("type", "method")], [(".__func__", value.__func__), (".__self__", value.__self__)], shared=False
        )
    if issubclass(kind, functools.partial):
        parts = [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
        return Opened([("type", name_type(kind))], [*parts, *own_attributes(value)])
    if kind is slice:
        parts = [(".start", value.start), (".stop", value.stop), (".step", value.step)]
        return Opened([("type", "slice")], parts, shared=False)
    return None


def told(kind: type, plain: type) -> list[tuple[str, Any]]:
    """The name of a subclass; the plain type goes without saying."""
    return [] if kind is plain else [("type", name_type(kind))]


def pack_int(number: int) -> object:
    return number if number.bit_length() <= LONGEST_INT else hex(number)


def number(items: Any) -> list[tuple[str, Any]]:
    return [(f"[{place}]", item) for place, item in enumerate(items)]


def own_attributes(value: object, besides: dict[Any, Any] | None = None) -> list[tuple[str, Any]]:
    """The attributes that an instance of a subclass has of its own, but not those that are its items too."""
    attributes, items = read_attributes(value), besides or {}
    return [
        (f".{name}", attributes[name]) for name in sorted(attributes) if items.get(name, items) is not attributes[name]
    ]
