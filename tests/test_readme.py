"""What the README and the page of the configuration show is true, and the README is one page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.config import parse_config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [inside for name, inside in fenced if name == language]


def test_it_is_one_page() -> None:
    assert len(README.splitlines()) <= 150
    assert len(README.encode()) <= 7 * 1024


def test_its_codemods_exist_and_the_index_has_all() -> None:
    named = re.findall(r"(?m)^\| `(\w+)` \|", README)
    assert len(named) == 8
    assert set(named) <= set(bundled())
    index = (ROOT / "docs" / "codemods" / "README.md").read_text()
    assert set(re.findall(r"(?m)^\| \[`(\w+)`\]", index)) == set(bundled())


def test_the_numbers_of_its_codemods_are_measured() -> None:
    """A number that is no longer in the stored rows is not true any more."""
    for name, told in re.findall(r"(?m)^\| `(\w+)` \| [^|]* \| ([^|]*) \|", README):
        stored = "".join(file.read_text() for file in (ROOT / "fixtures" / name).glob("*/measured.json"))
        for numbers in re.findall(r"\d+ > \d+", told):
            assert numbers in stored, (name, numbers)


def test_the_configuration_example_is_valid(tmp_path: Path) -> None:
    (example,) = blocks((ROOT / "docs" / "configuration.md").read_text(), "toml")
    file = tmp_path / "pyproject.toml"
    file.write_text(example)
    config = parse_config(file)
    assert set(config.select) <= set(bundled())
    for name, table in tomllib.loads(example)["tool"]["fullgraph"]["options"].items():
        bundled()[name](table)


def test_every_command_that_is_shown_exists() -> None:
    from fullgraph.codemods.ui.cli import main

    shown = set(re.findall(r"(?m)^fullgraph (\w+)", "\n".join(blocks(README, ""))))
    assert shown
    assert shown <= set(main.commands)


def test_the_example_in_python_runs(tmp_path: Path) -> None:
    (example,) = blocks(README, "python")
    exec(compile(example.replace('"src"', repr(str(tmp_path))), "README.md", "exec"), {})
