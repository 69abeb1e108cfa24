"""What the README shows is true."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.config import parse_config

README = (Path(__file__).parent.parent / "README.md").read_text()
FULLGRAPH = Path(sys.executable).with_name("fullgraph")


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def test_every_codemod_is_listed() -> None:
    assert set(re.findall(r"(?m)^\| `(\w+)` \|", README)) == set(bundled())


def test_the_example_codemod_rewrites(tmp_path: Path) -> None:
    example = next(block for block in blocks("python") if "class " in block)
    (tmp_path / "my_codemod.py").write_text(example)
    (tmp_path / "model.py").write_text("import torch as t\n\n\ndef f(a, b):\n    return t.ger(a, b)\n")
    command: list[str | Path] = [FULLGRAPH, "fix", "model.py", "--codemod", "my_codemod.py", "--yes"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert "return t.outer(a, b)" in (tmp_path / "model.py").read_text()


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    (example,) = blocks("toml")
    file = tmp_path / "pyproject.toml"
    file.write_text(example)
    config = parse_config(file)
    assert set(config.select) <= set(bundled())
    for name, table in tomllib.loads(example)["tool"]["fullgraph"]["options"].items():
        bundled()[name](table)


def test_every_command_that_is_shown_exists() -> None:
    from fullgraph.codemods.ui.cli import main

    shown = set(re.findall(r"(?m)^fullgraph (\w+)", "\n".join(blocks(""))))
    assert shown == set(main.commands)
