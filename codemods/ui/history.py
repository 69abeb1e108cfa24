"""What `log`, `recover` and `undo` say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.entry import Run
from fullgraph.codemods.rewrite.journal import FOREIGN, Foreign, Journal, Recovery
from fullgraph.codemods.rewrite.merge import Conflict
from fullgraph.codemods.rewrite.undo import is_in_force, undo_foreign, undo_what_can_be, undone_findings
from fullgraph.codemods.rewrite.walk import find_root, leads_out
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.as_text import count, undo_command

MARK = "<<<<<<< "
FEW = 5


def open_journal(path: Path) -> Journal:
    """The journal of the project around a path."""
    if not path.exists():
        raise FullgraphError(f"{path}: no such file or folder")
    if leads_out(path):
        raise FullgraphError(f"{path}: a link that leads out of the project")
    return Journal(find_root(path))


def warn(journal: Journal) -> None:
    """Say what is wrong with the journal and leave it as it is: for commands that only read."""
    if said := journal.warning():
        click.echo(f"fullgraph: {said}", err=True)


def settle(journal: Journal) -> Recovery | None:
    """Finish or roll back a run that was interrupted, and say so: for commands that write."""
    if recovery := journal.recover():
        click.echo(f"fullgraph: run {recovery.run} had been interrupted: {recovery.outcome}", err=True)
    return recovery


def recover(path: Path) -> None:
    journal = open_journal(path)
    if not settle(journal):
        click.echo(f"No run in {journal.root} is to be finished.")


def log(path: Path, form: str) -> None:
    journal = open_journal(path)
    warn(journal)
    runs, foreign = journal.runs(), journal.foreign()
    undone = undone_findings(journal)
    if form == "json":
        told = [*(run_as_json(run, runs, undone) for run in runs), *map(foreign_as_json, foreign)]
        click.echo(json.dumps(sorted(told, key=lambda one: int(str(one["run"]))), indent=2))
        return
    if not runs and not foreign:
        click.echo(f"Nothing has been written in {journal.root} yet.")
    for run in runs:
        for line in run_text(run, runs, undone.get(run.number, set())):
            click.echo(line)
    for held in foreign:
        click.echo(foreign_text(held))
    if known := [held for held in foreign if held.run]:
        click.echo(f"Runs of others, or of another folder, are left alone; {journal.way_out(known[0])}.", err=True)


def foreign_text(held: Foreign) -> str:
    """A run that may have been made to be read: nothing of it but its files is told."""
    files = some([plain(path) for path in held.run.paths]) if held.run else ""
    return f"run {held.number}  {f'{FOREIGN}: {files}' if held.run else plain(held.problem)}"


def foreign_as_json(held: Foreign) -> dict[str, object]:
    paths = list(held.run.paths) if held.run else []
    return {"run": held.number, "kind": FOREIGN, "paths": paths, "problem": held.problem}


def run_text(run: Run, runs: list[Run], undone: set[int]) -> list[str]:
    when = run.started.replace("T", " ")[:16]
    if run.kind == "undo":
        mark = "" if is_in_force(run, runs) else "  (undone)"
        return [f"run {run.number}  {when}  undo of {', '.join(run.undoes)}{mark}"]
    files = count(len(run.paths), "file") + (f", new: {some(run.created)}" if run.created else "")
    lines = [f"run {run.number}  {when}  {count(len(run.findings), 'finding')} in {files}"]
    for index, finding in enumerate(run.findings):
        mark = "  (undone)" if index in undone else ""
        name = run.finding_name(index)
        lines.append(f"  {name:<6} {finding.path}:{finding.line}  {finding.codemod}  {finding.symbol}{mark}")
    return [plain(line) for line in lines]


def run_as_json(run: Run, runs: list[Run], undone: dict[int, set[int]]) -> dict[str, object]:
    taken_back = undone.get(run.number, set())
    return {
        "run": run.number,
        "kind": run.kind,
        "started": run.started,
        "in_force": is_in_force(run, runs),
        "undoes": list(run.undoes),
        "paths": list(run.paths),
        "created": list(run.created),
        "removed": list(run.removed),
        "findings": [
            {
                "name": run.finding_name(index),
                "codemod": finding.codemod,
                "path": finding.path,
                "line": finding.line,
                "symbol": finding.symbol,
                "undone": index in taken_back,
            }
            for index, finding in enumerate(run.findings)
        ],
    }


def undo(path: Path, names: tuple[str, ...], *, everything: bool, markers: bool, foreign: tuple[str, ...] = ()) -> int:
    """Take runs or findings back; with files of a `foreign` run, that run in these files. The exit code."""
    journal = open_journal(path)
    settle(journal)
    if foreign:
        run, conflicts = undo_foreign(journal, names[0], foreign, markers)
    else:
        run, conflicts = undo_what_can_be(journal, names or standing(journal, everything), markers)
    what = ", ".join(f"finding {name}" if "." in name else f"run {name}" for name in run.undoes)
    click.echo(f"Took back {what} {files_text(run)}. {undo_command(journal.root, run.number)} brings it back.")
    for line in conflict_lines(conflicts):
        click.echo(line)
    return 1 if conflicts else 0


def files_text(run: Run) -> str:
    if not run.paths:
        return "but no file had to change: they were as before already"
    fates = ((run.removed, "removed"), (run.created, "made again"))
    told = ", ".join(f"{some(paths)} {fate}" for paths, fate in fates if paths)
    return f"in {some(run.paths)}" + (f" ({told})" if told else "")


def conflict_lines(conflicts: Sequence[Conflict]) -> Iterator[str]:
    """What is left for the user to settle."""
    if marked := list(dict.fromkeys(one.path for one in conflicts if not one.is_whole)):
        yield f"Both versions stand in {', '.join(marked)}: look for {MARK}"
    for one in conflicts:
        if one.is_whole:
            yield f"{one.path} stays as it is: {f'{one.needed} imports it' if one.needed else 'edited since'}"


def some(paths: Sequence[str]) -> str:
    """The paths, or how many there are if nobody would read them."""
    return ", ".join(paths) if len(paths) <= FEW else count(len(paths), "file")


def standing(journal: Journal, everything: bool) -> tuple[str, ...]:
    """The runs whose findings still stand, newest first: all of them, or those of the newest command."""
    undone = undone_findings(journal)
    fixes = [run for run in reversed(journal.runs()) if run.kind == "fix"]
    standing = [run for run in fixes if len(undone.get(run.number, ())) < len(run.findings)]
    if not standing:
        raise FullgraphError("there is nothing to take back")
    return tuple(str(run.number) for run in standing if everything or run.command == standing[0].command)
