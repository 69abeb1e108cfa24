"""What `--write-tests` has to say where no test is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undone_findings
from fullgraph.codemods.ui.report.as_text import undo_command


def no_codemod_writes_tests() -> str:
    able = [name for name, kind in all_codemods().items() if kind.writes_tests]
    return f"--write-tests: no selected codemod writes tests; these do: {', '.join(able) or 'none'}"


def fixed_without_tests(root: Path, codemods: Sequence[Codemod]) -> list[str]:
    """A test comes with its finding only: what earlier commands have fixed without, and how to have the tests yet."""
    journal = Journal(root)
    able = {codemod.name for codemod in codemods if codemod.writes_tests}
    runs, undone = journal.runs(), undone_findings(journal)
    tested = {run.command for run in runs if any(is_test(path) for path in run.created)}
    return [
        f"--write-tests: a test is written together with its fix, and run {run.number} has fixed without; "
        f"{undo_command(root, run.number)} and fix again with --write-tests"
        for run in runs
        if run.command not in tested and able & still_fixed(run, undone.get(run.number, set()))
    ]


def still_fixed(run: Run, undone: set[int]) -> set[str]:
    """The codemods of which findings stand that the run has written."""
    return {finding.codemod for index, finding in enumerate(run.findings) if index not in undone}


def is_test(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_")
