"""Findings that create files, and `--write-tests`, as a user meets them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.tests_folder import folder_for_tests
from tests.ui.running import COMMAND as FULLGRAPH
from tests.ui.running import Result, Terminal, environment, write_project

CODEMOD = '''
import ast

from fullgraph import Codemod, Unsure


class UseHelper(Codemod):
    """Call `quick()` of a helper of its own where `slow()` is called.

    Left alone: nothing.
    """

    needles = (b"slow",)
    writes_tests = True

    def find(self, module, project):
        for call in module.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == "slow":
                yield self.judge(module, project, call)

    def judge(self, module, project, call):
        try:
            made = project.new_file("pkg/helping.py", "def quick(x):\\n    return x + 1\\n")
            if self.tests:
                made += project.new_file(f"{self.tests}/test_helping.py", "def test_helping():\\n    pass\\n")
        except Unsure as unsure:
            return module.finding(self.name, call, "slow is called", left_alone=str(unsure))
        name, edits = module.imports.require("pkg.helping", "quick")
        return module.finding(self.name, call, "slow is called", edits=(*made, *edits, module.replace(call.func, name)))
'''

FILES = {
    "pyproject.toml": "[project]\nname = 'sample'\n",
    "own.py": CODEMOD,
    "pkg/__init__.py": "",
    "pkg/a.py": "def f(x):\n    return slow(x)\n\n\ndef g(x):\n    return slow(x) * 2\n",
}
HELPER = "pkg/helping.py"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    return write_project(folder, FILES)


def run(root: Path, *arguments: str, own: bool = True) -> Result:
    named = ["--codemod", "own.py"] if own and arguments[0] in ("check", "fix", "explain") else []
    command = [str(FULLGRAPH), arguments[0], *named, *arguments[1:]]
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)


def files(root: Path) -> dict[str, str]:
    found = {file.relative_to(root).as_posix(): file for file in root.rglob("*") if file.is_file()}
    return {path: file.read_text() for path, file in found.items() if not path.startswith(".fullgraph")}


def test_check_names_the_new_file(root: Path) -> None:
    assert f"> {HELPER} (new, 2 lines)\n" in run(root, "check", "pkg").out


def test_the_patch_of_a_dry_run_is_one_that_git_applies(root: Path) -> None:
    shown = run(root, "fix", "pkg", "--diff")
    assert "--- /dev/null\n+++ b/pkg/helping.py\n@@ -0,0 +1,2 @@\n" in shown.out
    subprocess.run(["git", "apply", "-"], cwd=root, input=shown.out, text=True, check=True)
    assert (root / HELPER).is_file()
    assert run(root, "check", "pkg").code == 0


def test_what_was_created_is_told_logged_and_taken_back(root: Path) -> None:
    before = files(root)
    fixed = run(root, "fix", "pkg", "--yes")
    assert f"Run 1: 2 findings written in 2 files (new: {HELPER});" in fixed.err
    assert f"2 findings in 2 files, new: {HELPER}" in run(root, "log").out
    assert json.loads(run(root, "log", "--format", "json").out)[0]["created"] == [HELPER]
    undone = run(root, "undo")
    assert f"({HELPER} removed)" in undone.out
    assert files(root) == before
    assert f"({HELPER} made again)" in run(root, "undo", "2").out
    assert (root / HELPER).is_file()


def test_json_tells_what_was_created(root: Path) -> None:
    told = json.loads(run(root, "fix", "pkg", "--yes", "--format", "json").out)
    assert told["runs"][0]["created"] == [HELPER]
    assert [edit["path"] for edit in told["findings"][0]["edits"] if edit["creates"]] == [HELPER]
    assert "--- /dev/null" in told["patch"]


def test_markers_say_what_stays(root: Path) -> None:
    run(root, "fix", "pkg", "--yes")
    (root / HELPER).write_text("mine = 1\n")
    refused = run(root, "undo")
    assert refused.code == 2
    assert f"edited since at {HELPER}; nothing was changed" in refused.err
    kept = run(root, "undo", "--conflict", "markers")
    assert kept.code == 1
    assert f"{HELPER} stays as it is: edited since" in kept.out
    assert (root / HELPER).read_text() == "mine = 1\n"


def test_the_review_shows_the_new_file_as_part_of_the_finding(root: Path) -> None:
    terminal = Terminal(root, "fix", "--codemod", "own.py", "--select", "use_helper", "--write-tests", "pkg")
    terminal.answer("y", "n")
    assert terminal.end() == 1
    assert terminal.screen.count("\ntests/test_helping.py (new)\n") == 1
    assert terminal.screen.index("\npkg/a.py\n") < terminal.screen.index("\ntests/test_helping.py (new)\n")
    assert terminal.screen.count(f"new, as above: {HELPER}, tests/test_helping.py") == 1
    assert (root / "tests/test_helping.py").is_file()
    assert "return slow(x) * 2" in (root / "pkg/a.py").read_text()


def test_where_all_is_printed_the_change_stands_next_to_the_question(root: Path) -> None:
    options = ("--codemod", "own.py", "--select", "use_helper", "--write-tests", "pkg")
    terminal = Terminal(root, "fix", *options, TERM="dumb")
    terminal.answer("q")
    terminal.end()
    assert terminal.screen.index("\ntests/test_helping.py (new)\n") < terminal.screen.index("\npkg/a.py\n")


def test_a_new_file_that_was_declined_is_shown_again(root: Path) -> None:
    terminal = Terminal(root, "fix", "--codemod", "own.py", "--select", "use_helper", "pkg")
    terminal.answer("n", "n")
    terminal.end()
    assert terminal.screen.count(f"\n{HELPER} (new)\n") == 2


def test_the_new_file_can_be_edited_in_the_review(root: Path) -> None:
    editor = root.parent / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/^+    return x + 1/+    return x + 10/" "$1"\n')
    editor.chmod(0o755)
    terminal = Terminal(root, "fix", "--codemod", "own.py", "--select", "use_helper", "pkg/a.py", EDITOR=str(editor))
    terminal.answer("e", "q")
    terminal.end()
    assert (root / HELPER).read_text() == "def quick(x):\n    return x + 10\n"


# --write-tests


def test_a_test_is_written_with_the_finding_and_taken_back_with_it(root: Path) -> None:
    before = files(root)
    assert run(root, "fix", "pkg", "--yes", "--write-tests").code == 0
    assert (root / "tests/test_helping.py").is_file()
    run(root, "undo", "1.1")
    assert (root / "tests/test_helping.py").is_file()
    run(root, "undo", "1.2")
    assert files(root) == before
    assert not (root / "tests").exists()


def test_no_test_is_written_unless_asked_for(root: Path) -> None:
    run(root, "fix", "pkg", "--yes")
    assert not (root / "tests").exists()


def test_the_folder_stands_behind_an_equals_sign_and_a_path_after_it_is_a_path(root: Path) -> None:
    assert run(root, "fix", "--yes", "--write-tests=checks/unit", "pkg").code == 0
    assert (root / "checks/unit/test_helping.py").is_file()
    run(root, "undo")
    assert run(root, "fix", "--yes", "--write-tests", "pkg").code == 0
    assert (root / "tests/test_helping.py").is_file()


def test_a_folder_is_named_from_where_the_user_stands(root: Path) -> None:
    (root / "sub").mkdir()
    command = [str(FULLGRAPH), "fix", "--codemod", "../own.py", "../pkg", "--yes", "--write-tests=checks"]
    subprocess.run(command, cwd=root / "sub", env=environment(), capture_output=True, check=False)
    assert (root / "sub/checks/test_helping.py").is_file()


@pytest.mark.parametrize("folder", ["..", ".", "../elsewhere", "/", "pyproject.toml"])
def test_a_folder_that_cannot_hold_the_tests_is_refused(root: Path, folder: str) -> None:
    before = files(root)
    refused = run(root, "fix", "pkg", "--yes", f"--write-tests={folder}")
    assert refused.code == 2
    assert "--write-tests: " in refused.err
    assert files(root) == before


def test_codemods_that_write_no_tests_are_told_once(root: Path) -> None:
    told = run(root, "fix", "pkg", "--diff", "--write-tests", "--select", "hoist_autocast", own=False)
    assert told.err.count("--write-tests: no selected codemod writes tests") == 1
    assert "no selected codemod" not in run(root, "fix", "pkg", "--diff", "--write-tests").err


def test_what_was_fixed_without_tests_is_told(root: Path) -> None:
    run(root, "fix", "pkg", "--yes")
    told = run(root, "fix", "pkg", "--yes", "--write-tests")
    assert "run 1 has fixed without; `fullgraph undo 1` and fix again with --write-tests" in told.err
    assert "has fixed without" not in run(root, "fix", "pkg", "--yes").err
    run(root, "undo")
    assert "has fixed without" not in run(root, "fix", "pkg", "--yes", "--write-tests").err
    assert "has fixed without" not in run(root, "fix", "pkg", "--yes", "--write-tests").err


def test_an_excluded_tests_folder_still_gets_the_test(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.fullgraph]\nexclude = ['tests', 'own.py']\n")
    assert run(root, "fix", "--yes", "--write-tests").code == 0
    assert (root / "tests/test_helping.py").is_file()


def test_explain_says_that_a_codemod_writes_tests(root: Path) -> None:
    assert "Writes tests: " in run(root, "explain", "use_helper").out
    assert "Writes tests: " not in run(root, "explain", "hoist_autocast").out


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ({}, "tests"),
        ({"test/x.py": ""}, "test"),
        ({"test/x.py": "", "tests/x.py": ""}, "tests"),
        ({"checks/x.py": "", "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['checks']\n"}, "checks"),
        ({"checks/x.py": "", "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = 'none checks/'\n"}, "checks"),
        ({"checks/x.py": "", "pytest.ini": "[pytest]\ntestpaths =\n    nowhere\n    checks\n"}, "checks"),
        ({"checks/x.py": "", "setup.cfg": "[tool:pytest]\ntestpaths = checks\n"}, "checks"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['../out', '/', '.']\n"}, "tests"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = 3\n"}, "tests"),
        ({"pyproject.toml": "[tool]\npytest = 3\n"}, "tests"),
        ({"pyproject.toml": "not toml", "tox.ini": "not ini"}, "tests"),
        ({"tests": "a file", "test/x.py": ""}, "test"),
    ],
)
def test_the_default_folder_is_what_pytest_is_told_or_what_is_there(
    tmp_path: Path, tree: dict[str, str], expected: str
) -> None:
    write_project(tmp_path, tree)
    assert folder_for_tests(tmp_path, "") == expected


def test_a_link_that_leads_out_of_the_project_is_no_tests_folder(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "project/tests").symlink_to(tmp_path / "outside")
    with pytest.raises(FullgraphError, match="not a folder below"):
        folder_for_tests(tmp_path / "project", str(tmp_path / "project/tests"))
    with pytest.raises(FullgraphError, match="not a folder below"):
        folder_for_tests(tmp_path / "project", "")
