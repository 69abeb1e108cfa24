"""`--commit`: codemod after codemod, each fixed, proven and committed before the next is looked at again.

Only files that a codemod has changed are in its commit. A file with changes of somebody else, or that git does not
track, is never part of one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fullgraph.codemods.model import Change, Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.again import met_again
from fullgraph.codemods.rewrite.find import FileResult, find
from fullgraph.codemods.run import Scanner, leave_barred
from fullgraph.codemods.ui.ci.git import Repository
from fullgraph.codemods.ui.ci.message import message_for
from fullgraph.codemods.ui.ci.model import CiReport, Commit
from fullgraph.codemods.ui.commands import AcceptAll, Job, fix_job
from fullgraph.codemods.ui.proof import ProofRequest

SHOWN = 3
"""Files with changes that an error names."""


@dataclass(frozen=True)
class Committing:
    """How to fix and where to commit."""

    reviewer: AcceptAll
    proof: ProofRequest | None
    branch: str


def refuse_dirty(root: Path, allow_dirty: bool) -> None:
    """Nothing is written over changes that are not committed: only what git holds can be told from it again."""
    if allow_dirty or not any(os.path.lexists(folder / ".git") for folder in (root, *root.parents)):
        return
    try:
        changed = Repository.around(root).changed()
    except FullgraphError as error:
        raise FullgraphError(f"{root}: whether there are uncommitted changes is not known: {error}") from error
    if changed:
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        raise FullgraphError(
            f"{root}: there are uncommitted changes ({', '.join(changed[:SHOWN])}{more}), so nothing was written; "
            "commit them, or give --allow-dirty"
        )


def refuse_to_commit(root: Path, branch: str) -> None:
    """What would keep git from making a commit."""
    repository = Repository.around(root)
    if what := repository.under_way():
        raise FullgraphError(f"{repository.top}: {what} is under way, so nothing can be committed")
    if not repository.commit_of("HEAD"):
        raise FullgraphError(f"{repository.top}: there is no commit yet, so nothing can be committed on top")
    try:
        repository.ask("var", "GIT_COMMITTER_IDENT")
        repository.ask("var", "GIT_AUTHOR_IDENT")
    except FullgraphError as error:
        raise FullgraphError("git does not know who commits: set user.name and user.email") from error
    if branch and not repository.does("check-ref-format", "--branch", branch):
        raise FullgraphError(f"--branch {branch}: git does not allow this name")
    if branch and branch != repository.branch and repository.commit_of(f"refs/heads/{branch}"):
        raise FullgraphError(f"--branch {branch}: there is such a branch already")


def committable(results: Sequence[FileResult], root: Path) -> list[FileResult]:
    """The results, with every finding left alone that would have to change what cannot be committed."""
    repository = Repository.around(root)
    index = repository.index()
    edits = {edit for result in results for finding in result.findings for edit in finding.edits if not edit.creates}
    names = {edit.path: os.path.relpath(root / edit.path, repository.top) for edit in edits}

    def among(files: Collection[str]) -> set[str]:
        return {path for path, name in names.items() if name in files}

    untracked = names.keys() - among(index.files)
    changed, hidden = among(set(repository.changed())), among(index.hidden)

    def leave(finding: Finding) -> Finding:
        left = leave_barred(finding, untracked, "not tracked by this repository")
        left = leave_barred(left, hidden, "hidden from git (assume-unchanged or skip-worktree)")
        return leave_barred(left, changed, "changed and not committed")

    return [replace(result, findings=tuple(map(leave, result.findings))) for result in results]


def commit_each(report: CiReport, job: Job, results: Sequence[FileResult], how: Committing) -> None:
    """One commit for each codemod that changes something."""
    repository = Repository.around(job.tree.root)
    found = [finding for result in results for finding in result.findings]
    waiting = how.reviewer.choose(found, Project(job.tree.root, job.tree.entries))
    for codemod in job.codemods:
        own = [finding for finding in waiting if finding.codemod == codemod.name]
        if not own:
            continue
        first_verdict, first_change = len(report.verdicts), len(report.changes)
        fix_job(Job(job.tree, [codemod], scanner_of(own)), report, how.reviewer, how.proof)
        changes = [change for change in report.changes[first_change:] if change.applied]
        if changes:
            text = message_for(codemod, changes, report.verdicts[first_verdict:])
            commit(report, repository, codemod.name, [*written_by(changes, job.tree.root)], text, how.branch)
            job.tree.look_again(as_written(changes, job.tree.root))
            waiting = met_after(waiting, changes, job)


def scanner_of(findings: Sequence[Finding]) -> Scanner:
    """Finds what has been found."""
    by_path = {path: [f for f in findings if f.path == path] for path in sorted({f.path for f in findings})}
    results = [FileResult(path, tuple(found)) for path, found in by_path.items()]
    return lambda tree: results


def written_by(changes: Sequence[Change], root: Path) -> set[Path]:
    return {root / path for change in changes for path in change.after}


def as_written(changes: Sequence[Change], root: Path) -> set[str]:
    """The files that are still as they were written: a hook of git's may have changed the others since."""
    last = {path: raw for change in changes for path, raw in change.written.items()}
    return {path for path, raw in last.items() if is_now(root / path, raw)}


def is_now(file: Path, raw: bytes) -> bool:
    try:
        return file.read_bytes() == raw
    except OSError:
        return False


def met_after(waiting: Sequence[Finding], changes: Sequence[Change], job: Job) -> list[Finding]:
    """The findings of other codemods as they are after some changes, one after the other."""
    paths = sorted({finding.path for finding in waiting})
    for number, change in enumerate(changes):
        later = {path: raw for other in reversed(changes[number + 1 :]) for path, raw in other.before.items() if raw}
        project = Project(job.tree.root, job.tree.entries, {**later, **change.written})
        found = [finding for path in paths for finding in find(project, path, job.codemods).findings]
        edits = {edit for finding in change.applied for edit in finding.edits}
        waiting = met_again([finding for finding in waiting if finding not in change.applied], found, edits)
    return list(waiting)


def commit(
    report: CiReport, repository: Repository, codemod: str, files: Sequence[Path], text: str, branch: str
) -> None:
    paths = sorted(repository.path(file) for file in files)
    new = sorted(set(paths) - repository.index().files)
    try:
        if branch and repository.branch != branch:
            repository.do("switch", "--quiet", "--create", branch)
        if new:
            repository.do("add", "--force", paths=new)
        repository.do("commit", "--quiet", "--only", "--cleanup=whitespace", f"--message={text}", paths=paths)
    except FullgraphError as error:
        forget(repository, new)
        run = report.runs[-1][1]
        said = f"run {run} ({codemod}) is written and not committed; `fullgraph undo {run}` takes it back"
        raise FullgraphError(f"{error}; {said}") from error
    if not repository.branch:
        report.add_notice("HEAD is detached: the commits are on no branch; --branch NAME makes one for them")
    name = repository.commit_of("HEAD")
    report.commits.append(Commit(codemod, name, text.partition("\n")[0], repository.branch))


def forget(repository: Repository, new: Sequence[str]) -> None:
    """What could not be committed is not left staged either."""
    if new:
        with suppress(FullgraphError):
            repository.do("rm", "--quiet", "--cached", "--force", "--ignore-unmatch", paths=new)
