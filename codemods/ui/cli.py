"""The command line. Each command says what it takes here and does its work elsewhere, imported when it is called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = "Exit codes: 0 nothing found, or all fixed; 1 findings are left; 2 wrong usage, or a file that cannot be read."


class LineRanges(click.ParamType):  # type: ignore[type-arg]
    """`73-74,131` as pairs of a first and a last line."""

    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        ranges = []
        for part in value.split(","):
            first, _, last = part.strip().partition("-")
            if not first.isdigit() or not (last or first).isdigit() or int(last or first) < int(first):
                self.fail(f"{part!r} is no line or range of lines; write 73-74,131", param, ctx)
            ranges.append((int(first), int(last or first)))
        return tuple(ranges)


class Answers(click.Group):
    """Turns what the user can act on into one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        from codemods.model import FullgraphError

        try:
            return super().invoke(ctx)
        except FullgraphError as error:
            click.echo(f"fullgraph: {error}", err=True)
            ctx.exit(2)


def finding_options(command: F) -> F:
    """The options that every command which looks for findings shares."""
    decorators = [
        click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
        click.option("--select", multiple=True, metavar="NAME", help="Only this codemod (repeatable)."),
        click.option("--ignore", multiple=True, metavar="NAME", help="Not this codemod (repeatable)."),
        click.option(
            "--symbol", "symbols", multiple=True, metavar="Class.method", help="Only findings in this symbol."
        ),
        click.option(
            "--lines", type=LineRanges(), default=(), metavar="73-74,131", help="Only findings on these lines."
        ),
        click.option("--option", "options", multiple=True, metavar="NAME.KEY=VALUE", help="A codemod's setting."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, as .gitignore reads it."),
        click.option(
            "--codemod",
            "codemod_files",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE.py",
            help="Run the codemods of this file: fullgraph's, LibCST's or Bowler's.",
        ),
        click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True),
        click.option("--jobs", type=click.IntRange(0), default=0, help="Processes to use; 0 is one for every core."),
        click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of earlier results."),
        click.option("--quiet", "-q", is_flag=True, help="Findings and errors only."),
        click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


@click.group(cls=Answers, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="fullgraph")
def main() -> None:
    """Find PyTorch code that torch.compile stumbles over, review the rewrite, write it, take it back."""


@main.command(epilog=EPILOG)
@finding_options
def check(**given: Any) -> None:
    """Report findings in PATHS (default: the current folder). Nothing is written."""
    from codemods.ui.commands import Request, check

    sys.exit(check(Request(**given)))


@main.command(epilog=EPILOG)
@finding_options
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--unsafe", is_flag=True, help="With --yes or --diff: include what may change behaviour.")
def fix(diff: bool, yes: bool, unsafe: bool, **given: Any) -> None:
    """Rewrite findings in PATHS: asks about each on a terminal, else prints the patch."""
    from codemods.ui.commands import Request, fix

    if diff and yes:
        raise click.UsageError("--diff writes nothing and --yes writes: give one of them")
    sys.exit(fix(Request(**given), diff=diff, yes=yes, unsafe=unsafe))


@main.command("list")
def list_command() -> None:
    """Every codemod, with one line on what it does."""
    from codemods.ui.explain import list_codemods

    click.echo(list_codemods(), nl=False)


@main.command()
@click.argument("name")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def explain(name: str, color: str) -> None:
    """What the codemod NAME does, what it leaves alone, its settings and an example."""
    from codemods.ui.explain import explain as explained
    from codemods.ui.terminal import use_color

    click.echo(explained(name, use_color(color)), nl=False)


@main.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path), default=".")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def log(path: Path, form: str) -> None:
    """What was written in the project around PATH, oldest first."""
    from codemods.ui.history import log

    log(path, form)


@main.command()
@click.argument("names", nargs=-1, metavar="[RUN | FINDING]...")
@click.option("--all", "everything", is_flag=True, help="Take back every run.")
@click.option("--path", type=click.Path(exists=True, path_type=Path), default=".", help="A place in the project.")
@click.option("--conflict", type=click.Choice(["refuse", "markers"]), default="refuse", show_default=True)
def undo(names: tuple[str, ...], everything: bool, path: Path, conflict: str) -> None:
    """Take back a RUN (3), a FINDING of a run (3.1), or by default the last run that still stands."""
    from codemods.ui.history import undo

    if names and everything:
        raise click.UsageError("--all takes back everything: give it no run or finding")
    sys.exit(undo(path, names, everything=everything, markers=conflict == "markers"))
