"""The wheel runs in a clean environment, without torch."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = "import torch\n\n\nclass Scaler:\n    def to(self, device):\n        self.mean = self.mean.to(device)\n"


PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def build_wheel(source: Path, folder: Path) -> Path:
    subprocess.run([*PIP, "wheel", "--no-deps", "--wheel-dir", folder, source], check=True)
    return next(folder.glob("fullgraph-*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the checkout, as `pipx install .` does."""
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def fullgraph(wheel: Path) -> Path:
    """The command, installed from the wheel into an environment of its own."""
    environment = wheel.parent / "venv"
    venv.create(environment, with_pip=False, symlinks=True)
    subprocess.run([*PIP, "--python", environment / "bin/python", "install", wheel], check=True)
    return environment / "bin/fullgraph"


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """An index serves both. The folders behind links must be in it, each under its own name."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path], cwd=ROOT, check=True)
    again = build_wheel(next(tmp_path.glob("fullgraph-*.tar.gz")), tmp_path / "wheel")
    assert contents(again) == contents(wheel)


def run(command: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run([command, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_holds_no_torch(fullgraph: Path, tmp_path: Path) -> None:
    python = fullgraph.with_name("python")
    assert run(python, "-c", "import torch", cwd=tmp_path).returncode == 1


def test_the_wheel_takes_one_name_of_the_users_names(fullgraph: Path, tmp_path: Path) -> None:
    """configobj, for one, brings a module `validate`."""
    python = fullgraph.with_name("python")
    assert run(python, "-c", "import fullgraph; print(fullgraph.check, fullgraph.Verdict)", cwd=tmp_path).stderr == ""
    for name in ("codemods", "validate", "tests", "fixtures"):
        assert run(python, "-c", f"import {name}", cwd=tmp_path).returncode == 1


def test_the_installed_command_finds_writes_and_undoes(fullgraph: Path, tmp_path: Path) -> None:
    file = tmp_path / "scaler.py"
    text = EXAMPLE + (
        "\n    def scale(self, x):\n        if x.device != self.mean.device:\n            self.to(x.device)\n"
        "        return x / self.mean\n"
    )
    file.write_text(text)
    chosen = ["--select", "warn_on_device_migration", "."]
    assert run(fullgraph, "check", *chosen, cwd=tmp_path).returncode == 1
    assert run(fullgraph, "fix", *chosen, "--yes", cwd=tmp_path).returncode == 0
    assert file.read_text() != text
    assert run(fullgraph, "undo", cwd=tmp_path).returncode == 0
    assert file.read_text() == text


def test_explain_shows_the_fixture_that_the_wheel_brings_along(fullgraph: Path, tmp_path: Path) -> None:
    shown = run(fullgraph, "explain", "warn_on_device_migration", cwd=tmp_path).stdout
    assert "Left alone:" in shown
    assert "+++ b/" in shown


def test_the_wheel_brings_the_page_of_a_verdict_and_its_schema(fullgraph: Path, tmp_path: Path) -> None:
    code = (
        "from fullgraph.codemods.ui.verdict import as_html, as_json; "
        "print(as_html.verdict_html([])[:15], as_json.schema()['title'])"
    )
    done = run(fullgraph.with_name("python"), "-c", code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("<!doctype html> Verdict\n", "")


def test_the_wheel_brings_the_skill(fullgraph: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    assert run(fullgraph, "agent", "install", cwd=tmp_path).stdout == "written: .agents/skills/fullgraph/SKILL.md\n"
    skill = tmp_path / ".agents" / "skills" / "fullgraph" / "SKILL.md"
    assert skill.read_text() == (ROOT / "skills" / "fullgraph" / "SKILL.md").read_text()


def test_the_server_for_agents_says_what_it_needs(fullgraph: Path, tmp_path: Path) -> None:
    done = run(fullgraph, "mcp", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fullgraph: the package mcp is not installed; pip install 'fullgraph[mcp]'\n"


def test_the_wheel_brings_the_table_of_public_names(fullgraph: Path, tmp_path: Path) -> None:
    code = "from fullgraph.codemods.topics.public_api.table import table; print(table()['torch._dynamo.disable'].new)"
    done = run(fullgraph.with_name("python"), "-c", code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("torch.compiler.disable\n", "")
