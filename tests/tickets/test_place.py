"""A ticket's place is found though paths, lines, names and code have changed; nothing outside is looked at."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.tickets.model import Lines
from fullgraph.codemods.tickets.place import locate
from fullgraph.codemods.tickets.places.history import History
from fullgraph.codemods.tickets.places.paths import find_files
from fullgraph.codemods.tickets.route import route

from .asking import (
    EPOCHS,
    WHITENING,
    catalogue_of,
    commit,
    copied,
    git,
    locate_in,
    rewrite,
    sample_catalogue,
    ticket_of,
)
from .corpus import Sample, samples

GUARD = "```python\nif obs.device != self.mean.device:\n    self.to(obs.device)\n```\n"
WAITS = "```python\nif pilot.stream:\n    pilot.stream.wait_stream(torch.cuda.default_stream(...))\n```\n"


def about(path: str, *, lines: str = "", symbol: str = "", rest: str = "") -> str:
    fields = [f"**File:** `{path}`" if path else "", f"**Lines:** {lines}" if lines else ""]
    fields.append(f"**Function:** `{symbol}`" if symbol else "")
    return "# Something\n\n**Severity:** P2\n" + "\n".join(field for field in fields if field) + f"\n\n{rest}\n"


def found(root: Path, text: str) -> tuple[str, str]:
    spot = locate_in(root, text).best
    return (spot.path, spot.symbol) if spot else ("", "")


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_a_ticket_is_placed_as_expected(sample: Sample) -> None:
    catalogue = sample_catalogue()
    for ticket, expected in zip(sample.read(), sample.expected, strict=True):
        located = locate(ticket, catalogue.project)
        routed = route(ticket, located, catalogue, even_settled=True)
        spot = located.best
        assert (spot.path if spot else "") == expected["place"]["path"]
        if symbol := expected["place"]["symbol"]:
            assert spot
            assert (spot.symbol or routed.findings[0].symbol) == symbol
        assert bool(located.tried) or spot or not ticket.places


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("src/orrery/config.py", "src/orrery/config.py"),
        ("/home/somebody/code/orrery/src/orrery/config.py", "src/orrery/config.py"),
        (r"C:\Users\x\Orrery\SRC\orrery\Config.py", "src/orrery/config.py"),
        ("orrery/config.py", "src/orrery/config.py"),
        ("lib/orrery/config.py", "src/orrery/config.py"),
        ("config.py", "src/orrery/config.py"),
        ("file:///w/src/orrery/config.py", "src/orrery/config.py"),
        ("../../src/orrery/config.py", "src/orrery/config.py"),
        ("../../../etc/passwd", ""),
        ("/etc/passwd", ""),
        ("", ""),
    ],
)
def test_a_path_means_the_file_with_the_longest_end_in_common(written: str, expected: str) -> None:
    found = find_files(written, ["src/orrery/config.py", "src/orrery/agents/heads.py"])
    assert [candidate.path for candidate in found] == ([expected] if expected else [])


def test_the_name_alone_is_not_enough_for_a_longer_path() -> None:
    located = locate(ticket_of(about("/usr/lib/python3/logging/config.py", lines="20")), sample_catalogue().project)
    assert not located.spots
    assert any("only its name" in line for line in located.tried)


def test_the_name_alone_is_enough_if_the_file_has_the_symbol() -> None:
    text = about("/usr/lib/settings/config.py", symbol="load_config")
    located = locate(ticket_of(text), sample_catalogue().project)
    assert located.best
    assert located.best.symbol == "load_config"
    assert located.best.score < 0.5


# Lines that have drifted


@pytest.fixture
def drifted(tmp_path: Path) -> Path:
    root = copied(tmp_path)
    for path in (WHITENING, EPOCHS):
        file = root / path
        file.write_text("# A remark.\n" * 50 + file.read_text())
    return root


def test_drifted_lines_are_found_by_the_symbol(drifted: Path) -> None:
    located = locate_in(drifted, about(WHITENING, lines="30-31", symbol="OrbitFilter.whiten"))
    assert located.best
    assert located.best.symbol == "OrbitFilter.whiten"
    assert located.best.surrounds(80, 81)
    assert not located.best.lines


def test_drifted_lines_are_found_by_the_code_block(drifted: Path) -> None:
    located = locate_in(drifted, about(EPOCHS, lines="56-57", rest=WAITS.replace("pilot", "p")))
    assert located.best
    assert located.best.symbol == "train_fleet"
    assert located.best.is_quoted


def test_of_equal_code_that_in_the_named_function_is_meant(drifted: Path) -> None:
    located = locate_in(drifted, about(WHITENING, lines="23", symbol="OrbitFilter.whiten", rest=GUARD))
    assert [(spot.symbol, spot.lines[0].first) for spot in located.spots] == [("OrbitFilter.whiten", 80)]


def test_of_equal_code_all_is_meant_if_nothing_chooses(drifted: Path) -> None:
    located = locate_in(drifted, about(WHITENING, rest=GUARD))
    assert {spot.symbol for spot in located.spots} == {"OrbitFilter.absorb", "OrbitFilter.whiten"}


@pytest.mark.parametrize(
    "code",
    [
        "if self.mu.device != x.device:\n    self.to(x.device)\nreturn (x - self.mu) / self.sigma",
        "def whiten(self, obs):\n    ...\n    return (obs - self.mean) / self.spread",
        "def whiten(...):\n    if ...:\n        self.to(obs.device)\n    # ...",
        "return (obs - self.mean) / (...)",
    ],
)
def test_a_block_is_found_with_holes_other_names_and_swapped_operands(drifted: Path, code: str) -> None:
    assert found(drifted, about(WHITENING, rest=f"```python\n{code}\n```")) == (WHITENING, "OrbitFilter.whiten")


@pytest.mark.parametrize("code", ["x = 1", "...", "return self.pool.submit(job, retries=3).result()", "pass", "self.x"])
def test_other_code_is_not_found(drifted: Path, code: str) -> None:
    located = locate_in(drifted, about(WHITENING, rest=f"```python\n{code}\n```"))
    assert not any(spot.is_quoted for spot in located.spots)


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("OrbitFilter::whiten", "OrbitFilter.whiten"),
        ("orrery.agents.whitening.OrbitFilter.whiten", "OrbitFilter.whiten"),
        ("whiten", "OrbitFilter.whiten"),
        ("OrbitFilter.seen", "OrbitFilter.__init__"),
    ],
)
def test_symbols_are_found_however_they_are_written(symbol: str, expected: str, drifted: Path) -> None:
    assert found(drifted, about(WHITENING, symbol=symbol)) == (WHITENING, expected)


def test_a_constant_is_found_at_the_top(tmp_path: Path) -> None:
    located = locate_in(copied(tmp_path), about("src/orrery/agents/heads.py", symbol="HEAD_NAMES"))
    assert located.best
    assert located.best.lines[0].first == 8


def test_a_symbol_is_found_without_a_path(tmp_path: Path) -> None:
    assert found(copied(tmp_path), about("", symbol="StepClock.stop")) == (
        "src/orrery/probes/clock.py",
        "StepClock.stop",
    )


# Several files


def test_two_files_with_one_end_are_told_and_the_code_chooses(tmp_path: Path) -> None:
    root = copied(tmp_path)
    other = root / "old" / "agents" / "whitening.py"
    other.parent.mkdir(parents=True)
    other.write_text('"""Nothing of it is left."""\n\nimport torch\n')
    located = locate_in(root, about("agents/whitening.py", rest=GUARD))
    assert located.best
    assert located.best.path == WHITENING
    assert "old/agents/whitening.py" in located.best.how


def test_a_function_that_moved_to_another_file_is_found(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "src/orrery/agents/filters.py").write_text((root / WHITENING).read_text())
    (root / WHITENING).write_text('"""Moved."""\n')
    text = about(WHITENING, lines="30", symbol="OrbitFilter.whiten")
    assert found(root, text) == ("src/orrery/agents/filters.py", "OrbitFilter.whiten")


# Git's memory


def test_a_renamed_file_is_found_through_history(tmp_path: Path) -> None:
    root = copied(tmp_path)
    commit(root)
    git(root, "mv", WHITENING, "src/orrery/agents/middle.py")
    commit(root)
    git(root, "mv", "src/orrery/agents/middle.py", "src/orrery/filtering.py")
    commit(root)
    located = locate_in(root, about(f"/home/x/orrery/{WHITENING}", lines="30-31"))
    assert located.best
    assert (located.best.path, located.best.symbol) == ("src/orrery/filtering.py", "OrbitFilter.whiten")
    assert "history" in located.best.how


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_renamed_function_is_found_through_history(tmp_path: Path, is_committed: bool) -> None:
    root = copied(tmp_path)
    commit(root)
    rewrite(root, EPOCHS, "def train_fleet(", "def run_squadron(")
    if is_committed:
        commit(root)
    located = locate_in(root, about(EPOCHS, lines="12", symbol="train_fleet"))
    assert located.best
    assert (located.best.path, located.best.symbol) == (EPOCHS, "run_squadron")
    assert "train_fleet" in located.best.how


def test_a_function_renamed_and_moved_is_found_through_history(tmp_path: Path) -> None:
    root = copied(tmp_path)
    commit(root)
    text = (root / WHITENING).read_text().replace("def whiten", "def normalise").replace("OrbitFilter", "Whitener")
    (root / "src/orrery/filters.py").write_text(text)
    (root / WHITENING).write_text('"""Moved."""\n')
    commit(root)
    assert found(root, about(WHITENING, symbol="OrbitFilter.whiten")) == ("src/orrery/filters.py", "Whitener.normalise")


def test_without_git_it_is_said_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copied(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    located = locate_in(root, about("src/orrery/gone.py", symbol="vanished", rest="```python\na.b(c.d, e=f.g)\n```"))
    assert not located.spots
    assert {line.partition(":")[0] for line in located.tried} == {"path", "symbol", "code block", "history"}


def test_git_runs_no_program_that_the_project_names(tmp_path: Path) -> None:
    root = copied(tmp_path)
    commit(root)
    marker = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "core.sshCommand"):
        git(root, "config", name, str(script))
    (root / ".gitattributes").write_text("*.py diff=x\n")
    git(root, "mv", WHITENING, "src/orrery/filtering.py")
    marker.unlink(missing_ok=True)
    assert locate_in(root, about(WHITENING, lines="30")).best
    assert not marker.exists()


def test_git_has_seconds_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    began = time.process_time()
    history = History(tmp_path, left=1.0)
    assert all(history.moved(f"a{number}/b.py") is None for number in range(20))
    assert time.process_time() - began < 5


# Nothing outside


def test_nothing_outside_the_project_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copied(tmp_path)
    secret = tmp_path / "secret.py"
    secret.write_text("def hidden():\n    return 1\n")
    (root / "src/linked.py").symlink_to(secret)
    (root / "src/folder").symlink_to(tmp_path)
    opened: list[str] = []
    read = Project.read

    def watch(self: Project, path: str) -> bytes:
        opened.append(os.path.realpath(self.root / path))
        return read(self, path)

    monkeypatch.setattr(Project, "read", watch)
    for path in (str(secret), "../secret.py", "src/linked.py", "src/folder/secret.py", "src/../../secret.py"):
        located = locate_in(root, about(path, lines="1", symbol="hidden"))
        assert not located.spots, path
    assert all(Path(path).is_relative_to(root) for path in opened)


# Bounded


def test_a_big_project_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = copied(tmp_path)
    filler = (root / EPOCHS).read_text().replace("train_fleet", "other").replace("wait_stream", "join")
    for number in range(600):
        (root / f"filler_{number}.py").write_text(filler)
    catalogue = catalogue_of(root)
    parsed: list[str] = []
    module = Project.module

    def watch(self: Project, path: str, raw: bytes | None = None) -> Module:
        parsed.append(path)
        return module(self, path, raw)

    monkeypatch.setattr(Project, "module", watch)
    began = time.process_time()
    located = locate(ticket_of(about("src/gone.py", lines="4", rest=WAITS)), catalogue.project)
    assert located.best
    assert located.best.path == EPOCHS
    assert len(set(parsed)) <= 20
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "code",
    ["x = " + " + ".join(["a"] * 4000), "\n".join(["if a.b(c):\n    d.e(f)"] * 600), "[" * 40 + "]" * 40],
    ids=["long", "wide", "deep"],
)
def test_a_monstrous_block_takes_bounded_time(code: str, tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / "src/big.py").write_text("def f(a, c):\n" + "    if a.b(c):\n        a.e(c)\n" * 3000)
    began = time.process_time()
    locate_in(root, about("src/big.py", lines="2", rest=f"```python\n{code}\n```"))
    assert time.process_time() - began < 15


def test_a_file_that_does_not_parse_is_still_the_place(tmp_path: Path) -> None:
    root = copied(tmp_path)
    (root / WHITENING).write_text("def broken(:\n")
    located = locate_in(root, about(WHITENING, lines="1", rest=GUARD))
    assert [spot.path for spot in located.spots] == [WHITENING]


def test_an_empty_project_has_no_place(tmp_path: Path) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    shutil.copy(copied(tmp_path) / "pyproject.toml", root)
    assert not locate_in(root, about(WHITENING, lines="3", symbol="x", rest=GUARD)).spots


# Lines around a function, and code that stands there twice

TWICE = (
    "import torch\n\n\ndef early(x):\n    return x\n\n\ndef late(lanes, device):\n"
    "    for lane in lanes:\n        lane.wait_stream(torch.cuda.default_stream(device))\n    step(lanes)\n"
    "    for lane in lanes:\n        lane.wait_stream(torch.cuda.default_stream(device))\n"
)


def written(folder: Path) -> Path:
    (folder / "pyproject.toml").write_text('[project]\nname = "lanes"\nversion = "0"\n')
    (folder / "lanes.py").write_text(TWICE)
    return folder


@pytest.mark.parametrize(("lines", "symbol"), [("7-13", "late"), ("6-9", "late"), ("3-6", "early"), ("1-13", "")])
def test_lines_mean_the_only_function_that_they_touch(tmp_path: Path, lines: str, symbol: str) -> None:
    assert found(written(tmp_path), about("lanes.py", lines=lines)) == ("lanes.py", symbol)


def test_code_that_stands_there_twice_is_meant_twice_unless_lines_say_which(tmp_path: Path) -> None:
    block = "```python\nlane.wait_stream(torch.cuda.default_stream(device))\n```\n"
    spots = {
        lines: locate_in(written(tmp_path), about("lanes.py", lines=lines, rest=block)).best for lines in ("", "13")
    }
    assert {lines: spot.lines if spot else () for lines, spot in spots.items()} == {
        "": (Lines(10, 10), Lines(13, 13)),
        "13": (Lines(13, 13),),
    }
