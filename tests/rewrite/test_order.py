"""Two codemods at one place: they end in the same text, or both are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from fullgraph import Codemod, Edit, Finding, Module, Project, Span
from fullgraph.codemods.model import Change
from fullgraph.codemods.rewrite.find import FileResult, find
from fullgraph.codemods.rewrite.order import disagreements, neighbours
from fullgraph.codemods.rewrite.plan import plan
from fullgraph.codemods.rewrite.walk import Tree, plant_trees
from fullgraph.codemods.run import Planner, fix, keep_all, writer_for
from tests.rewrite.running import look
from tests.rewrite.sample import ShareImport, SwapCall, UnwrapNest, calls_of
from tests.ui.running import run


class RenameOld(Codemod):
    """`old()` becomes `ancient()`: not what SwapCall makes of it."""

    needles: ClassVar[tuple[bytes, ...]] = (b"old",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "old"):
            yield module.finding(
                self.name, call, "old has a better name", edits=(module.replace(call.func, "ancient"),)
            )


class LineAbove(Codemod):
    """A line of its own above the first statement."""

    line: ClassVar[str] = "first = 1\n"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        if self.line not in module.text:
            place = module.tree.body[-1]
            edit = module.insert(module.line_start(module.span(place).start), self.line)
            yield module.finding(self.name, place, "a line is missing", edits=(edit,))


class OtherLineAbove(LineAbove):
    line: ClassVar[str] = "second = 2\n"


class TwoLines(LineAbove):
    """Two lines at one point, each a finding of its own."""

    lines: ClassVar[tuple[str, ...]] = ("first = 1\n", "second = 2\n")

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for line in self.lines:
            if line not in module.text:
                place = module.tree.body[-1]
                edit = module.insert(module.line_start(module.span(place).start), line)
                yield module.finding(self.name, place, f"{line} is missing", edits=(edit,))


class FlattenEmpty(Codemod):
    """Does what UnwrapNest does where nothing is given, and something else where there is."""

    needles: ClassVar[tuple[bytes, ...]] = (b"nest",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "nest"):
            edit = module.replace(call.func, "other" if call.args else "flat")
            yield module.finding(self.name, call, "is nested", edits=(edit,))


class BreakOld(Codemod):
    """Its result is no Python."""

    needles: ClassVar[tuple[bytes, ...]] = (b"old",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "old"):
            yield module.finding(self.name, call, "is fragile", edits=(module.replace(call.func, "((("),))


class TakeAll:
    """A reviewer without doubts."""

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return list(findings)


def named(text: str, *codemods: Codemod) -> list[tuple[str, str]]:
    files = {"a.py": text.encode()}
    project = Project(Path("/nowhere"), files, files)
    change = plan(find(project, "a.py", codemods).findings, project, codemods)
    return [(one.first.codemod, one.second.codemod) for one in disagreements(change, project, codemods)]


def test_two_that_rewrite_the_same_words_otherwise_are_named() -> None:
    assert named("x = old()\n", SwapCall(), RenameOld()) == [("rename_old", "swap_call")]


def test_two_that_add_different_lines_at_one_point_are_named() -> None:
    assert named("x = 1\n", LineAbove(), OtherLineAbove()) == [("line_above", "other_line_above")]


def test_two_that_disagree_in_many_places_are_named_once() -> None:
    assert named("x = old()\ny = old()\nz = old()\n", SwapCall(), RenameOld()) == [("rename_old", "swap_call")]


def test_two_that_agree_at_one_place_are_tried_at_the_next() -> None:
    assert named("x = nest(old())\ny = old()\n", SwapCall(), UnwrapNest(), RenameOld()) == [("rename_old", "swap_call")]


def test_two_that_agree_at_one_place_may_disagree_at_the_next() -> None:
    assert named("nest()\nnest(1)\n", UnwrapNest(), FlattenEmpty()) == [("flatten_empty", "unwrap_nest")]


def test_findings_of_one_codemod_never_disagree() -> None:
    assert named("x = 1\n", TwoLines()) == []


def test_what_was_refused_disagrees_with_nobody() -> None:
    assert named("x = old()\n", SwapCall(), BreakOld()) == []


def test_what_the_scenarios_refuse_disagrees_with_nobody(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    [tree], _ = plant_trees([tmp_path])
    codemods = [LineAbove(), OtherLineAbove()]

    def keep_first(change: Change, plan: Planner, project: Project) -> Change:
        return plan(change.applied[:1])

    def ask(tree: Tree) -> list[FileResult]:
        return look(tree.root, *codemods)

    for settle, expected in ((keep_all, 1), (keep_first, 0)):
        [done] = fix(tree, codemods, ask, TakeAll(), writer_for(None), settle)
        assert len(done.disagreements) == expected


def test_one_inside_the_other_ends_in_the_same_text() -> None:
    assert named("x = nest(old())\n", SwapCall(), UnwrapNest()) == []


def test_two_that_never_meet_are_not_tried() -> None:
    assert named("x = old()\ny = bare()\n", SwapCall(), ShareImport()) == []


BOTH = """
import ast
import fullgraph


class Renames(fullgraph.Codemod):
    needles = (b"old",)
    to = ""

    def find(self, module, project):
        for node in module.nodes(ast.Name):
            if node.id == "old" and self.to:
                yield module.finding(self.name, node, "old", edits=(module.replace(node, self.to),))


class RenameOne(Renames):
    to = "one"


class RenameTwo(Renames):
    to = "two"
"""


def test_the_command_says_which_two_disagree(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = old()\n")
    (tmp_path / "both.py").write_text(BOTH)
    done = run(tmp_path, "fix", "a.py", "--codemod", "both.py", "--diff")
    assert "rename_one (a.py:1) and rename_two (a.py:1) disagree" in done.out + done.err


def test_only_findings_that_share_a_file_can_meet() -> None:
    def finding(name: str, *paths: str) -> Finding:
        return Finding(name, paths[0], Span(0, 1), "", "", edits=tuple(Edit(path, Span(0, 1), "x") for path in paths))

    found = [finding("a", "1.py"), finding("b", "2.py", "3.py"), finding("c", "3.py", "1.py"), finding("d", "1.py")]
    assert ["".join(one.codemod for one in pair) for pair in neighbours(found)] == ["ac", "ad", "bc", "cd"]
