"""The section that says what a ticket's new status rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fullgraph.codemods.tickets.closing.model import Closing
from fullgraph.validate.model import Verdict

TITLE, SECOND_TITLE = "Evidence", "Evidence of the fix"
"""The heading, and what it is where the ticket has a section with evidence of the problem."""

LONGEST = 600
SPECIAL = str.maketrans({"`": "'", "<": "&lt;", "*": "\\*", "[": "(", "]": ")"})


def evidence_lines(closing: Closing, ticked: Sequence[tuple[str, str]], *, with_status: bool) -> Iterator[str]:
    """The items: what was done, what was measured where, what was ticked by it, and how to take it back."""
    yield f"- {one_line(closing.ticket)}, {closing.day.isoformat()}: {one_line(closing.what)}."
    if with_status:
        yield f"- **Status:** {closing.status}"
    yield from (f"- Left: {one_line(each)}." for each in closing.left)
    for verdict in closing.measured.verdicts:
        ruling = verdict.ruling.value.capitalize()
        yield f"- {ruling} by {one_line(verdict.scenario.name)}: {one_line(verdict.sentence)}."
    for place in dict.fromkeys(map(measured_on, closing.measured.verdicts)):
        yield f"- Measured {place}."
    if not closing.measured.verdicts:
        yield "- Nothing was measured, so nothing was ticked."
    for text, why in ticked:
        yield f'- Ticked: "{one_line(text)}" ({one_line(why)}).'
    yield f"- {run_line(closing)}"


def run_line(closing: Closing) -> str:
    """How to take it back. A patch has no run."""
    if not closing.run:
        return "No run of the journal; `git apply -R` takes the patch back and reopens this ticket."
    return f"Run {closing.run} of the journal; `fullgraph undo {closing.run}` takes it back and reopens this ticket."


def measured_on(verdict: Verdict) -> str:
    """`with torch 2.13.0, Python 3.12.1, on cpu`."""
    known = verdict.environment
    versions = [f"{label} {known[key]}" for key, label in (("torch", "torch"), ("python", "Python")) if known.get(key)]
    device = f"on {known.get('device') or 'an unknown device'}"
    return one_line(f"with {', '.join([*versions, device])}")


def one_line(text: str) -> str:
    """Words that mean nothing to Markdown, and that end no line."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split()).translate(SPECIAL)
    return plain.rstrip(".") if len(plain) <= LONGEST else plain[: LONGEST - 3] + "..."
