"""`ticket fix` as a user runs it: reviewed, proven, written with the ticket's own file, reported, and taken back."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fullgraph.codemods.tickets import read_tickets
from fullgraph.codemods.ui.cli import main
from tests.tickets.corpus import CORPUS, PROJECT
from tests.ui.running import Terminal
from tests.ui.running import run as run_command

WHITENING = "src/orrery/agents/whitening.py"
DEVICE = "docs/tickets/device_table.md"
PROOF = ("--device", "second", "--backend", "eager", "--untimed", "--python", sys.executable)
SCENARIO = '''
"""Two filters that are made on the CPU and meet a batch on the device."""

import torch
from orrery.agents.whitening import OrbitFilter


def build(device):
    def run(obs):
        seen, used = OrbitFilter(3), OrbitFilter(3)
        seen.absorb(obs)
        return seen.mean, used.whiten(obs)

    return run


def cases(device, seed):
    make = torch.Generator().manual_seed(seed)
    return [(torch.randn(5, 3, generator=make).to(device),)]
'''
PICKING = """
import torch
from orrery.agents.acting import pick_actions


def build(device):
    return pick_actions


def cases(device, seed):
    make = torch.Generator().manual_seed(seed)
    return [({"a": torch.randn(4, 5, generator=make), "b": torch.randn(4, 3, generator=make)}, 4)]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The sample project with tickets of several severities, one of them rejected, one in JSON, one not for us."""
    root = tmp_path / "orrery"
    shutil.copytree(PROJECT, root)
    for name in ("device_table", "host_reads_plan_style", "wait_stream_rejected", "memory_leak", "tuple_keys_table"):
        put(root, name)
    put(root, "public_api_sarif", ".sarif")
    (root / "docs/tickets/README.md").write_text("# Tickets\n\nHow to write one.\n")
    return root


def put(root: Path, name: str, suffix: str = ".md") -> Path:
    file = root / f"docs/tickets/{name}{suffix}"
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(CORPUS / name / f"ticket{suffix}", file)
    return file


def fix(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["ticket", "fix", "--path", str(root), *arguments])


def undo(root: Path) -> None:
    assert CliRunner().invoke(main, ["undo", "--path", str(root)]).exit_code == 0


def snapshot(root: Path) -> dict[str, bytes]:
    files = (file for file in sorted(root.rglob("*")) if file.is_file() and not file.is_symlink())
    kept = (file for file in files if not {".fullgraph", "__pycache__"} & {*file.parts})
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in kept}


def words(text: str) -> str:
    return " ".join(text.split())


# A real proof


def test_a_ticket_is_proven_closed_and_reopened(root: Path) -> None:
    (root / "scenarios").mkdir()
    (root / "scenarios/whiten.py").write_text(SCENARIO)
    before = snapshot(root)
    command = ("ticket", "fix", DEVICE, "--yes", "--prove", "scenarios/whiten.py", "--keep", "neutral", *PROOF)
    done = subprocess.run(
        [Path(sys.executable).with_name("fullgraph"), *command], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'fixed; its status is now "resolved"' in words(done.stdout)
    assert "differs on purpose" in words(done.stdout)
    assert "not taken over: its message and `stacklevel=2`" in words(done.stdout)
    text = (root / DEVICE).read_text()
    assert "| **Status** | `resolved` |" in text
    assert f"| **Updated** | {date.today().isoformat()} |" in text
    assert "- [x] Warning seen when the filter is moved\n- [x] No change in the numbers\n" in text
    assert "- Neutral by scenarios/whiten.py: equivalent on 1 case; graph breaks 0;" in text
    assert "on second." in text
    assert "CPU\u00e2\u2020\u2019GPU" in text
    undo(root)
    assert snapshot(root) == before


def test_what_is_better_in_a_number_is_proven_and_the_number_told(root: Path) -> None:
    (root / "pick.py").write_text(PICKING)
    ticket = "docs/tickets/host_reads_plan_style.md"
    before = snapshot(root)
    options = ("--backend", "eager", "--untimed", "--python", sys.executable)
    result = fix(root, str(root / ticket), "--yes", "--prove", str(root / "pick.py"), *options)
    assert result.exit_code == 0, result.stderr
    text = (root / ticket).read_text()
    assert "- **Status:** resolved\n" in text
    assert "host reads 8 > 2" in text
    undo(root)
    assert snapshot(root) == before


def test_a_scenario_that_is_nowhere_decides_nothing(root: Path) -> None:
    before = snapshot(root)
    result = fix(root, str(root / DEVICE), "--yes", "--prove", "nowhere.py")
    assert result.exit_code == 4
    assert "not written: undecided" in words(result.stdout)
    assert snapshot(root) == before


# A folder


def test_a_folder_is_fixed_in_order_of_severity_and_reported(root: Path, tmp_path: Path) -> None:
    before = snapshot(root)
    result = fix(root, str(root / "docs/tickets"), "--yes", "--report", str(tmp_path / "out.md"))
    assert result.exit_code == 1
    rows = [line for line in (tmp_path / "out.md").read_text().splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert [row[0].split()[0] for row in cells] == [
        *("host_reads_plan_style", "STR-04", "public_api_sarif#3", "R2-DEV-01", "memory_leak"),
        *("public_api_sarif#2", "public_api_sarif#1", "R3-KEY-02"),
    ]
    table = {row[0].split()[0]: row for row in cells}
    assert table["R2-DEV-01"][2] == f"{WHITENING}:24 OrbitFilter.absorb, {WHITENING}:31 OrbitFilter.whiten"
    assert table["R2-DEV-01"][3] == "warn_on_device_migration"
    assert table["R2-DEV-01"][5] == 'written, not verified; its status is now "fix written, not verified"'
    assert table["R2-DEV-01"][6] == "2: `fullgraph undo 2`"
    assert table["STR-04"][5] == "not worked on: rejected by CUDA: REJECT"
    assert table["memory_leak"][3:5] == ["none", ""]
    assert table["memory_leak"][5].startswith("left open: ")
    assert "JSON and SARIF are not edited" in table["public_api_sarif#1"][5]
    assert "1 file below" in result.stderr
    undo(root)
    assert snapshot(root) == before


def test_a_second_run_has_nothing_to_write(root: Path) -> None:
    fix(root, str(root / "docs/tickets"), "--yes")
    after = snapshot(root)
    fix(root, str(root / "docs/tickets"), "--yes")
    assert snapshot(root) == after


def test_the_report_may_not_be_among_the_tickets(root: Path) -> None:
    result = fix(root, str(root / "docs/tickets"), "--yes", "--report", str(root / "docs/tickets/out.md"))
    assert result.exit_code == 2
    assert "is among the tickets" in result.stderr
    assert not (root / ".fullgraph").exists()


def test_a_report_that_cannot_be_written_is_said_first(root: Path, tmp_path: Path) -> None:
    result = fix(root, str(root / "docs/tickets"), "--yes", "--report", str(tmp_path / "nowhere/out.md"))
    assert result.exit_code == 2
    assert not (root / ".fullgraph").exists()


def test_a_report_that_fails_in_the_end_does_not_hide_what_was_done(root: Path) -> None:
    result = fix(root, str(root / DEVICE), "--yes", "--report", "/dev/full")
    assert result.exit_code == 2
    assert "the report was not written" in result.stderr
    assert "`fullgraph undo 1` takes it back" in words(result.stdout)


def test_the_projects_own_settings_count_unless_the_ticket_says_otherwise(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write('\n[tool.fullgraph.options.warn_on_device_migration]\nform = "strict"\n')
    assert fix(root, str(root / DEVICE), "--yes").exit_code == 0
    assert "strict_device: bool = False" in (root / WHITENING).read_text()


def test_excluded_files_are_left(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write('\n[tool.fullgraph]\nexclude = ["whitening.py"]\n')
    result = fix(root, str(root / DEVICE), "--yes")
    assert result.exit_code == 1
    assert "which is excluded" in words(result.stdout)


def test_a_hostile_title_stays_a_cell(root: Path, tmp_path: Path) -> None:
    (root / "evil.md").write_text("# A\n\n**ID:** X|Y<script>`\n**Severity:** P1 | *x*\n**File:** `a|b.py`\n")
    fix(root, str(root / "evil.md"), "--yes", "--report", str(tmp_path / "out.md"))
    text = (tmp_path / "out.md").read_text()
    (row,) = [line for line in text.splitlines() if "X\\|Y" in line]
    assert "<script>" not in text
    assert row.replace("\\|", "").count("|") == 8


# For programs


def test_json_tells_what_was_done_about_each_ticket(root: Path) -> None:
    result = fix(root, str(root / "docs/tickets"), "--yes", "--format", "json")
    told = json.loads(result.stdout)
    assert (told["version"], told["exit_code"], told["dry"], told["patch"]) == (1, 1, False, "")
    done = {ticket["id"]: ticket["done"] for ticket in told["tickets"]}
    device = done["R2-DEV-01"]
    assert (device["outcome"], device["new_status"]) == ("fixed", "fix written, not verified")
    assert (device["run"], device["undo"]) == (2, "fullgraph undo 2")
    assert device["files"] == [DEVICE, WHITENING]
    assert [finding["codemod"] for finding in device["applied"]] == ["warn_on_device_migration"] * 2
    assert done["STR-04"]["outcome"] == "skipped"
    assert done["memory_leak"]["outcome"] == "left"


def test_json_asks_nobody_and_writes_nothing_without_yes(root: Path) -> None:
    before = snapshot(root)
    told = json.loads(fix(root, str(root / DEVICE), "--format", "json").stdout)
    assert told["dry"]
    assert f"--- a/{WHITENING}\n" in told["patch"]
    assert told["tickets"][0]["done"]["files"] == [DEVICE, WHITENING]
    assert snapshot(root) == before


def test_json_holds_what_could_not_be_read(root: Path) -> None:
    told = json.loads(fix(root, str(root / "nowhere.md"), "--yes", "--format", "json").stdout)
    assert told["exit_code"] == 2
    assert told["errors"][0]["place"] == "nowhere.md"


# What is written, and what is not


def test_without_yes_the_patch_is_printed_and_nothing_written(root: Path) -> None:
    before = snapshot(root)
    result = fix(root, str(root / DEVICE))
    assert result.exit_code == 1
    assert f"--- a/{WHITENING}\n" in result.stdout
    assert "in the patch" in result.stderr
    assert snapshot(root) == before


def test_the_patch_has_the_tickets_in_it_and_goes_back_as_it_came(root: Path) -> None:
    for name in ("crlf_bom", "plan_many", "utf16", "windows_1252"):
        put(root, name)
    before = snapshot(root)
    patch = fix(root, str(root / "docs/tickets"), "--diff").stdout_bytes
    subprocess.run(["git", "apply", "-"], input=patch, cwd=root, check=True)
    after = snapshot(root)
    changed = {path for path in after if after[path] != before[path]}
    assert {WHITENING, DEVICE, "docs/tickets/plan_many.md", "docs/tickets/crlf_bom.md"} <= changed
    assert b"| **Status** | `fix written, not verified` |" in after[DEVICE]
    assert b"No run of the journal; `git apply -R` takes the patch back" in after[DEVICE]
    assert after["docs/tickets/plan_many.md"].count(b"No run of the journal") == 2
    assert not read_tickets("t.md", after[DEVICE])[0].is_resolved
    subprocess.run(["git", "apply", "-R", "-"], input=patch, cwd=root, check=True)
    assert snapshot(root) == before


def test_what_would_be_written_is_what_is_written(root: Path) -> None:
    put(root, "plan_many")
    patch = fix(root, str(root / "docs/tickets"), "--diff").stdout_bytes
    fix(root, str(root / "docs/tickets"), "--yes")
    written = snapshot(root)
    undo(root)
    subprocess.run(["git", "apply", "-"], input=patch, cwd=root, check=True)
    runless = re.compile(rb"\n- (?:No run|Run \d+) of the journal.*")
    assert {path: runless.sub(b"", raw) for path, raw in snapshot(root).items()} == {
        path: runless.sub(b"", raw) for path, raw in written.items()
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("--diff", "--yes"),
        ("--close-neutral",),
        ("--device", "cpu"),
        ("--keep", "neutral"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(root: Path, arguments: tuple[str, ...]) -> None:
    assert fix(root, str(root / DEVICE), *arguments).exit_code == 2


def test_what_is_unsafe_is_written_on_request(root: Path) -> None:
    put(root, "wait_stream")
    file = str(root / "docs/tickets/wait_stream.md")
    left = fix(root, file, "--yes")
    assert left.exit_code == 1
    assert "--unsafe includes it" in words(left.stdout)
    assert fix(root, file, "--yes", "--unsafe").exit_code == 0


def test_the_literal_fix_is_written_on_request(root: Path) -> None:
    assert fix(root, str(root / DEVICE), "--yes", "--literal").exit_code == 0
    assert "OrbitFilter moves to" in (root / WHITENING).read_text()
    assert "the ticket's own fix in src/orrery/agents/whitening.py" in (root / DEVICE).read_text()


def test_a_test_is_written_with_the_fix_on_request(root: Path) -> None:
    file = put(root, "graph_outputs_kept")
    assert fix(root, str(file), "--yes", "--write-tests").exit_code == 0
    assert list((root / "tests").glob("test_*.py"))


def test_that_no_test_was_written_is_said(root: Path) -> None:
    result = fix(root, str(root / DEVICE), "--yes", "--write-tests")
    assert "no test was written: there is none for these findings" in words(result.stdout)
    assert not (root / "tests").exists()


def test_a_place_that_nothing_changes_is_named_and_the_ticket_stays_open(root: Path) -> None:
    text = re.sub(r"```python\n# In absorb.*?```", "", (root / DEVICE).read_text(), flags=re.DOTALL)
    (root / DEVICE).write_text(text.replace("whiten()` |", "whiten()`, `OrbitFilter.__init__()` |"))
    result = fix(root, str(root / DEVICE), "--yes")
    assert result.exit_code == 1
    left = f"{WHITENING}:11-14 OrbitFilter.__init__: nothing is changed there"
    assert f"left {left}" in words(result.stdout)
    assert f"- Left: {left}.\n" in (root / DEVICE).read_text()
    assert "`partially fixed`" in (root / DEVICE).read_text()


def test_what_was_not_verified_is_not_counted_as_fixed(root: Path) -> None:
    assert "1 ticket: 1 written, not verified." in fix(root, str(root / DEVICE), "--yes").stderr


def test_a_literal_fix_that_is_left_is_told_as_one(root: Path) -> None:
    result = fix(root, str(root / DEVICE), "--yes", "--literal", "--prove", "nowhere.py")
    assert "codemod the ticket's own fix, not that of warn_on_device_migration" in words(result.stdout)


def test_a_ticket_that_is_named_twice_is_fixed_once(root: Path) -> None:
    result = fix(root, str(root / DEVICE), str(root / "docs/tickets"), "--yes")
    assert result.stdout.count("R2-DEV-01  ") == 1


# Files outside


def test_a_ticket_outside_the_project_is_not_edited(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere/docs/tickets/device_table.md"
    outside.parent.mkdir(parents=True)
    shutil.move(root / DEVICE, outside)
    for given in (outside, tmp_path / "elsewhere"):
        text = outside.read_bytes()
        result = fix(root, str(given), "--yes")
        assert result.exit_code == 0
        assert "not edited: it is outside the project" in words(result.stdout)
        assert outside.read_bytes() == text
        assert not (root / DEVICE).exists()
        undo(root)


def test_a_file_of_the_project_with_the_path_of_one_outside_is_not_mistaken_for_it(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere/docs/tickets"
    shutil.copytree(root / "docs/tickets", outside)
    before = (root / DEVICE).read_bytes()
    fix(root, str(tmp_path / "elsewhere"), "--yes")
    assert (root / DEVICE).read_bytes() == before


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    shutil.move(root / DEVICE, secret)
    os.symlink(secret, root / DEVICE)
    before = secret.read_bytes()
    result = fix(root, str(root / DEVICE), "--yes")
    assert result.exit_code == 2
    assert "a link; left alone" in result.stderr
    assert secret.read_bytes() == before
    assert not (root / ".fullgraph").exists()


def test_a_folder_that_is_a_link_to_outside_is_not_edited(root: Path, tmp_path: Path) -> None:
    shutil.move(root / "docs", tmp_path / "docs")
    os.symlink(tmp_path / "docs", root / "docs")
    before = (tmp_path / DEVICE).read_bytes()
    result = fix(root, str(root / DEVICE), "--yes")
    assert "not edited: it is outside the project" in words(result.stdout)
    assert (tmp_path / DEVICE).read_bytes() == before


def test_what_cannot_be_read_as_a_ticket_ends_with_2_and_the_rest_is_fixed(root: Path) -> None:
    (root / "binary.md").write_bytes(bytes(range(256)) * 20)
    result = fix(root, str(root / "binary.md"), str(root / DEVICE), "--yes")
    assert result.exit_code == 2
    assert "binary.md: error: " in result.stderr
    assert "_warn_device_migration" in (root / WHITENING).read_text()


# On a terminal


def test_the_review_shows_the_ticket_and_its_claim(root: Path) -> None:
    terminal = Terminal(root, "ticket", "fix", DEVICE)
    terminal.answer(" ", "y", "y")
    assert terminal.end() == 0
    screen = words(terminal.screen)
    assert "ticket R2-DEV-01 (P2): Filter statistics follow the batch to another device" in screen
    assert "claims: Silent CPU→GPU moves inside whiten() cost a recompile and nobody is told." in screen
    assert "compared: differs on purpose" in screen
    assert "+ _warn_device_migration(" in screen


def test_what_is_declined_leaves_the_ticket_open(root: Path) -> None:
    before = snapshot(root)
    terminal = Terminal(root, "ticket", "fix", DEVICE)
    terminal.answer("n", "n")
    assert terminal.end() == 1
    assert "left open: declined" in words(terminal.screen)
    assert snapshot(root) == before


def test_what_is_accepted_in_part_is_fixed_in_part(root: Path) -> None:
    terminal = Terminal(root, "ticket", "fix", DEVICE)
    terminal.answer("y", "n")
    assert terminal.end() == 1
    (ticket,) = read_tickets("t.md", (root / DEVICE).read_bytes())
    assert ticket.status == "partially fixed"
    undo(root)
    assert (root / DEVICE).read_bytes() == (CORPUS / "device_table/ticket.md").read_bytes()


def test_leaving_ends_the_questions(root: Path) -> None:
    terminal = Terminal(root, "ticket", "fix", "docs/tickets")
    terminal.answer("y", "q")
    assert terminal.end() == 1
    assert len(run_command(root, "log").out.split("run ")) == 2


def test_ctrl_c_names_what_was_written_and_reports_the_rest(root: Path, tmp_path: Path) -> None:
    terminal = Terminal(root, "ticket", "fix", "docs/tickets", "--report", str(tmp_path / "out.md"))
    terminal.answer("y", "\x03")
    assert terminal.end() == 130
    assert "stopped; run 1 had been written before" in terminal.screen
    report = (tmp_path / "out.md").read_text()
    assert "1: `fullgraph undo 1`" in report
    assert "not reached: stopped" in report
    assert "_warn_device_migration" not in (root / WHITENING).read_text()
    undo(root)
    assert (root / DEVICE).read_bytes() == (CORPUS / "device_table/ticket.md").read_bytes()
