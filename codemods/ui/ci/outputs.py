"""Where a report goes: `--output FORM` to standard output, `--output FORM=FILE` to a file, several at once."""

from __future__ import annotations

import importlib
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.commands import told
from fullgraph.codemods.ui.named_output import check_output, open_output, write_output

FORMS = ("text", "json", "sarif", "github", "gitlab", "junit", "markdown", "patch")
SUMMARY = "GITHUB_STEP_SUMMARY"
SUMMARY_LIMIT = 1_000_000
"""Bytes that GitHub shows of one step's summary: 1 MiB, and some of it may be taken already."""


@dataclass(frozen=True)
class Output:
    """One form of the report; without a file it goes to standard output."""

    form: str
    file: Path | None = None


def parse_output(text: str) -> Output:
    form, _, file = text.partition("=")
    if form not in FORMS:
        raise FullgraphError(f"--output {text}: write FORM or FORM=FILE; the forms are {', '.join(FORMS)}")
    if "=" in text and not file:
        raise FullgraphError(f"--output {text}: the name of the file is missing")
    return Output(form, Path(file) if file not in ("", "-") else None)


def parse_outputs(given: Sequence[str]) -> tuple[Output, ...]:
    """All outputs; text goes to standard output if nothing else does."""
    outputs = [parse_output(text) for text in given]
    shown = [output for output in outputs if not output.file]
    if len(shown) > 1:
        named = " and ".join(output.form for output in shown)
        raise FullgraphError(f"--output: {named} cannot both go to standard output; write FORM=FILE")
    files = Counter(os.path.realpath(output.file) for output in outputs if output.file)
    if twice := [file for file, number in files.items() if number > 1]:
        raise FullgraphError(f"--output: {twice[0]} is named twice")
    return (*outputs, *(() if shown else (Output("text"),)))


def prepare(outputs: Sequence[Output], baseline: Path | None = None) -> None:
    """Refuse what could not be written, or is not to be lost, before anything is done; folders are made."""
    for file in (output.file for output in outputs if output.file):
        if baseline and os.path.realpath(file) == os.path.realpath(baseline):
            raise FullgraphError(f"--output {file}: this is the baseline, and a report would take its place")
        try:
            check_output(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.is_fifo():  # whose reader would take it for the end
                os.close(open_output(file, os.O_APPEND))
        except OSError as error:
            raise FullgraphError(f"--output {file}: cannot be written: {error.strerror}") from error


def emit(report: CiReport, outputs: Sequence[Output], *, quiet: bool, color: str) -> None:
    """Write every form. Files first: who reads standard output may stop reading. One that fails keeps no other back."""
    for output in sorted(outputs, key=lambda output: output.file is None):
        if output.file:
            with told(report):
                write(output.file, rendered(report, output.form))
        elif output.form == "text":
            from fullgraph.codemods.ui.ci.forms.as_text import show

            show(report, quiet=quiet, color=color)
        else:
            tell_apart(report, quiet)
            click.echo(rendered(report, output.form), nl=False)
    append_summary(report)


def rendered(report: CiReport, form: str) -> bytes:
    """The bytes of one form."""
    made: bytes = importlib.import_module(f"fullgraph.codemods.ui.ci.forms.as_{form}").render(report)
    return made


def tell_apart(report: CiReport, quiet: bool) -> None:
    """What people have to know when standard output is for a program."""
    from fullgraph.codemods.ui.ci.forms.as_text import about_the_run

    for text in about_the_run(report, quiet):
        click.echo(text, err=True)


def write(file: Path, data: bytes) -> None:
    try:
        write_output(file, data)
    except OSError as error:
        raise FullgraphError(f"--output {file}: cannot be written: {error.strerror}") from error


def append_summary(report: CiReport) -> None:
    """GitHub shows what a step appends to this file."""
    file = os.environ.get(SUMMARY)
    if not file:
        return
    from fullgraph.codemods.ui.ci.forms.as_markdown import markdown

    try:
        check_output(Path(file))
        with os.fdopen(open_output(Path(file), os.O_APPEND), "ab") as summary:
            room = SUMMARY_LIMIT - summary.tell()
            summary.write(markdown(report, room))
    except OSError as error:
        print(f"fullgraph: {SUMMARY}: {file}: not writable: {error.strerror}", file=sys.stderr)
