"""`prove` and `fix --prove` as a user runs them: nothing is written that was not proven, and exit codes say what is."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from fullgraph.codemods.ui.cli import main

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
QUICK = ("--backend", "eager", "--untimed", "--python", sys.executable)
WRONG = '''
import ast

from fullgraph import Codemod


class ForgetTheSum(Codemod):
    """Write nothing in place of `.sum()`.

    Left alone: nothing.
    """

    needles = (b".sum()",)

    def find(self, module, project):
        for node in module.nodes(ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "sum":
                edit = module.replace(node, module.code(node.func.value) + ".amax()")
                yield module.finding(self.name, node, "a sum", edits=(edit,))
'''

MAKES_A_MODULE = '''
import ast

from fullgraph import Codemod


class MoveToModule(Codemod):
    """Call the function of a module that is not there yet.

    Left alone: nothing.
    """

    needles = (b"shifted(",)

    def find(self, module, project):
        for call in module.nodes(ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id == "shifted":
                made = project.new_file("fresh/shifting.py", "def shift(x):\\n    return x + 1\\n")
                name, edits = module.imports.require("fresh.shifting", "shift")
                edits = (*made, *edits, module.replace(call.func, name))
                yield module.finding(self.name, call, "is not in a module of its own", edits=edits)
'''

SHIFTS = "def shifted(x):\n    return x + 1\n\n\ndef model(x):\n    return shifted(x) * 2\n"
SHIFT_SCENARIO = """
import torch

from module import model


def build(device):
    return model


def cases(device, seed):
    return [(torch.ones(3),)]
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in this process, so that its workers are forked."""
    with chdir(folder):
        done = CliRunner().invoke(main, list(arguments))
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def project(folder: Path, codemod: str, case: str) -> Path:
    """A fixture with a scenario, as a project of one module."""
    fixture = FIXTURES / codemod / case
    (folder / "pyproject.toml").write_text("[project]\nname = 'sample'\n")
    (folder / "module.py").write_bytes((fixture / "before.py").read_bytes())
    (folder / "scenario.py").write_bytes((fixture / "scenario.py").read_bytes())
    return folder


def test_what_is_proven_is_written_and_can_be_proven_again_and_taken_back(tmp_path: Path) -> None:
    folder = project(tmp_path, "disable_compile", "basic")
    before = (folder / "module.py").read_bytes()
    wanted = ["module.py", "--select", "disable_compile", "--yes", "--prove", "scenario.py", "--report", "out.html"]
    fixed = run(folder, "fix", *wanted, *QUICK)
    assert fixed.returncode == 0, fixed.stderr
    assert "PROVEN: scenario.py" in fixed.stdout
    assert "graph breaks 2 > 1" in fixed.stdout
    assert "@torch.compiler.disable" in (folder / "module.py").read_text()
    assert "graph breaks 2 &gt; 1" in (folder / "out.html").read_text()

    again = run(folder, "prove", "scenario.py", "--format", "json", *QUICK)
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert told["ruling"] == "proven"
    assert told["verdicts"][0]["before"]["counts"]["breaks"] == 2
    assert any("before run 1" in notice for notice in told["verdicts"][0]["notices"])

    assert run(folder, "undo").returncode == 0
    assert (folder / "module.py").read_bytes() == before
    nothing = run(folder, "prove", "scenario.py", "--run", "1", *QUICK)
    assert nothing.returncode == 4
    assert "nothing to prove" in nothing.stderr


def test_what_is_neutral_is_written_on_request_only(tmp_path: Path) -> None:
    folder = project(tmp_path, "iterate_constant_keys", "basic")
    before = (folder / "module.py").read_bytes()
    left = run(folder, "fix", "module.py", "--yes", "--prove", "scenario.py", "--format", "json", *QUICK)
    assert left.returncode == 3, left.stderr
    assert (folder / "module.py").read_bytes() == before
    (finding,) = json.loads(left.stdout)["findings"]
    assert finding["reason"].startswith("not written: neutral: equivalent on 3 cases")
    kept = run(folder, "fix", "module.py", "--yes", "--prove", "scenario.py", "--keep", "neutral", *QUICK)
    assert kept.returncode == 0, kept.stderr
    assert (folder / "module.py").read_bytes() != before


def test_a_module_that_the_change_creates_is_there_on_the_side_after_only(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'sample'\n")
    (tmp_path / "module.py").write_text(SHIFTS)
    (tmp_path / "scenario.py").write_text(SHIFT_SCENARIO)
    (tmp_path / "own.py").write_text(MAKES_A_MODULE)
    prove = ("--prove", "scenario.py", "--keep", "neutral", *QUICK)
    fixed = run(tmp_path, "fix", "module.py", "--yes", "--codemod", "own.py", "--report", "out.html", *prove)
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    assert (tmp_path / "fresh/shifting.py").is_file()
    assert "new file" in (tmp_path / "out.html").read_text()

    again = run(tmp_path, "prove", "scenario.py", "--run", "1", "--keep", "neutral", "--format", "json", *QUICK)
    assert again.returncode == 0, again.stderr
    (verdict,) = json.loads(again.stdout)["verdicts"]
    assert verdict["ruling"] in ("neutral", "proven")
    assert "+++ b/fresh/shifting.py" in verdict["diff"]


def test_a_wrong_rewrite_is_not_written(tmp_path: Path) -> None:
    folder = project(tmp_path, "iterate_constant_keys", "reordered")
    (folder / "wrong.py").write_text(WRONG)
    before = (folder / "module.py").read_bytes()
    arguments = ("fix", "module.py", "--yes", "--codemod", "wrong.py", "--prove", "scenario.py", *QUICK)
    refused = run(folder, *arguments)
    assert refused.returncode == 3, refused.stderr
    assert "not written: different" in refused.stdout
    assert "output differs" in refused.stdout
    assert (folder / "module.py").read_bytes() == before
    assert not (folder / ".fullgraph").exists()


def test_the_last_commit_is_the_past_where_nothing_else_is(tmp_path: Path) -> None:
    folder = project(tmp_path, "iterate_constant_keys", "basic")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    text = (folder / "module.py").read_text()
    (folder / "module.py").write_text(text.replace("heads.keys()", "HEAD_NAMES"))
    (folder / "notes.txt").write_text("new")
    told = run(folder, "prove", "scenario.py", "--keep", "neutral", *QUICK)
    assert told.returncode == 0, told.stderr
    assert "before: the files at HEAD; after: the files on disk (module.py)" in " ".join(told.stdout.split())
    assert "notes.txt (only Python is laid over)" in " ".join(told.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("fix", "module.py", "--device", "cpu"), 2, "--device is for --prove SCENARIO"),
        (("prove", "scenario.py", "--before", "HEAD", "--run", "1"), 2, "give one of them"),
        (("prove", "scenario.py"), 4, "undecided: git: "),
        (("prove", "scenario.py", "--run", "7"), 4, "there is no run 7"),
        (("fix", "module.py", "--yes", "--prove", "nowhere.py"), 4, "nowhere.py: no such file"),
        (("fix", "module.py", "--yes", "--prove", "module:log_prob"), 4, "fullgraph capture module:log_prob -- python"),
        (("fix", "module.py", "--yes", "--prove", "what is this"), 4, "is no scenario"),
        (("fix", "module.py", "--yes", "--prove", "scenario.py", "--python", "/nowhere"), 4, "--python names another"),
        (("fix", "module.py", "--yes", "--prove", "scenario.py", "--device", "xpu"), 4, "xpu"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    arguments: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    folder = project(tmp_path, "iterate_constant_keys", "basic")
    before = (folder / "module.py").read_bytes()
    told = run(folder, *arguments)
    assert told.returncode == code, told.stderr
    assert said in told.stderr
    assert "Traceback" not in told.stderr
    assert (folder / "module.py").read_bytes() == before
    assert not (folder / ".fullgraph").exists()
