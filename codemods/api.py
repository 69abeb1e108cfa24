"""The commands as functions, for scripts: values in, values out, nothing printed, nobody asked.

What a user can act on is raised: FullgraphError, or ValidateError where a proof cannot be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.rewrite.asking import FILE_LIMIT
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undo as undo_runs
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.ui.commands import AcceptAll, Request, fix_job, jobs_for
from fullgraph.codemods.ui.history import standing
from fullgraph.codemods.ui.proof import ProofRequest, declared_since, prove_all, sides_since
from fullgraph.codemods.ui.report.model import FIXED, Report
from fullgraph.validate.model import Settings, Verdict
from fullgraph.validate.observe import Observed
from fullgraph.validate.observe import observe as observe_program

HERE = Path(".")
Options = Mapping[str, Mapping[str, str]]
"""By codemod, by key: `{"batch_host_reads": {"level": "all"}}`."""


@dataclass(frozen=True)
class Fixed:
    """What `fix` wrote, what it left for which reason, the numbers of its runs, and what the scenarios said."""

    written: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]
    runs: tuple[int, ...]
    verdicts: tuple[Verdict, ...]


def check(
    *paths: Path | str,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    options: Options | None = None,
    torch: str = "",
) -> list[Finding]:
    """What the codemods find in files and folders, by default in the current one."""
    report = Report()
    for job in jobs_for(request_for(paths, select, ignore, options, torch), report, writes=False):
        report.add_results(job.tree, job.scanner(job.tree))
    raise_first(report)
    return [line.finding for line in report.lines]


def fix(
    *paths: Path | str,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    options: Options | None = None,
    torch: str = "",
    unsafe: bool = False,
    prove: Sequence[str] = (),
    settings: Settings | None = None,
) -> Fixed:
    """Write what is safe, and with `unsafe` the rest; with scenarios to `prove` by, only what these prove."""
    report = Report()
    proof = proof_request(prove, settings) if prove else None
    for job in jobs_for(request_for(paths, select, ignore, options, torch), report, writes=True):
        fix_job(job, report, AcceptAll(unsafe), proof)
    raise_first(report)
    return Fixed(
        tuple(line.finding for line in report.lines if line.outcome == FIXED),
        tuple((line.finding, line.reason) for line in report.lines if line.outcome != FIXED),
        tuple(number for _, number, *_ in report.runs),
        tuple(report.verdicts),
    )


def prove(
    *scenarios: str, path: Path | str = HERE, before: str = "", run: int = 0, settings: Settings | None = None
) -> list[Verdict]:
    """A verdict for each scenario on the files as they are, against those before the last fix, a run, or a revision."""
    from fullgraph.codemods.rewrite.earlier import earlier

    root = find_root(Path(path))
    was = earlier(root, before, run)
    sides, notices = sides_since(root, was)
    return prove_all(proof_request(scenarios, settings), sides, declared_since(root, was), notices)


def observe(command: Sequence[str], *, path: Path | str = HERE, report: Path | str = "") -> Observed:
    """Run a program and tell what torch compiled, broke, recompiled and read back in it."""
    root = find_root(Path(path))
    file = Path(report) if report else root / ".fullgraph" / "observed.json"
    return observe_program(command, root, file)


def undo(*names: str, path: Path | str = HERE) -> int:
    """Take back runs (`3`) or findings (`3.1`), by default the last command's; the number of the run that does it."""
    journal = Journal(find_root(Path(path)))
    journal.recover()
    return undo_runs(journal, names or standing(journal, everything=False)).number


def request_for(
    paths: Sequence[Path | str],
    select: Sequence[str],
    ignore: Sequence[str],
    options: Options | None,
    torch: str,
) -> Request:
    given = [f"{name}.{key}={value}" for name, table in (options or {}).items() for key, value in table.items()]
    return Request(
        paths=tuple(map(Path, paths)) or (HERE,),
        select=tuple(select),
        ignore=tuple(ignore),
        symbols=(),
        lines=(),
        options=tuple(given),
        exclude=(),
        codemod_files=(),
        form="json",
        jobs=0,
        no_cache=False,
        quiet=True,
        color="never",
        torch=torch,
        file_limit=FILE_LIMIT,
    )


def proof_request(scenarios: Sequence[str], settings: Settings | None) -> ProofRequest:
    return ProofRequest(tuple(scenarios), settings or Settings(), False, None, "json", True, "never")


def raise_first(report: Report) -> None:
    for place, reason in report.errors[:1]:
        raise FullgraphError(f"{place}: {reason}" if place else reason)
