"""From tickets to proven changes: each in its turn, the worst first, each a run of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.proving import is_exercised
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.run import Settler, Writer, plan_unchanged
from fullgraph.codemods.tickets.closing.model import Closing, Measured
from fullgraph.codemods.tickets.fixing.choosing import Task, task_for
from fullgraph.codemods.tickets.fixing.leftover import left_of, unwritten
from fullgraph.codemods.tickets.fixing.measuring import measured, not_reproduced, status_for, why_not_neutral
from fullgraph.codemods.tickets.fixing.model import Filed, Handled, Wish
from fullgraph.codemods.tickets.fixing.moved import with_lines_moved
from fullgraph.codemods.tickets.fixing.signing import Signature, sign_all, why_not_closed
from fullgraph.codemods.tickets.fixing.turn import Left, Proved, Turn, count, is_over, paths_of, wanted_by, why_gone
from fullgraph.codemods.tickets.fixing.whole import whole
from fullgraph.codemods.tickets.folder import by_severity
from fullgraph.codemods.tickets.routes.firing import Catalogue
from fullgraph.codemods.tickets.understanding import Understood, understand
from fullgraph.validate.judge import combined
from fullgraph.validate.model import Ruling, ValidateError, Verdict

Choose = Callable[[Understood, Task, Project], tuple[list[Finding], Left]]
"""Of the findings of a ticket those to apply, and the others."""

SettlerFor = Callable[[Sequence[Codemod], list[Verdict]], Settler]
"""What keeps of a change what may be written; the list gets the verdicts."""


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
    waiting: list[tuple[Filed, Understood]] = field(default_factory=list)
    """The tickets that are still to come, as they were understood before anything was written."""

    done: dict[tuple[str, ...], Handled] = field(default_factory=dict)
    """By finding, with the settings, the ticket that it was written for."""

    followed: dict[int, Handled] = field(default_factory=dict)
    """By identity, tickets to come that were closed in the run of an earlier one."""

    original: Project = field(init=False)
    """The project before anything was written."""

    drafts: dict[str, bytes] = field(default_factory=dict)
    """Files of tickets as a dry run would have left them by now."""

    def fix(self, filed: Sequence[Filed]) -> Iterator[Handled]:
        """What becomes of each ticket, in order of severity."""
        places = {id(each.ticket): each for each in filed}
        ordered = [places[id(ticket)] for ticket in by_severity(each.ticket for each in filed)]
        self.original = self.catalogue.project
        self.waiting = [(each, self._understand(each)) for each in ordered]
        first = self.catalogue
        while self.waiting:
            each, seen = self.waiting.pop(0)
            try:
                now = seen if self.catalogue is first else self._understand(each)
                yield self.followed.get(id(each.ticket)) or self._fix_one(each, now, seen)
            except FullgraphError as error:
                yield Handled(seen, "left", f"not written: {error}", error=str(error))

    def _understand(self, filed: Filed) -> Understood:
        """A ticket as it is by now: the lines that it gives are those of the files before anything was written."""
        ticket = with_lines_moved(filed.ticket, self.original, self.catalogue.project)
        seen = whole(understand(ticket, self.catalogue, even_settled=self.wish.even_settled), self.catalogue)
        return replace(seen, ticket=filed.ticket)

    def _fix_one(self, filed: Filed, now: Understood, first: Understood) -> Handled:
        """One ticket; `first` is how it was understood before anything was written."""
        if is_over(filed.ticket) and not self.wish.even_settled:
            return Handled(now, "skipped", now.routed.why)
        twins = [self.done.get(one) for one in wanted_by(first)]
        if twins and twins[0] and all(twins):
            return self._close_twin(filed, first, twins[0])
        if now.routed.codemod != first.routed.codemod:
            return Handled(first, "left", why_gone(first))
        task = task_for(now, self.catalogue, self.wish)
        if task.why_not:
            return Handled(now, "answered" if now.routed.commands else "left", task.why_not)
        chosen, unchosen = self.choose(now, task, self.catalogue.project)
        if not chosen:
            return Handled(now, "left", "; ".join(dict.fromkeys(reason for _, reason in unchosen)))
        handled = self._prove_and_write(Turn(filed, first, now, task, chosen, unchosen))
        if handled.outcome == "fixed":
            self.done |= dict.fromkeys(wanted_by(first), handled)
        return replace(handled, is_literal=self.wish.literal)

    def _prove_and_write(self, turn: Turn) -> Handled:
        project = self.catalogue.project
        planner = partial(plan_unchanged, project=project, codemods=turn.task.codemods, tree=self.tree)
        verdicts: list[Verdict] = []
        planned = planner(turn.chosen)
        try:
            change = self.settler_for(turn.task.codemods, verdicts)(planned, planner, project)
        except ValidateError as error:
            return Handled(turn.now, "left", f"not written: undecided: {error}", error="undecided")
        missing = unwritten([*turn.unchosen, *change.left_out])
        left = left_of(turn.now, turn.task.findings, project)
        proved = Proved(turn, planned, change, tuple(verdicts), missing, left)
        return self._write(proved) if change.applied else self._close_neutral(proved)

    def _write(self, proved: Proved) -> Handled:
        """The change with the ticket's file, as one run; later tickets see it."""
        turn, change = proved.turn, proved.change
        shown = measured(change, change.applied, proved.verdicts, turn.task.codemods, self.wish.tests)
        left = (*proved.unwritten, *proved.left)
        what = f"{count(change.applied)} in {', '.join(paths_of(change))}"
        signature = self._signature(turn.filed, status_for(not left, shown), what, shown, left)
        reason = f"{len(change.applied)} of {len(turn.task.findings)} findings" if proved.unwritten else ""
        outcome = Handled(turn.now, "partly" if left else "fixed", reason, change.applied, proved.verdicts, left=left)
        if self.wish.tests and not shown.tests:
            outcome = replace(outcome, notes=("no test was written: there is none for these findings",))
        others = [] if left else [self._following(filed, turn, shown) for filed in self._followers(turn)]
        handled = self._put_down(change, [signature, *others], outcome)
        self._note_followers(handled, others)
        project = self.catalogue.project.laid_over(change.written)
        self.catalogue = replace(self.catalogue, project=project, _answers={})
        return handled

    def _followers(self, turn: Turn) -> list[Filed]:
        """The open tickets to come that ask for nothing beyond what is written for this one."""
        wanted = {*wanted_by(turn.first)}
        alike = [filed for filed, seen in self.waiting if (own := wanted_by(seen)) and wanted.issuperset(own)]
        open_ones = [filed for filed in alike if self.wish.even_settled or not is_over(filed.ticket)]
        findings, project = turn.task.findings, self.catalogue.project
        return [filed for filed in open_ones if not left_of(self._understand(filed), findings, project)]

    def _following(self, filed: Filed, turn: Turn, shown: Measured) -> Signature:
        return self._signature(filed, status_for(True, shown), f"the same finding as {turn.filed.ticket.id}", shown)

    def _note_followers(self, leader: Handled, signatures: Sequence[Signature]) -> None:
        """They are closed in the leader's run, so that undo reopens them with it."""
        seen = {id(filed.ticket): understood for filed, understood in self.waiting}
        for each in signatures:
            ticket = id(each.filed.ticket)
            done = Handled(seen[ticket], "fixed", each.closing.what, verdicts=leader.verdicts, run=leader.run)
            self.followed[ticket] = replace(done, status=each.status, notes=each.notes, is_literal=self.wish.literal)

    def _put_down(self, change: Change, signatures: Sequence[Signature], handled: Handled) -> Handled:
        """Write a change with the files of its tickets in it; a dry run only says what would be written."""
        run, sign = None, partial(sign_all, signatures)
        if self.wish.is_dry:
            own = {signature.filed.path for signature in signatures}
            change = sign(change, 0)
            self.drafts |= {path: raw for path, raw in change.written.items() if path in own}
        else:
            run = self.write(change, sign)
        notes = (*handled.notes, *signatures[0].notes)
        told = replace(handled, run=run, status=signatures[0].status, notes=notes)
        return replace(told, before=change.before, after=change.after)

    def _signature(
        self, filed: Filed, status: str, what: str, shown: Measured, left: tuple[str, ...] = ()
    ) -> Signature:
        closing = Closing(filed.ticket.id, status, what, shown, self.today(), 0, left)
        return Signature(self.catalogue.project.root, filed, closing, self.drafts)

    def _close_neutral(self, proved: Proved) -> Handled:
        """Nothing may be written. A ticket whose findings do not reproduce, all of them, can be closed without."""
        planned, turn = proved.planned, proved.turn
        reasons = dict.fromkeys(reason for _, reason in proved.change.left_out)
        left = Handled(turn.now, "left", "; ".join(reasons), verdicts=proved.verdicts)
        unchanged = replace(planned, applied=())
        shown = measured(unchanged, planned.applied, proved.verdicts, turn.task.codemods, "")
        if not self.wish.close_neutral or not shown.verdicts or combined(shown.verdicts) is not Ruling.NEUTRAL:
            return left
        ran = [any(is_exercised(one, planned, verdict) for verdict in shown.verdicts) for one in planned.applied]
        is_all = len(planned.applied) == len(turn.task.findings) and all(ran)
        if why := why_not_neutral(shown, is_all, proved.left):
            return replace(left, reason=f"{left.reason}; not closed: {why}")
        what = f"{count(planned.applied)} tried and not written: nothing is better with it"
        closed = replace(left, outcome="closed", reason=f"not reproduced on torch {shown.torch}")
        return self._close_only(self._signature(turn.filed, not_reproduced(shown), what, shown), closed)

    def _close_twin(self, filed: Filed, first: Understood, twin: Handled) -> Handled:
        """A ticket for what earlier ones have just fixed is closed with the evidence of one of them."""
        other = twin.understood.ticket.id
        reason = f"the same finding as {other}" + (f", written in run {twin.run.number}" if twin.run else "")
        change = Change(twin.before, twin.after, twin.applied)
        shown = measured(change, twin.applied, twin.verdicts, (), "")
        closed = Handled(first, "fixed", reason, verdicts=twin.verdicts)
        return self._close_only(self._signature(filed, status_for(True, shown), reason, shown), closed)

    def _close_only(self, signature: Signature, handled: Handled) -> Handled:
        """A run that changes nothing but the ticket's file; none if that file is not to be edited."""
        if why := why_not_closed(signature):
            return replace(handled, outcome="left" if handled.outcome == "closed" else handled.outcome, notes=(why,))
        return self._put_down(Change(), [signature], handled)
