"""Any value as a list of leaves, in an order that does not depend on chance.

Told by itself: every number, text and key, the type of every container, which places hold the very same object. What an
object keeps outside its attributes is opaque, and reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import tensors
from .functions import open_function
from .iterators import open_iterator
from .leaf import Leaf, Opened, name_type
from .objects import open_object
from .values import open_value

LIMIT = 60_000
DEEPEST = 4_000
"""Characters of a path."""

OPENERS = (open_value, tensors.open_tensor, open_function, open_iterator, tensors.open_array, open_object)
OnOpaque = Callable[[str, str], None]


def flatten(value: object, path: str, *, on_opaque: OnOpaque) -> list[Leaf]:
    """The leaves of one value. `on_opaque(path, type)` hears of each part that cannot be looked into."""
    return Flattener(on_opaque).flatten(value, path)


def describe(value: object, path: str) -> list[Leaf]:
    """The leaves of a value with a digest in place of each tensor's numbers."""
    return Flattener(lambda *_: None, store=tensors.digest).flatten(value, path)


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in lists, tuples, dicts and dataclasses, in order and at once: for where time is measured."""
    found: list[torch.Tensor] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, (list, tuple)):
            waiting.extend(reversed(item))
        elif isinstance(item, dict):
            waiting.extend(reversed(list(item.values())))
        elif hasattr(type(item), "__dataclass_fields__"):
            waiting.extend(reversed([getattr(item, name, None) for name in type(item).__dataclass_fields__]))
    return found


class HiddenError(Exception):
    """A value keeps what it is where nobody can look."""


class Flattener:
    """Takes values apart. An object that is met again, in whatever call, is told by where it was met first."""

    def __init__(
        self, on_opaque: OnOpaque, *, store: Callable[[torch.Tensor], Any] = tensors.keep, limit: int = LIMIT
    ) -> None:
        self.on_opaque = on_opaque
        self.store = store
        self.limit = limit
        self.seen: dict[int, tuple[str, object]] = {}
        self.tensors: list[tuple[str, torch.Tensor]] = []
        """Every tensor with each place it was met at."""

        self.arrays: list[tuple[str, Any]] = []
        """Every array of numpy, likewise."""

    def flatten(self, value: object, path: str) -> list[Leaf]:
        leaves: list[Leaf] = []
        waiting = [(path, value)]
        while waiting:
            place, item = waiting.pop()
            if len(leaves) >= self.limit:
                return [*leaves, self.refuse(place, f"tree of more than {self.limit} leaves")]
            facts, parts = self.visit(place, item)
            leaves.extend(facts)
            waiting.extend(reversed(parts))
        return leaves

    def visit(self, path: str, value: object) -> tuple[list[Leaf], list[tuple[str, object]]]:
        if issubclass(type(value), torch.Tensor):
            self.tensors.append((path, value))  # type: ignore[arg-type]
        elif tensors.is_array(value):
            self.arrays.append((path, value))
        if id(value) in self.seen:
            return [(path, "same as", self.seen[id(value)][0])], []
        if len(path) > DEEPEST:
            return [self.refuse(path, "tree too deep to follow")], []
        try:
            opened = self.open(value)
            facts = [(path, kind, self.keep(fact)) for kind, fact in opened.facts]
            parts = [(path + suffix, part) for suffix, part in opened.parts]
        except Exception as error:
            return [self.refuse(path, tell_failure(value, error))], []
        if opened.shared:
            self.seen[id(value)] = path, value
        return facts, parts

    def open(self, value: object) -> Opened:
        if issubclass(type(value), (set, frozenset)):
            return self.open_set(value)
        for opener in OPENERS:
            opened = opener(value)
            if opened is not None:
                return opened
        raise HiddenError

    def keep(self, fact: Any) -> Any:
        return self.store(fact) if isinstance(fact, torch.Tensor) else fact

    def open_set(self, value: Any) -> Opened:
        """In the order of what the members are, as a set has no other."""
        kind = set if issubclass(type(value), set) else frozenset
        members = sorted(kind.__iter__(value), key=lambda member: repr(describe(member, "")))
        facts = [("type", name_type(type(value))), ("length", len(members))]
        return Opened(facts, [(f"{{{place}}}", member) for place, member in enumerate(members)], shared=kind is set)

    def refuse(self, path: str, what: str) -> Leaf:
        self.on_opaque(path, what)
        return path, "opaque", what


def tell_failure(value: object, error: Exception) -> str:
    name = name_type(type(value))
    return name if isinstance(error, HiddenError) else f"{name} ({type(error).__name__} when read)"
