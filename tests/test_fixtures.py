"""Every fixture of every codemod: what it writes, what it leaves alone, what it says."""

from __future__ import annotations

import pytest

from tests.cases import FIXTURES, Case, all_cases, apply, words

CASES = pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)


@CASES
def test_the_result_is_the_fixture(case: Case) -> None:
    findings = case.findings()
    result = apply(case.before, [finding for finding in findings if finding.is_fixable])
    assert sorted(result) == sorted(case.after)
    for path, expected in case.after.items():
        assert result[path].decode("utf-8", "replace") == expected.decode("utf-8", "replace"), path
        assert result[path] == expected


@CASES
def test_a_case_without_after_has_no_edits(case: Case) -> None:
    has_after = any(case.folder.glob("after*"))
    assert any(finding.is_fixable for finding in case.findings()) == has_after


@CASES
def test_the_findings_say_what_they_must(case: Case) -> None:
    findings = case.findings()
    said = words(findings)
    for piece in case.config.get("says", []):
        assert piece in said
    if "findings" in case.config:
        assert len(findings) == case.config["findings"]


@CASES
def test_an_unfixable_finding_says_why(case: Case) -> None:
    for finding in case.findings():
        assert bool(finding.left_alone) != finding.is_fixable


def test_every_codemod_has_fixtures_of_both_kinds() -> None:
    from codemods.registry import bundled

    for name in bundled():
        cases = all_cases(name)
        assert any((case.folder / "case.toml").exists() or any(case.folder.glob("after*")) for case in cases), name
        assert any(not any(case.folder.glob("after*")) for case in cases), f"{name} has no left-alone fixture"
    assert FIXTURES.is_dir()
