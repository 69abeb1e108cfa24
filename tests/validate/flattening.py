"""Leaves as they come back from the file, and where two values part."""

from __future__ import annotations

from typing import Any

from fullgraph.validate.worker.recording.closeness import Rule
from fullgraph.validate.worker.recording.flatten import flatten
from fullgraph.validate.worker.recording.leaf import Leaf
from fullgraph.validate.worker.recording.trees import Found, find_differences
from tests.validate.recording import stored

EXACT = Rule(True)


def leaves(value: object) -> list[Leaf]:
    """Through the file, and with nothing opaque."""
    refused: list[tuple[str, str]] = []
    found: list[Leaf] = stored(flatten(value, "v", on_opaque=lambda *place: refused.append(place)))
    assert not refused
    return found


def opaque(value: object) -> list[tuple[str, str]]:
    refused: list[tuple[str, str]] = []
    stored(flatten(value, "v", on_opaque=lambda *place: refused.append(place)))
    return refused


def found(first: object, second: object) -> list[Found]:
    return list(find_differences(leaves(first), leaves(second), EXACT, lambda *_: None))


def kinds(value: object) -> dict[str, Any]:
    return {kind: fact for path, kind, fact in leaves(value) if path == "v"}
