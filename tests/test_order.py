"""Applying all codemods, in any order, ends in the same text; or it is said which two disagree."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullgraph import Codemod, Finding, Project
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.order import disagreements
from fullgraph.codemods.rewrite.plan import plan
from tests.layouts import Files
from tests.smells import SMELLS, program

DEMO = Path(__file__).parent.parent / "fixtures" / "demo"
CODEMODS = {name: kind() for name, kind in sorted(bundled().items())}
PASSES = 6

Pair = frozenset[str]


def fixable(files: Files, codemods: Sequence[Codemod]) -> tuple[Project, list[Finding]]:
    project = Project(Path("/nowhere"), files, files)
    found = [finding for path in project.files for finding in find(project, path, codemods).findings]
    return project, [finding for finding in found if finding.is_fixable]


def one_by_one(files: Files, codemods: Iterable[Codemod]) -> Files:
    """Each codemod alone, one after the other, until none has anything left to do."""
    order = list(codemods)
    for _ in range(PASSES):
        before = dict(files)
        for codemod in order:
            project, findings = fixable(files, [codemod])
            files = {**files, **plan(findings, project, [codemod]).written}
        if files == before:
            return files
    raise AssertionError(f"{[codemod.name for codemod in order]} come to no end")


def together(files: Files, codemods: Sequence[Codemod]) -> tuple[Files, set[Pair]]:
    """All at once, as `fix` does it, until nothing is left; and the pairs that are said to disagree."""
    named: set[Pair] = set()
    for _ in range(PASSES):
        project, findings = fixable(files, codemods)
        change = plan(findings, project, codemods)
        named |= {
            frozenset((one.first.codemod, one.second.codemod)) for one in disagreements(change, project, codemods)
        }
        if not change.applied:
            return files, named
        files = {**files, **change.written}
    raise AssertionError("all together come to no end")


def check_pairs(files: Files, codemods: Sequence[Codemod]) -> set[Pair]:
    """The pairs that end in another text the other way round. Each of them must be named."""
    result, named = together(files, codemods)
    assert together(files, codemods[::-1]) == (result, named)
    touched = {codemod.name: paths_of(files, codemod) for codemod in codemods}
    differing: set[Pair] = set()
    for first, second in combinations(codemods, 2):
        if touched[first.name].isdisjoint(touched[second.name]):
            continue
        if one_by_one(files, [first, second]) != one_by_one(files, [second, first]):
            differing.add(frozenset((first.name, second.name)))
    assert differing <= named
    return differing


def paths_of(files: Files, codemod: Codemod) -> set[str]:
    return {edit.path for finding in fixable(files, [codemod])[1] for edit in finding.edits}


def demo() -> Files:
    return {file.relative_to(DEMO).as_posix(): file.read_bytes() for file in sorted(DEMO.rglob("*.py"))}


def test_the_demo_ends_in_one_text_whether_codemods_are_named_from_first_to_last_or_back() -> None:
    codemods = list(CODEMODS.values())
    assert together(demo(), codemods) == together(demo(), codemods[::-1])


@pytest.mark.everything
def test_the_demo_ends_in_one_text_in_whatever_order_or_the_pairs_are_named() -> None:
    files = demo()
    codemods = list(CODEMODS.values())
    differing = check_pairs(files, codemods)
    random.Random(0).shuffle(codemods)
    assert differing or one_by_one(files, codemods) == one_by_one(files, codemods[::-1])


@pytest.mark.parametrize("name", SMELLS)
def test_every_smell_is_found(name: str) -> None:
    assert fixable({"step.py": program([name])}, list(CODEMODS.values()))[1]


SOME = st.lists(st.sampled_from(sorted(SMELLS)), min_size=2, max_size=5, unique=True)


@given(SOME, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_smells_that_stand_together_are_taken_away_in_any_order(names: list[str], chance: random.Random) -> None:
    codemods = list(CODEMODS.values())
    chance.shuffle(codemods)
    check_pairs({"step.py": program(names)}, codemods)
