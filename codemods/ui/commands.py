"""What `check` and `fix` do, for every project that the paths belong to."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemods.codemod import Codemod
from codemods.model import Finding, Safety
from codemods.project import Project
from codemods.rewrite.journal import Journal
from codemods.rewrite.walk import Tree, plant_trees
from codemods.run import Filter, Reviewer, Scanner, scanner_for, writer_for
from codemods.run import fix as fix_tree
from codemods.ui.config import Config, choose_codemods, parse_options, read_config
from codemods.ui.report import Report, shown_path
from codemods.ui.terminal import ProgressLine, use_color


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

    def codemods(self, config: Config) -> list[Codemod]:
        from codemods.foreign.load import load_codemods

        return choose_codemods(
            config,
            select=self.select,
            ignore=self.ignore,
            options=parse_options(self.options),
            symbols=self.symbols,
            loaded=[kind for file in self.codemod_files for kind in load_codemods(file)],
        )


@dataclass(frozen=True)
class Job:
    """One project with the codemods that its configuration and the command line choose."""

    tree: Tree
    codemods: list[Codemod]
    scanner: Scanner


def check(request: Request) -> int:
    """Report what the codemods find; the exit code."""
    report = Report()
    for job in jobs_for(request, report):
        report.add_results(job.tree, job.scanner(job.tree))
    return show(report, request)


def fix(request: Request, *, diff: bool, yes: bool, unsafe: bool) -> int:
    """Rewrite what the reviewer accepts; the exit code."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    is_dry = diff or not (yes or is_terminal)
    report = Report(is_dry)
    reviewer = reviewer_for(request, is_dry or yes, unsafe)
    for job in jobs_for(request, report):
        journal = None if is_dry else Journal(job.tree.root)
        for done in fix_tree(job.tree, job.codemods, job.scanner, reviewer, writer_for(journal)):
            report.add_round(job.tree, done)
    return show(report, request)


def reviewer_for(request: Request, accepts_all: bool, unsafe: bool) -> Reviewer:
    if accepts_all:
        return AcceptAll(unsafe)
    from codemods.ui.review import Review

    return Review(use_color(request.color))


@dataclass(frozen=True)
class AcceptAll:
    """The reviewer that asks nobody: everything safe, and what is not if the user said so."""

    unsafe: bool

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return [f for f in findings if f.is_fixable and (self.unsafe or f.safety is Safety.SAFE)]


def show(report: Report, request: Request) -> int:
    if request.form == "json":
        from codemods.ui.report_json import render
    else:
        from codemods.ui.report_text import render
    render(report, quiet=request.quiet, color=use_color(request.color))
    return report.exit_code


def jobs_for(request: Request, report: Report) -> Iterator[Job]:
    """The projects to look at. A run that was interrupted in one of them is finished or rolled back first."""
    trees, wrong = plant_trees(request.paths or (Path(),))
    report.errors += wrong
    for tree in trees:
        config = read_config(tree.root)
        exclude = (*config.exclude, *request.exclude)
        tree.leave_out(exclude)
        report.errors += [(shown_path(tree.root, path), reason) for path, reason in tree.errors]
        if recovery := Journal(tree.root).recover():
            report.notices.append(f"run {recovery.run} had been interrupted: {recovery.outcome}")
        codemods = request.codemods(config)
        progress = ProgressLine(len(tree.targets), request.quiet)
        wanted = Filter(request.symbols, request.lines)
        yield Job(tree, codemods, scanner_for(codemods, wanted, exclude, request.jobs, not request.no_cache, progress))
