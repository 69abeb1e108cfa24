"""The regression tests that go to users: clean, green where the code is right, red for each thing that went wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph.codemods.model import Edit
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.regression_tests.file import Check, import_block, new_test, regression_test
from fullgraph.codemods.topics.regression_tests.graphs import compiles_in_one_graph
from fullgraph.codemods.topics.regression_tests.sources import no_direct_call, sources_of
from fullgraph.codemods.topics.regression_tests.steps import marks_each_step
from tests import written_tests

GOOD = """
import torch


def score(x):
    return x * 2


class Ranker:
    def __init__(self):
        self.scorer = torch.compile(score)

    def _run_scorer(self, x):
        torch.compiler.cudagraph_mark_step_begin()
        return self.scorer(x).clone()

    def rank(self, x):
        return self._run_scorer(x).argsort()
"""

BAD = (
    GOOD.replace("        torch.compiler.cudagraph_mark_step_begin()\n", "")
    .replace("self._run_scorer(x).argsort()", "self.scorer(x).argsort()")
    .replace("    return x * 2", "    print(x)\n    return x * 2")
)

CALL = "Ranker._run_scorer(owner, torch.ones(2, 3))"


def written(project: Project, tests: str = "tests") -> str:
    sources = sources_of(project, tests)
    imports = ["from ranking.ranker import Ranker"]
    setup = ["owner = SimpleNamespace(scorer=ReusesItsBuffer((2, 3)))"]
    checks = [
        no_direct_call("scorer", [".scorer"], ["Ranker._run_scorer"], sources, tests),
        marks_each_step("Ranker._run_scorer", setup, CALL, imports),
        compiles_in_one_graph("score", [], "score", "torch.ones(2, 3)", ["from ranking.ranker import score"]),
    ]
    return regression_test("The scorer runs through its boundary.", checks)


def project_with(root: Path, ranker: str) -> Project:
    files = {"src/ranking/__init__.py": "", "src/ranking/ranker.py": ranker, "train.py": "import ranking\n"}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Project(root, files)


def run_tests(root: Path, ranker: str) -> str:
    text = written(project_with(root, ranker))
    (root / "tests").mkdir()
    (root / "tests/test_scorer.py").write_text(text)
    done = written_tests.run_tests(root, "-rfs", "--rootdir", str(root), "tests", path=root / "src")
    return done.stdout + done.stderr


def test_all_are_green_where_the_code_is_right(tmp_path: Path) -> None:
    assert re.search(r"^4 passed", run_tests(tmp_path, GOOD), re.M)


def test_each_is_red_where_its_own_thing_went_wrong(tmp_path: Path) -> None:
    told = run_tests(tmp_path, BAD)
    failed = set(re.findall(r"^FAILED tests/test_scorer\.py::(\w+)", told, re.M))
    assert failed == {
        "test_scorer_is_called_through_its_boundary_only",
        "test_ranker_run_scorer_marks_every_step",
        "test_score_compiles_in_one_graph",
        "test_score_has_no_graph_break",
    }, told
    line = BAD[: BAD.index("self.scorer(x).argsort()")].count("\n") + 1
    assert f"ranker.py:{line}: self.scorer(...)" in told


@pytest.mark.parametrize("tests", ["tests", "checks/unit"])
def test_the_text_is_clean_and_readable_by_python_3_9(tmp_path: Path, tests: str) -> None:
    file = tmp_path / tests / "test_scorer.py"
    project = project_with(tmp_path, GOOD)
    file.parent.mkdir(parents=True)
    file.write_text(written(project, tests))
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    rules = ["--isolated", "--target-version", "py39", "--select", "E,F,I,UP,B,PT,ANN,C4,SIM,RUF,PTH,N,D3,D4"]
    width = ["--config", "line-length=88"]
    subprocess.run([*ruff, "check", *rules, *width, str(file)], cwd=tmp_path, check=True)
    formats = ["--isolated", "--target-version", "py39", "--line-length", "88", "--check"]
    subprocess.run([*ruff, "format", *formats, str(file)], cwd=tmp_path, check=True)


def test_what_checks_share_is_written_once_and_only_what_is_used() -> None:
    shared = "def helper() -> int:\n    return 1\n"
    checks = [Check(f"def test_{name}() -> None:\n    assert helper()\n", (), (shared,)) for name in "ab"]
    text = regression_test("Two.", checks)
    assert text.count("def helper") == 1
    assert "import torch" not in text


def test_imports_are_sorted_as_ruff_does() -> None:
    lines = ["import torch", "from pkg.b import y, X, MAX", "from pkg.b import z as w", "import ast", "import pkg.a"]
    assert import_block(lines).split("\n") == [
        "import ast",
        "",
        "import torch",
        "",
        "import pkg.a",
        "from pkg.b import MAX, X, y",
        "from pkg.b import z as w",
    ]


@pytest.mark.parametrize("length", [8, 20, 28])
def test_long_names_are_laid_out_as_ruff_does(tmp_path: Path, length: int) -> None:
    name = "n" * length
    setup = [f'monkeypatch.setattr({name}, "{name}", SimpleNamespace({name}=ReusesItsBuffer((2,))))']
    call = f"Ranker._run_{name}(owner, torch.ones(2, 3), {name}=torch.ones(2, 3))"
    checks = [
        no_direct_call(name, [f".{name}", name], [f"Ranker._run_{name}", name], [f"{name}/*.py", "*.py"] * 2, "tests"),
        marks_each_step(name, setup, call),
        compiles_in_one_graph(name, [], name, f"torch.ones(2, 3), {name}, {name}=3"),
    ]
    file = tmp_path / "test_long.py"
    file.write_text(regression_test(f"The {name} runs through a boundary that has a {name}.", checks))
    ruff = [str(Path(sys.executable).with_name("ruff")), "format", "--isolated", "--line-length", "88", "--check"]
    subprocess.run([*ruff, str(file)], cwd=tmp_path, check=True)
    assert max(map(len, file.read_text().splitlines())) <= 88


def test_files_that_are_no_utf_8_or_no_python_are_no_failure(tmp_path: Path) -> None:
    project_with(tmp_path, GOOD)
    (tmp_path / "src/ranking/marked.py").write_bytes(b"\xef\xbb\xbfname = 1\n")
    (tmp_path / "src/ranking/old.py").write_bytes(b"# coding: latin-1\nname = '\xe9'\n")
    (tmp_path / "src/ranking/template.py").write_text("class {{ name }}:\n")
    assert re.search(r"^4 passed", run_tests(tmp_path, GOOD), re.M)


# Names of files


def paths(edits: tuple[Edit, ...]) -> list[str]:
    return [edit.path for edit in edits]


def test_a_name_that_another_file_has_gets_a_number(tmp_path: Path) -> None:
    files = {"tests/test_run_scorer.py": b"mine\n", "pkg/tests/test_run_scorer_2.py": b"mine\n"}
    project = Project(tmp_path, files, files)
    assert paths(new_test(project, "tests", "_run_scorer", "x = 1\n")) == ["tests/test_run_scorer_3.py"]


def test_the_test_that_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    files = {"tests/test_run_scorer.py": b"mine\n", "tests/test_run_scorer_2.py": b"x = 1\r\n"}
    assert new_test(Project(tmp_path, files, files), "tests", "run_scorer", "x = 1\n") == ()


def test_a_file_that_is_no_part_of_the_project_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("ignored by git\n")
    assert paths(new_test(Project(tmp_path, []), "tests", "a", "x = 1\n")) == ["tests/test_a_2.py"]


def test_sources_are_all_folders_but_the_tests(tmp_path: Path) -> None:
    files = ["train.py", "src/pkg/a.py", "tools/b.py", "tests/test_a.py", "test/c.py", "checks/unit/test_b.py"]
    assert sources_of(Project(tmp_path, files), "checks/unit") == ("*.py", "src/**/*.py", "tools/**/*.py")
