"""What `ticket fix` says to people: of each ticket what it claims, what was found, what was done and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fullgraph.codemods.tickets.fixing.model import Handled, Outcome
from fullgraph.codemods.tickets.route import ALSO
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.screen import encodable
from fullgraph.codemods.ui.terminal import paint
from fullgraph.codemods.ui.tickets.as_text import COMMAND, ranges, row, severity
from fullgraph.validate.judge import combined
from fullgraph.validate.model import Verdict

SHORT = 200
DONE: dict[Outcome, tuple[str, str]] = {
    "fixed": ("fixed", "in the patch"),
    "partly": ("fixed in part", "in part in the patch"),
    "closed": ("closed", "would be closed"),
    "answered": ("answered by a command", "answered by a command"),
    "left": ("left open", "left open"),
    "skipped": ("not worked on", "not worked on"),
}


def about(understood: Understood) -> Iterator[str]:
    """What the review shows above the diff: the ticket, its claim, and how its own fix compares."""
    ticket, routed = understood.ticket, understood.routed
    level = severity(ticket)
    yield plain(f"ticket {ticket.id}{f' ({level})' if level else ''}: {ticket.title}")
    if claim := claim_of(understood):
        yield plain(f"claims: {claim}")
    if routed.comparison:
        yield plain(f"compared: {routed.comparison}")
    for note in routed.notes:
        yield plain(f"note: {note}")


def claim_of(understood: Understood) -> str:
    ticket = understood.ticket
    text = " ".join((ticket.summary or ticket.problem.partition("\n")[0]).split())
    return text if len(text) <= SHORT else text[: SHORT - 3] + "..."


def handled_text(handled: Handled, is_dry: bool, color: bool) -> str:
    ticket = handled.understood.ticket
    head = f"{paint(plain(ticket.id), color, bold=True)}  {plain(ticket.title)}"
    lines = [line for label, text in rows(handled, is_dry) for line in row(label, plain(text), color)]
    return encodable("\n".join([head, *lines]))


def rows(handled: Handled, is_dry: bool) -> Iterator[tuple[str, str]]:
    understood = handled.understood
    yield "ticket", understood.ticket.source
    yield "severity", severity(understood.ticket)
    yield "place", place_of(understood)
    if handled.outcome != "skipped":
        yield "codemod", codemod_of(handled)
        yield "compared", "" if not handled.applied or handled.is_literal else understood.routed.comparison
    for verdict in handled.verdicts:
        yield "proof", proof_of(verdict)
    yield "done", done_text(handled, is_dry)
    yield from (("left", each) for each in handled.left)
    yield from ((COMMAND, each) for each in understood.routed.commands)
    for note in understood.routed.notes:
        yield "", "" if note.startswith(ALSO) else note
    for note in handled.notes:
        yield "", note
    yield "run", f"{handled.run.number}; `fullgraph undo {handled.run.number}` takes it back" if handled.run else ""


def place_of(understood: Understood) -> str:
    """Where the findings are, else the best guess at the place."""
    findings = understood.routed.findings
    if findings:
        return ", ".join(dict.fromkeys(f"{each.path}:{each.line} {each.symbol}".rstrip() for each in findings))
    spot = understood.located.best
    if spot is None:
        return ""
    where = f"{spot.path}:{ranges(spot.lines)}" if spot.lines else spot.path
    return f"{where} {spot.symbol}".rstrip()


def codemod_of(handled: Handled) -> str:
    routed = handled.understood.routed
    if handled.is_literal:
        return f"the ticket's own fix, not that of {routed.codemod}"
    options = "".join(f" {key}={value}" for key, value in routed.options)
    return f"{routed.codemod}{options}" if routed.codemod else "none"


def proof_of(verdict: Verdict) -> str:
    return f"{verdict.ruling.value} by {verdict.scenario.name}: {verdict.sentence}"


def outcome_of(handled: Handled, is_dry: bool) -> str:
    """`fixed`, `left open`. What no scenario has run is not called fixed."""
    is_unproven = handled.outcome == "fixed" and not handled.verdicts and not is_dry
    return "written, not verified" if is_unproven else DONE[handled.outcome][is_dry]


def done_text(handled: Handled, is_dry: bool) -> str:
    """`fixed; its status is now "resolved"`, or why not."""
    text = ": ".join(filter(None, [outcome_of(handled, is_dry), brief(handled)]))
    if not handled.status:
        return text
    return f'{text}; its status {"would be" if is_dry else "is now"} "{handled.status}"'


def brief(handled: Handled) -> str:
    """The reason without the sentences of the verdicts, which are told beside it."""
    reason = handled.reason
    for verdict in handled.verdicts:
        reason = reason.replace(f"{verdict.ruling.value}: {verdict.sentence}", verdict.ruling.value)
    return reason


def ruling_of(handled: Handled) -> str:
    """The ruling on a ticket and the sentence of the verdict that decided it."""
    if not handled.verdicts:
        return ""
    ruling = combined(handled.verdicts)
    sentence = next((each.sentence for each in handled.verdicts if each.ruling is ruling), "")
    return f"{ruling.value}: {sentence}" if sentence else ruling.value


def summary(handled: Sequence[Handled], not_reached: int, is_dry: bool) -> str:
    """`7 tickets: 3 fixed, 2 left open, 2 not worked on.`"""
    counted = Counter(outcome_of(each, is_dry) for each in sorted(handled, key=lambda one: [*DONE].index(one.outcome)))
    parts = [f"{number} {words}" for words, number in counted.items()]
    parts += [f"{not_reached} not reached"] if not_reached else []
    total = len(handled) + not_reached
    return f"{total} ticket{'s' * (total != 1)}{': ' if parts else ''}{', '.join(parts)}."
