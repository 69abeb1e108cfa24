"""From tickets to proven changes: each in its turn, the worst first, each a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from codemods.codemod import Codemod
from codemods.model import Change, Finding, FullgraphError
from codemods.project import Project
from codemods.proving import is_exercised
from codemods.rewrite.walk import Tree
from codemods.run import Settler, Writer, plan_unchanged
from codemods.tickets.closing.model import Closing, Measured
from codemods.tickets.fixing.choosing import LITERAL, Task, task_for, why_no_codemod
from codemods.tickets.fixing.measuring import is_neutral, measured, not_reproduced, status_for
from codemods.tickets.fixing.model import Filed, Handled, Outcome, Wish
from codemods.tickets.fixing.signing import Signature, why_not_closed
from codemods.tickets.folder import by_severity
from codemods.tickets.routes.firing import Catalogue
from codemods.tickets.understanding import Understood, understand
from validate.model import ValidateError, Verdict

Choose = Callable[[Understood, Task, Project], tuple[list[Finding], str]]
"""Of the findings of a ticket those to apply, and why the others are not."""

SettlerFor = Callable[[Sequence[Codemod], list[Verdict]], Settler]
"""What keeps of a change what may be written; the list gets the verdicts."""


@dataclass(frozen=True)
class Proved:
    """A ticket's change as it was planned, and what the scenarios leave of it; `reason` is for the rest."""

    filed: Filed
    now: Understood
    task: Task
    planned: Change
    change: Change
    verdicts: tuple[Verdict, ...]
    reason: str


@dataclass
class Fixer:
    """Works through tickets. After each that was written, the next one sees the project as it is by then."""

    tree: Tree
    catalogue: Catalogue
    wish: Wish
    choose: Choose
    settler_for: SettlerFor
    write: Writer
    today: Callable[[], date] = date.today
    done: dict[tuple[str, ...], Handled] = field(default_factory=dict)
    """By finding, with the settings, the ticket that it was written for."""

    def fix(self, filed: Sequence[Filed]) -> Iterator[Handled]:
        """What becomes of each ticket, in order of severity."""
        places = {id(each.ticket): each for each in filed}
        ordered = [places[id(ticket)] for ticket in by_severity(each.ticket for each in filed)]
        first = self.catalogue
        for each, seen in [(each, self._understand(each)) for each in ordered]:
            try:
                yield self._fix_one(each, seen if self.catalogue is first else self._understand(each), seen)
            except FullgraphError as error:
                yield Handled(seen, "left", f"not written: {error}", error=str(error))

    def _understand(self, filed: Filed) -> Understood:
        return understand(filed.ticket, self.catalogue, even_settled=self.wish.even_settled)

    def _fix_one(self, filed: Filed, now: Understood, first: Understood) -> Handled:
        """One ticket; `first` is how it was understood before anything was written."""
        ticket = filed.ticket
        if (ticket.is_resolved or ticket.is_rejected) and not self.wish.even_settled:
            return Handled(now, "skipped", now.routed.why)
        twins = [self.done.get(one) for one in wanted_by(first)]
        if twins and twins[0] and all(twins):
            return self._close_twin(filed, first, twins[0])
        if now.routed.codemod != first.routed.codemod:
            return Handled(first, "left", why_gone(first))
        task = task_for(now, self.catalogue, self.wish)
        if task.why_not:
            return Handled(now, "left", task.why_not)
        chosen, why_left = self.choose(now, task, self.catalogue.project)
        if not chosen:
            return Handled(now, "left", why_left)
        handled = self._prove_and_write(filed, now, task, chosen, why_left)
        if handled.outcome == "fixed":
            self.done |= dict.fromkeys(wanted_by(first), handled)
        return handled

    def _prove_and_write(
        self, filed: Filed, now: Understood, task: Task, chosen: list[Finding], why_left: str
    ) -> Handled:
        project = self.catalogue.project
        planner = partial(plan_unchanged, project=project, codemods=task.codemods, tree=self.tree)
        verdicts: list[Verdict] = []
        planned = planner(chosen)
        try:
            change = self.settler_for(task.codemods, verdicts)(planned, planner, project)
        except ValidateError as error:
            return Handled(now, "left", f"not written: undecided: {error}", error="undecided")
        reasons = [reason for _, reason in change.left_out] or [why_left]
        proved = Proved(filed, now, task, planned, change, tuple(verdicts), reasons[0])
        return self._write(proved) if change.applied else self._close_neutral(proved)

    def _write(self, proved: Proved) -> Handled:
        """The change with the ticket's file, as one run; later tickets see it."""
        change, wanted = proved.change, len(proved.task.findings)
        shown = measured(change, change.applied, proved.verdicts, proved.task.codemods, self.wish.tests)
        is_whole = len(change.applied) == wanted
        what = f"{count(change.applied)} in {', '.join(paths_of(change))}"
        signature = self._signature(proved.filed, status_for(is_whole, shown), what, shown)
        run = self.write(change, signature.sign)
        project = self.catalogue.project.laid_over(change.written)
        self.catalogue = replace(self.catalogue, project=project, _answers={})
        reason = "" if is_whole else f"{len(change.applied)} of {wanted} findings; {proved.reason}"
        outcome: Outcome = "fixed" if is_whole else "partly"
        done = Handled(proved.now, outcome, reason, change.applied, proved.verdicts, run)
        told = replace(done, status=signature.status, notes=signature.notes)
        return replace(told, before=change.before, after=change.after)

    def _signature(self, filed: Filed, status: str, what: str, shown: Measured) -> Signature:
        closing = Closing(filed.ticket.id, status, what, shown, self.today(), 0)
        return Signature(self.catalogue.project.root, filed, closing)

    def _close_neutral(self, proved: Proved) -> Handled:
        """Nothing may be written. A ticket whose findings do not reproduce, all of them, can be closed without."""
        planned, task = proved.planned, proved.task
        left = Handled(proved.now, "left", proved.reason, verdicts=proved.verdicts)
        unwritten = replace(planned, applied=())
        shown = measured(unwritten, planned.applied, proved.verdicts, task.codemods, "")
        ran = [any(is_exercised(one, planned, verdict) for verdict in shown.verdicts) for one in planned.applied]
        is_all = len(planned.applied) == len(task.findings) and all(ran)
        if not (self.wish.close_neutral and is_all and is_neutral(shown)):
            return left
        what = f"{count(planned.applied)} tried and not written: nothing is better with it"
        closed = replace(left, outcome="closed", reason=f"not reproduced on torch {shown.torch}")
        return self._close_only(self._signature(proved.filed, not_reproduced(shown), what, shown), closed)

    def _close_twin(self, filed: Filed, first: Understood, twin: Handled) -> Handled:
        """A ticket for what another one has just fixed is closed with that one's evidence."""
        other = twin.understood.ticket.id
        reason = f"the same finding as {other}" + (f", written in run {twin.run.number}" if twin.run else "")
        change = Change(twin.before, twin.after, twin.applied)
        shown = measured(change, twin.applied, twin.verdicts, (), "")
        closed = Handled(first, "fixed", reason, verdicts=twin.verdicts)
        return self._close_only(self._signature(filed, status_for(True, shown), reason, shown), closed)

    def _close_only(self, signature: Signature, handled: Handled) -> Handled:
        """A run that changes nothing but the ticket's file; none if that file is not to be edited."""
        if self.wish.is_dry:
            return handled
        if why := why_not_closed(signature):
            return replace(handled, outcome="left" if handled.outcome == "closed" else handled.outcome, notes=(why,))
        run = self.write(Change(), signature.sign)
        return replace(handled, run=run, status=signature.status, notes=signature.notes)


def wanted_by(understood: Understood) -> list[tuple[str, ...]]:
    """What tells whether two tickets ask for the same: each finding, with the codemod and its settings."""
    routed = understood.routed
    settings = [routed.codemod, *(f"{key}={value}" for key, value in routed.options)]
    return [(*settings, finding.key) for finding in routed.findings if finding.is_fixable]


def why_gone(first: Understood) -> str:
    """Of a ticket that leads elsewhere since another one was written: nothing is done about it unasked."""
    if not first.routed.codemod:
        return why_no_codemod(first)
    return f"{first.routed.codemod} does not fire there any more: an earlier ticket has changed the code"


def count(findings: Sequence[Finding]) -> str:
    """`2 findings of hoist_autocast`, or that it is the ticket's own code."""
    if findings[0].codemod == LITERAL:
        return "the ticket's own fix"
    number = f"{len(findings)} finding{'s' * (len(findings) != 1)}"
    return f"{number} of {findings[0].codemod}"


def paths_of(change: Change) -> list[str]:
    return list(dict.fromkeys(path for finding in change.applied for path in finding.paths()))
