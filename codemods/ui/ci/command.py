"""What `ci` does: look, pass over what is known or old, fix and prove if asked to, commit, report. Nobody is asked."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import NoReturn

from fullgraph.codemods.model import Safety
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.run import leave_unwritable
from fullgraph.codemods.ui.ci.commit import Committing, commit_each, committable, refuse_dirty, refuse_to_commit
from fullgraph.codemods.ui.ci.model import CiReport, CiRequest
from fullgraph.codemods.ui.ci.narrow import Narrowing
from fullgraph.codemods.ui.ci.outputs import emit, prepare
from fullgraph.codemods.ui.commands import AcceptAll, Job, fix_job, jobs_for, told, until_stopped
from fullgraph.codemods.ui.commands import look as find
from fullgraph.codemods.ui.report.model import shown_path
from fullgraph.validate.model import ValidateError

Looked = list[tuple[Job, list[FileResult]]]


def ci(request: CiRequest) -> int:
    """The whole job; the exit code. Whatever ends it, there is a report of what was found until then."""
    prepare(request.outputs, request.baseline)
    report = CiReport(is_dry=not request.writes, policy=request.policy)
    try:
        with until_stopped(report), told(report), ended_alike():
            work(request, report)
    except ValidateError as error:
        report.undecided = str(error)
    if report.is_dry:
        report.end_dry()
    emit(report, request.outputs, quiet=request.looking.quiet, color=request.looking.color)
    if request.proof and request.proof.report and report.verdicts:
        from fullgraph.codemods.ui.proof import write_report

        write_report(request.proof.report, report.verdicts)
    return report.exit_code


def work(request: CiRequest, report: CiReport) -> None:
    narrowing = Narrowing.for_request(request, report)
    looked: Looked = []
    for job in jobs_for(request.looking, report, writes=request.writes):
        report.roots.append(job.tree.root)
        report.kinds |= {codemod.name: type(codemod) for codemod in job.codemods}
        with told(report):
            refuse(request, job)
            narrowing.open(job.tree)
            looked.append((job, look(request, report, job, narrowing)))
    if not report.is_complete:
        return
    if request.plans:
        for job, results in looked:
            with told(report):
                fix(request, report, job, results)
    narrowing.close([job for job, _ in looked])


def refuse(request: CiRequest, job: Job) -> None:
    """What would keep a fix from being written is said before anything is looked at."""
    if request.writes:
        refuse_dirty(job.tree.root, request.allow_dirty)
    if request.commit:
        refuse_to_commit(job.tree.root, request.branch)


def look(request: CiRequest, report: CiReport, job: Job, narrowing: Narrowing) -> list[FileResult]:
    """What counts of what is found in one project."""
    results = narrowing.narrow(job.tree, find(job, report))
    if request.writes:
        results, barred = leave_unwritable(results, job.tree.root)
        report.errors += [(shown_path(job.tree.root, path), "not writable") for path in barred]
    if request.commit:
        results = committable(results, job.tree.root)
    report.add_results(job.tree, results)
    return results


def fix(request: CiRequest, report: CiReport, job: Job, results: Sequence[FileResult]) -> None:
    """Fix what was found in one project, or only work out what that would be."""
    findings = [finding for result in results for finding in result.findings]
    if not findings:
        return
    reviewer = AcceptAll(request.unsafe)
    unsafe = [] if report.is_dry or request.unsafe else [f for f in findings if f.safety is Safety.UNSAFE]
    report.begin_fixing(job.tree.root, {finding.key: reviewer.why_left(finding) for finding in unsafe})
    if request.commit:
        commit_each(report, job, results, Committing(reviewer, request.proof, request.branch))
    else:
        fix_job(replace(job, scanner=lambda tree: list(results)), report, reviewer, request.proof)


@contextmanager
def ended_alike() -> Iterator[None]:
    """Pipelines end a job by SIGTERM: that is as good as Ctrl-C."""

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
