"""A report made by hand: its exit code, what counts, and what each form makes of a finding and its outcome."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fullgraph.codemods.model import Edit, Finding, Safety, Span
from fullgraph.codemods.ui.ci.forms.as_github import place
from fullgraph.codemods.ui.ci.forms.as_markdown import outcome
from fullgraph.codemods.ui.ci.forms.wording import fingerprints
from fullgraph.codemods.ui.ci.model import CiReport, Policy
from fullgraph.codemods.ui.ci.outputs import rendered
from fullgraph.codemods.ui.report.model import FIXED, FOUND, LEFT, NOT_ASKED, STOPPED, Line, Report
from fullgraph.codemods.ui.report.spot import Region, Spot
from tests.ui.sample_verdicts import different, neutral, proven

CODE = "slow()\nslow()\n"
EDIT = Edit("a.py", Span(0, 4), "fast")
SAFE = Finding("call_fast", "a.py", Span(0, 6), "<module>", "slow() waits", (EDIT,), line=1, column=1, key="safe")
UNSAFE = replace(SAFE, safety=Safety.UNSAFE, caveat="it may raise", key="unsafe")
BARE = replace(SAFE, edits=(), left_alone="a star", key="bare")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path


def line_of(root: Path, finding: Finding, outcome: str = FOUND, reason: str = "") -> Line:
    return Line(root, f"{finding.path}:{finding.line}:{finding.column}", finding, outcome, reason)


def report_of(root: Path, *lines: Line, **given: Any) -> CiReport:
    return CiReport(lines=list(lines), roots=[root], **given)


def sarif(report: CiReport) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(rendered(report, "sarif"))["runs"][0]
    return made


# Exit codes


def test_a_job_that_was_stopped_is_130_whatever_else_is_wrong(root: Path) -> None:
    lines = [line_of(root, SAFE)]
    wrong: dict[str, Any] = {"errors": [("a.py", "bad")], "verdicts": [different()], "is_complete": False}
    assert report_of(root, *lines, undecided="no torch", **wrong).exit_code == STOPPED
    assert Report(lines=lines, **wrong).exit_code == STOPPED


def test_an_error_is_2_whatever_was_proven_or_found(root: Path) -> None:
    lines = [line_of(root, SAFE)]
    wrong: dict[str, Any] = {"errors": [("a.py", "bad")], "verdicts": [different()]}
    assert report_of(root, *lines, undecided="no torch", **wrong).exit_code == 2
    assert Report(lines=lines, **wrong).exit_code == 2


def test_what_is_undecided_is_4_even_where_nothing_fails_the_job(root: Path) -> None:
    said = report_of(root, line_of(root, SAFE), undecided="no torch", policy=Policy("none"))
    assert said.exit_code == 4
    assert outcome(said) == "not proven"


def test_a_verdict_comes_before_findings(root: Path) -> None:
    lines = [line_of(root, SAFE)]
    for made in (report_of(root, *lines, verdicts=[different()]), Report(lines=lines, verdicts=[different()])):
        assert made.exit_code == 3
    for made in (report_of(root, *lines, verdicts=[proven()]), Report(lines=lines, verdicts=[proven()])):
        assert made.exit_code == 1


def test_what_is_neutral_passes_only_where_it_is_kept(root: Path) -> None:
    fixed = [line_of(root, SAFE, FIXED)]
    assert Report(lines=fixed, verdicts=[neutral()]).exit_code == 3
    assert Report(lines=fixed, verdicts=[neutral()], keep_neutral=True).exit_code == 0


def test_a_dry_run_that_would_fix_everything_is_1_and_a_written_one_0(root: Path) -> None:
    fixed = [line_of(root, SAFE, FIXED)]
    sides: dict[str, Any] = {"before": {root / "a.py": b"slow()\n"}, "after": {root / "a.py": b"fast()\n"}}
    assert Report(is_dry=True, lines=fixed, **sides).exit_code == 1
    assert Report(is_dry=False, lines=fixed, **sides).exit_code == 0


def test_what_was_not_asked_about_is_still_there(root: Path) -> None:
    assert Report(lines=[line_of(root, SAFE, FIXED), line_of(root, UNSAFE, LEFT, NOT_ASKED)]).exit_code == 1


def test_with_fail_on_safe_only_what_can_be_fixed_safely_counts(root: Path) -> None:
    policy = Policy("safe")
    assert [policy.counts(finding) for finding in (SAFE, UNSAFE, BARE)] == [True, False, False]
    assert [Policy("none").counts(finding) for finding in (SAFE, UNSAFE, BARE)] == [False] * 3


def test_what_was_fixed_does_not_count_any_more(root: Path) -> None:
    made = report_of(root, line_of(root, SAFE, FIXED), line_of(root, UNSAFE))
    assert [line.finding for line in made.counting] == [UNSAFE]
    assert report_of(root, line_of(root, SAFE, FIXED)).exit_code == 0


# Fixes in SARIF


def fixes_of(root: Path, line: Line) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sarif(report_of(root, line))["results"][0].get("fixes", [])
    return found


def test_a_fix_that_a_proof_refused_is_not_offered(root: Path) -> None:
    assert fixes_of(root, line_of(root, SAFE))
    assert not fixes_of(root, line_of(root, SAFE, LEFT, "not written: different: y differs"))
    assert not fixes_of(root, line_of(root, UNSAFE, LEFT, "not written: worse: 2.0 times as slow"))


def test_a_fix_that_was_only_left_as_unsafe_is_still_offered(root: Path) -> None:
    fixes = fixes_of(root, line_of(root, UNSAFE, LEFT, "unsafe: it may raise; --unsafe includes it"))
    assert [fix["description"]["text"] for fix in fixes] == ["call_fast (unsafe: it may raise)"]


def test_a_refusal_outlives_the_end_of_a_dry_run(root: Path) -> None:
    refused = line_of(root, SAFE, LEFT, "not written: different: y differs")
    made = report_of(root, refused, line_of(root, UNSAFE, FIXED), line_of(root, BARE, LEFT, "a star"), is_dry=True)
    made.end_dry()
    assert [(line.outcome, line.reason) for line in made.lines] == [
        (LEFT, "not written: different: y differs"),
        (FOUND, ""),
        (FOUND, "a star"),
    ]
    assert ["fixes" in result for result in sarif(made)["results"]] == [False, True, False]


def test_only_the_project_that_is_being_fixed_is_settled(root: Path, tmp_path: Path) -> None:
    made = report_of(root, line_of(root, UNSAFE), line_of(tmp_path / "other", UNSAFE))
    made.begin_fixing(root, {"unsafe": "unsafe: it may raise"})
    assert [(line.outcome, line.reason) for line in made.lines] == [(LEFT, "unsafe: it may raise"), (FOUND, "")]


def test_fixes_count_in_the_file_that_was_looked_at_and_not_in_what_was_written_since(root: Path) -> None:
    (root / "a.py").write_text("# a line more\n" + CODE)
    second = replace(SAFE, edits=(Edit("a.py", Span(7, 11), "fast"),))
    made = report_of(root, line_of(root, second), before={root / "a.py": CODE.encode()})
    change = sarif(made)["results"][0]["fixes"][0]["artifactChanges"][0]
    region = change["replacements"][0]["deletedRegion"]
    assert region == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 5}


def test_a_run_with_errors_was_not_successful_and_one_with_findings_was(root: Path) -> None:
    def told(**given: Any) -> tuple[bool, int]:
        held = sarif(report_of(root, line_of(root, SAFE), **given))["invocations"][0]
        return held["executionSuccessful"], held["exitCode"]

    assert told() == (True, 1)
    assert told(errors=[("", "bad")]) == (False, 2)
    assert told(is_complete=False) == (False, STOPPED)
    assert told(undecided="no torch") == (True, 4)


# Fingerprints


def mark_of(root: Path, finding: Finding, content: str = "c", *others: Line) -> str:
    """The fingerprint of one finding, behind those of others."""
    made = report_of(root, *others, line_of(root, finding))
    made.spots = {(root, line.finding.key): Spot(Region(1, 1, 1, 1), "c") for line in others}
    made.spots[root, finding.key] = Spot(Region(1, 1, 1, 1), content)
    return fingerprints(made, made.lines)[-1]


@pytest.mark.parametrize(
    "other", [{"path": "b.py"}, {"codemod": "flatten_nest"}, {"symbol": "Net.forward"}], ids=lambda other: str(other)
)
def test_a_fingerprint_does_not_depend_on_findings_elsewhere(root: Path, other: dict[str, str]) -> None:
    """The same code in another file, in another function or of another codemod comes and goes without it."""
    elsewhere = line_of(root, replace(SAFE, **other, key="other"))  # type: ignore[arg-type]
    assert mark_of(root, SAFE, "c", elsewhere) == mark_of(root, SAFE)
    assert mark_of(root, replace(SAFE, **other)) != mark_of(root, SAFE)  # type: ignore[arg-type]


def test_a_fingerprint_is_of_the_code(root: Path) -> None:
    assert mark_of(root, SAFE, "c") != mark_of(root, SAFE, "d")


# GitHub, GitLab, JUnit


def test_columns_are_told_of_a_single_line_only() -> None:
    assert place(Region(2, 5, 2, 11)) == {"line": 2, "endLine": 2, "col": 5, "endColumn": 11}
    assert place(Region(2, 5, 4, 3)) == {"line": 2, "endLine": 4}


def test_gitlab_ranks_what_can_be_fixed_safely_above_what_needs_thought(root: Path) -> None:
    lines = [line_of(root, finding) for finding in (SAFE, UNSAFE, BARE)]
    issues = json.loads(rendered(report_of(root, *lines, errors=[("a.py", "bad")]), "gitlab"))
    assert [issue["severity"] for issue in issues] == ["major", "minor", "info", "critical"]


def test_gitlab_tells_a_useless_suppression_as_information(root: Path) -> None:
    issues = json.loads(rendered(report_of(root, warnings=[("a.py:3", "silences nothing")]), "gitlab"))
    assert [(issue["severity"], issue["location"]["lines"]["begin"]) for issue in issues] == [("info", 3)]


def test_junit_has_no_error_for_a_warning(root: Path) -> None:
    made = report_of(root, warnings=[("a.py:3", "silences nothing")])
    suites = ElementTree.fromstring(rendered(made, "junit"))
    assert (suites.get("tests"), suites.get("errors"), suites.get("failures")) == ("1", "0", "0")


def test_a_finding_that_does_not_count_is_skipped_and_what_was_fixed_passes(root: Path) -> None:
    lines = [line_of(root, SAFE), line_of(root, UNSAFE), line_of(root, replace(SAFE, key="x"), FIXED)]
    suites = ElementTree.fromstring(rendered(report_of(root, *lines, policy=Policy("safe")), "junit"))
    assert [[child.tag for child in case] for case in suites.iter("testcase")] == [["failure"], ["skipped"], []]


def test_what_is_fixed_is_neither_annotated_nor_an_issue(root: Path) -> None:
    made = report_of(root, line_of(root, SAFE, FIXED))
    assert rendered(made, "github") == b""
    assert json.loads(rendered(made, "gitlab")) == []
    assert sarif(made)["results"] == []
