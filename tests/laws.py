"""The laws that hold for every case of every codemod. Each takes a case, and fails by an assertion."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fullgraph import Edit, Finding
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.glance import BIG
from fullgraph.codemods.rewrite.plan import plan
from tests.cases import Case, apply, words
from tests.layouts import Files, imports_torch, is_plain, rename_torch

Law = Callable[[Case], None]
LAWS: list[Law] = []


def law(check: Law) -> Law:
    """What `tests/test_cases.py` asks of every case."""
    LAWS.append(check)
    return check


def fixable(case: Case, files: Files) -> list[Finding]:
    return [finding for finding in case.findings(files) if finding.is_fixable]


def rewritten(case: Case, files: Files) -> Files:
    return apply(files, fixable(case, files))


def after_in(case: Case, lay_out: Callable[[Files], Files], newline: str = "\n") -> Files:
    """The expected files in another layout; what is created takes over its line ending, if that is still in use."""
    ending = b"\r\n" if newline == "\r\n" else b"\n"
    created = {path: raw.replace(b"\n", ending) for path, raw in case.created.items()}
    return {**lay_out(case.after), **created}


@law
def the_result_is_the_fixture(case: Case) -> None:
    result = apply(case.before, case.fixable)
    assert sorted(result) == sorted(case.after)
    for path, expected in case.after.items():
        assert result[path].decode("utf-8", "replace") == expected.decode("utf-8", "replace"), path
        assert result[path] == expected


@law
def a_case_without_after_has_no_edits(case: Case) -> None:
    assert bool(case.fixable) == case.is_changing


@law
def the_findings_say_what_they_must(case: Case) -> None:
    said = words(case.found)
    for piece in case.config.get("says", []):
        assert piece in said
    if "findings" in case.config:
        assert len(case.found) == case.config["findings"]


@law
def an_unfixable_finding_says_why(case: Case) -> None:
    for finding in case.found:
        assert bool(finding.left_alone) != finding.is_fixable


@law
def no_edit_overlaps_another_of_its_finding(case: Case) -> None:
    for finding in case.fixable:
        assert len(set(finding.edits)) == len(finding.edits)
        for edit in finding.edits:
            assert not any(edit.clashes(other) for other in finding.edits)


@law
def findings_are_the_same_twice(case: Case) -> None:
    assert case.findings() == case.found


@law
def a_second_run_changes_nothing(case: Case) -> None:
    if case.is_changing:
        assert fixable(case, apply(case.before, case.fixable)) == []


@law
def the_plan_takes_every_finding(case: Case) -> None:
    if case.is_changing:
        change = plan(case.fixable, case.project(), [case.codemod()])
        assert change.left_out == ()
        assert {**case.before, **change.after} == case.after


@law
def renaming_an_import_alias_changes_nothing_but_the_name(case: Case) -> None:
    if not (is_plain(case.before) and is_plain(case.after)):
        return
    renamed = {path: raw for path, raw in case.before.items() if path.endswith(".py") and imports_torch(raw)}
    before = {**case.before, **rename_torch(renamed, "pytorch_")}
    after = {**case.after, **rename_torch({path: case.after[path] for path in renamed}, "pytorch_")}
    assert rewritten(case, before) == after


@law
def code_that_never_names_torch_is_left_alone(case: Case) -> None:
    elsewhere = {path: raw.replace(b"torch", b"jaxon") for path, raw in case.before.items()}
    assert case.findings(elsewhere) == []


@law
def near_a_finding_it_is_found_the_same(case: Case) -> None:
    project, codemods = case.project(), [case.codemod()]
    for finding in case.found:
        assert finding in find(project, finding.path, codemods, near=finding.span).findings


def padded(files: Files) -> Files:
    """The same program with so much else in each file that it is only glanced at first."""
    more = b"".join(b"\n\ndef padding_%d(x):\n    return x\n" % number for number in range(300))
    return {path: raw.rstrip(b"\n") + b"\n" + more if path.endswith(".py") else raw for path, raw in files.items()}


@law
def a_big_file_is_read_like_a_small_one(case: Case) -> None:
    if not (is_plain(case.before) and is_plain(case.after)):
        return
    files = padded(case.before)
    assert all(len(raw) > BIG for path, raw in files.items() if path.endswith(".py"))
    found = case.findings(files)
    assert len(found) == len(case.found)
    assert apply(files, [finding for finding in found if finding.is_fixable]) == after_in(case, padded)


def one_of_each_shape(cases: Iterable[Case]) -> list[Case]:
    """The first case of every kind of edits: others differ in what is found, not in how it is written."""
    found: dict[frozenset[tuple[str, ...]], Case] = {}
    for case in cases:
        found.setdefault(shape_of(case), case)
    return list(found.values())


def shape_of(case: Case) -> frozenset[tuple[str, ...]]:
    """The kinds of edits that findings are made of."""
    return frozenset(
        tuple(sorted({edit_shape(edit, case.before) for edit in finding.edits})) for finding in case.fixable
    )


def edit_shape(edit: Edit, before: Files) -> str:
    """In which kind of file, and how much becomes how much."""
    if edit.creates:
        return "a new file"
    old = "" if edit.span.start == edit.span.end else "\n" if b"\n" in taken(edit, before) else "words"
    return f"{edit.path[-3:]}: {size_of(old)} > {size_of(edit.new_text)}"


def taken(edit: Edit, before: Files) -> bytes:
    return before[edit.path][edit.span.start : edit.span.end]


def size_of(text: str) -> str:
    return "nothing" if not text else "lines" if "\n" in text else "words"
