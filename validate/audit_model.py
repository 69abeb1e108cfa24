"""Values of an audit: what outlives its step, and what follows. Frozen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from fullgraph.validate.model import Outcome, Scenario, Settings


@dataclass(frozen=True)
class Place:
    """A line of the user's; `file` is relative to the project where it lies in it."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class Hazard:
    """An output of a compiled call that outlives its step.

    `kind`: how it is held (attribute, list item, dict value, closure, global, local, cache, generator, ...), or how it
    was used: input (given to the call that overwrites it), backward (needed by one), gradient, returned, expression.
    """

    kind: str
    holder: str
    """`Controller.history[...]`: the same at every step; empty where nobody holds it."""

    path: str
    """As it can be written in the program: `self.history[0]`."""

    tensor: str
    made: Place | None
    through: tuple[Place, ...]
    """Wrappers between that line and the compiled code, innermost last."""

    callers: tuple[Place, ...]
    """The lines that led to `made`, innermost first."""

    kept: Place | None
    overwritten: Place | None
    """The compiled call with which the next step began."""

    used: Place | None
    used_by: str
    """The operator or call that was given it after it was overwritten; empty if it was only held."""

    mark: Place | None
    """The mark that let the step begin; None where torch began it by itself."""

    mark_callers: tuple[Place, ...]

    pending: bool
    """Whether a backward was still to run when the step was marked."""

    case: str
    count: int
    """How many outputs were held this way."""

    @property
    def is_used(self) -> bool:
        return bool(self.used_by)


@dataclass(frozen=True)
class RealError:
    """What torch itself raised, on a device that has CUDA graphs."""

    case: str
    text: str
    made: Place | None
    used: Place | None


class Conclusion(Enum):
    """What an audit ends with. Undecided is never a pass."""

    CLEAN = "clean"
    HAZARDS = "hazards"
    UNDECIDED = "undecided"


EXIT_CODES = {Conclusion.CLEAN: 0, Conclusion.HAZARDS: 3, Conclusion.UNDECIDED: 4}


@dataclass(frozen=True)
class Audit:
    """What was seen of one scenario."""

    conclusion: Conclusion
    reason: str
    scenario: Scenario
    settings: Settings
    everything: bool
    hazards: tuple[Hazard, ...] = ()
    errors: tuple[RealError, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)
    compiled_calls: int = 0
    graph_runs: int = 0
    generations: int = 0
    notices: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)


def combined(audits: Sequence[Audit]) -> Conclusion:
    """Of several: hazards if there are any, else undecided if one is."""
    found = {audit.conclusion for audit in audits}
    return next((one for one in (Conclusion.HAZARDS, Conclusion.UNDECIDED) if one in found), Conclusion.CLEAN)
