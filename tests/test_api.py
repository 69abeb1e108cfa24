"""`import fullgraph`: the commands as functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fullgraph
from fullgraph import FullgraphError, Ruling
from fullgraph.validate.model import Settings

BEFORE = """\
import torch


def low_and_high(values: torch.Tensor) -> tuple[float, float]:
    return values.min().item(), values.max().item()
"""
SCENARIO = """\
import torch
from spread import low_and_high


def build(device):
    return low_and_high


def cases(device, seed):
    return [(torch.arange(4.0),)]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "spread.py").write_text(BEFORE)
    (tmp_path / "scenario.py").write_text(SCENARIO)
    return tmp_path


def test_every_public_name_is_there_and_nothing_is_loaded_before_it_is_used() -> None:
    assert {name: getattr(fullgraph, name).__name__ for name in fullgraph.__all__}
    assert sorted(fullgraph.__all__) == sorted(name for names in fullgraph.HOMES.values() for name in names)
    code = "import sys, fullgraph; print([name for name in sys.modules if name.startswith('fullgraph.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'Rule'"):
        fullgraph.Rule  # noqa: B018


def test_check_and_fix_give_findings_and_undo_takes_them_back(root: Path) -> None:
    [found] = fullgraph.check(root)
    assert (found.codemod, found.path, found.line) == ("batch_host_reads", "spread.py", 5)
    assert fullgraph.check(root, ignore=["batch_host_reads"]) == []
    fixed = fullgraph.fix(root)
    assert ([one.key for one in fixed.written], fixed.left, fixed.runs) == ([found.key], (), (1,))
    assert "tolist()" in (root / "spread.py").read_text()
    assert fullgraph.undo(path=root) == 2
    assert (root / "spread.py").read_text() == BEFORE


def test_fix_and_prove_give_verdicts(root: Path) -> None:
    quick = Settings(device="cpu", python=sys.executable, untimed=True)
    fixed = fullgraph.fix(root, prove=[str(root / "scenario.py")], settings=quick)
    assert [verdict.ruling for verdict in fixed.verdicts] == [Ruling.PROVEN]
    [verdict] = fullgraph.prove(str(root / "scenario.py"), path=root, settings=quick)
    reads = [sum(sync.count for sync in side.syncs or ()) for side in (verdict.before, verdict.after)]
    assert (verdict.ruling, reads) == (Ruling.PROVEN, [2, 1])


def test_what_a_user_can_act_on_is_raised(root: Path) -> None:
    with pytest.raises(FullgraphError, match="there is no codemod 'bach'"):
        fullgraph.check(root, select=["bach"])
    (root / "broken.py").write_text("import torch\nx.item(\n")
    with pytest.raises(FullgraphError, match=r"broken\.py"):
        fullgraph.check(root / "broken.py")


def test_observe_runs_a_program(root: Path) -> None:
    (root / "main.py").write_text("import torch\nprint(torch.ones(2).sum().item())\n")
    seen = fullgraph.observe([sys.executable, str(root / "main.py")], path=root)
    assert (seen.exit_code, seen.report["reads"][0]["line"]) == (0, 2)
