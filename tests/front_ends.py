"""The ways to fullgraph: each says what it finds in a project, and what the project is once all of it is fixed."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from codemods.rewrite.walk import SUFFIXES
from codemods.source import Source, decode
from codemods.ui.cli import main
from tests.cases import Case


@dataclass(frozen=True, order=True)
class Said:
    """What a front end says of one finding."""

    path: str
    line: int
    column: int
    codemod: str
    key: str
    message: str


def write_case(case: Case, root: Path) -> Path:
    """A fixture as a project on disk, with its codemod and options chosen there."""
    tables = [f"[tool.fullgraph]\nselect = [{json.dumps(case.codemod_name)}]\n"]
    if options := case.config.get("options"):
        tables.append(f"[tool.fullgraph.options.{case.codemod_name}]")
        tables += [f"{key} = {json.dumps(value)}" for key, value in options.items()]
    for path, data in {**case.before, "pyproject.toml": "\n".join(tables).encode()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def files_of(root: Path) -> dict[str, bytes]:
    """Every file that a codemod may change, by its path."""
    found = (file for file in root.rglob("*") if file.suffix in SUFFIXES and ".fullgraph" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in sorted(found)}


def source_of(root: Path, path: str) -> Source:
    return decode(path, (root / path).read_bytes())


# The command line


def run_cli(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, [*arguments, "--format", "json", "--no-cache", "--jobs", "1"])
    assert done.exit_code in (0, 1), done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def named(root: Path) -> list[str]:
    """Every file by its name, as editors know it: each then belongs to the project that is nearest to it."""
    return [str(root / path) for path in files_of(root)]


def found_by_cli(root: Path) -> list[Said]:
    findings = run_cli("check", *named(root))["findings"]
    return sorted(
        Said(
            os.path.relpath(os.path.join(found["root"], found["path"]), root),
            *(found[name] for name in ("line", "column", "codemod", "key", "message")),
        )
        for found in findings
    )


def fixed_by_cli(root: Path) -> dict[str, bytes]:
    run_cli("fix", "--yes", "--unsafe", *named(root))
    return files_of(root)
