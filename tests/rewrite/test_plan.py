"""From findings to bytes, and round after round: nothing overlaps, everything parses, a second run is quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Change, Edit, Finding, Site, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import Asked, ask_in_turn
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.moved import moved
from fullgraph.codemods.rewrite.plan import moved_along, plan, splice_all
from fullgraph.codemods.rewrite.scan import AskHere, Stopped, Unseen
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.rewrite.walk import Entry, Tree, plant_trees
from fullgraph.codemods.run import Filter, Round, filtered, fix, look_at, scanner_for, writer_for
from tests.rewrite.running import findings_in, look, planned, project_of, read_files, write_files
from tests.rewrite.sample import (
    BreakSyntax,
    EditElsewhere,
    LeaveText,
    NeverRest,
    OverlapItself,
    RenameField,
    ShareImport,
    SwapCall,
    UnwrapNest,
    WrapFirst,
    WrapSecond,
    WriteSnowman,
    calls_of,
)


def reasons(change: Change) -> list[str]:
    return [reason for _, reason in change.left_out]


# One plan


def test_of_overlapping_findings_the_first_is_taken_and_the_others_named(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(nest(1)))\nnest(2)\n"})
    change = planned(root, UnwrapNest())
    assert change.after == {"a.py": b"flat(nest(nest(1)))\nflat(2)\n"}
    assert reasons(change) == ["overlaps unwrap_nest at a.py:1"] * 2


def test_overlapping_findings_of_two_codemods_are_not_mixed(root: Path) -> None:
    write_files(root, {"a.py": "nest(old())\nold()\n"})
    change = planned(root, UnwrapNest(), SwapCall())
    assert change.after == {"a.py": b"flat(old())\nnew()\n"}
    assert reasons(change) == ["overlaps unwrap_nest at a.py:1"]


def test_findings_that_share_an_edit_do_not_overlap(root: Path) -> None:
    write_files(root, {"a.py": "import os\n\nbare() + bare()\n"})
    change = planned(root, ShareImport())
    assert change.written["a.py"].count(b"import tools") == 1
    assert change.left_out == ()


def test_a_result_that_does_not_parse_is_refused_and_the_others_are_applied(root: Path) -> None:
    write_files(root, {"a.py": "old()\nfragile()\nold()\n", "b.py": "old()\n"})
    change = planned(root, SwapCall(), BreakSyntax())
    assert change.after == {"a.py": b"new()\nfragile()\nnew()\n", "b.py": b"new()\n"}
    assert [finding.codemod for finding, _ in change.left_out] == ["break_syntax"]
    assert reasons(change)[0].startswith("the result would not be valid: a.py: line 2: ")


def test_a_restless_codemod_is_refused_and_the_others_are_applied(root: Path) -> None:
    write_files(root, {"a.py": "old()\ngrow()\n"})
    change = planned(root, SwapCall(), NeverRest())
    assert change.after == {"a.py": b"new()\ngrow()\n"}
    assert reasons(change) == ["refused: a second run would change the result again"]


def test_a_codemod_that_is_restless_where_it_stands_and_edits_elsewhere_is_refused(root: Path) -> None:
    write_files(root, {"a.py": "remote()\n", "other.py": "x = 1\n"})
    change = planned(root, EditElsewhere())
    assert change.after == {}
    assert reasons(change) == ["refused: a second run would change the result again"]


def test_text_that_the_encoding_cannot_hold_is_refused_and_the_others_are_applied(root: Path) -> None:
    write_files(root, {"a.py": b"# coding: latin-1\nold('\xe9')\nsnow()\n", "b.py": b"snow()\n"})
    change = planned(root, SwapCall(), WriteSnowman())
    assert change.after == {
        "a.py": b"# coding: latin-1\nnew('\xe9')\nsnow()\n",
        "b.py": "'\N{SNOWMAN}'\n".encode(),
    }
    assert "cannot be written in iso8859-1" in reasons(change)[0]


@pytest.mark.parametrize(("kind", "text"), [(OverlapItself, "clumsy()"), (LeaveText, "beyond()")])
def test_edits_that_do_not_fit_together_are_refused(root: Path, kind: type[Codemod], text: str) -> None:
    write_files(root, {"a.py": f"old()\n{text}\n"})
    change = planned(root, SwapCall(), kind())
    assert change.after == {"a.py": f"new()\n{text}\n".encode()}
    assert reasons(change)[0].startswith("its own edits do not fit together")


def test_an_edit_of_a_file_that_is_not_there_is_refused(root: Path) -> None:
    write_files(root, {"a.py": "old()\n"})
    [finding] = findings_in(look(root, SwapCall()))
    edits = (Edit("gone.py", Span(0, 0), "x"),)
    stray = Finding("stray", "a.py", Span(0, 0), "<module>", "strays", edits)
    change = plan([stray, finding], project_of(root), [SwapCall()])
    assert change.after == {"a.py": b"new()\n"}
    assert "gone.py: not readable" in reasons(change)[0]


def test_a_cross_file_finding_is_planned_as_a_whole_or_not_at_all(root: Path) -> None:
    files = {"a.py": b"class C:\n    field: int\n", "b.py": b"c.field\n", "c.py": b"c.field.field\n"}
    write_files(root, files)
    change = planned(root, RenameField())
    assert change.before == files
    assert change.after == {path: raw.replace(b"field", b"renamed") for path, raw in files.items()}
    write_files(root, {"c.py": b"c.field(\n"})
    assert planned(root, RenameField()).after == {}


def test_many_findings_and_one_that_fails_take_no_time(root: Path) -> None:
    write_files(root, {f"m{number}.py": "old()\n" * 20 for number in range(40)} | {"z.py": "fragile()\n"})
    change = planned(root, SwapCall(), BreakSyntax())
    assert len(change.applied) == 800
    assert len(change.left_out) == 1


def test_a_plan_of_nothing_is_nothing(root: Path) -> None:
    assert plan([], project_of(root), []) == Change()


# Round after round


@dataclass
class Choose:
    """A reviewer that takes what a test says."""

    wanted: Callable[[Finding], bool] = lambda finding: True
    meanwhile: Callable[[], object] = lambda: None

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        self.meanwhile()
        return [finding for finding in findings if finding.is_fixable and self.wanted(finding)]


def run(
    root: Path, reviewer: Choose, *codemods: Codemod, journal: Journal | None = None, wanted: Filter | None = None
) -> list[Round]:
    [tree], _ = plant_trees([root])

    def scanner(tree: Tree) -> list[FileResult]:
        return filtered(look(tree.root, *codemods), wanted or Filter())

    return list(fix(tree, codemods, scanner, reviewer, writer_for(journal)))


def test_overlapping_findings_are_met_again_in_the_next_round(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(nest(1)))\n"})
    rounds = run(root, Choose(), UnwrapNest(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"flat(flat(flat(1)))\n"
    assert [done.run.number for done in rounds if done.run] == [1, 2, 3]
    undo(Journal(root), ["3", "2", "1"])
    assert (root / "a.py").read_bytes() == b"nest(nest(nest(1)))\n"


def test_findings_that_are_valid_only_one_after_the_other_are_met_again(root: Path) -> None:
    write_files(root, {"a.py": "wrapped()\n"})
    first, _ = run(root, Choose(), WrapFirst(), WrapSecond(), journal=Journal(root))
    assert reasons(first.change) == ["overlaps wrap_first at a.py:1"]
    assert (root / "a.py").read_bytes() == b"first(second(wrapped()))\n"


def test_a_finding_that_is_met_again_keeps_its_key(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\n"})
    first, second = run(root, Choose(), UnwrapNest(), journal=Journal(root))
    [(waiting, _)] = first.change.left_out
    assert [finding.key for finding in second.change.applied] == [waiting.key]


def test_a_dry_run_sees_the_same_and_writes_nothing(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\nold()\n"})
    files = read_files(root)
    rounds = run(root, Choose(), UnwrapNest(), SwapCall())
    assert rounds[-1].change.after == {"a.py": b"flat(flat(1))\nnew()\n"}
    assert read_files(root) == files
    assert not (root / ".fullgraph").exists()


def test_what_is_left_after_all_rounds_is_named(root: Path) -> None:
    write_files(root, {"a.py": "nest(" * 8 + ")" * 8 + "\n"})
    rounds = run(root, Choose(), UnwrapNest(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"flat(" * 5 + b"nest(" * 3 + b")" * 8 + b"\n"
    assert [done.run.command for done in rounds if done.run] == [1] * 5, "they are one command"
    assert len(rounds[-1].change.left_out) == 3
    assert all(reason.startswith("overlaps") for reason in reasons(rounds[-1].change))


def test_a_declined_finding_that_looks_the_same_is_not_written_in_the_next_round(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\nnest(2)\n"})
    run(root, Choose(lambda finding: finding.line == 1), UnwrapNest(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"flat(flat(1))\nnest(2)\n"


def test_a_declined_finding_beside_the_one_met_again_is_not_written(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1), nest(2))\n"})
    run(root, Choose(lambda finding: finding.column < 15), UnwrapNest(), journal=Journal(root))
    assert b"nest(2)" in (root / "a.py").read_bytes()


def test_what_the_user_filtered_out_stays_out_in_the_next_round(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\nnest(2)\n"})
    rounds = run(root, Choose(), UnwrapNest(), journal=Journal(root), wanted=Filter(lines=((1, 1),)))
    assert (root / "a.py").read_bytes() == b"flat(flat(1))\nnest(2)\n"
    assert [len(findings_in(done.results)) for done in rounds] == [2, 1]


def test_a_file_edited_during_the_review_is_left_alone_and_named(root: Path) -> None:
    """The spans of a finding count in the text that was looked at."""
    write_files(root, {"a.py": "old()\n", "b.py": "x = 1\nold()\n"})
    mine = "y = '1234567890'\nold()\n"
    [done] = run(root, Choose(meanwhile=lambda: write_files(root, {"b.py": mine})), SwapCall(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"new()\n"
    assert (root / "b.py").read_bytes() == mine.encode()
    assert reasons(done.change) == ["b.py has changed since it was looked at"]


def test_a_file_deleted_during_the_review_is_left_alone_and_named(root: Path) -> None:
    write_files(root, {"a.py": "old()\n", "b.py": "old()\n"})
    [done] = run(root, Choose(meanwhile=(root / "b.py").unlink), SwapCall(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"new()\n"
    assert "b.py" in reasons(done.change)[0]


def test_a_cross_file_finding_is_left_if_any_of_its_files_was_edited(root: Path) -> None:
    files = {"a.py": b"class C:\n    field: int\n", "b.py": b"c.field\n"}
    write_files(root, files)
    edited = {"b.py": b"# mine\nc.field\n"}
    run(root, Choose(meanwhile=lambda: write_files(root, edited)), RenameField(), journal=Journal(root))
    assert read_files(root) == files | edited | {"pyproject.toml": b""}


def test_an_edit_that_keeps_size_and_time_is_noticed_too(root: Path) -> None:
    write_files(root, {"a.py": "old()\n"})
    status = (root / "a.py").stat()

    def edit() -> None:
        write_files(root, {"a.py": "ol_()\n"})
        os.utime(root / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))

    run(root, Choose(meanwhile=edit), SwapCall(), journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"ol_()\n"


def test_a_finding_that_would_change_an_excluded_file_is_left_alone(root: Path) -> None:
    write_files(root, {"a.py": "class C:\n    field: int\n", "b.py": "c.field\n"})
    [tree], _ = plant_trees([root])
    [result, _] = scanner_for([RenameField()], Filter(), ["b.py"], AskHere(1), False, Unseen())(tree)
    [finding] = result.findings
    assert not finding.is_fixable
    assert finding.left_alone == "would have to change b.py, which is excluded"


def test_a_span_moves_with_the_edits_before_it_and_grows_with_those_inside() -> None:
    edits = [Edit("a.py", Span(0, 0), "xx"), Edit("a.py", Span(4, 6), ""), Edit("a.py", Span(12, 20), "y" * 10)]
    assert moved(Span(1, 3), edits) == Span(3, 5)
    assert moved(Span(8, 10), edits) == Span(8, 10)
    assert moved(Span(3, 8), edits) == Span(5, 8)
    assert moved(Span(14, 15), edits) == Span(12, 22)


def test_a_filter_admits_by_symbol_and_by_lines(root: Path) -> None:
    write_files(root, {"a.py": "class C:\n    def f(self):\n        old(\n        )\n\ndef fg():\n    old()\n"})
    results = look(root, SwapCall())
    assert [f.line for f in findings_in(filtered(results, Filter(symbols=("C.f",))))] == [3]
    assert [f.line for f in findings_in(filtered(results, Filter(symbols=("f",))))] == [3]
    assert [f.line for f in findings_in(filtered(results, Filter(lines=((4, 4),))))] == [3]
    assert [f.line for f in findings_in(filtered(results, Filter(symbols=("fg",), lines=((1, 3),))))] == []
    assert [f.line for f in findings_in(filtered(results, Filter(lines=((4, 4), (7, 7)))))] == [3, 7]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads the newer syntax itself")
def test_an_edit_in_syntax_that_was_not_read_is_refused_and_one_beside_it_is_not(root: Path) -> None:
    write_files(root, {"a.py": "type Pair = tuple[int, int]\nold()\n"})
    edits = (Edit("a.py", Span(0, 4), "kind"),)
    blind = Finding("blind", "a.py", Span(0, 4), "<module>", "cannot see", edits)
    change = plan([blind, *findings_in(look(root, SwapCall()))], project_of(root), [SwapCall()])
    assert change.after == {"a.py": b"type Pair = tuple[int, int]\nnew()\n"}
    assert reasons(change) == ["a.py: the edit touches syntax that this Python cannot read"]


def test_findings_in_different_files_are_never_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[set[str]] = []
    clashes = Finding.clashes

    def noted(mine: Finding, other: Finding) -> bool:
        compared.append({mine.path, other.path})
        return clashes(mine, other)

    monkeypatch.setattr(Finding, "clashes", noted)
    write_files(tmp_path, {f"m{number}.py": "nest(nest(1))\n" for number in range(5)})
    change = planned(tmp_path, UnwrapNest())
    assert len(change.applied) == len(change.left_out) == 5
    assert len(compared) == 5
    assert all(len(paths) == 1 for paths in compared)


# Findings that depend on each other


class NameTheLine(SwapCall):
    """Says in its message on which line the call stands; its result is a line longer."""

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "old"):
            edit = module.replace(call, "new(\n)")
            yield module.finding(self.name, call, f"old is called on line {call.lineno}", edits=(edit,))


def test_what_is_left_after_a_refusal_is_checked_again(root: Path) -> None:
    """Two halves of a bracket: once the restless one is refused, the other would not parse."""
    write_files(root, {"a.py": "grow()\n"})
    opening = Finding("never_rest", "a.py", Span(0, 6), "<module>", "could grow", (Edit("a.py", Span(0, 0), "("),))
    closing = Finding("closing", "a.py", Span(0, 6), "<module>", "is open", (Edit("a.py", Span(6, 6), ")"),))
    change = plan([opening, closing], project_of(root), [NeverRest()])
    assert change.after == {}
    assert [finding.codemod for finding, _ in change.left_out] == ["never_rest", "closing"]
    assert reasons(change)[1].startswith("the result would not be valid")


def test_a_finding_that_was_declined_may_move_to_another_line(root: Path) -> None:
    """It is the same one, although its message counts lines: nothing new was met."""
    write_files(root, {"a.py": "old()\nold()\n"})
    first, _ = findings_in(look(root, NameTheLine()))
    change = plan([first], project_of(root), [NameTheLine()])
    assert (change.written, change.left_out) == ({"a.py": b"new(\n)\nold()\n"}, ())


def test_of_two_findings_that_create_the_same_file_the_first_is_taken(root: Path) -> None:
    write_files(root, {"a.py": "x = 1\n", "b.py": "x = 1\n"})
    found = [
        Finding("maker", path, Span(0, 1), "<module>", "makes", (Edit("c.py", Span(0, 0), text, creates=True),))
        for path, text in (("a.py", "one = 1\n"), ("b.py", "two = 2\n"))
    ]
    change = plan(found, project_of(root), [])
    assert change.after == {"c.py": b"one = 1\n"}
    assert reasons(change) == ["overlaps maker at a.py:0"]


def test_lines_that_broke_move_along_also_where_a_file_is_created(root: Path) -> None:
    write_files(root, {"a.py": "old()\nold()\n"})
    told = SwapCall()
    told.sites = (Site("a.py", 2, "GB0170"),)
    edits = (Edit("a.py", Span(0, 0), "import new\n"), Edit("new.py", Span(0, 0), "x = 1\n", creates=True))
    finding = Finding("swap_call", "a.py", Span(0, 3), "<module>", "old is called", edits)
    project = project_of(root)
    plain, moved_one = moved_along([UnwrapNest(), told], [finding], project, splice_all([finding], project))
    assert plain.sites is None
    assert moved_one.sites == (Site("a.py", 3, "GB0170"),)


class BreakOld(Codemod):
    """Its result is no Python, and stands where SwapCall has something better."""

    needles: ClassVar[tuple[bytes, ...]] = (b"old",)

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for call in calls_of(module, "old"):
            yield module.finding(self.name, call, "is fragile", edits=(module.replace(call.func, "((("),))


class UnwrapAtSites(UnwrapNest):
    """Only where something was seen; each time it leaves a comment at the top."""

    name = "unwrap_at_sites"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        lines = {site.line for site in self.sites or ()}
        for finding in super().find(module, project):
            if finding.line in lines:
                yield replace(finding, edits=(module.insert(0, "# flat\n"), *finding.edits))


def test_there_is_no_second_round_where_nothing_was_written(root: Path) -> None:
    write_files(root, {"a.py": "old()\n"})
    [done] = run(root, Choose(), SwapCall(), BreakOld())
    assert not done.change.applied


def test_lines_that_broke_are_followed_from_round_to_round(root: Path) -> None:
    write_files(root, {"a.py": "x = 1\nnest(nest(1))\nnest(2)\n"})
    codemod = UnwrapAtSites()
    codemod.sites = (Site("a.py", 2),)
    run(root, Choose(), codemod, journal=Journal(root))
    assert (root / "a.py").read_bytes() == b"# flat\n# flat\nx = 1\nflat(flat(1))\nnest(2)\n"


def test_every_reason_is_told_where_a_file_was_edited_during_the_review(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\n", "b.py": "nest(1)\n"})
    first, *_ = run(root, Choose(meanwhile=lambda: write_files(root, {"b.py": "nest(2)  # mine\n"})), UnwrapNest())
    assert reasons(first.change) == ["overlaps unwrap_nest at a.py:1", "b.py has changed since it was looked at"]


def test_a_scan_that_is_stopped_shows_what_was_asked_for_and_no_more(root: Path) -> None:
    write_files(root, {"a.py": "old()\n\nold()\n", "b.py": "class C:\n    field: int\n", "c.py": "c.field\n"})
    codemods = [SwapCall(), RenameField()]

    def stop_at_last(entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterator[Asked]:
        yield from ask_in_turn([entry.path for entry in entries[:-1]], project, codemods, 60)
        raise KeyboardInterrupt

    [tree], _ = plant_trees([root])
    with pytest.raises(Stopped) as stopped:
        scanner_for(codemods, Filter(lines=((1, 2),)), ["c.py"], stop_at_last, False, Unseen())(tree)
    found = findings_in(stopped.value.results)
    assert [(finding.path, finding.line, finding.is_fixable) for finding in found] == [
        ("a.py", 1, True),
        ("b.py", 2, False),
    ]
    assert stopped.value.unseen == 1


def test_a_codemod_that_fails_in_an_editor_is_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **named: object) -> FileResult:
        raise RuntimeError("out of\norder")

    monkeypatch.setattr("fullgraph.codemods.run.find", fail)
    write_files(root, {"a.py": "old()\n"})
    result = look_at(project_of(root), "a.py", [SwapCall()])
    assert (result.findings, result.error.count("\n")) == ((), 0)
    assert "out of" in result.error
