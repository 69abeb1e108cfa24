"""An audit for people: what outlives its step, who made it, who holds it, and what to do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence

from fullgraph.codemods.ui.layout import Paragraph, Piece, lay_out
from fullgraph.codemods.ui.listing import BLANK, clipped, tell_list
from fullgraph.validate.audit import count
from fullgraph.validate.audit_model import Audit, Conclusion, Hazard, Place, RealError, combined

COLORS = {Conclusion.CLEAN: "green", Conclusion.HAZARDS: "red", Conclusion.UNDECIDED: "magenta"}
REMEDY = (
    "Only a copy outlives its step: `fullgraph fix --select clone_at_boundary` clones such outputs where they leave "
    "the compiled call. Marking the step keeps nothing alive."
)
GRADIENT_REMEDY = (
    "A gradient lives in the buffers of the backward that made it, until the next step: set `.grad` to None before, or "
    "allocate it before the first backward, which then adds to it. An optimizer that reads such gradients must not "
    "begin a step of its own: it is compiled without CUDA graphs, or not at all."
)
IN_FULL = "--format json has all"
MARK_REMEDY = "Move the mark: before the forward, and never between a forward and its backward."


def audit_text(audits: Sequence[Audit], color: bool, width: int = 0) -> str:
    """All audits, and at the end what to do. No width: the terminal's."""
    return lay_out(tell_all(audits), color, width or shutil.get_terminal_size().columns)


def tell_all(audits: Sequence[Audit]) -> Iterator[Piece]:
    for number, audit in enumerate(audits):
        if number:
            yield BLANK
        yield from tell(audit)
    if len(audits) > 1:
        yield from (BLANK, Paragraph(f"{len(audits)} scenarios: together {combined(audits).value}."))
    yield from tell_remedies([hazard for audit in audits for hazard in audit.hazards])


def tell(audit: Audit) -> Iterator[Piece]:
    style = {"fg": COLORS[audit.conclusion], "bold": True}
    yield Paragraph(f"{audit.conclusion.value.upper()}: {audit.scenario.name}", style=style)
    yield Paragraph(f"{audit.reason}.")
    if audit.outcome.text:
        yield from (BLANK, Paragraph(audit.outcome.text.strip(), 2, is_code=True))
    used = [hazard for hazard in audit.hazards if hazard.is_used]
    held = [hazard for hazard in audit.hazards if not hazard.is_used]
    yield from tell_hazards("Used after they were overwritten", used, "red")
    yield from tell_hazards("Held when they were overwritten, and not used since", held, "yellow")
    yield from tell_errors(audit.errors)
    yield from tell_list("Notices", [[Paragraph(clipped(notice), 2)] for notice in audit.notices], IN_FULL)


def tell_hazards(title: str, hazards: Sequence[Hazard], color: str) -> Iterator[Piece]:
    yield from tell_list(title, [hazard_pieces(hazard) for hazard in hazards], IN_FULL, color)


def hazard_pieces(hazard: Hazard) -> list[Piece]:
    first = Paragraph(f"{headline(hazard)}, {hazard.tensor}", 2, {"bold": True})
    return [first, *(Paragraph(line, 4) for line in lines_of(hazard))]


def headline(hazard: Hazard) -> str:
    """Who holds it, or what happens to it."""
    if hazard.kind == "backward":
        freed = f"the mark at {spot(hazard.mark)}" if hazard.mark else f"the call at {spot(hazard.overwritten)}"
        freed += f" (called at {spots(hazard.mark_callers)})" if hazard.mark and hazard.mark_callers else ""
        return f"{freed} frees what the backward of the call at {spot(hazard.made)} needs"
    if hazard.kind in SENTENCES:
        return SENTENCES[hazard.kind]
    if not hazard.holder or hazard.holder == hazard.path:
        return f"{hazard.kind} {hazard.path}"
    return f"{hazard.kind} {hazard.holder} ({hazard.path})"


SENTENCES = {
    "input": "an output that is given to the call that overwrites it",
    "gradient": "a gradient that is used in a later step",
    "returned": "an output that is returned after it was overwritten",
    "expression": "an output in an expression that makes another call",
}


def lines_of(hazard: Hazard) -> Iterator[str]:
    yield f"made at {told(hazard.made)}"
    if hazard.through:
        yield f"  through {spots(hazard.through)}"
    if hazard.callers:
        yield f"  called at {spots(hazard.callers)}"
    if hazard.kept or hazard.kind not in ("input", "backward", "gradient", "returned", "expression"):
        yield f"kept at {told(hazard.kept)}"
    yield f"overwritten by the call at {told(hazard.overwritten)}" + (
        f", after the mark at {spot(hazard.mark)}" if hazard.mark else ""
    )
    if hazard.is_used:
        yield f"used by {hazard.used_by} at {told(hazard.used)}"
    if hazard.count > 1 or hazard.case:
        yield f"{count(hazard.count, 'time')}, first in {hazard.case}" if hazard.case else count(hazard.count, "time")


def told(place: Place | None) -> str:
    return f"{spot(place)} in {place.function}" if place else "a line that was not found"


def spots(places: Sequence[Place]) -> str:
    return ", ".join(map(spot, places))


def spot(place: Place | None) -> str:
    return f"{place.file}:{place.line}" if place else "a line that was not found"


def tell_errors(errors: Sequence[RealError]) -> Iterator[Piece]:
    yield from tell_list("Raised by CUDA graphs themselves", [error_pieces(error) for error in errors], IN_FULL, "red")


def error_pieces(error: RealError) -> list[Piece]:
    places = f"made at {told(error.made)}, read at {told(error.used)}"
    return [Paragraph(f"{error.case}: {clipped(error.text)}", 2), Paragraph(places, 4)]


def tell_remedies(hazards: Sequence[Hazard]) -> Iterator[Piece]:
    marked = [hazard for hazard in hazards if hazard.kind == "backward" and hazard.mark]
    gradients = [hazard for hazard in hazards if hazard.kind == "gradient"]
    if marked:
        yield from (BLANK, Paragraph(MARK_REMEDY))
    if gradients:
        yield from (BLANK, Paragraph(GRADIENT_REMEDY))
    if len(hazards) > len(marked) + len(gradients):
        yield from (BLANK, Paragraph(REMEDY))
