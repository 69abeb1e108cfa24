"""The example project `fixtures/stabilize`: it trains, its README names what is there, our README makes it clean."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "docs" / "stable-compile.md"
STABILIZE = Path(__file__).parent.parent / "fixtures" / "stabilize"
ROWS = [line for line in (STABILIZE / "README.md").read_text().splitlines() if re.search(r"\w\.py: ", line)]


def find_file(name: str) -> Path:
    return next(file for file in (STABILIZE / "sluice" / name, STABILIZE / name) if file.exists())


@pytest.mark.parametrize("row", ROWS)
def test_the_readme_names_what_is_there(row: str) -> None:
    place = row.split("|")[2]
    files = [find_file(name) for name in re.findall(r"`(\w+\.py): ", place)]
    text = "\n".join(file.read_text() for file in files)
    owners = re.findall(r"`\w+\.py: ([A-Z]\w+)\.\w+`", place)
    functions = re.findall(r"\.(\w+)`|: (\w+)`", place)
    kept = re.findall(r"\(`(\w+)`\)", place)
    assert files
    assert all(f"class {name}" in text for name in owners)
    every = "\n".join(file.read_text() for file in STABILIZE.rglob("*.py"))
    assert all(f"def {method or function}(" in every for method, function in functions)
    assert all(re.search(rf"\b{name}\b", text) for name in kept)


def test_it_trains_and_does_so_twice_alike() -> None:
    pytest.importorskip("torch")
    environment = {**os.environ, "SLUICE_BACKEND": "eager"}
    command = [sys.executable, "-B", "train.py", "--device", "cpu"]
    runs = [
        subprocess.run(command, cwd=STABILIZE, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", runs[0])]
    assert losses[0] > losses[1] > losses[2]
    assert runs[0] == runs[1]


def shown_commands() -> list[tuple[str, int]]:
    """The commands of the README's walk, each with the exit code that its comment tells."""
    (block,) = re.findall(r"(?ms)^```sh\n(cp -r fixtures/stabilize.*?)^```$", README.read_text())
    pairs = [(line.split("#")[0].strip(), re.search(r"exit code (\d)", line)) for line in block.splitlines()]
    return [(command, int(code[1]) if code else 0) for command, code in pairs]


@pytest.mark.everything
def test_the_commands_of_the_readme_lead_from_hazards_to_clean(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    project = tmp_path / "sluice"
    shutil.copytree(STABILIZE, project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    for command, code in shown_commands()[1:]:
        run = subprocess.run(command, shell=True, cwd=project, env=environment, capture_output=True, text=True)
        assert run.returncode == code, f"{command}\n{run.stdout}\n{run.stderr}"
