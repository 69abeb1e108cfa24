"""From a ticket and its place to the codemod that fires there, with the settings that the ticket asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.tickets.model import Ticket
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.routes.asking import EXTRACTS, Answer, ask, extraction, is_defined, not_torch
from fullgraph.codemods.tickets.routes.comparing import compare, names_another, writes_the_fix
from fullgraph.codemods.tickets.routes.firing import Catalogue, fired_at, fired_on_snippet, near
from fullgraph.codemods.tickets.routes.model import Fired, Routed
from fullgraph.codemods.tickets.routes.options import (
    is_annotated_otherwise,
    is_asked_to_disable,
    new_function,
    options_for,
)
from fullgraph.codemods.tickets.routes.own_fix import own_fix
from fullgraph.codemods.tickets.routes.refusals import UNWRITTEN, is_about_writing, refusal_of
from fullgraph.codemods.tickets.routes.wording import CLEAR, Wording, wording_of

ALSO = "also fires there: "
DISABLES = "disable_compile"


def route(ticket: Ticket, located: Located, catalogue: Catalogue, *, even_settled: bool = False) -> Routed:
    """The codemod for a ticket, or none and why. What is resolved or rejected is routed only if asked for."""
    if not even_settled and (ticket.is_resolved or ticket.is_rejected):
        return Routed(
            why=f"resolved: {ticket.why_resolved}" if ticket.is_resolved else f"rejected by {ticket.objections[0].told}"
        )
    fired = fired_at(catalogue, located)
    wording = wording_of(ticket, worth_a_word(catalogue.kinds, fired))
    first = first_choice(wording, catalogue)
    fitting = [each for each in fired if fits(each, wording, catalogue, ticket)]
    answer = answered(ticket, located, catalogue, wording, first, fitting)
    if not answer.fired:
        return unrouted(
            ticket, located, catalogue, fired, fitting, wording, declined(first, answer, ticket, located, catalogue)
        )
    routed = with_options(answer, catalogue, located)
    notes = (*routed.notes, *overruled(ticket), *also_there(routed, fired, wording))
    return replace(
        routed,
        findings=tuple(replace(finding, ticket=ticket.id) for finding in routed.findings),
        notes=notes,
        comparison=compare(ticket, routed, catalogue),
        literal=own_fix(ticket, located, catalogue.project),
    )


def first_choice(wording: Wording, catalogue: Catalogue) -> str:
    """The codemod that the words are clearly about, if the ticket asks for what it does."""
    name = wording.clearest()
    if not name or not (wording.of(name).is_proposed or wording.of(name).is_headline):
        return ""
    return name if is_requested(name, wording, catalogue) else ""


def is_requested(name: str, wording: Wording, catalogue: Catalogue) -> bool:
    """Whether a codemod that adds something is asked for: in the headline, or in what is to be done."""
    words = wording.of(name)
    is_asked = words.is_headline or (words.is_proposed and wording.is_about(name))
    return is_asked or not catalogue.kinds[name].is_addition


def answered(
    ticket: Ticket, located: Located, catalogue: Catalogue, wording: Wording, first: str, fitting: Sequence[Fired]
) -> Answer:
    """What answers a ticket: what its words are about, else what fits at its place and is asked for, too.

    A function that the fix writes anew is extracted. What fires on quoted lines does not beat the first choice.
    """
    names = {each.finding.codemod for each in fitting}
    extracted = Answer() if EXTRACTS in names else extraction(ticket, located, catalogue)
    if extracted.fired and not wording.wants_none_of(EXTRACTS):
        return extracted
    if first and first not in names:
        answer = ask(first, ticket, located, catalogue)
        fitting = [each for each in fitting if is_meant(each, wording, ticket, catalogue)]
        if answer.fired or not fitting:
            return answer
    chosen = clearest(fitting, wording) if fitting else named_anew(ticket, located, catalogue, wording)
    if not chosen:
        return Answer()
    finding = chosen[0].finding
    options = options_for(finding.codemod, ticket, catalogue.project, finding.path, finding.symbol)
    return Answer(tuple(chosen), options)


def is_meant(fired: Fired, wording: Wording, ticket: Ticket, catalogue: Catalogue) -> bool:
    """Whether what fires is asked for although the words are more about another codemod."""
    words = wording.of(fired.finding.codemod)
    return words.is_proposed or words.is_headline or writes_the_fix(ticket, fired, catalogue)


def overruled(ticket: Ticket) -> list[str]:
    """The objections that reviewers outvoted."""
    number = sum(review.is_supporting for review in ticket.reviews)
    return [f"objection: {review.told}; {number} endorse it" for review in ticket.objections]


def worth_a_word(kinds: Mapping[str, type[Codemod]], fired: Sequence[Fired]) -> dict[str, type[Codemod]]:
    """The codemods whose words are weighed: those that repair breaks share theirs with many, and count if one fires."""
    is_break = any(kinds[each.finding.codemod].repairs_breaks for each in fired)
    return {name: kind for name, kind in kinds.items() if is_break or not kind.repairs_breaks}


def also_there(routed: Routed, fired: Sequence[Fired], wording: Wording) -> list[str]:
    """The other codemods that fire at the place and that the ticket speaks of as well.

    One that repairs a break inside the lines that are rewritten anyway is another remedy for the same complaint.
    """
    beside = [each.finding for each in fired if each.rank == 0 and not is_inside(each.finding, routed.findings)]
    names = {finding.codemod for finding in beside} - {routed.codemod}
    spoken = sorted(name for name in names if wording.of(name).complaint)
    return [f"{ALSO}{', '.join(spoken)}"] if spoken else []


def is_inside(finding: Finding, rewritten: Sequence[Finding]) -> bool:
    edits = [edit for one in rewritten for edit in one.edits if edit.path == finding.path]
    is_touched = any(edit.span.overlaps(finding.span) for edit in edits)
    return is_touched and codemod_named(finding.codemod).repairs_breaks


def fits(fired: Fired, wording: Wording, catalogue: Catalogue, ticket: Ticket) -> bool:
    """Whether what fires is what the ticket is about: it complains of that, and asks for nothing else.

    Where only the function is known, the ticket must name the things that the codemod is about; where lines are
    known, it may also name the code on them. What is elsewhere in the function must be proposed then.
    """
    words = wording.of(fired.finding.codemod)
    is_at = fired.rank == 0
    if not is_requested(fired.finding.codemod, wording, catalogue):
        return False
    if words.contradicts and not wording.wants_none_of(fired.finding.codemod):
        return is_at and writes_the_fix(ticket, fired, catalogue)
    if is_excluded(fired, wording):
        return False
    if not words.complaint:
        return is_at and fired.spot.is_quoted and words.has_code and (bool(words.remedy) or wording.subject.says_little)
    if not (words.remedy or words.is_headline or is_shown(fired, wording, catalogue, ticket)):
        return False
    if is_at:
        return fired.spot.is_quoted or bool(words.things) or names_code(ticket, fired, catalogue)
    is_inside = fired.spot.surrounds(fired.finding.line, fired.finding.last_line) or not fired.spot.extent
    return bool(words.things) and (words.is_proposed or (is_inside and not (fired.spot.is_quoted or fired.spot.lines)))


def is_excluded(fired: Fired, wording: Wording) -> bool:
    """Whether the ticket does not want what fires, or is more about something else."""
    name, is_at = fired.finding.codemod, fired.rank == 0
    if wording.wants_none_of(name) or names_another(wording.subject.remedy, fired):
        return True
    if wording.subject.is_of_another_kind and not (is_at and wording.of(name).is_proposed):
        return True
    return not (is_at and fired.spot.is_quoted) and not wording.is_about(name)


def is_shown(fired: Fired, wording: Wording, catalogue: Catalogue, ticket: Ticket) -> bool:
    """Whether a ticket that proposes nothing, and says little above, still means what fires at its place.

    It tells what is wrong in words that few codemods share, and says nothing else, shows the code, or is about the time
    that it takes.
    """
    words = wording.of(fired.finding.codemod)
    if not words.specific:
        return False
    if wording.subject.is_short and words.things:
        return True
    if fired.rank:
        return False
    is_timed = wording.subject.is_about_time and bool(words.things)
    return fired.spot.is_quoted or is_timed or repeats_code(ticket, catalogue.lines_of(fired.finding))


def names_code(ticket: Ticket, fired: Fired, catalogue: Catalogue) -> bool:
    """Whether the ticket mentions names, or repeats an expression, of the lines that a finding is on."""
    text = catalogue.lines_of(fired.finding)
    names = set(re.findall(r"\w+", text)) - {fired.finding.symbol.rpartition(".")[2]}
    mentioned = {part for mention in ticket.mentions for part in mention.split(".")[-1:]}
    return bool(names & mentioned) or repeats_code(ticket, text)


def repeats_code(ticket: Ticket, text: str) -> bool:
    """Whether the prose of a ticket has a call that stands in the text."""
    said = " ".join([ticket.title, ticket.summary, ticket.problem])
    return any(call in said for call in re.findall(r"[\w.]+\.\w+\([^()]*\)", text))


def named_anew(ticket: Ticket, located: Located, catalogue: Catalogue, wording: Wording) -> list[Fired]:
    """What `disable_compile` finds when the function is named to it, as a ticket does that asks for the decorator."""
    name = DISABLES
    if name not in catalogue.kinds or wording.wants_none_of(name) or not is_asked_to_disable(ticket):
        return []
    if (wanted := new_function(ticket)) and not is_defined(wanted.name, catalogue):
        return []
    found: list[Fired] = []
    for spot in located.spots:
        if spot.symbol and spot.is_confirmed:
            findings = catalogue.findings_of(spot.path, name, {}, (spot.symbol,))
            found += [each for each in near(catalogue, findings, [spot]) if each.finding.symbol == spot.symbol]
    return found if wording.is_about(name) else []


def clearest(fitting: Sequence[Fired], wording: Wording) -> list[Fired]:
    """The findings of the codemod that fires nearest; of several, the one that the ticket speaks of most."""
    if not fitting:
        return []
    nearest = min(each.rank for each in fitting)
    words = {
        name: wording.of(name).total for each in fitting if each.rank == nearest and (name := each.finding.codemod)
    }
    best, *others = sorted(words, key=lambda name: -words[name])
    if others and words[others[0]] > words[best] - CLEAR:
        return []
    return [each for each in fitting if each.finding.codemod == best and each.rank == nearest]


def with_options(answer: Answer, catalogue: Catalogue, located: Located) -> Routed:
    """The route with the ticket's settings where it points at, if the codemod still fires there; else without, and why.

    What a ticket says of its own lines says nothing about the rest of a function.
    """
    first, chosen, options = answer.fired[0], answer.fired, answer.options
    name = first.finding.codemod
    is_anew = name == DISABLES and first.finding not in catalogue.findings(first.finding.path)
    plain = Routed(
        codemod=name,
        symbols=(first.finding.symbol,) if is_anew else (),
        confidence=first.confidence,
        findings=tuple(each.finding for each in chosen),
        spot=first.spot,
    )
    if not options:
        return plain
    found = catalogue.findings_of(first.finding.path, name, options, plain.symbols)
    symbols = {each.finding.symbol for each in chosen}
    spots = [first.spot, *located.spots]
    again = [each for each in found if not is_annotated_otherwise(each, catalogue.project)]
    near_by = [each for each in near(catalogue, again, spots) if each.finding.symbol in symbols]
    fired = [each for each in near_by if each.rank <= first.rank] or near_by
    shown = ", ".join(f"{key}={value}" for key, value in options.items())
    if not any(each.finding.is_fixable for each in fired) and any(each.finding.is_fixable for each in chosen):
        reasons = [each.finding.left_alone for each in fired if each.finding.left_alone]
        return replace(plain, notes=(f"the ticket asks for {shown}: {(reasons or ['it finds nothing then'])[0]}",))
    return replace(plain, options=tuple(options.items()), findings=tuple(each.finding for each in fired or chosen))


def declined(first: str, answer: Answer, ticket: Ticket, located: Located, catalogue: Catalogue) -> Routed | None:
    """Why the codemod that a ticket asks for does nothing about it; nothing if it asks for none."""
    if not first or not located.spots:
        return None
    spot = located.spots[0]
    foreign = not_torch(catalogue, first, spot)
    why = foreign or f"`fullgraph explain {first}` lists what it leaves alone"
    nothing = f"{first} finds nothing to rewrite at {shown_place(spot)}: {why}"
    told = f"{first}: {answer.error}" if answer.error else nothing
    return Routed(spot=spot, nearest=first, why="; ".join(filter(None, [refusal_of(first, ticket), told])))


def shown_place(spot: Spot) -> str:
    lines = ",".join(f"{each.first}-{each.last}" if each.first != each.last else str(each.first) for each in spot.lines)
    return f"{spot.path}:{lines}" if lines else f"{spot.path} {spot.symbol}".rstrip()


def unrouted(
    ticket: Ticket,
    located: Located,
    catalogue: Catalogue,
    fired: Sequence[Fired],
    fitting: Sequence[Fired],
    wording: Wording,
    declined: Routed | None,
) -> Routed:
    """No codemod, and why: what the one that is asked for says, else what fires instead.

    The nearest is named: what fires on the ticket's own code, or what its words are about.
    """
    nothing = Routed(spot=located.best, nearest=wording.clearest() or nearest_of(fired, wording))
    nearest = min((each.rank for each in fired), default=0)
    names = sorted({each.finding.codemod for each in fitting or fired if fitting or each.rank == nearest})
    if fitting:
        return replace(nothing, why=f"several codemods fit, and the ticket does not say which: {', '.join(names)}")
    quoted = [name for name in fired_on_snippet(catalogue, ticket, located) if wording.of(name).total]
    if quoted and quoted[0] not in names:
        why = "it fires on the code block, " + ("not in the file as it is" if located.spots else "which was not found")
        return replace(nothing, nearest=quoted[0], confidence="fires on the snippet only", why=why)
    if not located.spots:
        return replace(nothing, why="the place was not found")
    if declined:
        return declined
    if is_about_writing(ticket):
        return replace(nothing, why=UNWRITTEN)
    where = "there" if nearest == 0 else "near it"
    return replace(nothing, why=not_meant(names, where, wording) if names else "no codemod fires there")


def not_meant(names: Sequence[str], where: str, wording: Wording) -> str:
    """Why none of the codemods that fire is taken."""
    verb = "fires" if len(names) == 1 else "fire"
    if all(wording.wants_none_of(name) for name in names):
        reason = "the ticket wants the code as it is"
    elif wording.subject.is_of_another_kind or all(wording.of(name).contradicts for name in names):
        reason = "the ticket is about something else, or proposes something else"
    else:
        reason = "the ticket does not clearly ask for that"
    return f"{', '.join(names)} {verb} {where}, but {reason}"


def nearest_of(fired: Sequence[Fired], wording: Wording) -> str:
    """Of what fires, the codemod that the ticket speaks of most, if it does and does not refuse it."""
    names = {each.finding.codemod for each in fired}
    spoken = [name for name in names if wording.of(name).total and not wording.wants_none_of(name)]
    return max(sorted(spoken), key=lambda name: wording.of(name).total, default="")
