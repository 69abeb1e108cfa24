"""Counters and gates around the same requests: in whatever order, in one command, taken back, and with their tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import codemod_named
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.plan import plan
from tests.cases import Case, all_cases
from tests.ui.running import COMMAND, environment, warm
from tests.written_tests import outcome

NET = b"""import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


@torch.compile(backend="eager")
def score(x):
    return x * 2


class Owner:
    def __init__(self):
        self.net = torch.compile(Net(), backend="eager")
        self.f = torch.compile(lambda x: x + 1, backend="eager")
        self.other = Net()
        self.other.compile(backend="eager")
        self.wide = torch.compile(
            Net(),
            backend="eager",
        )
"""

BOTH = b"""import torch
from torch import nn

from pkg.compile_gate import gated
from pkg.compiled_calls import counted


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x)


@counted("score")
@gated("COMPILE_SCORE")
@torch.compile(backend="eager")
def score(x):
    return x * 2


class Owner:
    def __init__(self):
        self.net = counted(
            "net", gated("COMPILE_NET", torch.compile(Net(), backend="eager"))
        )
        self.f = counted(
            "f", gated("COMPILE_F", torch.compile(lambda x: x + 1, backend="eager"))
        )
        self.other = Net()
        self.other.compile(backend="eager")
        gated("COMPILE_OTHER", self.other)
        counted("other", self.other)
        self.wide = counted(
            "wide",
            gated(
                "COMPILE_WIDE",
                torch.compile(
                    Net(),
                    backend="eager",
                ),
            ),
        )
"""

COUNT, GATE = "count_compiled_calls", "gate_compile"
SEVERAL_IN_A_LINE = {f"{COUNT}/collections"}


def rewrite(files: dict[str, bytes], name: str) -> dict[str, bytes]:
    """The files after all that one codemod finds, and nothing more at a second look."""
    codemod: Codemod = codemod_named(name)(None, ())
    for _ in range(3):
        project = Project(Path("/nowhere"), files, files)
        found = [finding for path in project.files for finding in find(project, path, [codemod]).findings]
        fixable = [finding for finding in found if finding.is_fixable]
        if not fixable:
            return files
        files = {**files, **{path: raw or b"" for path, raw in plan(fixable, project, [codemod]).after.items()}}
    raise AssertionError("it never comes to rest")


CASES = [case for case in (*all_cases(COUNT), *all_cases(GATE)) if case.folder.name != "nested"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.folder.parent.name}/{case.folder.name}")
def test_the_order_of_the_two_does_not_matter(case: Case) -> None:
    if f"{case.folder.parent.name}/{case.folder.name}" in SEVERAL_IN_A_LINE:
        pytest.skip("how a line with several requests is broken hangs on which of them was there first")
    assert rewrite(rewrite(case.before, COUNT), GATE) == rewrite(rewrite(case.before, GATE), COUNT)


def write(root: Path, text: bytes = NET) -> Path:
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").touch()
    (root / "pkg" / "net.py").write_bytes(text)
    return root


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm().run([str(COMMAND), *arguments], root, None, **environment())


def fix(root: Path, *arguments: str) -> str:
    done = run(root, "fix", "--yes", *arguments, ".")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


BOTH_SELECTED = ("--select", f"{COUNT},{GATE}")


def test_one_command_writes_both_and_finds_nothing_more(tmp_path: Path) -> None:
    root = write(tmp_path)
    assert "disagree" not in fix(root, *BOTH_SELECTED)
    assert (root / "pkg/net.py").read_bytes() == BOTH
    assert run(root, "check", *BOTH_SELECTED, ".").returncode == 0


@pytest.mark.parametrize(("first", "second"), [(COUNT, GATE), (GATE, COUNT)])
def test_the_later_one_can_be_taken_back(first: str, second: str, tmp_path: Path) -> None:
    root = write(tmp_path)
    fix(root, "--select", first)
    once = (root / "pkg/net.py").read_bytes()
    fix(root, "--select", second)
    assert (root / "pkg/net.py").read_bytes() == BOTH
    assert run(root, "undo").returncode == 0
    assert (root / "pkg/net.py").read_bytes() == once


def test_taking_back_the_earlier_one_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    root = write(tmp_path)
    fix(root, "--select", COUNT)
    fix(root, "--select", GATE)
    assert run(root, "undo", "1").returncode != 0
    assert (root / "pkg/net.py").read_bytes() == BOTH


# The tests that go with them


ODD = b"""import torch

fast = torch.compile
if torch.compile is None:
    raise RuntimeError


def build(net):
    def test_compiled():
        return torch.compile(net)(1)

    return torch.compile(torch.nn.Sequential(net, torch.compile(net.head)))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with both, and with their tests."""
    pytest.importorskip("torch")
    root = write(tmp_path_factory.mktemp("project"))
    (root / "pkg" / "odd.py").write_bytes(ODD)
    run(root, "fix", "--yes", *BOTH_SELECTED, "--write-tests=tests", ".")
    assert outcome(root, "tests") == "13 passed"
    return root


MUTATIONS = {
    "a counter": ("net.py", b'@counted("score")\n', b"", 1),
    "a gate": ("net.py", b'@gated("COMPILE_SCORE")\n', b"", 1),
    "a counter in place": ("net.py", b'counted("other", self.other)', b"pass", 1),
    "a gate in place": ("net.py", b'gated("COMPILE_OTHER", self.other)', b"pass", 1),
    "a counter in another": ("odd.py", b'counted(\n                "net.head", ', b"print(", 1),
    "a flag": ("compile_gate.py", b"if switch.is_on():", b"if True:", 2),
    "one log": ("compile_gate.py", b"self.was_logged, True", b"False, False", 1),
    "one graph": ("compile_gate.py", b"@functools.wraps(compiled)", b"@torch.compiler.disable", 2),
    "one graph, counted": ("compiled_calls.py", b"@functools.wraps(function)", b"@torch.compiler.disable", 3),
    "off": ("compiled_calls.py", b"if not is_counting() or", b"if", 1),
}


@pytest.mark.parametrize(("file", "text", "instead", "failures"), MUTATIONS.values(), ids=MUTATIONS)
def test_the_tests_fail_without(project: Path, file: str, text: bytes, instead: bytes, failures: int) -> None:
    path = project / "pkg" / file
    raw = path.read_bytes()
    assert raw.count(text) == 1
    path.write_bytes(raw.replace(text, instead))
    try:
        assert outcome(project, "tests") == f"{failures} failed, {13 - failures} passed"
    finally:
        path.write_bytes(raw)
