"""What the proofs of a ticket's findings show, and the status that follows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Finding
from fullgraph.codemods.proving import is_exercised
from fullgraph.codemods.tickets.closing.model import PARTLY, RESOLVED, UNVERIFIED, Measured
from fullgraph.validate.judge import is_idle
from fullgraph.validate.model import Ruling, Verdict

SEEN = "allowed to change: "


def measured(
    change: Change, findings: Sequence[Finding], verdicts: Sequence[Verdict], codemods: Sequence[Codemod], tests: str
) -> Measured:
    """What the verdicts on these findings show of them. Of what was written, what forbade the rest says nothing."""
    allowing = [v for v in verdicts if not change.applied or v.ruling in (Ruling.PROVEN, Ruling.NEUTRAL)]
    telling = tuple(
        verdict
        for verdict in allowing
        if not is_idle(verdict) and any(is_exercised(finding, change, verdict) for finding in findings)
    )
    notices = {notice for verdict in telling for notice in verdict.notices if notice.startswith(SEEN)}
    warnings = {notice for notice in notices if is_announced(notice, findings, codemods)}
    return Measured(
        telling,
        is_written=bool(change.applied),
        has_warned=bool(warnings),
        has_other_changes=bool(notices - warnings),
        tests=tuple(tests_in(findings, tests)) if tests else (),
    )


def is_announced(notice: str, findings: Sequence[Finding], codemods: Sequence[Codemod]) -> bool:
    """Whether a notice tells of a warning that the codemod adds on purpose."""
    purposes = [(codemod, purpose) for codemod in codemods for purpose in codemod.purposes(findings)]
    return any(
        purpose.kind == "warning"
        and notice.startswith(f"{SEEN}warning: ")
        and notice.endswith(f"({codemod.name}: {purpose.why})")
        for codemod, purpose in purposes
    )


def tests_in(findings: Iterable[Finding], folder: str) -> list[str]:
    """The files of tests that findings write."""
    paths = {edit.path for finding in findings for edit in finding.edits}
    return sorted(path for path in paths if path.startswith("" if folder == "." else f"{folder}/") and is_test(path))


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")


def status_for(is_whole: bool, shown: Measured) -> str:
    """What a ticket is once something was written for it: resolved only if all of it was, and with a verdict."""
    if not is_whole:
        return PARTLY
    return RESOLVED if shown.verdicts else UNVERIFIED


def why_not_neutral(shown: Measured, is_all: bool, left: Sequence[str]) -> str:
    """Why a ticket cannot be closed as not reproduced although nothing got better, or nothing: then it can."""
    if shown.has_warned or shown.has_other_changes:
        return "what the ticket is about was seen to happen"
    if not is_all:
        return "not all of its findings were run"
    return left[0] if left else ""


def not_reproduced(shown: Measured) -> str:
    return f"closed (not reproduced on torch {shown.torch})" if shown.torch else "closed (not reproduced)"
