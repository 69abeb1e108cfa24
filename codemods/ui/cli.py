"""The command line. Each command says what it takes here and does its work elsewhere, imported when it is called."""

from __future__ import annotations

import errno
import re
import sys
import warnings
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

TICKET_EPILOG = (
    "Exit codes: 0 nothing is left open; 1 tickets are left open, or in the patch only; 2 wrong usage, or a file that "
    "cannot be read or written; 3 a proof said different, worse or neutral of a ticket; 4 undecided; 130 stopped by "
    "Ctrl-C. A SCENARIO is what `fullgraph prove` takes."
)

AUDIT_EPILOG = "Exit codes: 0 clean; 3 hazards; 4 undecided: it could not be run, or nothing could be overwritten."

MAKING_EPILOG = "Exit codes: 0 written; 2 wrong usage, or a file that is there already; 4 it could not be made."


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


class Answers(click.Group):
    """Turns what the user can act on into one line and exit code 2, and Ctrl-C into exit code 130."""

    def invoke(self, ctx: click.Context) -> Any:
        from codemods.model import FullgraphError

        warnings.showwarning = show_warning
        try:
            return super().invoke(ctx)
        except FullgraphError as error:
            click.echo(f"fullgraph: {error}", err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("\nfullgraph: stopped", err=True)
            ctx.exit(130)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            click.echo(f"fullgraph: {complaint(error)}", err=True)
            ctx.exit(2)


class Fix(click.Command):
    """`--write-tests` takes a folder behind `=` only: what follows it is a path to fix."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        options = ["--write-tests=" if text == "--write-tests" else text for text in args[:end]]
        return super().parse_args(ctx, options + args[end:])


def complaint(error: OSError) -> str:
    """What the system does not let us do; only the folder that we stand in is asked for without its name."""
    if isinstance(error, FileNotFoundError) and not error.filename:
        return "the current folder does not exist any more"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"fullgraph: warning: {message}", err=True)


def complete_codemods(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
    from codemods.ui.complete import codemod_names

    return codemod_names(incomplete)


def complete_options(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
    from codemods.ui.complete import option_names

    return option_names(incomplete)


def split_names(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """`--select a --select b` and `--select a,b` are the same."""
    return tuple(name.strip() for text in given for name in text.split(",") if name.strip())


def join_lines(ctx: click.Context, param: click.Parameter, given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(pair for ranges in given for pair in ranges)


def set_color(ctx: click.Context, param: click.Parameter, wanted: str) -> str:
    """Also tells click whether to let colours through to what is not a terminal."""
    from codemods.ui.terminal import use_color

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
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out, as .gitignore reads it."),
        codemod_option("Run the codemods of this file: fullgraph's, LibCST's or Bowler's."),
        click.option(
            "--observed",
            type=click.Path(path_type=Path),
            metavar="REPORT.json",
            help="What `fullgraph observe` saw: findings that really cost come first.",
        ),
        click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True),
        click.option("--jobs", type=click.IntRange(0), default=0, help="Processes to use; 0 is one for every core."),
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
    """The options of `proof_options`, taken out of all that were given."""
    from codemods.ui.proof import ProofRequest
    from validate.model import Settings

    keep, report = given.pop("keep"), given.pop("report", None)
    names = ("device", "python", "mode", "backend", "fullgraph", "dynamic", "repeat", "time_limit", "signed_zero")
    wanted = {name: given.pop(name) for name in names}
    settings = Settings(**{name: value for name, value in wanted.items() if value is not None})
    return ProofRequest(scenarios, settings, keep == "neutral", report, form, quiet, color)


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


@main.command(cls=Fix, epilog=f"{EPILOG} With --prove: {PROOF_EPILOG}")
@finding_options
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--unsafe", is_flag=True, help="With --yes or --diff: include what may change behaviour.")
@write_tests_option
@click.option(
    "--prove", "scenarios", multiple=True, metavar="SCENARIO", help="Write only what this proves (repeatable)."
)
@proof_options
@report_option("FILE.html")
@click.pass_context
def fix(ctx: click.Context, /, diff: bool, yes: bool, unsafe: bool, scenarios: tuple[str, ...], **given: Any) -> None:
    """Rewrite findings in PATHS: asks about each on a terminal, else prints the patch."""
    from codemods.ui.commands import Request, fix

    if diff and yes:
        raise click.UsageError("--diff writes nothing and --yes writes: give one of them")
    if not scenarios and (idle := proof_flags_given(ctx)):
        raise click.UsageError(f"{idle} is for --prove SCENARIO")
    proof = proof_request(scenarios, given["form"], given["quiet"], given["color"], given)
    sys.exit(fix(Request(**given), diff=diff, yes=yes, unsafe=unsafe, proof=proof if scenarios else None))


def proof_flags_given(ctx: click.Context, *own: str) -> str:
    """The first option on the command line that means nothing without a scenario; `own` mean something else."""
    names = (option.name for option in prove.params if isinstance(option, click.Option))
    shared = (name for name in names if name not in ("form", "quiet", "color", "revision", "run", "path", *own))
    given = (n for n in shared if n and ctx.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE)
    return next((f"--{name.replace('_', '-')}" for name in given), "")


@main.command(epilog=PROOF_EPILOG)
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@click.option("--before", "revision", default="", metavar="REVISION", help="Compare with this git revision.")
@click.option("--run", type=click.IntRange(1), help="Compare with the files before this run of `fullgraph log`.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@proof_options
@report_option("FILE.html")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--quiet", "-q", is_flag=True, help="No progress line.")
@color_option
def prove(
    scenarios: tuple[str, ...],
    revision: str,
    run: int | None,
    path: Path,
    form: str,
    quiet: bool,
    color: str,
    **given: Any,
) -> None:
    """Run SCENARIO on the files as they were and as they are, and say what got better.

    As they were: before the last `fullgraph fix`, else at git's HEAD, unless --before or --run says otherwise.
    """
    from codemods.ui.proof import prove_history

    if revision and run:
        raise click.UsageError("--before and --run name two different pasts: give one of them")
    sys.exit(prove_history(proof_request(scenarios, form, quiet, color, given), revision, run or 0, path))


@main.command(epilog=AUDIT_EPILOG)
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@click.option("--all", "everything", is_flag=True, help="Audit every compiled call, not only those with CUDA graphs.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="auto, cpu, cuda, cuda:1, mps, xpu.")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
@click.option("--time-limit", type=click.FloatRange(1), default=600.0, show_default=True, metavar="SECONDS")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--quiet", "-q", is_flag=True, help="No progress line.")
@color_option
def audit(device: str, python: str, time_limit: float, **given: Any) -> None:
    """Run SCENARIO by the rule of CUDA graphs, on any machine, and report outputs that outlive their step.

    Compiled calls with mode reduce-overhead or max-autotune are audited; what compiles nothing itself is compiled so.
    """
    from codemods.ui.audit import AuditRequest, audit_scenarios
    from validate.model import Settings

    settings = Settings(device=device, python=python, time_limit=time_limit)
    sys.exit(audit_scenarios(AuditRequest(settings=settings, **given)))


@main.command(epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:FUNCTION")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--calls", "-n", type=click.IntRange(1), default=3, show_default=True, help="How many calls to store.")
def capture(target: str, command: tuple[str, ...], calls: int) -> None:
    """Run COMMAND once, as it is, and store the arguments of the first calls of MODULE:FUNCTION.

    `fullgraph prove MODULE:FUNCTION` repeats these calls. A method is named MODULE:Class.method. While it is watched,
    what is compiled runs as plain Python.
    """
    from codemods.ui.making import capture

    sys.exit(capture(target, command, calls))


@main.command(epilog="Exit code: the program's own; 127 if it could not be started.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.json", help="Default: .fullgraph/observed.json.")
@click.option("--html", "page", type=click.Path(path_type=Path), metavar="PAGE.html", help="Write a page, too.")
@click.option("--python", default="", metavar="PATH", help="The interpreter to run the command with.")
@color_option
def observe(command: tuple[str, ...], out: Path | None, page: Path | None, python: str, color: str) -> None:
    """Run COMMAND once, as it is, and report every compiled entry in it.

    Calls by phase, inputs, graphs, breaks, recompiles, compile time, and host reads by line.
    """
    from codemods.ui.observed import observe

    sys.exit(observe(command, out, page, python, color))


@main.group()
def scenario() -> None:
    """Scenarios say what `fullgraph prove` runs."""


@scenario.command("new", epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:FUNCTION")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Default: scenarios/FUNCTION.py.")
def new_scenario(target: str, out: Path | None) -> None:
    """Write a first scenario file for a function, a class or a method: what is built, and what it is called with."""
    from codemods.ui.making import write_scenario

    sys.exit(write_scenario(target, out))


@main.group()
def ticket() -> None:
    """Tickets say what somebody found in the code: Markdown, JSON, SARIF, issues."""


@ticket.command("show", epilog="Exit codes: 0 all were read; 2 wrong usage, or a file that cannot be read as a ticket.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--settled", is_flag=True, help="Name the codemod for resolved and rejected tickets too.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@color_option
def show_tickets(files: tuple[Path, ...], path: Path, settled: bool, form: str, color: str) -> None:
    """What is understood of the tickets in FILE, a file or a folder: the place, the codemod, how sure."""
    from codemods.ui.terminal import use_color
    from codemods.ui.tickets import show

    sys.exit(show(files, path, form, use_color(color), even_settled=settled))


@ticket.command("fix", cls=Fix, epilog=TICKET_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option("--diff", is_flag=True, help="Print the patch and write nothing.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--unsafe", is_flag=True, help="With --yes or --diff: include what may change behaviour.")
@click.option("--literal", is_flag=True, help="Write the fix that the ticket proposes, not the codemod's.")
@click.option("--settled", is_flag=True, help="Work on resolved and rejected tickets too.")
@click.option("--close-neutral", is_flag=True, help="With --prove: close a ticket that does not reproduce.")
@write_tests_option
@click.option(
    "--prove", "scenarios", multiple=True, metavar="SCENARIO", help="Write only what this proves (repeatable)."
)
@proof_options
@report_option("FILE.md")
@click.option("--quiet", "-q", is_flag=True, help="No progress line, and no summary.")
@color_option
@click.pass_context
def fix_tickets(ctx: click.Context, /, scenarios: tuple[str, ...], report: Path | None, **given: Any) -> None:
    """Find the code of the tickets in FILE, a file or a folder, and fix it with the codemod for it, the worst first.

    Asks about each finding on a terminal, else prints the patch. A ticket's own file is updated with what was
    measured, as part of the same run: undo reopens it.
    """
    from codemods.ui.ticket_fix import FixRequest, fix

    if given["diff"] and given["yes"]:
        raise click.UsageError("--diff writes nothing and --yes writes: give one of them")
    if not scenarios and (idle := "--close-neutral" * given["close_neutral"] or proof_flags_given(ctx, "report")):
        raise click.UsageError(f"{idle} is for --prove SCENARIO")
    proof = proof_request(scenarios, "text", given["quiet"], given["color"], given)
    sys.exit(fix(FixRequest(report=report, **given), proof if scenarios else None))


@main.command(epilog=MAKING_EPILOG)
@click.argument("target", metavar="MODULE:CLASS")
@click.option("--config", default="", metavar="FILE", help="JSON, TOML, YAML, FILE.py or module:NAME.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="Its default.")
@click.option(
    "--mode",
    type=click.Choice(["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]),
    help="Default: as the project compiles it, else reduce-overhead.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="A folder for both files.")
@click.option("--python", default="", metavar="PATH", help="The interpreter that has your torch.")
def harness(**given: Any) -> None:
    """Write a script and a test file that try out MODULE:CLASS compiled, built from your config, against eager mode.

    Both are yours: they need torch and pytest only. They go to scripts/ and tests/ where there are such folders.
    """
    from codemods.ui.harness import Wish, write_harness

    sys.exit(write_harness(Wish(**given)))


@main.command("list")
@codemod_option("The codemods of this file instead.")
def list_command(codemod_files: tuple[Path, ...]) -> None:
    """Every codemod, with one line on what it does."""
    from codemods.ui.explain import list_codemods

    click.echo(list_codemods(codemod_files), nl=False)


@main.command()
@click.argument("name", shell_complete=complete_codemods)
@codemod_option("Look for NAME in this file too.")
@click.option("--measure", is_flag=True, help="Prove its fixtures on your torch now, and show what comes out.")
@click.option("--python", default="", metavar="PATH", help="With --measure: the interpreter that has your torch.")
@color_option
def explain(name: str, codemod_files: tuple[Path, ...], measure: bool, python: str, color: str) -> None:
    """What the codemod NAME does, what it leaves alone, its options, what was measured, and an example."""
    from codemods.ui.explain import explain as explained
    from codemods.ui.terminal import use_color

    if measure:
        from codemods.ui.measured import measure_now

        sys.exit(measure_now(name, python))
    click.echo(explained(name, use_color(color), codemod_files), nl=False)


@main.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def log(path: Path, form: str) -> None:
    """What was written in the project around PATH, oldest first."""
    from codemods.ui.history import log

    log(path, form)


@main.command()
@click.argument("names", nargs=-1, metavar="[RUN | FINDING]...")
@click.option("--all", "everything", is_flag=True, help="Take back every run.")
@click.option("--path", type=click.Path(path_type=Path), default=".", help="A path in the project, else this folder.")
@click.option(
    "--conflict",
    type=click.Choice(["refuse", "markers"]),
    default="refuse",
    show_default=True,
    help="Where your edits collide with it: change nothing, or write both versions between markers.",
)
def undo(names: tuple[str, ...], everything: bool, path: Path, conflict: str) -> None:
    """Take back a RUN (3), a FINDING of a run (3.1), or by default what the last command wrote."""
    from codemods.ui.history import undo

    if names and everything:
        raise click.UsageError("--all takes back everything: give it no run or finding")
    sys.exit(undo(path, names, everything=everything, markers=conflict == "markers"))
