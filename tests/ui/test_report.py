"""What is reported: outcomes and reasons, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from fullgraph.codemods.ui.report.as_json import VERSION
from fullgraph.codemods.ui.report.as_text import closing, summary
from fullgraph.codemods.ui.report.model import Report
from tests.ui.running import run, texts


def test_json_holds_every_finding_with_place_edits_and_outcome(project: Path) -> None:
    held = json.loads(run(project, "check", "--format", "json").out)
    first = held["findings"][0]
    assert (held["version"], held["exit_code"], held["files"]) == (VERSION, 1, 3)
    assert (first["place"], first["codemod"], first["outcome"]) == ("pkg/a.py:2:5", "call_fast", "found")
    assert [one["badge"] for one in held["findings"]][:3] == ["safe", "unsafe", "left alone"]
    assert first["edits"] == [{"path": "pkg/a.py", "span": [15, 19], "new_text": "fast", "creates": False}]


def test_json_of_fix_holds_the_runs(project: Path) -> None:
    held = json.loads(run(project, "fix", "--yes", "--format", "json").out)
    assert held["runs"] == [{"root": str(project), "run": 1, "findings": 5, "files": 3, "created": []}]
    assert [finding["outcome"] for finding in held["findings"]].count("fixed") == 5


def test_json_of_a_dry_run_holds_the_patch(project: Path) -> None:
    held = json.loads(run(project, "fix", "--diff", "--format", "json").out)
    assert held["patch"] == run(project, "fix", "--diff").out
    assert held["runs"] == []


def test_findings_that_are_left_alone_for_one_reason_are_told_together(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("def one(items):\n    slow(*items)\n    slow(*items)\n    slow(1)\n")
    (project / "pkg" / "d.py").write_text("def two(items):\n    slow(*items)\n")
    result = run(project, "check", "--all", "--select", "call_fast", "pkg/a.py", "pkg/d.py")
    assert result.out.count("left alone: ") == 1
    assert "\n  = also at: pkg/a.py:3:5, pkg/d.py:2:5\n  = left alone: the arguments are not known\n" in result.out
    assert "4 findings in 2 files; 1 can be fixed" in result.err
    assert len(json.loads(run(project, "check", "--select", "call_fast", "--format", "json").out)["findings"]) > 4
    short = run(project, "check", "--all", "--format", "concise", "--select", "call_fast", "pkg/a.py")
    assert short.out.count("pkg/a.py") == 3


def test_tests_are_counted_and_looked_at_where_they_are_named(project: Path) -> None:
    (project / "tests").mkdir()
    (project / "tests" / "test_a.py").write_text("import torch\n\ntorch._dynamo.reset()\n")

    def look(*given: str) -> tuple[int, int]:
        held = json.loads(run(project, "ci", "--output", "json", *given).out)
        return len(held["findings"]), held["tests_left_out"]

    assert look() == (0, 1)
    assert look("tests") == look("tests/test_a.py") == look("--select", "use_public_compiler_api") == (1, 0)


def test_what_was_not_followed_is_said_with_the_next_step() -> None:
    [said] = [line for line in closing(Report(files=1, unfollowed=["a.py:3: `net` (...)"])) if "not followed" in line]
    assert "missing: a.py:3 (--all says why)" in said
    assert "`fullgraph observe -- COMMAND`" in said
    assert "`fullgraph audit`" in said


def test_tests_that_were_not_looked_at_are_said() -> None:
    assert summary(Report(files=3, tests=1)) == "No findings in 3 files; 1 test file not looked at."


def test_what_had_to_wait_for_a_rival_is_fixed_in_the_end(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(nest(nest(1)))\n")
    result = run(project, "fix", "--yes", "--select", "flatten_nest")
    assert result.code == 0
    assert "3 findings in 3 files; 3 fixed." in result.err
    assert result.out.count(": fixed: ") == 3
    assert texts(project)["pkg/a.py"] == "flat(flat(flat(1)))\n"


def test_each_round_is_a_run_that_can_be_taken_back(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(nest(1))\n")
    result = run(project, "fix", "--yes", "--select", "flatten_nest")
    assert "`fullgraph undo 1` takes it back" in result.err
    assert "`fullgraph undo 2` takes it back" in result.err
    run(project, "undo", "--all")
    assert texts(project)["pkg/a.py"] == "nest(nest(1))\n"


def test_a_suppressed_finding_is_counted_and_a_useless_suppression_is_a_warning(project: Path) -> None:
    (project / "pkg" / "a.py").write_text(
        "slow()  # fullgraph: ignore[call_fast]\nx = 1  # fullgraph: ignore[call_fast]\n"
    )
    result = run(project, "check", "pkg/a.py")
    assert (result.code, result.out) == (0, "")
    assert "pkg/a.py:2: warning: ignore[call_fast] silences nothing\n" in result.err
    assert "1 suppressed." in result.err
    assert run(project, "check", "-q", "pkg/a.py").err == ""


def test_a_codemod_that_fails_is_one_line_about_the_file(project: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        "from fullgraph import Codemod\n\n\nclass BreakDown(Codemod):\n"
        "    def find(self, module, project):\n        raise KeyError('x')\n"
    )
    result = run(project, "check", "--codemod", str(broken))
    assert result.code == 2
    assert "pkg/a.py: error: break_down failed: KeyError: 'x' (broken.py, line 6)\n" in result.err
    assert "7 findings in 3 files" in result.err


def test_notebooks_are_placed_by_cell_before_and_after_writing(project: Path) -> None:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "slow()\n"}
    ] * 2
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "book.ipynb").write_text(json.dumps(book, indent=1))
    expected = ["book.ipynb:cell 1:1", "book.ipynb:cell 2:1"]
    for command in (["check"], ["fix", "--yes", "--option", "call_fast.to=f"]):
        result = run(project, *command, "--format", "concise", "book.ipynb")
        assert [
            line.rpartition(": call_fast")[0].removesuffix(": fixed") for line in result.out.splitlines()
        ] == expected
