"""`ticket show` says what was understood, to people and to programs, and what cannot be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fullgraph.codemods.ui.cli import main
from tests.tickets.corpus import CORPUS, PROJECT, samples


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The sample project with two tickets, and something that is none."""
    root = tmp_path / "orrery"
    shutil.copytree(PROJECT, root)
    (root / "docs/tickets/resolved").mkdir(parents=True)
    shutil.copy(CORPUS / "device_table/ticket.md", root / "docs/tickets/device.md")
    shutil.copy(CORPUS / "wait_stream_rejected/ticket.md", root / "docs/tickets/stream.md")
    shutil.copy(CORPUS / "tuple_keys_table/ticket.md", root / "docs/tickets/resolved/keys.md")
    (root / "docs/tickets/README.md").write_text("# Tickets\n\nHow to write one.\n")
    return root


def show(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["ticket", "show", "--path", str(root), *arguments])


def shown(root: Path, *arguments: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(show(root, "--format", "json", *arguments).stdout)
    return result


def test_a_ticket_is_shown_with_its_place_and_codemod(root: Path) -> None:
    result = show(root, str(root / "docs/tickets/device.md"))
    words = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "R2-DEV-01 Filter statistics follow the batch to another device" in words
    assert "/home/mira/code/orrery/src/orrery/agents/whitening.py:23-24,30-31" in words
    assert "src/orrery/agents/whitening.py:23-24 OrbitFilter.absorb (1.00:" in words
    assert "codemod warn_on_device_migration; it fires at the place" in words
    assert "differs on purpose" in words


def test_paths_are_shown_whole_and_tickets_are_counted(root: Path) -> None:
    path = "/home/mira/" + "very/deep/" * 9 + "whitening.py:23-24"
    (root / "long.md").write_text(f"# T\n\n**Severity:** High\n**File:** `{path}`\n\n## Panel\n\nKim: ENDORSE\n")
    result = show(root, str(root / "long.md"), str(root / "docs/tickets"))
    assert f" {path}\n" in result.stdout
    assert "High (P1)\n" in result.stdout
    assert "reviews   ENDORSE (Kim)\n" in result.stdout
    assert result.stdout.endswith("\n4 tickets: 1 with a codemod, 1 without one, 2 resolved or rejected\n")


def test_a_folder_without_files_is_told_of(root: Path) -> None:
    (root / "nothing").mkdir()
    result = show(root, str(root / "nothing"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "there is no Markdown, JSON or SARIF below " in result.stderr


def test_an_odd_name_of_a_file_does_not_reach_the_terminal(root: Path) -> None:
    (root / "a\x1b[31m\n.md").touch()
    assert "a\\x1b[31m\\x0a.md: error: holds no text" in show(root, str(root / "a\x1b[31m\n.md")).stderr


def test_a_huge_title_does_not_fill_the_screen(root: Path) -> None:
    (root / "huge.md").write_text(f"# {'a' * 9_000}\n\n**Severity:** P1\n**File:** `{'b/' * 4_000}a.py`\n")
    assert len(show(root, str(root / "huge.md")).stdout) < 4_000


def test_lines_fit_the_terminal(root: Path) -> None:
    result = show(root, str(root / "docs/tickets"))
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_a_folder_is_shown_and_what_is_no_ticket_passed_over(root: Path) -> None:
    found = shown(root, str(root / "docs/tickets"))
    routes = {ticket["source"]: ticket["route"]["codemod"] for ticket in found["tickets"]}
    assert routes == {
        "docs/tickets/device.md": "warn_on_device_migration",
        "docs/tickets/stream.md": "",
        "docs/tickets/resolved/keys.md": "",
    }
    assert found["exit_code"] == 0


def test_settled_tickets_are_routed_on_request(root: Path) -> None:
    found = shown(root, "--settled", str(root / "docs/tickets"))
    assert {ticket["route"]["codemod"] for ticket in found["tickets"]} == {
        "warn_on_device_migration",
        "skip_redundant_wait_stream",
        "flatten_tuple_keys",
    }


def test_the_json_has_a_version_and_all_that_is_known(root: Path) -> None:
    found = shown(root, str(root / "docs/tickets/device.md"))
    (ticket,) = found["tickets"]
    assert (found["version"], found["root"]) == (1, str(root))
    assert ticket["severity"] == {"written": "P2", "effective": "P2", "why": ""}
    assert [place["lines"] for place in ticket["places"]] == [[[23, 24]], [[30, 31]]]
    assert len(ticket["route"]["findings"]) == len(ticket["route"]["literal"]["edits"]) == 2
    assert all(finding["ticket"] == "R2-DEV-01" for finding in ticket["route"]["findings"])


@pytest.mark.parametrize("name", ["nowhere.md", "binary.md", "empty.md", "README.md"])
def test_what_cannot_be_read_as_a_ticket_ends_with_2(root: Path, name: str) -> None:
    (root / "binary.md").write_bytes(bytes(range(256)) * 20)
    (root / "empty.md").touch()
    shutil.copy(root / "docs/tickets/README.md", root)
    result = show(root, str(root / name), str(root / "docs/tickets/device.md"))
    assert result.exit_code == 2
    assert f"{name}: error: " in result.stderr
    assert "R2-DEV-01" in result.stdout


def test_a_path_that_is_nowhere_is_an_error(tmp_path: Path) -> None:
    result = show(tmp_path / "nowhere", str(tmp_path / "a.md"))
    assert result.exit_code == 2
    assert "no such file or folder" in result.stderr


def test_nothing_in_a_ticket_reaches_the_terminal(root: Path) -> None:
    (root / "evil.md").write_text(
        "# A \x1b[31mred\x1b[0m \u202e title\n\n**Severity:** P1\n**File:** `src/\x1b]0;x\x07a.py`\n\n"
        "## Fix\n\n\x1b[2Jgone\n"
    )
    result = show(root, "--color", "never", str(root / "evil.md"))
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


def test_nothing_is_written(root: Path) -> None:
    before = {file: file.read_bytes() for file in root.rglob("*") if file.is_file()}
    show(root, *(str(sample.file) for sample in samples()[:10]))
    assert {file: file.read_bytes() for file in root.rglob("*") if file.is_file()} == before
