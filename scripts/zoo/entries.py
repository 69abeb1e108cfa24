"""The models of the bench, with what is known about each beforehand. Imports no torch."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.subject import Subject

SOURCE = "GraphMend, arXiv 2509.16248 v4, its best result"
REFERENCE = "4.52.4"
"""The version of transformers that the numbers below are of."""


@dataclass(frozen=True)
class Entry:
    """`known` breaks before, and what the `rival` left of them. Compiled code is held to the tolerances."""

    name: str
    maker: str
    known: int
    rival: int
    rtol: float = 1e-4
    atol: float = 1e-5

    def make(self) -> Subject:
        """Builds the model from its config, anew. Nothing is fetched."""
        module, _, function = self.maker.partition(":")
        transformers: Any = importlib.import_module("transformers")
        subject: Subject = getattr(importlib.import_module(module), function)(transformers)
        return subject


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("t5", "zoo.text:make_t5", 3, 0),
        Entry("whisper", "zoo.text:make_whisper", 3, 0),
        Entry("bart", "zoo.text:make_bart", 7, 0, rtol=1e-2, atol=2e-3),
        Entry("phi3", "zoo.text:make_phi3", 5, 0),
        Entry("layoutlmv3", "zoo.vision:make_layoutlmv3", 2, 0),
        Entry("longformer", "zoo.text:make_longformer", 5, 3),
        Entry("grounding_dino", "zoo.vision:make_grounding_dino", 16, 7),
    )
}
