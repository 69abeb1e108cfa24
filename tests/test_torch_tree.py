"""The laws over the Python files of the installed torch package: a part of it, or all parts with `--everything`."""

from __future__ import annotations

import ast
import sysconfig
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fullgraph import Codemod, Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.rewrite.scan import scan
from fullgraph.codemods.rewrite.walk import Tree, plant_trees
from tests.chosen import PARTS, commit

TORCH = Path(sysconfig.get_path("purelib")) / "torch"


@pytest.fixture(scope="module")
def whole() -> Tree:
    trees, wrong = plant_trees([TORCH])
    assert not wrong
    assert len(trees[0].entries) > 1500
    return trees[0]


def part_of(path: str) -> str:
    """A folder of torch's is never torn: what its files say of each other is in one part."""
    return f"part {zlib.crc32(path.partition('/')[0].encode()) % PARTS}"


ALL = pytest.param("all", marks=pytest.mark.everything)


@pytest.fixture(scope="module", params=[*(f"part {number}" for number in range(PARTS)), ALL])
def tree(request: pytest.FixtureRequest, whole: Tree, everything: bool) -> Tree:
    """The files of a part, or all. Which part is looked at depends on the commit, unless everything is."""
    number = int(commit() or "0", 16) % PARTS
    if not everything and request.param != f"part {number}":
        pytest.skip("another commit's part; all of them with --everything")
    entries = {path: entry for path, entry in whole.entries.items() if request.param in ("all", part_of(path))}
    return Tree(whole.root, entries, set(entries))


UNASKED = [name for name, kind in bundled().items() if not kind.on_request]
REQUESTED = [name for name, kind in bundled().items() if kind.on_request]


@pytest.mark.parametrize("names", [UNASKED, *([name] for name in REQUESTED)], ids=["all", *REQUESTED])
def test_the_laws_hold_for_the_files_of_torch(
    tree: Tree, names: list[str], record_property: Callable[[str, object], None]
) -> None:
    """A codemod that only comes on request is alone: two of them may well want the same call."""
    codemods = [bundled()[name]() for name in names]
    started = time.perf_counter()
    results = scan(tree, codemods, use_cache=False)
    seconds = time.perf_counter() - started
    findings = [finding for result in results for finding in result.findings]
    fixable = [finding for finding in findings if finding.is_fixable]
    said = f"{len(results)} files, {len(findings)} findings, {len(fixable)} of them fixable, {seconds:.1f} s"
    record_property("torch", said)
    assert len(results) == len(tree.targets)
    assert [result.path for result in results if result.error] == []
    change = plan(fixable, Project(tree.root, tree.entries), codemods)
    refused = [(finding.path, finding.line, reason) for finding, reason in change.left_out]
    assert [one for one in refused if not one[-1].startswith("overlaps ")] == []
    again = scan_again(tree, codemods, change.written)
    assert {finding.path for finding in again} <= {path for path, *_ in refused}, "a second run would change something"
    rest = plan(again, Project(tree.root, tree.entries, change.written), codemods)
    assert scan_again(tree, codemods, {**change.written, **rest.written}) == [], "what overlapped is never done"


def scan_again(tree: Tree, codemods: list[Codemod], after: Mapping[str, bytes]) -> list[Finding]:
    project = Project(tree.root, tree.entries, after)
    found = [finding for path in sorted(after) for finding in find(project, path, codemods).findings]
    return [finding for finding in found if finding.is_fixable]


def test_the_laws_hold_where_a_codemod_is_told_to_fire(whole: Tree, everything: bool) -> None:
    """Torch's own code gives few findings, so every function of its modules is named to one codemod."""
    modules = [path for path in sorted(whole.entries) if path.startswith("nn/modules/")]
    paths = modules if everything else modules[::5]
    project = Project(whole.root, paths)
    names = tuple({function.name for path in paths for function in project.module(path).nodes(ast.FunctionDef)})
    codemod = bundled()["disable_compile"]({"torch": "2.8"}, names)
    results = [find(project, path, [codemod]) for path in paths]
    fixable = [finding for result in results for finding in result.findings if finding.is_fixable]
    assert len(fixable) > (300 if everything else 40)
    change = plan(fixable, project, [codemod])
    assert change.left_out == ()
    assert scan_again(Tree(whole.root, {path: whole.entries[path] for path in paths}), [codemod], change.written) == []
