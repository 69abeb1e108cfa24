"""What `at` has said of a place is said again without loading a codemod, and only while nothing has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import fullgraph.codemods.run
from fullgraph.codemods.rewrite import shelf
from fullgraph.codemods.rewrite.shelf import DiskShelf
from fullgraph.codemods.ui.at import command
from fullgraph.codemods.ui.at.command import Answer, answer
from fullgraph.codemods.ui.at.place import read_place
from tests.ui.at.asking import at, write_files

LONG_AGO = 1_600_000_000
TELEMETRY = """\
import torch


class Meter:
    def record(self, name, value):
        print(name, value.item())


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.meter = Meter()

    def forward(self, x):
        print("forward", x.shape)
        return x

    def other(self, x):
        return x
"""
TRAIN = "import torch\nfrom pkg.model import Model\n\nmodel = torch.compile(Model())\n"
PLACE = "pkg/model.py:15"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FULLGRAPH_CACHE", str(tmp_path / "cache"))
    root = write_files(tmp_path / "project", {"pkg/__init__.py": "", "pkg/model.py": TELEMETRY, "pkg/train.py": TRAIN})
    monkeypatch.chdir(root)
    monkeypatch.setattr("fullgraph.codemods.ui.at.remembered.SETTLED_NS", -(10**12))  # a status cannot be made old
    return root


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were really looked at."""
    paths: list[str] = []
    original = fullgraph.codemods.run.look_at

    def look_at(project: object, path: str, *rest: object) -> object:
        paths.append(path)
        return original(project, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(fullgraph.codemods.run, "look_at", look_at)
    return paths


def found(place: str = PLACE, buffer: bytes | None = None) -> list[str]:
    """What is said, which is what would be said without a memory."""
    said = ask(place, buffer)
    assert said == told(answer(read_place(place), buffer, use_cache=False)), "memory never changes an answer"
    return said


def ask(place: str = PLACE, buffer: bytes | None = None) -> list[str]:
    return told(answer(read_place(place), buffer))


def told(said: Answer) -> list[str]:
    return [f"{finding.codemod}:{finding.line}" for finding in said.findings]


def test_the_same_question_is_answered_from_memory(root: Path, looked: list[str]) -> None:
    first = found()
    assert first
    looked.clear()
    assert ask() == first
    assert looked == []


def test_a_place_in_the_same_statement_is_answered_from_memory_and_another_is_not(
    root: Path, looked: list[str]
) -> None:
    first = found()
    looked.clear()
    assert ask("pkg/model.py:18") == []
    assert ask("pkg/model.py:15:9") == first
    assert looked == []
    assert ask("pkg/model.py:6") == told(answer(read_place("pkg/model.py:6"), None, use_cache=False))
    assert looked


@pytest.mark.parametrize("line", range(1, 20))
def test_every_line_has_its_own_answer_whatever_was_asked_before(root: Path, line: int) -> None:
    ask()
    ask("pkg/model.py:9")
    place = f"pkg/model.py:{line}"
    assert found(place) == found(place)


def test_an_edit_of_any_file_around_is_seen(root: Path) -> None:
    assert found()
    (root / "pkg/train.py").write_text("import torch\n")
    assert found() == []
    (root / "pkg/train.py").write_text(TRAIN)
    assert found()
    (root / "pkg/train.py").unlink()
    assert found() == []
    (root / "pkg/again.py").write_text(TRAIN)
    assert found()


def test_an_edit_under_an_old_time_of_the_same_size_is_seen(root: Path) -> None:
    os.utime(root / "pkg/train.py", (LONG_AGO, LONG_AGO))
    assert found()
    (root / "pkg/train.py").write_text(TRAIN.replace("torch.compile(", "torch.compute("))
    os.utime(root / "pkg/train.py", (LONG_AGO, LONG_AGO))
    assert found() == []


def test_a_young_neighbour_is_not_trusted(root: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullgraph.codemods.ui.at.remembered.SETTLED_NS", 2_000_000_000)
    ask()
    ask()
    assert len(looked) == 2


def test_the_text_itself_counts_saved_or_not(root: Path) -> None:
    assert found()
    assert found(buffer=TELEMETRY.replace('print("forward", x.shape)', "pass").encode()) == []
    assert found(buffer=TELEMETRY.encode())
    (root / "pkg/model.py").write_text(TELEMETRY.replace('print("forward", x.shape)', "pass"))
    assert found() == []


def test_the_configuration_counts(root: Path) -> None:
    (name,) = {finding.partition(":")[0] for finding in found()}
    config = root / "pyproject.toml"
    config.write_text(config.read_text() + f"[tool.fullgraph]\nignore = ['{name}']\n")
    assert found() == []


def test_another_fullgraph_and_what_was_installed_since_ask_again(
    root: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ask()
    looked.clear()
    monkeypatch.setattr(shelf, "fingerprint_of_code", lambda codemods: "newer")
    ask()
    monkeypatch.syspath_prepend(tmp_path)
    ask()
    assert len(looked) == 2


def test_codemods_of_others_are_always_asked(root: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "offered", lambda: ["one"])
    ask()
    ask()
    assert len(looked) == 2


def test_what_could_not_be_looked_at_is_not_remembered(root: Path, looked: list[str]) -> None:
    (root / "pkg/model.py").write_text("def broken(:\n")
    for _ in range(2):
        assert answer(read_place("pkg/model.py"), None).error
    assert len(looked) == 2


def test_a_folder_that_is_no_project_is_not_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MARKERS", ())
    (tmp_path / "one.py").write_text(TELEMETRY)
    assert command.open_desk(tmp_path / "one.py", None, use_cache=True).memory is None


@pytest.mark.parametrize("content", [b"", b"no database"])
def test_a_broken_memory_is_none(root: Path, content: bytes) -> None:
    first = found()
    DiskShelf(root).file.write_bytes(content)
    assert found() == first


def test_no_cache_neither_reads_nor_writes(root: Path) -> None:
    done = at(root, PLACE, "--no-cache")
    assert done.returncode == 1
    assert not DiskShelf(root).file.exists()
    assert at(root, PLACE).stdout == done.stdout
    assert DiskShelf(root).file.exists()
