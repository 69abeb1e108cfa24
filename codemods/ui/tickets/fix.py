"""What `ticket fix` does: from files of tickets to changes that were reviewed, proven and written."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.diff import patch
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.walk import FOLDER
from fullgraph.codemods.run import Settler, keep_all, writer_for
from fullgraph.codemods.tickets.fix import Choose, Fixer
from fullgraph.codemods.tickets.fixing.choosing import Task
from fullgraph.codemods.tickets.fixing.model import Filed, Handled, Wish
from fullgraph.codemods.tickets.fixing.turn import Left
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.codemods.ui.commands import UNDECIDED, AcceptAll, Chooser
from fullgraph.codemods.ui.config import read_config
from fullgraph.codemods.ui.named_output import write_output
from fullgraph.codemods.ui.proof import ProofRequest, Proofs
from fullgraph.codemods.ui.report.as_text import write_patch
from fullgraph.codemods.ui.report.model import STOPPED
from fullgraph.codemods.ui.terminal import is_terminal, use_color
from fullgraph.codemods.ui.tickets.fix_text import about, handled_text, summary
from fullgraph.codemods.ui.tickets.show import Desk, open_desk, tickets_in
from fullgraph.validate.judge import combined, exit_code
from fullgraph.validate.model import Verdict


@dataclass(frozen=True)
class FixRequest:
    """The options of `ticket fix`, as the command line gives them."""

    files: tuple[Path, ...]
    path: Path
    yes: bool
    diff: bool
    unsafe: bool
    literal: bool
    close_neutral: bool
    settled: bool
    write_tests: str | None
    report: Path | None
    torch: str
    form: str
    quiet: bool
    color: str

    @property
    def is_dry(self) -> bool:
        is_interactive = self.form == "text" and is_terminal(sys.stdin) and is_terminal(sys.stdout)
        return self.diff or not (self.yes or is_interactive)


@dataclass
class Outcomes:
    """What became of all tickets. It owns the exit code."""

    desk: Desk
    is_dry: bool
    keep_neutral: bool
    handled: list[Handled] = field(default_factory=list)
    not_reached: list[Filed] = field(default_factory=list)
    is_stopped: bool = False

    @property
    def patch(self) -> bytes:
        """What a dry run would have written, all tickets together."""
        before: dict[str, bytes | None] = {}
        after: dict[str, bytes | None] = {}
        for each in self.handled:
            before = {**each.before, **before}
            after |= each.after
        return patch(before, after)

    @property
    def exit_code(self) -> int:
        """As `fix`: of several verdicts, that of the ticket it went worst with."""
        if self.is_stopped:
            return STOPPED
        if self.desk.errors or any(each.error not in ("", "undecided") for each in self.handled):
            return 2
        codes = [exit_code(combined(e.verdicts), self.keep_neutral) for e in self.handled if e.verdicts]
        codes += [UNDECIDED for each in self.handled if each.error]
        if code := max(codes, default=0):
            return code
        is_open = any(each.is_open or (self.is_dry and each.outcome != "skipped") for each in self.handled)
        return 1 if is_open else 0


def fix(request: FixRequest, proof: ProofRequest | None, today: Callable[[], date] = date.today) -> int:
    """Fix the tickets in files and folders, the worst first; the exit code."""
    desk = open_desk(request.path, request.torch)
    check_report(request)
    if request.is_dry:
        desk.notices += filter(None, [Journal(desk.root).warning()])
    elif recovery := Journal(desk.root).recover():
        desk.tree.look_again(recovery.paths)
        desk.notices.append(f"run {recovery.run} had been interrupted: {recovery.outcome}")
    filed = list(distinct(file_away(file, desk) for file in request.files))
    keeps = bool(proof and (proof.keep_neutral or request.close_neutral))
    outcomes = Outcomes(desk, request.is_dry, keeps, not_reached=list(filed))
    try:
        for handled in fixer_for(request, proof, desk, today).fix(filed):
            outcomes.handled.append(handled)
            outcomes.not_reached = [each for each in outcomes.not_reached if each.ticket != handled.understood.ticket]
            if request.form == "text":
                text = handled_text(handled, request.is_dry, use_color(request.color))
                click.echo(f"{text}\n", err=request.is_dry)
    except KeyboardInterrupt:
        outcomes.is_stopped = True
    conclude(request, outcomes)
    return outcomes.exit_code


def check_report(request: FixRequest) -> None:
    """Raise if the report could not be written, or would be read as a ticket the next time."""
    if request.report is None:
        return
    target = Path(os.path.realpath(request.report))
    if not target.parent.is_dir():
        raise FullgraphError(f"--report {request.report}: there is no folder {target.parent}")
    for file in request.files:
        given = Path(os.path.realpath(file))
        if target == given or (given.is_dir() and target.is_relative_to(given)):
            raise FullgraphError(f"--report {request.report} is among the tickets; name a file outside {file}")


def file_away(file: Path, desk: Desk) -> Iterator[Filed]:
    """The tickets of a file or folder, each with the path of its own file in the project."""
    for own, ticket in tickets_in(file, desk):
        path, why_not = path_in(own, desk.root)
        yield Filed(ticket, path, why_not)


def path_in(file: Path, root: Path) -> tuple[str, str]:
    """The path of a ticket's file below the project's root, however it was named; or why it is not to be edited."""
    real, top = Path(os.path.realpath(file.parent), file.name), Path(os.path.realpath(root))
    if not real.is_relative_to(top):
        return "", "it is outside the project"
    path = real.relative_to(top)
    return ("", "it belongs to the journal") if path.parts[0] == FOLDER else (path.as_posix(), "")


def distinct(found: Iterator[Iterator[Filed]]) -> Iterator[Filed]:
    """Each ticket once, also where a file is named twice, or with its folder."""
    seen = set()
    for filed in (each for group in found for each in group):
        key = filed.path or filed.ticket.source, filed.ticket.id
        if key not in seen:
            seen.add(key)
            yield filed


def fixer_for(request: FixRequest, proof: ProofRequest | None, desk: Desk, today: Callable[[], date]) -> Fixer:
    tests = ""
    if request.write_tests is not None:
        from fullgraph.codemods.ui.tests_folder import folder_for_tests

        tests = folder_for_tests(desk.root, request.write_tests)
    exclude = read_config(desk.root).exclude
    wish = Wish(request.literal, request.close_neutral, request.settled, request.is_dry, tests, exclude)

    def settler_for(codemods: Sequence[Codemod], verdicts: list[Verdict]) -> Settler:
        return Proofs(proof, codemods).prover(verdicts).settle if proof else keep_all

    write = writer_for(None if request.is_dry else Journal(desk.root), desk.tree.identity)
    return Fixer(desk.tree, desk.catalogue, wish, choice_of(request), settler_for, write, today)


def choice_of(request: FixRequest) -> Choose:
    """How the findings of a ticket are chosen: by a person, or all that are safe. Who asks for the literal fix has."""
    if request.is_dry or request.yes:
        accept = AcceptAll(request.unsafe or request.literal)
        return lambda understood, task, project: chosen_by(accept, task, project)
    from fullgraph.codemods.ui.review.by_line import Review
    from fullgraph.codemods.ui.review.desk import Desk
    from fullgraph.codemods.ui.review.keys import Keys

    keys, color = Keys(), use_color(request.color)

    def ask(understood: Understood, task: Task, project: Project) -> tuple[list[Finding], Left]:
        desk = Desk(task.codemods, tuple(about(understood)))
        return chosen_by(Review(desk, keys, color), task, project)

    return ask


def chosen_by(reviewer: Chooser, task: Task, project: Project) -> tuple[list[Finding], Left]:
    chosen = reviewer.choose(task.findings, project)
    kept = {finding.key for finding in chosen}
    left = [finding for finding in task.findings if finding.key not in kept]
    return chosen, [(finding, finding.left_alone or reviewer.why_left(finding)) for finding in left]


def conclude(request: FixRequest, outcomes: Outcomes) -> None:
    """The patch of a dry run, the report, and what there is to say about the whole."""
    notices = outcomes.desk.notices
    if outcomes.is_dry and outcomes.patch and not request.diff:
        notices.append("nothing is written without --yes or a terminal to ask on; this is the patch")
    if outcomes.is_dry and outcomes.patch and outcomes.desk.root != Path.cwd():
        notices.append(f"the patch counts from {outcomes.desk.root}")
    if request.report:
        write_report(request.report, outcomes)
    if request.form == "json":
        from fullgraph.codemods.ui.tickets.fix_json import as_json

        click.echo(json.dumps(as_json(outcomes), indent=2))
    else:
        tell(request, outcomes)
    if outcomes.is_stopped:
        runs = [str(each.run.number) for each in outcomes.handled if each.run]
        said = f"run {', '.join(runs)} had been written before" if runs else "nothing was written"
        click.echo(f"fullgraph: stopped; {said}", err=True)


def write_report(file: Path, outcomes: Outcomes) -> None:
    """What was done is done: a report that cannot be written is an error beside it."""
    from fullgraph.codemods.ui.tickets.report import as_markdown

    try:
        write_output(file, as_markdown(outcomes).encode())
        outcomes.desk.notices.append(f"the report is in {file}")
    except OSError as error:
        outcomes.desk.errors.append((str(file), f"the report was not written: {error.strerror}"))


def tell(request: FixRequest, outcomes: Outcomes) -> None:
    if outcomes.is_dry:
        write_patch(outcomes.patch, use_color(request.color))
    for place, reason in outcomes.desk.errors:
        click.echo(f"{place}: error: {reason}", err=True)
    for notice in outcomes.desk.notices:
        click.echo(f"fullgraph: {notice}", err=True)
    if not request.quiet:
        click.echo(summary(outcomes.handled, len(outcomes.not_reached), outcomes.is_dry), err=True)
