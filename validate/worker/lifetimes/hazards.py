"""The hazards of one run: outputs that outlive their step, each told once however often it happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

from .buffers import Buffer
from .holding import Holder
from .places import Place

Key = tuple[Optional[Place], str, str]


@dataclass
class Hazard:
    """An output that is still held when the next step overwrites it, or that is used although it was overwritten."""

    kind: str
    """How it is held (attribute, list item, closure, global, local, ...), or: input, backward, gradient, returned."""

    holder: str
    path: str
    tensor: str
    made: Place | None
    overwritten: Place | None
    """The compiled call that begins the next generation."""

    mark: Place | None = None
    """The mark that made it begin, in a program that marks its steps."""

    pending: bool = False
    """Whether the mark came before a backward that was still to run."""

    kept: Place | None = None
    used: Place | None = None
    used_by: str = ""
    case: str = ""
    count: int = 0

    @property
    def key(self) -> Key:
        return self.made, self.kind, self.holder

    def as_json(self) -> dict[str, Any]:
        places = {name: one and one._asdict() for name, one in vars(self).items() if name in PLACES}
        return {**asdict(self), **places}


PLACES = ("made", "overwritten", "mark", "kept", "used")


class Hazards:
    """By what they have in common: where the output was made, and who holds it."""

    def __init__(self) -> None:
        self.by_key: dict[Key, Hazard] = {}
        self.case = ""

    def add(self, buffer: Buffer, holder: Holder) -> Hazard:
        step = buffer.ended
        new = Hazard(holder.kind, holder.name, holder.path, buffer.describes, buffer.made, step.call if step else None)
        hazard = self.by_key.setdefault(new.key, new)
        if hazard is new and step is not None:
            hazard.mark, hazard.pending, hazard.case = step.mark, step.pending, self.case
        if hazard.key not in buffer.found:
            buffer.found.add(hazard.key)
            hazard.count += 1
        return hazard

    def of(self, buffer: Buffer) -> list[Hazard]:
        return [self.by_key[key] for key in buffer.found]

    def unplaced(self) -> list[Hazard]:
        """Those that somebody holds, so that a line of the program must have kept them."""
        return [one for one in self.by_key.values() if one.kind not in USED]

    def as_json(self) -> list[dict[str, Any]]:
        """What was used first, then the rest, in the order in which they were met."""
        ranked = sorted(self.by_key.values(), key=lambda one: one.used is None and one.kind not in USED)
        return [one.as_json() for one in ranked]


USED = ("input", "backward", "gradient", "returned")
"""Kinds that are uses themselves."""
