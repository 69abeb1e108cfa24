"""`fullgraph fix --codemod`: the same review, journal and undo as for codemods of ours. And notebooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph import Project
from fullgraph.codemods.rewrite.find import find
from tests.cases import apply
from tests.foreign.running import FOREIGN, named

BEFORE = b"import os\r\n\r\nx = sum([old()])\r\n"


def fullgraph(folder: Path, *words: str) -> tuple[int, str, str]:
    environment = {**os.environ, "FULLGRAPH_CACHE": str(folder.parent / "cache"), "PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-c", "from fullgraph.codemods.ui.cli import main; main()", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.fullgraph]\n")
    (folder / "a.py").write_bytes(BEFORE)
    (folder / "b.py").write_text("match x:\n    case 1: old()\n")
    return folder


@pytest.mark.parametrize(
    ("file", "name", "after"),
    [
        ("ours.py", "rename_old_to_new", BEFORE.replace(b"old", b"new")),
        ("libcst_rename.py", "use_fsum", b"import os\r\nfrom math import fsum\r\n\r\nx = fsum([old()])\r\n"),
        ("bowler_rename.py", "old_to_new", BEFORE.replace(b"old", b"new")),
    ],
)
def test_what_is_written_can_be_taken_back(project: Path, file: str, name: str, after: bytes) -> None:
    fix = ("fix", "--codemod", str(FOREIGN / file), "--select", name, "--unsafe", "a.py")
    code, patch, _ = fullgraph(project, *fix, "--diff")
    assert (code, "--- a/a.py" in patch) == (1, True)
    assert (project / "a.py").read_bytes() == BEFORE
    assert fullgraph(project, *fix, "--yes")[0] == 0
    assert (project / "a.py").read_bytes() == after
    assert fullgraph(project, *fix, "--yes")[0] == 0
    assert fullgraph(project, "undo")[0] == 0
    assert (project / "a.py").read_bytes() == BEFORE


def test_a_file_that_bowler_cannot_parse_does_not_stop_the_others(project: Path) -> None:
    fix = ("fix", "--codemod", str(FOREIGN / "bowler_rename.py"), "--select", "old_to_new", "--unsafe", "--yes")
    code, _, said = fullgraph(project, *fix, ".")
    assert code == 2
    assert "b.py: error: Bowler cannot parse line 1" in said
    assert b"new()" in (project / "a.py").read_bytes()


def test_a_codemod_that_cannot_be_loaded_is_one_line_and_exit_code_2(project: Path) -> None:
    code, out, said = fullgraph(project, "check", "--codemod", "gone.py", ".")
    assert (code, out) == (2, "")
    assert said.splitlines() == [f"fullgraph: {project / 'gone.py'}: no such file"]


@pytest.mark.parametrize("file", ["libcst_rename.py", "bowler_rename.py"])
def test_cells_of_a_notebook_are_rewritten_and_magics_stay(file: str) -> None:
    name = {"libcst_rename.py": "rename_name", "bowler_rename.py": "old_to_new"}[file]
    options = {"old": "old", "new": "new"} if name == "rename_name" else {}
    cell: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**cell, "source": ["%cd old\n", "x = old()\n"]}, {**cell, "source": ["old()"]}]
    raw = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()
    files = {"a.ipynb": raw}
    result = find(Project(Path("/nowhere"), files, files), "a.ipynb", [named(file, name)(options)])
    assert not result.error
    assert len(result.findings) == 1
    after = apply(files, list(result.findings))["a.ipynb"]
    assert after == raw.replace(b"x = old", b"x = new").replace(b'"old()"', b'"new()"')
