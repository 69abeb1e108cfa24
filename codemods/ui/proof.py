"""What `prove` does, and how `fix --prove` asks for it: the command line in, verdicts out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors.model import Proof, executor_named
from fullgraph.codemods.model import Change, Finding, FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.proving import Prover
from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.rewrite.diff import patch
from fullgraph.codemods.rewrite.earlier import Earlier, earlier
from fullgraph.codemods.rewrite.explained import explained, project_before
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.lock import told_in_one_line
from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.source_roots import import_folders
from fullgraph.codemods.ui.commands import UNDECIDED
from fullgraph.codemods.ui.config import read_config
from fullgraph.codemods.ui.failure import FailedError
from fullgraph.codemods.ui.history import warn
from fullgraph.codemods.ui.named_output import write_output
from fullgraph.codemods.ui.stage_line import StageLine
from fullgraph.codemods.ui.terminal import use_color
from fullgraph.codemods.ui.verdict.as_text import verdict_text
from fullgraph.validate.judge import combined, exit_code
from fullgraph.validate.model import Declared, Measurement, Settings, Sides, ValidateError, Verdict
from fullgraph.validate.pair import Progress
from fullgraph.validate.scenario import read_scenario


@dataclass(frozen=True)
class ProofRequest:
    """What to prove with, as the command line gives it."""

    scenarios: tuple[str, ...]
    settings: Settings
    keep_neutral: bool
    report: Path | None
    form: str
    quiet: bool
    color: str
    executor: str = "local"


def without_scenarios(quiet: bool, color: str, executor: str) -> ProofRequest:
    """For whoever finds the scenarios later."""
    return ProofRequest((), Settings(), False, None, "text", quiet, color, executor)


def prove_history(request: ProofRequest, revision: str, run: int, path: Path) -> int:
    """`fullgraph prove`: the files on disk against what they were; the exit code."""
    root = find_root(path)
    warn(Journal(root))
    with undecided():
        was = earlier(root, revision, run)
        sides, notices = sides_since(root, was)
        verdicts = prove_all(request, sides, declared_since(root, was), notices)
        return tell(request, verdicts)


def sides_since(root: Path, was: Earlier) -> tuple[Sides, list[str]]:
    now = {path: read_if_there(root / path) for path in was.files}
    sides = Sides(root, was.files, now)
    if not sides.paths():
        raise FullgraphError(f"no Python file is different from what it was {was.name}: there is nothing to prove")
    notices = [f"before: the files {was.name}; after: the files on disk ({', '.join(sides.paths()[:5])})"]
    if was.others:
        notices.append(
            f"the same on both sides although changed: {', '.join(was.others[:5])} (only Python is laid over)"
        )
    return sides, notices


def read_if_there(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None


def declared_since(root: Path, was: Earlier) -> list[Declared]:
    """What the change makes on purpose: by the findings of its runs, or by those that explain what git shows."""
    options = read_config(root).options
    codemods = [kind(options.get(name, {})) for name, kind in all_codemods().items()]
    if was.runs:
        journal = Journal(root)
        return declared_by(codemods, [finding for number in was.runs for finding in journal.run(number).findings])
    speaking = [codemod for codemod in codemods if type(codemod).purposes is not Codemod.purposes]
    now = {path: read_if_there(root / path) for path in was.files}
    return declared_by(codemods, explained(project_before(root, was.files), now, speaking))


def declared_by(codemods: Sequence[Codemod], findings: Sequence[Finding]) -> list[Declared]:
    """What the findings change on purpose, each in the words of its codemod."""
    declared = []
    for codemod in codemods:
        own = [finding for finding in findings if finding.codemod == codemod.name]
        purposes = codemod.purposes(own) if own else ()
        declared += [Declared(one.kind, one.pattern, f"{codemod.name}: {one.why}") for one in purposes]
    return declared


Sided = tuple[Path, tuple[str, ...], Settings, frozenset[tuple[str, bytes | None]], frozenset[tuple[str, bytes | None]]]
"""What a verdict rests on: the project, the scenarios, how they were run, and the two sides."""


@dataclass
class Proofs:
    """Proves changes of a project with the scenarios of a request, each change once: what was proven stays known.

    With `copies` it is packages that change: the scenario is of the project that we stand in, and sees what is in that
    folder instead of what is installed.
    """

    request: ProofRequest
    codemods: Sequence[Codemod]
    copies: Path | None = None
    known: dict[Sided, list[Verdict]] = field(default_factory=dict)
    run: Callable[..., list[Verdict]] | None = None
    """What proves, if that is not `prove_all` in this process."""

    def __call__(self, change: Change, project: Project) -> list[Verdict]:
        before, after = {**project.overlay, **change.before}, {**project.overlay, **change.after}
        sides = frozenset(before.items()), frozenset(after.items())
        key = project.root, self.request.scenarios, self.request.settings, *sides
        if key not in self.known:
            declared = declared_by(self.codemods, change.applied)
            self.known[key] = self._prove(before, after, declared, project.root)
        return self.known[key]

    def _prove(
        self,
        before: Mapping[str, bytes | None],
        after: Mapping[str, bytes | None],
        declared: Sequence[Declared],
        root: Path,
    ) -> list[Verdict]:
        run = self.run or prove_all
        if self.copies is None:
            return run(self.request, Sides(root, before, after), declared, [], ())
        sides = Sides(find_root(Path.cwd()), absolute(before, root), absolute(after, root))
        return [seen_from(root, one) for one in run(self.request, sides, declared, [], (str(self.copies),))]

    def with_scenarios(self, *scenarios: str) -> Proofs:
        """The same with other scenarios; both know what either has proven."""
        return replace(self, request=replace(self.request, scenarios=scenarios))

    def prover(self, verdicts: list[Verdict]) -> Prover:
        """The step of `fix` between planning and writing; `verdicts` gets those that decided something."""
        return Prover(self, self.request.keep_neutral, verdicts)


def absolute(files: Mapping[str, bytes | None], root: Path) -> dict[str, bytes | None]:
    return {str(root / path): data for path, data in files.items()}


def seen_from(root: Path, verdict: Verdict) -> Verdict:
    """The verdict, with the lines that ran by paths below a root."""

    def below(side: Measurement) -> Measurement:
        return replace(side, ran={os.path.relpath(path, root): lines for path, lines in side.ran.items()})

    changed = tuple(replace(place, path=os.path.relpath(place.path, root)) for place in verdict.changed)
    return replace(verdict, before=below(verdict.before), after=below(verdict.after), changed=changed)


def prove_all(
    request: ProofRequest,
    sides: Sides,
    declared: Sequence[Declared],
    notices: Sequence[str],
    imports: tuple[str, ...] = (),
    stage: Progress | None = None,
) -> list[Verdict]:
    """Every scenario on the two sides; `imports` are folders that it finds modules in before all others.

    `stage` is told what is being done; else a line on the terminal tells it.
    """
    line = StageLine(request.quiet or stage is not None)
    changed = sides.paths()
    texts = ({path: side.get(path) for path in changed} for side in (sides.before, sides.after))
    diff = patch(*texts).decode(errors="replace")
    folders = import_folders(sides.root)
    read = [read_scenario(text, sides.root, folders) for text in request.scenarios]
    scenarios = [replace(scenario, imports=(*imports, *scenario.imports)) for scenario in read]
    proofs = [Proof(scenario, sides, request.settings, tuple(declared)) for scenario in scenarios]
    try:
        verdicts = executor_named(request.executor).prove(proofs, stage or line)
    finally:
        line.finish()
    return [replace(verdict, diff=diff, notices=(*notices, *verdict.notices)) for verdict in verdicts]


def tell(request: ProofRequest, verdicts: Sequence[Verdict]) -> int:
    """Show the verdicts and write the report; the exit code."""
    if request.report:
        write_report(request.report, verdicts)
    if request.form == "json":
        import json

        from fullgraph.codemods.ui.verdict.as_json import verdicts_as_json

        click.echo(json.dumps(verdicts_as_json(verdicts, request.keep_neutral), indent=2))
    else:
        click.echo(verdict_text(verdicts, use_color(request.color)), nl=False)
    return exit_code(combined(verdicts), request.keep_neutral)


def write_report(file: Path, verdicts: Sequence[Verdict]) -> None:
    from fullgraph.codemods.ui.verdict.as_html import verdict_html

    with told_in_one_line("there is no report"):
        write_output(file, verdict_html(verdicts).encode())
    click.echo(f"fullgraph: the report is in {file}", err=True)


@contextmanager
def undecided() -> Iterator[None]:
    """What cannot be proven for a reason that the user can act on is one line and exit code 4."""
    try:
        yield
    except (ValidateError, FullgraphError) as error:
        raise FailedError(f"undecided: {error}", UNDECIDED) from None
