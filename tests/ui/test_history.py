"""What `log` and `undo` say and do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fullgraph.codemods.rewrite.journal import Journal
from tests.rewrite.running import mark_interrupted
from tests.ui.running import FILES, run, texts, write_project

BEFORE = {path: text for path, text in FILES.items() if path.startswith("pkg/")}


@pytest.fixture
def fixed(project: Path) -> Path:
    run(project, "fix", "--yes")
    return project


def test_log_names_runs_and_findings(fixed: Path) -> None:
    lines = run(fixed, "log").out.splitlines()
    assert lines[0].startswith("run 1  ")
    assert lines[0].endswith("  5 findings in 3 files")
    assert lines[1] == "  1.1    pkg/a.py:2  call_fast  one"


def test_one_finding_in_one_file_is_said_so(project: Path) -> None:
    run(project, "fix", "--yes", "pkg/b.py", "--select", "call_fast")
    assert run(project, "log").out.splitlines()[0].endswith("  1 finding in 1 file")


def test_log_before_anything_was_written_says_so(project: Path) -> None:
    assert run(project, "log").out == f"Nothing has been written in {project} yet.\n"
    assert json.loads(run(project, "log", "--format", "json").out) == []
    assert not (project / ".fullgraph").exists()


def test_undo_takes_back_the_last_run_and_says_how_to_have_it_again(fixed: Path) -> None:
    after = texts(fixed)
    result = run(fixed, "undo")
    assert result.out == ("Took back run 1 in pkg/a.py, pkg/b.py, pkg/c.py. `fullgraph undo 2` brings it back.\n")
    assert texts(fixed) == BEFORE
    run(fixed, "undo", "2")
    assert texts(fixed) == after


def test_undo_takes_back_all_runs_of_the_last_command(project: Path) -> None:
    run(project, "fix", "--yes", "pkg/b.py")
    before = texts(project)
    (project / "pkg" / "nested.py").write_text("nest(nest(1))\n")
    result = run(project, "fix", "--yes", "pkg/nested.py")
    assert "Run 2: " in result.err
    assert "Run 3: " in result.err
    run(project, "undo")
    assert (project / "pkg" / "nested.py").read_text() == "nest(nest(1))\n"
    assert {path: text for path, text in texts(project).items() if path in before} == before


def test_undo_of_single_findings_leaves_the_others(fixed: Path) -> None:
    result = run(fixed, "undo", "1.1", "1.4")
    assert result.out.startswith("Took back finding 1.1, finding 1.4 in ")
    after = texts(fixed)
    assert after["pkg/a.py"].count("fast()") == 1
    assert after["pkg/c.py"] == "def shared():\n    return fast() or 1\n"
    log = run(fixed, "log").out
    assert log.count("(undone)") == 2
    assert "undo of 1.1, 1.4" in log


def test_undo_all_takes_back_every_run(project: Path) -> None:
    run(project, "fix", "--yes", "pkg/b.py")
    run(project, "fix", "--yes")
    assert run(project, "undo", "--all").code == 0
    assert texts(project) == BEFORE


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["7"], "there is no run 7; `fullgraph log` lists them"),
        (["1.9"], "run 1 has no finding 1.9; `fullgraph log` lists them"),
        (["1.0"], "run 1 has no finding 1.0"),
        (["x"], "'x' names no run (3) and no finding of a run (3.1)"),
        (["²"], "names no run"),
        (["--path", "nope"], "nope: no such file or folder"),
    ],
)
def test_wrong_names_are_one_line(fixed: Path, names: list[str], said: str) -> None:
    after = texts(fixed)
    result = run(fixed, "undo", *names)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert result.err.count("\n") == 1
    assert texts(fixed) == after


def test_nothing_to_take_back_is_said(fixed: Path) -> None:
    run(fixed, "undo")
    result = run(fixed, "undo")
    assert (result.code, result.err) == (2, "fullgraph: there is nothing to take back\n")
    assert "1 has been taken back already" in run(fixed, "undo", "1").err


def test_all_and_a_name_together_are_refused(fixed: Path) -> None:
    assert run(fixed, "undo", "--all", "1").code == 2


def test_edits_elsewhere_survive_an_undo(fixed: Path) -> None:
    file = fixed / "pkg" / "a.py"
    file.write_text("mine = 1\n\n\n" + file.read_text())
    assert run(fixed, "undo").code == 0
    assert texts(fixed)["pkg/a.py"] == "mine = 1\n\n\n" + BEFORE["pkg/a.py"]


def test_a_conflict_is_refused_with_its_lines(fixed: Path) -> None:
    file = fixed / "pkg" / "a.py"
    file.write_text(file.read_text().replace("    fast()\n", "    fast(mine)\n", 1))
    after = texts(fixed)
    result = run(fixed, "undo")
    assert result.code == 2
    assert "edited since at pkg/a.py:2; nothing was changed. `--conflict markers` writes both" in result.err
    assert texts(fixed) == after


def test_a_conflict_with_markers_names_the_files_to_look_at(fixed: Path) -> None:
    file = fixed / "pkg" / "a.py"
    file.write_text(file.read_text().replace("    fast()\n", "    fast(mine)\n", 1))
    result = run(fixed, "undo", "--conflict", "markers")
    assert result.code == 1
    assert "Both versions stand in pkg/a.py: look for <<<<<<<" in result.out
    assert "<<<<<<< now\n    fast(mine)\n=======\n    slow()\n>>>>>>> undone\n" in texts(fixed)["pkg/a.py"]
    assert texts(fixed)["pkg/b.py"] == BEFORE["pkg/b.py"]


def test_the_project_is_found_from_below_and_by_path(fixed: Path) -> None:
    assert run(fixed / "pkg", "log").out == run(fixed.parent, "log", "project/pkg/a.py").out
    assert run(fixed.parent, "undo", "--path", "project").code == 0
    assert texts(fixed) == BEFORE


def test_an_interrupted_run_is_told_by_readers_and_finished_by_recover(fixed: Path) -> None:
    mark_interrupted(fixed)
    said = "fullgraph: run 1 was interrupted; `fullgraph recover` finishes it\n"
    for command in (["log"], ["at", "pkg/a.py:2:5"]):
        assert said in run(fixed, *command).err
    for command in (["check"], ["fix"], ["ci"]):
        assert "run 1 was interrupted; `fullgraph recover` finishes it" in run(fixed, *command).err
    assert Journal(fixed).interrupted() == 1
    assert run(fixed, "recover").err == "fullgraph: run 1 had been interrupted: finished\n"
    assert run(fixed, "recover").out == f"No run in {fixed} is to be finished.\n"


def test_a_command_that_writes_finishes_an_interrupted_run_first(fixed: Path) -> None:
    mark_interrupted(fixed)
    assert "run 1 had been interrupted: finished" in run(fixed, "fix", "--yes").err
    mark_interrupted(fixed)
    assert "run 1 had been interrupted: finished" in run(fixed, "undo").err
    assert texts(fixed) == BEFORE


# Not written here


def test_a_copied_project_tells_its_runs_as_not_written_here(fixed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(fixed, copy)
    told = run(copy, "log")
    assert told.out == "run 1  not written here: pkg/a.py, pkg/b.py, pkg/c.py\n"
    assert "`fullgraph undo 1 --not-written-here FILE` takes it back in each FILE that you name" in told.err
    [held] = json.loads(run(copy, "log", "--format", "json").out)
    assert (held["run"], held["kind"]) == (1, "not written here")
    after = texts(copy)
    assert run(copy, "undo").err == "fullgraph: there is nothing to take back\n"
    assert "run 1 was not written here" in run(copy, "undo", "1").err
    assert texts(copy) == after


def test_a_run_that_was_not_written_here_is_taken_out_of_named_files_only(fixed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(fixed, copy)
    after = texts(copy)
    wrong = run(copy, "undo", "1", "--not-written-here", "pkg/a.py", "--not-written-here", "pkg/d.py")
    assert "run 1 has not written 'pkg/d.py'; nothing was changed" in wrong.err
    assert run(copy, "undo", "--not-written-here", "pkg/a.py").code == 2
    done = run(copy, "undo", "1", "--not-written-here", "pkg/a.py")
    assert done.out == "Took back run 1 in pkg/a.py. `fullgraph undo 2` brings it back.\n"
    assert texts(copy) == after | {"pkg/a.py": BEFORE["pkg/a.py"]}
    (copy / "pkg/a.py").write_text("mine = 1\n\n\n" + BEFORE["pkg/a.py"])
    assert run(copy, "undo", "2").code == 0
    assert texts(copy) == after | {"pkg/a.py": "mine = 1\n\n\n" + after["pkg/a.py"]}


def test_a_run_of_an_earlier_edition_is_told_in_one_line(project: Path) -> None:
    write_project(project, {".fullgraph/runs/1/entry.json": "{}"})
    assert run(project, "log").out == (
        "run 1  written by an earlier fullgraph, whose runs can no longer be taken back\n"
    )
    assert "written by an earlier fullgraph" in run(project, "undo", "1").err
