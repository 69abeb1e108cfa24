"""Values like those of a call that was captured: shapes, dtypes, plain values, and objects of the same classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fullgraph.validate.drafting import names
from fullgraph.validate.drafting.facts import BATCH, Dim, Facts
from fullgraph.validate.drafting.makers import Value, make_optimizer, quoted
from fullgraph.validate.drafting.parameters import Parameter
from fullgraph.validate.drafting.values import Guesser

KINDS = {"float": "float", "bfloat": "float", "int": "int", "uint": "int", "bool": "bool"}
USUAL = {"float": "float32", "int": "int64", "bool": "bool"}


class Seen:
    """What the index of a capture says about the arguments. `sizes` are batch sizes that occurred, or should."""

    def __init__(self, index: dict[str, Any] | None) -> None:
        calls = index["calls"] if index else []
        self.arguments: dict[str, dict[str, Any]] = {
            name: held for call in calls[:1] for name, held in call["arguments"]
        }
        self.main = (index or {}).get("main") or {}
        self.sizes = sizes_in(calls)

    def shapes(self, names: list[str]) -> dict[str, list[int]]:
        """Of the arguments that are tensors."""
        held = {name: self.arguments[name] for name in names if name in self.arguments}
        return {name: one["shape"] for name, one in held.items() if one["kind"] == "tensor"}

    def value(self, one: Parameter, guesser: Guesser) -> Value | None:
        """None where the capture says nothing that can be written down."""
        held = self.arguments.get(one.name)
        return self.described(one.name, held, guesser) if held else None

    def described(self, name: str, held: dict[str, Any], guesser: Guesser) -> Value | None:
        if held["kind"] == "value":
            return Value(quoted(held["value"]), held["value"])
        if held["kind"] == "tensor":
            return self.tensor(name, held, guesser)
        if held["kind"] == "object":
            self.note_fields(name, held.get("fields", {}), guesser)
            return self.object(name, held["type"], guesser)
        items = held["items"]
        if held["kind"] == "dict":
            parts = {key: self.described(name, part, guesser) for key, part in items.items()}
            text = ", ".join(f'"{key}": {part.text}' for key, part in parts.items() if part)
            return Value(f"{{{text}}}") if all(parts.values()) else None
        made = [self.described(name, part, guesser) for part in items]
        text = ", ".join(part.text for part in made if part)
        if not all(made):
            return None
        return Value(f"[{text}]" if held["kind"] == "list" else f"({text}{',' if len(made) == 1 else ''})")

    def tensor(self, name: str, held: dict[str, Any], guesser: Guesser) -> Value:
        kind = kind_of(held)
        asked = guesser.facts.get(guesser.prefix + name, Facts())
        hides = names.HIDING.search(name) is not None
        text = guesser.tensor_text(self.shape(held), Facts(kind=kind, below=asked.below), hides)
        moved = "" if held["dtype"] == USUAL[kind] else f".to(torch.{held['dtype']})"
        return Value(text + moved, guess=f"the values of `{name}`" if kind == "int" else "")

    def shape(self, held: dict[str, Any]) -> list[Dim]:
        shape: list[Dim] = list(held["shape"])
        is_batch = bool(shape and self.sizes and shape[0] == self.sizes[0])
        return [BATCH, *shape[1:]] if is_batch else shape

    def note_fields(self, name: str, fields: dict[str, Any], guesser: Guesser) -> None:
        """Tensors in the fields of a dataclass are asked for as they were."""
        for field, held in fields.items():
            if held["kind"] == "tensor" and held["shape"]:
                path = f"{guesser.prefix}{name}.{field}"
                asked = guesser.facts.get(path, Facts())
                told = Facts(dims=tuple(self.shape(held)), kind=kind_of(held), below=asked.below)
                guesser.facts[path] = told

    def object(self, name: str, dotted: str, guesser: Guesser) -> Value | None:
        """An object of the class that was seen."""
        if dotted.startswith("torch.optim."):
            return make_optimizer(guesser, name)
        if dotted.startswith("__main__.") and self.main:
            dotted = f"{self.main['name']}.{dotted.partition('.')[2]}"
        found = guesser.scope.library.find(dotted)
        if found is None or not found.is_class or found.module.name.startswith("torch."):
            return None
        return guesser.member_of(found) or guesser.object_of(found, name)


def kind_of(held: dict[str, Any]) -> str:
    return KINDS.get(held["dtype"].rstrip("0123456789"), "float")


def tensors_in(held: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if held["kind"] == "tensor":
        yield held
    for part in held.get("fields", {}).values():
        yield from tensors_in(part)


def sizes_in(calls: list[dict[str, Any]]) -> list[int]:
    """The sizes of the first dimension of the first tensor, call by call; and one more if they are all the same."""
    found: list[int] = []
    for call in calls:
        every = (held["shape"] for _, argument in call["arguments"] for held in tensors_in(argument))
        first = next((shape[0] for shape in every if shape), None)
        if first is not None and first not in found:
            found.append(first)
    return [*found, found[0] + 3] if len(found) == 1 else found
