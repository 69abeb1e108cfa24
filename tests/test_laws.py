"""The laws that hold for every codemod, on all of its fixtures and in every layout."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from codemods import Finding
from codemods.rewrite.glance import BIG
from codemods.rewrite.journal import Journal
from codemods.rewrite.plan import plan
from codemods.rewrite.undo import undo
from codemods.source import decode
from tests.cases import Case, all_cases, apply
from tests.layouts import Files, Layout, imports_torch, is_plain, rename_torch
from tests.rewrite.running import read_files

ALL = all_cases()
CHANGING = [case for case in ALL if any(case.folder.glob("after*"))]
PLAIN = [case for case in ALL if is_plain(case.before) and is_plain(case.after)]

every_case = pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
changing_case = pytest.mark.parametrize("case", CHANGING, ids=lambda case: case.name)
plain_case = pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)

layouts = st.builds(
    Layout,
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.booleans(),
    final_newline=st.booleans(),
    form_feed=st.booleans(),
    latin_1=st.booleans(),
)


def fixable(case: Case, files: Files | None = None) -> list[Finding]:
    return [finding for finding in case.findings(files) if finding.is_fixable]


def rewritten(case: Case, files: Files) -> Files:
    return apply(files, fixable(case, files))


def after_in(case: Case, lay_out: Callable[[Files], Files], newline: str = "\n") -> Files:
    """The expected files in another layout; what is created takes over its line ending, if that is still in use."""
    ending = b"\r\n" if newline == "\r\n" else b"\n"
    created = {path: raw.replace(b"\n", ending) for path, raw in case.created.items()}
    return {**lay_out(case.after), **created}


def parses(files: Files) -> None:
    for path, raw in files.items():
        ast.parse(decode(path, raw).parsed)


@changing_case
def test_a_second_run_changes_nothing(case: Case) -> None:
    once = rewritten(case, case.before)
    assert fixable(case, once) == []


@plain_case
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_every_case_works_with_other_line_endings(case: Case, newline: str) -> None:
    layout = Layout(newline=newline, bom=newline == "\r")
    assert rewritten(case, layout.lay_out(case.before)) == after_in(case, layout.lay_out, layout.newline)


@given(case=st.sampled_from(PLAIN), layout=layouts)
@settings(max_examples=150, deadline=None)
def test_the_layout_stays_and_the_rest_of_the_text_with_it(case: Case, layout: Layout) -> None:
    moves_lines = layout.latin_1 or layout.form_feed
    assume(not (moves_lines and "lines" in case.config.get("options", {})))
    before, after = layout.lay_out(case.before), after_in(case, layout.lay_out, layout.newline)
    result = rewritten(case, before)
    if not layout.final_newline:
        result, after = without_final_newline(result), without_final_newline(after)
    assert result == after


def without_final_newline(files: Files) -> Files:
    return {path: raw.rstrip(b"\r\n") if path.endswith(".py") else raw for path, raw in files.items()}


@given(case=st.sampled_from(CHANGING), data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_subset_of_the_findings_can_be_applied(case: Case, data: st.DataObject) -> None:
    findings = fixable(case)
    subset = [finding for finding in findings if data.draw(st.booleans(), label=finding.message)]
    result = apply(case.before, subset)
    parses(result)
    untouched = set(result) - {edit.path for finding in subset for edit in finding.edits}
    assert all(result[path] == case.before[path] for path in untouched)


@changing_case
def test_the_plan_takes_every_finding(case: Case) -> None:
    change = plan(fixable(case), case.project(), [case.codemod()])
    assert change.left_out == ()
    assert {**case.before, **change.after} == case.after


@plain_case
def test_renaming_an_import_alias_changes_nothing_but_the_name(case: Case) -> None:
    renamed = {path: raw for path, raw in case.before.items() if path.endswith(".py") and imports_torch(raw)}
    before = {**case.before, **rename_torch(renamed, "pytorch_")}
    after = {**case.after, **rename_torch({path: case.after[path] for path in renamed}, "pytorch_")}
    assert rewritten(case, before) == after


@every_case
def test_code_that_never_names_torch_is_left_alone(case: Case) -> None:
    elsewhere = {path: raw.replace(b"torch", b"jaxon") for path, raw in case.before.items()}
    assert case.findings(elsewhere) == []


@changing_case
def test_undo_restores_the_bytes(case: Case, tmp_path: Path) -> None:
    for path, raw in case.before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    journal = Journal(tmp_path)
    run = journal.write(plan(fixable(case), case.project(), [case.codemod()]))
    assert read_files(tmp_path) == case.after
    undo(journal, [str(run.number)])
    assert read_files(tmp_path) == case.before


@changing_case
def test_each_finding_can_be_undone_alone(case: Case, tmp_path: Path) -> None:
    for path, raw in case.before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    findings = fixable(case)
    journal = Journal(tmp_path)
    journal.write(plan(findings, case.project(), [case.codemod()]))
    for index in range(len(findings)):
        undo(journal, [f"1.{index + 1}"])
        left = apply(case.before, findings[index + 1 :])
        assert read_files(tmp_path) == left


def padded(files: Files) -> Files:
    """The same program with so much else in each file that it is only glanced at first."""
    more = b"".join(b"\n\ndef padding_%d(x):\n    return x\n" % number for number in range(300))
    return {path: raw.rstrip(b"\n") + b"\n" + more if path.endswith(".py") else raw for path, raw in files.items()}


@plain_case
def test_a_big_file_is_read_like_a_small_one(case: Case) -> None:
    assert all(len(raw) > BIG for path, raw in padded(case.before).items() if path.endswith(".py"))
    assert len(case.findings(padded(case.before))) == len(case.findings())
    assert rewritten(case, padded(case.before)) == after_in(case, padded)


@every_case
def test_findings_are_the_same_twice(case: Case) -> None:
    assert case.findings() == case.findings()


def test_no_edit_overlaps_another_of_its_finding() -> None:
    for case in CHANGING:
        for finding in fixable(case):
            assert len(set(finding.edits)) == len(finding.edits), case.name
            for edit in finding.edits:
                assert not any(edit.clashes(other) for other in finding.edits), case.name
