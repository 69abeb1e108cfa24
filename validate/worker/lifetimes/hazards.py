"""The hazards of one run: outputs that outlive their step, each told once however often it happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from .buffers import Buffer
from .holding import Holder
from .places import Call, Place

Key = tuple[Optional[Place], str, str]


@dataclass
class Hazard:
    """An output that is still held when the next step overwrites it, or that is used although it was overwritten."""

    kind: str
    """How it is held (attribute, list item, closure, global, local, ...), or: input, backward, gradient, returned."""

    holder: str
    path: str
    tensor: str
    call: Call
    overwritten: Place | None
    """The compiled call that begins the next generation."""

    mark: Place | None = None
    """The mark that made it begin, in a program that marks its steps."""

    mark_callers: tuple[Place, ...] = ()

    pending: bool = False
    """Whether the mark came before a backward that was still to run."""

    kept: Place | None = None
    used: Place | None = None
    used_by: str = ""
    case: str = ""
    count: int = 0
    serials: list[int] = field(default_factory=list)
    """Of the first outputs that were held so."""

    @property
    def made(self) -> Place | None:
        return self.call.place

    @property
    def key(self) -> Key:
        return self.made, self.kind, self.holder

    def as_json(self) -> dict[str, Any]:
        told = {name: as_json(one) for name, one in vars(self).items() if name not in ("call", "serials")}
        through, callers = as_json(self.call.through), as_json(self.call.callers)
        return {**told, "made": as_json(self.made), "through": through, "callers": callers}


def as_json(one: Any) -> Any:
    if isinstance(one, Place):
        return one._asdict()
    return [as_json(item) for item in one] if isinstance(one, tuple) else one


class Hazards:
    """By what they have in common: where the output was made, and who holds it."""

    def __init__(self) -> None:
        self.by_key: dict[Key, Hazard] = {}
        self.case = ""

    def add(self, buffer: Buffer, holder: Holder) -> Hazard:
        step = buffer.ended
        new = Hazard(holder.kind, holder.name, holder.path, buffer.describes, buffer.call, step.call if step else None)
        hazard = self.by_key.setdefault(new.key, new)
        if hazard is new and step is not None:
            mark = step.mark or Call()
            hazard.mark, hazard.mark_callers = mark.place, mark.callers
            hazard.pending, hazard.case = step.pending, self.case
        if hazard.key not in buffer.found:
            buffer.found.add(hazard.key)
            hazard.count += 1
            hazard.serials += [buffer.serial] if hazard.count <= EXAMPLES else []
        return hazard

    def of(self, buffer: Buffer) -> list[Hazard]:
        return [self.by_key[key] for key in buffer.found]

    def unplaced(self) -> list[Hazard]:
        """Those that somebody holds, so that a line of the program must have kept them."""
        return [one for one in self.by_key.values() if one.kind not in (*USED, "expression")]

    def as_json(self) -> list[dict[str, Any]]:
        """What was used first, then the rest, in the order in which they were met."""
        ranked = sorted(self.by_key.values(), key=lambda one: one.used is None and one.kind not in USED)
        return [one.as_json() for one in ranked]


EXAMPLES = 3
"""Outputs of a hazard that are remembered, to look for the line that kept one."""

USED = ("input", "backward", "gradient", "returned")
"""Kinds that are uses themselves."""
