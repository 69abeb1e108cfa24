"""The demo: its steps on a terminal, its criteria, and the small project that it runs on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from demo_gain import Side, Sides, criteria, side_of, table
from demo_project import FULLGRAPH, ROOT, changed, conclude, copy_project, snapshot
from demo_review import review

QUICK = ROOT / "fixtures" / "quick"
ROWS = [line for line in (QUICK / "README.md").read_text().splitlines() if re.search(r"\w\.py: ", line)]
BEFORE = Side(False, 5, 2, 3617, [0.07, 0.08, 0.07] * 8, [[1.5, -0.125, 0.25]] * 24)
AFTER = Side(True, 1, 0, 417, [0.05, 0.05, 0.06] * 8, [[1.5, -0.125, 0.25]] * 24)


@pytest.mark.parametrize(
    ("criterion", "before", "after"),
    [
        ("fullgraph=True", {}, {"fullgraph": False}),
        ("fullgraph=True", {"fullgraph": True}, {}),
        ("graph breaks", {}, {"breaks": 1}),
        ("graph breaks", {"breaks": 0}, {}),
        ("reads fewer", {}, {"reads": 3617}),
        ("faster", {}, {"seconds": [0.07, 0.08, 0.07] * 8}),
        ("faster", {}, {"seconds": [0.03, 0.03, 0.15, 0.15] * 6}),
        ("digit for digit", {}, {"losses": [*AFTER.losses[1:], [1.5, -0.125000001, 0.25]]}),
    ],
)
def test_a_criterion_that_is_not_reached_fails_the_demo(
    criterion: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    claims = criteria(Sides(replace(BEFORE, **before), replace(AFTER, **after)))
    assert [text for text, holds in claims.items() if not holds] == [text for text in claims if criterion in text]
    assert conclude(claims) == 1


def test_the_demo_succeeds_if_all_criteria_are_reached() -> None:
    assert conclude(criteria(Sides(BEFORE, AFTER))) == 0


def test_the_table_shows_what_was_measured() -> None:
    rows = [line.split() for line in table(Sides(BEFORE, AFTER), 100).splitlines()]
    assert rows[1][-6:] == ["no", "yes", "graphs", "5", ">", "1"]
    assert rows[3][-4:] == ["3617", "417", "3200", "fewer"]
    assert rows[4][4:8] == ["70", "ms", "50", "ms"]
    assert rows[5][-3:] == ["-0.12500000", "-0.12500000", "same"]


def test_a_side_adds_up_what_was_observed() -> None:
    observed = {
        "entries": [{"breaks": [{"frames": 2}, {"frames": 1}]}, {"breaks": []}],
        "reads": [{"count": 3}, {"count": 4}],
    }
    side = side_of({"fullgraph": None, "graphs": [{}, {}]}, observed, [[0.5, [1.0]], [0.25, [2.0]]])
    assert side == Side(False, 2, 3, 7, [0.5, 0.25], [[1.0], [2.0]])


def test_the_review_is_answered_key_by_key(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project = copy_project("quick", tmp_path / "sprout")
    original = snapshot(project)
    command = [str(FULLGRAPH), "fix", "src", "--select", "batch_host_reads,iterate_constant_keys"]
    review(command, "ny", project, {**os.environ, "NO_COLOR": "1"}, 100)
    assert changed(original, snapshot(project)) == ["src/sprout/vectorized.py"]
    assert capfd.readouterr().out.count("apply?") == 2
    subprocess.run([FULLGRAPH, "undo"], cwd=project, check=True, capture_output=True)
    assert snapshot(project) == original


@pytest.mark.parametrize("row", ROWS)
def test_the_readme_of_the_project_names_what_is_there(row: str) -> None:
    place = row.split("|")[2]
    files = re.findall(r"`(\w+\.py): ", place)
    text = "\n".join((QUICK / "src" / "sprout" / name).read_text() for name in files)
    names = re.findall(r"`(?:\w+\.py: )?(?:(\w+)\.)?(\w+)`", place.replace("`.", "`"))
    assert files
    assert all(re.search(rf"class {owner}\b", text) for owner, _ in names if owner)
    assert all(re.search(rf"\b{name}\b", text) for _, name in names)


def test_the_project_trains_and_does_so_twice_alike() -> None:
    pytest.importorskip("torch")
    environment = {**os.environ, "PYTHONPATH": "src"}
    command = [sys.executable, "-B", "-m", "sprout.train", "--epochs", "4", "--debug"]
    runs = [
        subprocess.run(command, cwd=QUICK, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    returns = [float(text) for text in re.findall(r"return (\S+)", runs[0])]
    assert returns[-1] > returns[0]
    assert runs[0] == runs[1]


@pytest.mark.everything
@pytest.mark.parametrize("compiler", ["", "no such compiler"])
def test_the_whole_demo_reaches_every_criterion(compiler: str) -> None:
    """Without a C++ compiler, too."""
    environment = {**os.environ, **({"CXX": compiler} if compiler else {})}
    done = subprocess.run(
        [sys.executable, "scripts/demo.py"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"(?m)^== (\d) of 6", done.stdout) == ["1", "2", "3", "4", "5", "6"]
    assert len(re.findall(r"(?m)^  yes  ", done.stdout)) == 7
