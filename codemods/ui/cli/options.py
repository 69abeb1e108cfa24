"""The options that several commands share, and what they are read into."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = (
    "Exit codes: 0 nothing found, or all fixed; 1 findings are left; 2 wrong usage, or a file that cannot be read; "
    "130 stopped by Ctrl-C."
)

PROOF_EPILOG = (
    "A SCENARIO is a Python file (`scenario new` writes one), module:function with stored calls (`fullgraph "
    "capture`), or a test as tests/test_x.py::test_y. Exit codes: 0 proven, or neutral with --keep neutral; "
    "3 different, worse or neutral; 4 undecided."
)

MAKING_EPILOG = "Exit codes: 0 written; 2 wrong usage, or a file that is there already; 4 it could not be made."

PROOF_NAMES = (
    *("device", "python", "mode", "backend", "fullgraph", "dynamic"),
    *("repeat", "untimed", "time_limit", "signed_zero"),
)


class LineRanges(click.ParamType):  # type: ignore[type-arg]
    """`73-74,131` as pairs of a first and a last line."""

    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return tuple(self.read(part.strip(), param, ctx) for part in value.split(","))

    def read(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", text)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last:
            self.fail(f"{text!r} is no line or range of lines; write 73-74,131", param, ctx)
        return first, last


GROUPS = {
    "What is looked for": (
        "select",
        "ignore",
        "symbols",
        "lines",
        "options",
        "exclude",
        "codemod_files",
        "observed",
        "torch",
    ),
    "What is shown": ("form", "everything", "statistics", "watch", "quiet", "color"),
    "What is written": ("diff", "yes", "unsafe", "into", "write_tests", "add_ignore"),
    "What is proven": ("scenarios", "keep", "report", *PROOF_NAMES),
    "How it runs": ("jobs", "executor", "file_limit", "no_cache"),
}
"""The options of commands that have many, by the names of their parameters."""


class Grouped(click.Command):
    """Its help tells the options by groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = (param for param in self.get_params(ctx) if isinstance(param, click.Option))
        records = {option.name: record for option in options if (record := option.get_help_record(ctx))}
        grouped = [(title, [records.pop(name) for name in names if name in records]) for title, names in GROUPS.items()]
        for title, rows in (*grouped, ("Options", [*records.values()])):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Fix(Grouped):
    """`--write-tests` takes a folder behind `=` only: what follows it is a path to fix."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        options = ["--write-tests=" if text == "--write-tests" else text for text in args[:end]]
        return super().parse_args(ctx, options + args[end:])


def complete_codemods(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
    from fullgraph.codemods.ui.complete import codemod_names

    return codemod_names(incomplete)


def complete_options(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
    from fullgraph.codemods.ui.complete import option_names

    return option_names(incomplete)


def split_names(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """`--select a --select b` and `--select a,b` are the same."""
    return tuple(name.strip() for text in given for name in text.split(",") if name.strip())


def join_lines(ctx: click.Context, param: click.Parameter, given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(pair for ranges in given for pair in ranges)


def set_color(ctx: click.Context, param: click.Parameter, wanted: str) -> str:
    """Also tells click whether to let colours through to what is not a terminal."""
    from fullgraph.codemods.ui.terminal import use_color

    ctx.color = use_color(wanted)
    return wanted


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    callback=set_color,
    help="auto: on a terminal, unless NO_COLOR is set.",
)


torch_option = click.option(
    "--torch",
    default="",
    metavar="VERSION",
    help="Write for this torch, whatever the project's environment, lock files and requirements say.",
)
executor_option = click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where the work is done: local, or dask://host:8786 (needs fullgraph[dask]).",
)


def names_option(flag: str, text: str) -> Callable[[F], F]:
    return click.option(
        flag, multiple=True, metavar="NAME", help=text, callback=split_names, shell_complete=complete_codemods
    )


def codemod_option(text: str) -> Callable[[F], F]:
    return click.option(
        "--codemod",
        "codemod_files",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE.py",
        help=text,
    )


def finding_options(command: F) -> F:
    """The options that `check` and `fix` share."""
    command = click.option(
        "--format",
        "form",
        type=click.Choice(["full", "concise", "json", "jsonl"]),
        default="full",
        show_default=True,
        help="concise: a line for each finding; jsonl: a JSON object for each.",
    )(command)
    command = click.option("--all", "everything", is_flag=True, help="Show findings that are left alone, too.")(command)
    command = click.option(
        "--observed",
        type=click.Path(path_type=Path),
        metavar="REPORT.json",
        help="What `fullgraph observe` saw: what really cost comes first, breaks are repaired where they were seen.",
    )(command)
    return looking_options(command)


def looking_options(command: F) -> F:
    """The options that every command which looks for findings shares."""
    decorators = [
        click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
        names_option("--select", "Only this codemod (repeatable, or with commas)."),
        names_option("--ignore", "Not this codemod (repeatable, or with commas)."),
        click.option(
            "--symbol", "symbols", multiple=True, metavar="Class.method", help="Only findings in this symbol."
        ),
        click.option(
            "--lines",
            type=LineRanges(),
            multiple=True,
            callback=join_lines,
            metavar="73-74,131",
            help="Only findings on these lines.",
        ),
        click.option(
            "--option",
            "options",
            multiple=True,
            metavar="NAME.KEY=VALUE",
            help="A codemod's option; `fullgraph explain NAME` lists them.",
            shell_complete=complete_options,
        ),
        torch_option,
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, as .gitignore reads it."),
        codemod_option("Run the codemods of this file: fullgraph's, LibCST's or Bowler's."),
        click.option("--jobs", type=click.IntRange(0), default=0, help="Processes to use; 0 is one for every core."),
        executor_option,
        click.option(
            "--time-limit-per-file",
            "file_limit",
            type=click.FloatRange(0.1),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="Of work; by the clock it is five times that. A file that takes longer is named and left.",
        ),
        click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of earlier results."),
        click.option("--quiet", "-q", is_flag=True, help="Findings and errors only."),
        color_option,
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def proof_options(command: F) -> F:
    """The options that every command which proves something shares."""
    decorators = [
        click.option(
            "--keep",
            type=click.Choice(["proven", "neutral"]),
            default="proven",
            show_default=True,
            help="neutral: also what is equivalent and no better.",
        ),
        click.option(
            "--device",
            default="auto",
            show_default=True,
            metavar="NAME",
            help="auto, cpu, cuda, cuda:1, mps, xpu; fake-cuda (no values), second (two devices without a GPU).",
        ),
        click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch."),
        click.option("--mode", type=click.Choice(["default", "reduce-overhead", "max-autotune"])),
        click.option("--backend", type=click.Choice(["inductor", "aot_eager", "eager"])),
        click.option("--fullgraph", is_flag=True, help="Compile with fullgraph=True."),
        click.option("--dynamic/--static", default=None, help="Compile with dynamic=True or False."),
        click.option("--repeat", type=click.IntRange(0), default=0, help="Blocks of timing; 0: as many as are needed."),
        click.option("--untimed", is_flag=True, help="Take no times: values and counts decide, for busy machines."),
        click.option("--time-limit", type=click.FloatRange(1), default=600.0, show_default=True, metavar="SECONDS"),
        click.option("--signed-zero", is_flag=True, help="Tell -0.0 from 0.0."),
    ]
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


write_tests_option = click.option(
    "--write-tests",
    metavar="[=DIR]",
    help="Also write a regression test with each finding that has one, into DIR or the project's tests folder.",
)


def report_option(metavar: str) -> Callable[[F], F]:
    return click.option("--report", type=click.Path(path_type=Path, dir_okay=False), metavar=metavar)


def proof_request(scenarios: tuple[str, ...], form: str, quiet: bool, color: str, given: dict[str, Any]) -> Any:
    """The options of `proof_options`, taken out of all that were given; `executor` is left for whoever scans, too."""
    from fullgraph.codemods.ui.proof import ProofRequest
    from fullgraph.validate.model import Settings

    keep, report = given.pop("keep"), given.pop("report", None)
    wanted = {name: given.pop(name) for name in PROOF_NAMES}
    settings = Settings(**{name: value for name, value in wanted.items() if value is not None})
    return ProofRequest(scenarios, settings, keep == "neutral", report, form, quiet, color, given["executor"])


def proof_flags_given(ctx: click.Context, *own: str, also: tuple[str, ...] = ()) -> str:
    """The first option on the command line that means nothing without a scenario; `own` mean something else."""
    shared = (name for name in (*PROOF_NAMES, "keep", "report", *also) if name not in own)
    given = (n for n in shared if ctx.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE)
    return next((f"--{name.replace('_', '-')}" for name in given), "")
