"""What a call of a model did, as plain leaves that a file can hold; and what two such records differ in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch

from fullgraph.validate.worker.recording.closeness import Gap, Rule
from fullgraph.validate.worker.recording.flatten import Flattener
from fullgraph.validate.worker.recording.leaf import Leaf
from fullgraph.validate.worker.recording.tensors import find_storage
from fullgraph.validate.worker.recording.trees import Found, find_differences

ONLY_PLAIN = ("strides", "memory")
"""Compiled code may lay its results out as it likes."""

NOTHING = "no tensor was compared"


def record(parts: dict[str, object]) -> dict[str, Any]:
    """Every tensor in the parts: dtype, shape, stride, numbers, the memory it shares; and all that is no tensor."""
    opaque: list[str] = []
    flattener = Flattener(lambda path, what: opaque.append(f"{path}: {what}"))
    leaves = [leaf for name, value in parts.items() for leaf in flattener.flatten(value, name)]
    leaves += [(f"{path}~", "memory", first) for path, first in list_shared(flattener.tensors)]
    return {"leaves": leaves, "opaque": opaque, "tensors": len(flattener.tensors)}


def list_shared(tensors: Sequence[tuple[str, torch.Tensor]]) -> list[tuple[str, str]]:
    """Each tensor that lies in the memory of an earlier one, with the place of that."""
    first: dict[int, str] = {}
    shared = []
    for path, tensor in tensors:
        storage = find_storage(tensor)
        if storage is not None and first.setdefault(storage, path) != path:
            shared.append((path, first[storage]))
    return shared


def random_state() -> str:
    return hashlib.blake2b(torch.get_rng_state().numpy().tobytes(), digest_size=8).hexdigest()


# Comparing


class Comparison:
    """What two runs over the same calls differ in, the first being what is expected."""

    def __init__(self, first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]], rule: Rule) -> None:
        self.rule = rule
        self.tensors = 0
        self.largest = 0.0
        self.differences = self.compare(first, second)

    def compare(self, first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> list[str]:
        told = [] if len(first) == len(second) else [f"{len(first)} calls, then {len(second)}"]
        for place, (ours, theirs) in enumerate(zip(first, second, strict=False)):
            self.tensors += ours["tensors"]
            told += [f"call {place}: {tell(found)}" for found in self.find(ours["leaves"], theirs["leaves"])]
        return told if self.tensors else [*told, NOTHING]

    def find(self, ours: list[Leaf], theirs: list[Leaf]) -> list[Found]:
        """The tree and the layout each by themselves: a shape that differs hides no stride elsewhere."""
        kinds = [(kind,) for kind in ONLY_PLAIN] if self.rule.exact else []
        pairs = [[pick(leaves, kind) for leaves in (ours, theirs)] for kind in ((), *kinds)]
        return [found for one, other in pairs for found in find_differences(one, other, self.rule, self.note)]

    def note(self, path: str, gap: Gap) -> None:
        self.largest = max(self.largest, gap.absolute)


def pick(leaves: list[Leaf], kinds: Sequence[str]) -> list[Leaf]:
    """The leaves of these kinds; of none, all that tell more than the layout."""
    return [leaf for leaf in leaves if (leaf[1] in kinds if kinds else leaf[1] not in ONLY_PLAIN)]


def tell(found: Found) -> str:
    return f"{found.path}: {found.what}: {found.first} > {found.second}" + (f" ({found.error})" if found.error else "")
