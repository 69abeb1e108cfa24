"""What `observe` does: runs a program as it is, keeps the report, and shows it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.lock import make_folder, told_in_one_line
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.source_roots import import_folders
from fullgraph.codemods.ui.failure import FailedError
from fullgraph.codemods.ui.named_output import check_output, write_output
from fullgraph.codemods.ui.observed.as_text import observed_text
from fullgraph.codemods.ui.terminal import use_color
from fullgraph.validate.launch import python_of
from fullgraph.validate.model import ValidateError
from fullgraph.validate.observe import Observed
from fullgraph.validate.observe import observe as run_and_watch

NOT_STARTED = 127
"""The exit code for a command that cannot be run, as shells have it."""

DEFAULT = Path(".fullgraph") / "observed.json"
PYTHONS = ("python", "python3")


def observe(
    command: Sequence[str],
    out: Path | None,
    page: Path | None,
    python: str,
    color: str,
    scenario: str = "",
    form: str = "text",
) -> int:
    """Run the command; its own exit code. The program's output is left alone, ours goes to standard error.

    With JSON, the report is all that goes to standard output.
    """
    root = find_root(Path.cwd())
    check_folders(out, page)
    if out is None:
        with make_folder(root / DEFAULT.parent) as folder:
            folder.plain(DEFAULT.name)
    try:
        file = (out or root / DEFAULT).absolute()
        with printed_aside() if form == "json" else nullcontext():
            observed = (
                compile_cases(scenario, root, python, file)
                if scenario
                else run_and_watch(words_of(command, python, root), root, file)
            )
    except ValidateError as error:
        raise FailedError(str(error), NOT_STARTED) from None
    if form == "json":
        click.echo(json.dumps(observed.report, indent=2))
    show(observed, page, color)
    return 128 - observed.exit_code if observed.exit_code < 0 else observed.exit_code


@contextmanager
def printed_aside() -> Iterator[None]:
    """What processes that are started inside print goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def compile_cases(scenario: str, root: Path, python: str, file: Path) -> Observed:
    from fullgraph.validate.model import Settings
    from fullgraph.validate.observe_scenario import observe_scenario
    from fullgraph.validate.scenario import read_scenario

    read = read_scenario(scenario, root, import_folders(root))
    return observe_scenario(read, root, Settings(python=python), file)


def words_of(command: Sequence[str], python: str, root: Path) -> list[str]:
    """The command, with the interpreter that was named, or the project's own for a bare `train.py`."""
    first = command[0]
    if python and os.path.basename(first) in PYTHONS:
        return [python_of(python, root), *command[1:]]
    is_argument = first.startswith("-") or (first.endswith(".py") and not os.access(first, os.X_OK))
    if python or is_argument:
        return [python_of(python, root), *command]
    return list(command)


def check_folders(*files: Path | None) -> None:
    """Before the program runs, not after: the report must have a place to go."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            raise FullgraphError(f"{file.parent}: no such folder; the program was not run")
        if file is not None and file.is_dir():
            raise FullgraphError(f"{file}: a folder; name a file. The program was not run")
        if file is not None:
            with told_in_one_line("the program was not run"):
                check_output(file)


def show(observed: Observed, page: Path | None, color: str) -> None:
    is_colored = use_color(color) and sys.stderr is not None and sys.stderr.isatty()
    width = shutil.get_terminal_size().columns
    click.echo(observed_text(observed.report, is_colored, width), nl=False, err=True)
    shown = shown_from_here(observed.file)
    click.echo(f"The report is in {shown}; `fullgraph check --observed {shown}` joins it with findings.", err=True)
    if page is not None:
        from fullgraph.codemods.ui.observed.as_html import observed_html
        from fullgraph.codemods.ui.observed.heat import find_lines

        click.echo("Asking the codemods about the hottest lines, for the page.", err=True)
        try:
            write_output(page, observed_html(observed.report, find_lines(observed)).encode())
        except OSError as error:
            click.echo(f"fullgraph: {page}: {error.strerror}; the page was not written", err=True)
        else:
            click.echo(f"The page is {page}.", err=True)


def shown_from_here(file: Path) -> str:
    relative = os.path.relpath(file)
    return relative if not relative.startswith(os.pardir) else str(file)
