"""What `check` and `fix` do, for every project that the paths belong to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

from fullgraph.codemods.codemod import Codemod, check_torch
from fullgraph.codemods.executors.model import executor_named
from fullgraph.codemods.model import Finding, FullgraphError, Safety
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.asking import FILE_LIMIT
from fullgraph.codemods.rewrite.find import FileResult, follows
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.scan import Stopped
from fullgraph.codemods.rewrite.walk import Tree, find_root
from fullgraph.codemods.run import Filter, Reviewer, Scanner, keep_all, leave_unwritable, scanner_for, writer_for
from fullgraph.codemods.run import fix as fix_tree
from fullgraph.codemods.ui.breaks.ends import ends_of
from fullgraph.codemods.ui.breaks.fields import Copying, Field, fields_in_place, fields_into
from fullgraph.codemods.ui.breaks.ground import Ground
from fullgraph.codemods.ui.breaks.nearest import Nearest
from fullgraph.codemods.ui.config import Config, choose_codemods, parse_options, read_config
from fullgraph.codemods.ui.failure import FailedError
from fullgraph.codemods.ui.progress import ProgressBar
from fullgraph.codemods.ui.report.model import STOPPED, Report, shown_path
from fullgraph.codemods.ui.terminal import is_terminal, use_color
from fullgraph.codemods.ui.tests_notices import fixed_without_tests, no_codemod_writes_tests
from fullgraph.validate.model import ValidateError

if TYPE_CHECKING:
    from fullgraph.codemods.ui.proof import ProofRequest, Sided
    from fullgraph.validate.model import Verdict

UNDECIDED = 4
PEOPLE = ("full", "concise")
"""The forms of a report that are for people."""


@dataclass(frozen=True)
class Request:
    """The options that `check` and `fix` share, as the command line gives them."""

    paths: tuple[Path, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    symbols: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    options: tuple[str, ...]
    exclude: tuple[str, ...]
    codemod_files: tuple[Path, ...]
    form: str
    jobs: int
    no_cache: bool
    quiet: bool
    color: str
    torch: str = ""
    executor: str = "local"
    file_limit: float = FILE_LIMIT
    observed: Path | None = None
    everything: bool = False
    """Whether findings that are left alone are shown, and not only counted."""

    into: Path | None = None
    """The folder for copies of installed packages, which are rewritten there."""

    write_tests: str | None = None
    """The folder for tests; "" is the project's own, None is no tests."""

    def loaded(self) -> list[type[Codemod]]:
        from fullgraph.codemods.foreign.load import load_codemods

        return [kind for file in self.codemod_files for kind in load_codemods(file)]

    def codemods(self, config: Config, loaded: Sequence[type[Codemod]], tests: str = "") -> list[Codemod]:
        return choose_codemods(
            config,
            select=self.select,
            ignore=self.ignore,
            options=parse_options(self.options),
            symbols=self.symbols,
            loaded=loaded,
            tests=tests,
            torch=check_torch("--torch", self.torch),
        )

    def tests(self, root: Path) -> str:
        """The folder of a project in which tests are to be written, or nothing."""
        if self.write_tests is None:
            return ""
        from fullgraph.codemods.ui.tests_folder import folder_for_tests

        return folder_for_tests(root, self.write_tests)


@dataclass(frozen=True)
class Job:
    """One project with the codemods that its configuration and the command line choose."""

    tree: Tree
    codemods: list[Codemod]
    scanner: Scanner
    copying: Copying | None = None
    """Where what is written goes, if that is not the tree itself."""

    @property
    def copies(self) -> Path | None:
        return self.copying.folder if self.copying else None


class Chooser(Reviewer, Protocol):
    """A reviewer that can say why it did not choose a finding."""

    def why_left(self, finding: Finding) -> str: ...


def check(request: Request, *, statistics: bool = False) -> int:
    """Report what the codemods find; the exit code."""
    report = find_all(request)
    if not statistics:
        return show(report, request)
    from fullgraph.codemods.ui.report.as_text import error_text
    from fullgraph.codemods.ui.report.statistics import render

    render(report, color=use_color(request.color))
    for place, reason in report.errors:
        click.echo(error_text(place, reason), err=True)
    return report.exit_code


def find_all(request: Request) -> Report:
    report = Report()
    if request.form == "jsonl" and not request.observed:
        from fullgraph.codemods.ui.report.as_json import tell_findings

        report.tell = tell_findings
    with until_stopped(report), told(report):
        for job in jobs_for(request, report, writes=False):
            with told(report):
                report.add_results(job.tree, look(job, report))
    return report


def watch(request: Request) -> int:
    """Check now and whenever a file changes, until Ctrl-C."""
    from fullgraph.codemods.ui.watch import watch

    return watch(request.paths, lambda: check(request))


def add_ignores(request: Request) -> int:
    """Write a comment at every finding that `check` shows; the exit code."""
    from fullgraph.codemods.rewrite.ignoring import ignoring

    report = Report()

    def scanner(job: Job) -> Scanner:
        def look(tree: Tree) -> list[FileResult]:
            found = job.scanner(tree)
            kept = [replace(result, findings=tuple(filter(is_shown, result.findings))) for result in found]
            return ignoring(Project(tree.root, tree.entries), kept)

        return look

    def is_shown(finding: Finding) -> bool:
        return request.everything or finding.is_fixable

    with told(report):
        for job in jobs_for(request, report, writes=True):
            with told(report):
                fix_job(replace(job, codemods=[], scanner=scanner(job)), report, AcceptAll(False), None)
    return show(report, request)


def fix(
    request: Request, *, diff: bool, yes: bool, unsafe: bool, proof: ProofRequest | None = None, tui: bool = False
) -> int:
    """Rewrite what the reviewer accepts; the exit code. `tui`: a person is asked on the full screen."""
    is_interactive = request.form in PEOPLE and is_terminal(sys.stdin) and is_terminal(sys.stdout)
    if tui and not is_interactive:
        raise FullgraphError("--tui needs a terminal to draw on")
    is_dry = diff or not (yes or is_interactive)
    report = Report(is_dry, is_reviewed=not (is_dry or yes))
    known: dict[Sided, list[Verdict]] = {}
    reviewer_of = accept_all(unsafe) if is_dry or yes else ask_a_person(request, report, proof, known, tui)
    try:
        with told(report):
            for job in jobs_for(request, report, writes=not is_dry):
                with told(report):
                    fix_job(job, report, reviewer_of(job), proof, known)
    except KeyboardInterrupt:
        raise stopped(report) from None
    except ValidateError as error:
        raise FailedError(f"undecided: {error}", UNDECIDED) from None
    if is_dry and not diff and not request.quiet and report.patch:
        report.notices.append("nothing is written without --yes or a terminal to ask on; this is the patch")
    if proof and proof.report and report.verdicts:
        from fullgraph.codemods.ui.proof import write_report

        write_report(proof.report, report.verdicts)
    return show(report, request)


def fix_job(
    job: Job,
    report: Report,
    reviewer: Chooser,
    proof: ProofRequest | None,
    known: dict[Sided, list[Verdict]] | None = None,
) -> None:
    """One project. What was written is in the report even if a later round fails. `known`: what is proven already."""
    settle = keep_all
    if proof:
        from fullgraph.codemods.ui.proof import Proofs

        settle = Proofs(proof, job.codemods, job.copies, {} if known is None else known).prover(report.verdicts).settle
        report.keep_neutral = proof.keep_neutral

    def scanner(tree: Tree) -> list[FileResult]:
        results, barred = leave_unwritable(job.scanner(tree), tree.root)
        report.errors += [(shown_path(tree.root, path), "not writable") for path in barred]
        return results

    write = job.copying.write if job.copying else writer_for(Journal(job.tree.root), job.tree.identity)
    write = writer_for(None) if report.is_dry else write
    look = job.scanner if report.is_dry or job.copying else scanner
    has_applied = False
    for done in fix_tree(job.tree, job.codemods, look, reviewer, write, settle):
        report.add_round(job.tree, done, reviewer.why_left)
        report.notices += map(str, done.disagreements)
        has_applied = has_applied or bool(done.change.applied)
    if not has_applied and any(codemod.tests for codemod in job.codemods):
        report.notices += fixed_without_tests(job.tree.root, job.codemods)


def stopped(report: Report) -> FailedError:
    written = ", ".join(f"run {run} in {root}" for root, run, *_ in report.runs)
    said = f"{written} had been written before" if written else "nothing was written"
    return FailedError(f"stopped; {said}", STOPPED)


def ask_a_person(
    request: Request, report: Report, proof: ProofRequest | None, known: dict[Sided, list[Verdict]], tui: bool
) -> Callable[[Job], Chooser]:
    """Line by line, or on the full screen. Where the program was observed, about what cost most first."""
    from fullgraph.codemods.ui.proof import Proofs, without_scenarios
    from fullgraph.codemods.ui.review.desk import Desk
    from fullgraph.codemods.ui.review.keys import Keys
    from fullgraph.codemods.ui.review.proving_now import ProveNow

    keys = Keys()
    asked = proof or without_scenarios(request.quiet, request.color, request.executor)
    if tui:
        from fullgraph.codemods.ui.review.full_screen import FullScreen as Review
    else:
        from fullgraph.codemods.ui.review.by_line import Review  # type: ignore[assignment]

    def reviewer(job: Job) -> Chooser:
        proving = ProveNow(Proofs(asked, job.codemods, job.copies, known))
        desk = Desk(job.codemods, (), report.observed, proving, request.codemod_files)
        return Review(desk, keys, use_color(request.color))

    return reviewer


def accept_all(unsafe: bool) -> Callable[[Job], Chooser]:
    return lambda job: AcceptAll(unsafe)


@dataclass(frozen=True)
class AcceptAll:
    """The reviewer that asks nobody: everything safe, and what is not if the user said so."""

    unsafe: bool

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return [f for f in findings if f.is_fixable and (self.unsafe or f.safety is Safety.SAFE)]

    def why_left(self, finding: Finding) -> str:
        return f"unsafe: {finding.caveat}; --unsafe includes it"


def join_observed(report: Report, request: Request) -> None:
    """What the observed run says of the findings, where one was given."""
    if report.ground and report.nearest:
        report.ends = ends_of(report, report.ground, report.nearest.repairing)
    if report.observed:
        from fullgraph.codemods.ui.observed.join import join

        join(report, report.observed, is_all=not (request.select or request.ignore or request.symbols or request.lines))


def show(report: Report, request: Request) -> int:
    join_observed(report, request)
    if request.form in PEOPLE:
        from fullgraph.codemods.ui.report.as_text import render

        color = use_color(request.color)
        render(report, form=request.form, quiet=request.quiet, color=color, everything=request.everything)
    else:
        from fullgraph.codemods.ui.report.as_json import FORMS

        FORMS[request.form](report)
    return report.exit_code


def look(job: Job, report: Report) -> list[FileResult]:
    """What is found in one project. After Ctrl-C, what was found until then; the report knows that it is not all."""
    try:
        return job.scanner(job.tree)
    except Stopped as stopped:
        report.is_complete = False
        report.notices.append(f"stopped: {stopped.unseen} of {len(job.tree.targets)} files were not looked at")
        return stopped.results


@contextmanager
def until_stopped(report: Report) -> Iterator[None]:
    """Ctrl-C ends what is inside; the report is of what was done until then."""
    try:
        yield
    except KeyboardInterrupt:
        report.is_complete = False
        report.notices.append("stopped")


@contextmanager
def told(report: Report) -> Iterator[None]:
    """What the user can act on ends what is inside, and nothing else."""
    try:
        yield
    except FullgraphError as error:
        report.errors.append(("", str(error)))


def jobs_for(request: Request, report: Report, *, writes: bool) -> Iterator[Job]:
    """The projects to look at, until Ctrl-C. What is wrong with the command line is said once, and before all else."""
    loaded = request.loaded()
    request.codemods(Config(), loaded)
    if request.observed:
        from fullgraph.codemods.ui.observed.join import read_observed

        report.observed = read_observed(request.observed)
        report.ground = Ground(report.observed)
        report.nearest = Nearest(report.ground, names_of_repairs(loaded))
    for field in fields_for(request, report):
        if not report.is_complete:
            return
        job = None
        with told(report):
            settle(report, field, writes)
            job = job_for(request, report, field, loaded)
        if job:
            yield job


def names_of_repairs(loaded: Sequence[type[Codemod]]) -> set[str]:
    return {kind.name for kind in (*all_codemods().values(), *loaded) if kind.repairs_breaks}


def fields_for(request: Request, report: Report) -> list[Field]:
    """The trees to look at; where a run was observed, it is known of each which lines broke."""
    if request.into:
        fields, wrong = fields_into(request.into, request.paths, report.ground)
    else:
        fields, wrong = fields_in_place(request.paths, report.ground)
    report.errors += wrong
    report.written_in = {one.tree.root: one.copying.folder for one in fields if one.copying}
    return fields


def settle(report: Report, field: Field, writes: bool) -> None:
    """Who writes finishes a run that was interrupted, or rolls it back; who reads only says that there is one."""
    journal = Journal(field.copying.folder if field.copying else field.tree.root)
    if not writes:
        if said := journal.warning():
            report.add_notice(said)
    elif recovery := journal.recover():
        field.tree.look_again(recovery.paths)
        report.add_notice(f"run {recovery.run} had been interrupted: {recovery.outcome}")


def job_for(request: Request, report: Report, field: Field, loaded: Sequence[type[Codemod]]) -> Job:
    """One project to look at."""
    tree = field.tree
    config = read_config(find_root(Path.cwd()) if field.copying else tree.root)
    exclude = (*config.exclude, *request.exclude)
    tree.leave_out(exclude)
    if not (request.select or loaded or report.ground):
        report.tests += tree.leave_out_tests()
    report.errors += [(shown_path(tree.root, path), reason) for path, reason in tree.errors]
    tests = request.tests(tree.root)
    try:
        codemods = request.codemods(config, loaded, tests)
    except FullgraphError as error:
        raise FullgraphError(f"{config.file}: {error}") from error
    if tests and not any(codemod.writes_tests for codemod in codemods):
        report.add_notice(no_codemod_writes_tests())
    if field.sites_only:
        codemods = [codemod for codemod in codemods if codemod.repairs_breaks]
    if report.ground:
        report.ground.leave_out(tree)
        for codemod in codemods:
            codemod.sites = report.ground.sites(tree.root) if codemod.repairs_breaks else None
    report.gains |= {codemod.name: codemod.why for codemod in codemods}
    report.follows |= any(map(follows, codemods))
    size = sum(tree.entries[path].size for path in tree.targets)
    progress = ProgressBar(len(tree.targets), size, request.quiet)
    wanted = Filter(request.symbols, request.lines)
    ask = executor_named(request.executor, request.jobs, request.file_limit).ask
    each = partial(report.tell, tree) if report.tell else None
    scanner = scanner_for(codemods, wanted, exclude, ask, not request.no_cache, progress, each)
    return Job(tree, codemods, nearest_in(report, scanner), field.copying)


def nearest_in(report: Report, scanner: Scanner) -> Scanner:
    """The scan, without findings that only lead to the line of another one's break."""
    nearest = report.nearest
    return (lambda tree: nearest.keep(scanner(tree), tree.root)) if nearest else scanner
