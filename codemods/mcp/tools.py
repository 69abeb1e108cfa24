"""What each tool does, with the functions of the command line: plain values in, plain values out, nothing printed.

The parameters are those that an agent sees; `DESCRIBED` says what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fullgraph.codemods.api import proof_request, request_for
from fullgraph.codemods.mcp.limits import PAGE, page, text_page
from fullgraph.codemods.mcp.roots import Roots
from fullgraph.codemods.model import Finding, FullgraphError, Safety
from fullgraph.codemods.project import Project
from fullgraph.codemods.ui.commands import Request, find_all, fix_job, jobs_for, join_observed, told
from fullgraph.codemods.ui.observed.command import DEFAULT
from fullgraph.codemods.ui.report.as_json import as_json
from fullgraph.codemods.ui.report.model import FIXED, Report
from fullgraph.validate.model import Settings

VERSION = 1
BULKY = ("edits", "span")
"""What an agent reads of a finding as a diff."""

DESCRIBED = {
    "paths": "Files and folders; without any, the whole project.",
    "select": "Names of codemods: only these.",
    "ignore": "Names of codemods that do not count.",
    "keys": "Keys of findings, as `check` gives them.",
    "everything": "Also findings that cannot be rewritten.",
    "observed": "Rank by the last observed run, and say what each finding cost in it.",
    "offset": "Where the page begins: `next_offset` of the page before.",
    "limit": "Findings on a page, at most 50.",
    "unsafe": "Also what may change behaviour; `caveat` says when.",
    "name": "A codemod; without one, all are listed.",
    "scenarios": "A scenario file, a test (tests/test_x.py::test_y), or module:function with stored calls.",
    "before": "A git revision to compare with; without one, the files before the last `fix`, else HEAD.",
    "run": "A run of the journal to compare with instead.",
    "device": "auto, cpu, cuda, cuda:1, mps, xpu.",
    "untimed": "Take no times: values and counts decide, for busy machines.",
    "time_limit": "Seconds, for each scenario or for the program; at most 3600.",
    "project": "A path in the project, where the server was started for several.",
    "prove": "Scenarios: only what these prove is written.",
    "names": "Runs (3) or findings of a run (3.1); without any, what the last command wrote.",
    "command": "The program and its arguments, as a list of words; it is run as it is, in the project's folder.",
}


@dataclass(frozen=True)
class Desk:
    """What the server was started with: its folders, and the interpreter that has the user's torch."""

    roots: Roots
    python: str = ""


def check(
    desk: Desk,
    paths: list[str] | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    everything: bool = False,
    observed: bool = False,
    offset: int = 0,
    limit: int = PAGE,
) -> dict[str, Any]:
    """Find PyTorch code that torch.compile stumbles over: host reads, graph breaks, recompiles. Writes nothing.

    Each finding has a `key`: `diff` shows its rewrite, `fix` writes it.
    """
    request = looking(desk, paths, select, ignore)
    if observed:
        request = replace(request, observed=desk.roots.folders[0] / DEFAULT)
    report = find_all(request)
    join_observed(report, request)
    held = as_json(report)
    shown = [one for one in held["findings"] if everything or one["edits"]]
    return {
        **of_report(held),
        "left_alone": sum(not one["edits"] for one in held["findings"]),
        **findings_page(shown, offset, limit),
    }


def explain(desk: Desk, name: str = "") -> dict[str, Any]:
    """What a codemod does, what was measured, what it leaves alone, its options, and an example; or all names."""
    from fullgraph.codemods.ui.described import explain_as_json, list_as_json

    return explain_as_json(name) if name else list_as_json()


def diff(
    desk: Desk,
    keys: list[str] | None = None,
    paths: list[str] | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    unsafe: bool = False,
    offset: int = 0,
) -> dict[str, Any]:
    """The patch that `fix` would write: of the findings with these keys, safe or not, or of all. Writes nothing."""
    chooser = Choose(frozenset(keys or ()), unsafe or bool(keys))
    report = rewritten(looking(desk, paths, select, ignore), chooser, is_dry=True)
    chooser.refuse_unknown(report)
    part = text_page(report.patch.decode(errors="replace"), offset)
    held = as_json(report)
    return {
        "version": VERSION,
        **{name: held[name] for name in ("errors", "notices")},
        "keys": [line.finding.key for line in report.lines if line.outcome == FIXED],
        "caveats": [line.finding.caveat for line in report.lines if line.outcome == FIXED and line.finding.caveat],
        "patch": part.pop("text"),
        **part,
    }


def fix(
    desk: Desk,
    keys: list[str] | None = None,
    paths: list[str] | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    unsafe: bool = False,
    prove: list[str] | None = None,
    untimed: bool = False,
    time_limit: float = 600,
    offset: int = 0,
    limit: int = PAGE,
) -> dict[str, Any]:
    """Rewrite the findings with these keys, or all that are safe. Journaled: `undo` takes it back byte for byte.

    With scenarios in `prove`, only what they prove is written.
    """
    chooser = Choose(frozenset(keys or ()), unsafe)
    settings = Settings(python=desk.python, untimed=untimed, time_limit=time_limit)
    proof = proof_request([desk.roots.scenario(one) for one in prove], settings) if prove else None
    report = rewritten(looking(desk, paths, select, ignore), chooser, is_dry=False, proof=proof)
    chooser.refuse_unknown(report)
    held = as_json(report)
    told_of = [one for one in held["findings"] if not keys or one["key"] in keys]
    return {
        **of_report(held),
        "runs": held["runs"],
        "proofs": held.get("proofs", []),
        **findings_page(told_of, offset, limit),
    }


def prove(
    desk: Desk,
    scenarios: list[str],
    before: str = "",
    run: int = 0,
    device: str = "auto",
    untimed: bool = False,
    time_limit: float = 600,
    project: str = "",
) -> dict[str, Any]:
    """Judge a change that anybody wrote, you included: run the scenarios on the files before and after it, and compare.

    Verdicts: proven (same results, and better), neutral, worse, different, undecided. It says what was measured.
    """
    from fullgraph.codemods.api import prove as prove_change
    from fullgraph.codemods.ui.verdict.as_json import verdicts_as_json

    settings = Settings(device=device, python=desk.python, untimed=untimed, time_limit=time_limit)
    named = [desk.roots.scenario(one) for one in scenarios]
    root = desk.roots.project(project)
    return verdicts_as_json(prove_change(*named, path=root, before=before, run=run, settings=settings))


def undo(desk: Desk, names: list[str] | None = None, project: str = "") -> dict[str, Any]:
    """Take back what `fix` wrote. What was edited since stays; where that collides with it, nothing is changed."""
    from fullgraph.codemods.rewrite.journal import Journal
    from fullgraph.codemods.rewrite.undo import undo_what_can_be
    from fullgraph.codemods.ui.history import standing, undo_as_json

    journal = Journal(desk.roots.project(project))
    journal.recover()
    run, conflicts = undo_what_can_be(journal, names or standing(journal, everything=False), markers=False)
    return undo_as_json(run, conflicts, 0)


def observe(desk: Desk, command: list[str], time_limit: float = 600, project: str = "") -> dict[str, Any]:
    """Run a program once, as it is, and report what torch compiled, broke, recompiled and read back in it, by line."""
    from fullgraph.codemods.mcp.observing import observe_program

    return observe_program(command, desk.roots.project(project), desk.python)


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    "check": check,
    "explain": explain,
    "diff": diff,
    "prove": prove,
    "fix": fix,
    "undo": undo,
    "observe": observe,
}


# What several tools share


class Choose:
    """The reviewer that takes the findings with some keys, or all that are safe."""

    def __init__(self, keys: frozenset[str], unsafe: bool) -> None:
        self.keys = keys
        self.unsafe = unsafe

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        wanted = [one for one in findings if one.is_fixable and (not self.keys or one.key in self.keys)]
        return [one for one in wanted if self.unsafe or one.safety is Safety.SAFE]

    def why_left(self, finding: Finding) -> str:
        if self.keys and finding.key not in self.keys:
            return "not asked for"
        return f"unsafe: {finding.caveat}; `unsafe` includes it"

    def refuse_unknown(self, report: Report) -> None:
        if missing := self.keys - {line.finding.key for line in report.lines}:
            raise FullgraphError(f"there is no finding with the key {min(missing)}; `check` gives the keys of today")


def looking(desk: Desk, paths: list[str] | None, select: list[str] | None, ignore: list[str] | None) -> Request:
    return request_for(desk.roots.paths(paths or ()), select or (), ignore or (), None, "")


def rewritten(request: Request, chooser: Choose, *, is_dry: bool, proof: Any = None) -> Report:
    report = Report(is_dry)
    with told(report):
        for job in jobs_for(request, report, writes=not is_dry):
            with told(report):
                fix_job(job, report, chooser, proof)
    return report


def of_report(held: dict[str, Any]) -> dict[str, Any]:
    """What a report says beside its findings."""
    return {name: held[name] for name in ("version", "exit_code", "files", "errors", "warnings", "notices")}


def findings_page(found: Sequence[dict[str, Any]], offset: int, limit: int) -> dict[str, Any]:
    shown = page(found, offset, limit)
    brief = [{name: one[name] for name in one if name not in BULKY} for one in shown.pop("items")]
    return {**shown, "findings": brief}
