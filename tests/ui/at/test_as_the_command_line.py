"""`at` says and writes what `check` and `fix` do, byte for byte, for every shape of edit of every codemod.

That what is found near a place is what is found in the whole file is a law of every case.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.source import declared_encoding
from fullgraph.codemods.ui import commands
from fullgraph.codemods.ui.cli import main
from fullgraph.codemods.ui.commands import AcceptAll
from tests.cases import FIXTURES, Case, all_cases
from tests.front_ends import files_of, named, run_cli, write_case
from tests.laws import one_of_each_shape
from tests.ui.at.asking import VALIDATOR

OWN = {"number", "start", "end"}
"""What `at` says of a finding beyond what `check` does."""

SHAPES = 3
"""Of how many shapes of edit each is applied; `fix` plans them all alike."""

OF_CHECK = {"place", "root", "outcome", "reason"}


def ask(place: str, *options: str, text: bytes | None = None) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["at", place, "--json", *options], input=text)
    answer: dict[str, Any] = json.loads(done.stdout)
    assert not answer["error"] or ": refused: " in answer["error"], answer["error"]
    VALIDATOR.validate(answer)
    return answer


def plain(finding: dict[str, Any], apart: set[str]) -> dict[str, Any]:
    """A finding without what only one front end says of it."""
    edits = [{name: edit[name] for name in ("path", "span", "new_text", "creates")} for edit in finding["edits"]]
    return {**{name: value for name, value in finding.items() if name not in apart}, "edits": edits}


def found_by_check(root: Path) -> dict[str, list[dict[str, Any]]]:
    """The findings of `check` by file."""
    found: dict[str, list[dict[str, Any]]] = {str(file): [] for file in named(root)}
    for finding in run_cli("check", *named(root))["findings"]:
        found[os.path.join(finding["root"], finding["path"])].append(plain(finding, OF_CHECK))
    return found


@dataclass(frozen=True)
class Only(AcceptAll):
    """The reviewer of `fix` who says yes to one finding."""

    key: str = ""

    def choose(self, findings: Sequence[Finding], project: Project) -> list[Finding]:
        return [finding for finding in findings if finding.key == self.key]


def fixed_by_fix(root: Path, file: str, key: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.setattr(commands, "accept_all", lambda unsafe: lambda job: Only(True, key))
    run_cli("fix", "--yes", file)
    return files_of(root)


def told_by_at(root: Path, file: str, key: str) -> dict[str, bytes]:
    """The project as it would be, by the texts that `at` gives of a buffer; of what `plan` refuses there are none."""
    answer = ask(file, "--stdin", "--apply", key, text=Path(file).read_bytes())
    made = {os.path.relpath(one["file"], root): encoded(one["path"], one["text"]) for one in answer.get("files", ())}
    return {**files_of(root), **made}


def encoded(path: str, text: str) -> bytes:
    """A text as it is saved, in the encoding that it declares."""
    return text.encode(declared_encoding(path, text.encode(errors="replace")) if path.endswith(".py") else "utf-8")


def place_of(file: str, finding: dict[str, Any]) -> str:
    start = finding["start"]
    cell = f":{start['cell']}" if "cell" in start else ""
    return f"{file}{cell}:{start['line']}:{start['column']}"


def compare(root: Path) -> None:
    for file, expected in found_by_check(root).items():
        answer = ask(file)
        assert [plain(finding, OWN) for finding in answer["findings"]] == expected
        for finding in answer["findings"]:
            there = ask(place_of(file, finding))["findings"]
            assert plain(finding, OWN) in [plain(one, OWN) for one in there]


@pytest.mark.parametrize("codemod", sorted(bundled()))
def test_at_finds_what_check_finds(codemod: str, tmp_path: Path) -> None:
    for case in one_of_each_shape(all_cases(codemod)):
        compare(write_case(case, tmp_path / case.folder.name))


@pytest.mark.parametrize("codemod", sorted(bundled()))
def test_at_applies_what_fix_applies(codemod: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for case in one_of_each_shape(all_cases(codemod))[:SHAPES]:
        root = write_case(case, tmp_path / case.folder.name)
        for file in named(root):
            keys = [finding["key"] for finding in ask(file)["findings"] if finding["edits"]]
            for key in keys:
                told = told_by_at(root, file, key)
                assert told == fixed_by_fix(root, file, key, monkeypatch), case.name
                again(case, root)
            if keys:
                ask(file, "--apply", keys[-1])
                assert files_of(root) == told, case.name
                again(case, root)


def again(case: Case, root: Path) -> None:
    """The fixture as it was."""
    shutil.rmtree(root)
    write_case(case, root)


def test_at_finds_in_the_demo_what_check_finds(tmp_path: Path) -> None:
    compare(shutil.copytree(FIXTURES / "demo", tmp_path / "demo"))
