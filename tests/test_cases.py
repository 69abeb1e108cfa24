"""Every fixture of every codemod: what it writes, what it leaves alone, what it says; and the laws, in every layout."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.source import decode
from tests.cases import Case, all_cases, apply
from tests.laws import LAWS, after_in, one_of_each_shape, rewritten
from tests.layouts import Files, Layout, is_plain
from tests.rewrite.running import read_files, write_files

ALL = all_cases()
CHANGING = [case for case in ALL if case.is_changing]
PLAIN = [case for case in ALL if is_plain(case.before) and is_plain(case.after)]

each_codemod = pytest.mark.parametrize("name", sorted(bundled()))
layouts = st.builds(
    Layout,
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.booleans(),
    final_newline=st.booleans(),
    form_feed=st.booleans(),
    latin_1=st.booleans(),
)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    for law in LAWS:
        try:
            law(case)
        except Exception as error:
            error.add_note(f"{case.name}: the law that failed: {law.__name__.replace('_', ' ')}")
            raise


@each_codemod
def test_a_codemod_has_fixtures_of_both_kinds(name: str) -> None:
    cases = all_cases(name)
    assert any(case.is_changing or case.config for case in cases)
    assert any(not case.is_changing for case in cases), "no fixture is left alone"


@each_codemod
def test_every_shape_of_edit_works_with_other_line_endings(name: str) -> None:
    for case in one_of_each_shape(case for case in PLAIN if case.codemod_name == name):
        for layout in (Layout("\r\n"), Layout("\r", bom=True)):
            expected = after_in(case, layout.lay_out, layout.newline)
            assert rewritten(case, layout.lay_out(case.before)) == expected, case.name


@each_codemod
def test_every_shape_of_edit_is_undone_as_a_whole_and_finding_by_finding(name: str, tmp_path: Path) -> None:
    for case in one_of_each_shape(case for case in CHANGING if case.codemod_name == name):
        root = tmp_path / case.folder.name
        write_files(root, case.before)
        journal = Journal(root)
        run = journal.write(plan(case.fixable, case.project(), [case.codemod()]))
        assert read_files(root) == case.after, case.name
        undo(journal, [str(run.number)])
        assert read_files(root) == case.before, case.name
        undo_one_by_one(case, root)


def undo_one_by_one(case: Case, root: Path) -> None:
    """Each finding of a run, the first one first; what is left is what the others have written."""
    journal = Journal(root)
    run = journal.write(plan(case.fixable, case.project(), [case.codemod()]))
    for index in range(len(case.fixable)):
        undo(journal, [f"{run.number}.{index + 1}"])
        assert read_files(root) == apply(case.before, case.fixable[index + 1 :]), case.name


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
    subset = [finding for finding in case.fixable if data.draw(st.booleans(), label=finding.message)]
    result = apply(case.before, subset)
    for path, raw in result.items():
        ast.parse(decode(path, raw).parsed)
    untouched = set(result) - {edit.path for finding in subset for edit in finding.edits}
    assert all(result[path] == case.before[path] for path in untouched)
