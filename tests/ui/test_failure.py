"""Errors for programs: `{"error", "fix"}` on standard output, whichever command could not do its work."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.ui.failure import asks_for_json, way_out
from tests.ui.running import COMMAND, FILES, PATIENCE, environment, run, write_project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path, {**FILES, "bad.md": "no ticket\n"})


FAILING = [
    (2, ("check", "missing.py", "--format", "json")),
    (2, ("check", "--select", "bach", "--format", "json")),
    (2, ("check", "--nonsense", "--format=json")),
    (2, ("fix", "--diff", "--yes", "--format", "json")),
    (2, ("ci", "--output", "json", "--since", "nowhere")),
    (2, ("ci", "--output", "json", "--branch", "b")),
    (4, ("prove", "missing.py", "--format", "json")),
    (4, ("audit", "missing.py", "--format", "json")),
    (2, ("ticket", "show", "missing.md", "--format", "json")),
    (2, ("ticket", "fix", "bad.md", "--format", "json")),
    (2, ("at", "missing.py:3", "--json")),
    (127, ("observe", "--format", "json", "--", "no-such-program")),
    (2, ("observe", "--format", "json")),
    (2, ("log", "missing", "--format", "json")),
    (2, ("undo", "7", "--format", "json")),
    (2, ("doctor", "missing", "--format", "json")),
    (2, ("explain", "bach", "--format", "json")),
    (2, ("list", "--codemod", "missing.py", "--format", "json")),
    (2, ("nonsense", "--format", "json")),
]


@pytest.mark.parametrize(("code", "words"), FAILING, ids=[" ".join(words) for _, words in FAILING])
def test_an_error_is_an_object_with_its_way_out(root: Path, code: int, words: tuple[str, ...]) -> None:
    done = run(root, *words)
    held = json.loads(done.out)
    assert (done.code, held.get("exit_code", code)) == (code, code)
    assert held["error"]
    assert held["fix"]


def test_every_command_with_json_is_tried_here() -> None:
    from fullgraph.codemods.ui.cli import main

    def has_json(name: str) -> bool:
        command = main.commands[name]
        kinds = [command, *getattr(command, "commands", {}).values()]
        return any({"form", "as_json", "outputs"} & {one.name for one in kind.params} for kind in kinds)

    assert {name for name in main.commands if has_json(name)} == {words[0] for _, words in FAILING} - {"nonsense"}


def test_without_json_an_error_is_a_line_on_standard_error(root: Path) -> None:
    done = run(root, "log", "missing")
    assert (done.code, done.out, done.err) == (2, "", "fullgraph: missing: no such file or folder\n")
    assert run(root, "check", "--nonsense").err.startswith("Usage: ")


def test_a_report_with_errors_says_the_first_of_them(root: Path) -> None:
    (root / "pkg" / "bad.py").write_text("slow(\n")
    done = run(root, "check", "--format", "json")
    held = json.loads(done.out)
    assert (done.code, held["error"]) == (2, f"pkg/bad.py: {held['errors'][0]['reason']}")
    assert "--exclude" in held["fix"]
    assert "error" not in json.loads(run(root, "check", "pkg/a.py", "--format", "json").out)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("there is no codemod 'bach'; did you mean 'batch'?", "did you mean 'batch'?"),
        ("x is there already, and is left as it is; --out names another file", "--out names another file"),
        ("a/lock: cannot be locked: denied; nothing was written", "`fullgraph fix --help` says what it takes"),
        ("git does not know who commits: set user.name and user.email", "set user.name and user.email"),
        ("git/a.py: not UTF-8 text", "`fullgraph fix --help` says what it takes"),
        ("a.py: invalid syntax (line 3)", "correct the syntax there, or leave the file out with --exclude"),
        ("there is no codemod 'qqq'", "`fullgraph list` names every codemod"),
    ],
)
def test_the_way_out_is_what_the_message_says_or_where_to_look(text: str, remedy: str) -> None:
    assert way_out(text, "fix") == remedy


def test_only_what_goes_to_standard_output_counts_as_json() -> None:
    assert asks_for_json(["ci", "--output=json"])
    assert asks_for_json(["at", "a.py", "--json"])
    assert not asks_for_json(["ci", "--output", "json=report.json"])
    assert not asks_for_json(["observe", "--", "python", "x.py", "--format", "json"])


def test_list_and_explain_are_as_their_schema_says(root: Path) -> None:
    import jsonschema

    from fullgraph.codemods.ui.described import SCHEMA

    schema = json.loads(SCHEMA.read_text())
    listed = json.loads(run(root, "list", "--format", "json").out)
    explained = json.loads(run(root, "explain", "batch_host_reads", "--format", "json").out)
    for held in (listed, explained):
        jsonschema.validate(held, schema)
    assert explained["name"] in [one["name"] for one in listed["codemods"]]
    assert "+++ b/" in explained["example"]


def test_what_an_observed_program_prints_is_not_in_its_report(root: Path) -> None:
    done = run(root, "observe", "--format", "json", "--", "echo", "hello")
    assert json.loads(done.out)["command"] == ["echo", "hello"]
    assert "hello\n" in done.err


ENDING = [
    ("check", "--format", "json"),
    ("fix", "--format", "json"),
    ("ci", "--output", "json"),
    ("undo", "--format", "json"),
    ("log", "--format", "json"),
    ("doctor", "--python", "none", "--format", "json"),
    ("ticket", "fix", "bad.md", "--format", "json"),
    ("agent", "install", "--print"),
]


@pytest.mark.parametrize("words", ENDING, ids=" ".join)
def test_no_command_waits_for_somebody_to_type(root: Path, words: tuple[str, ...]) -> None:
    """Standard input is open, is no terminal, and never says anything."""
    process = subprocess.Popen(
        [COMMAND, *words],
        cwd=root,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    told = process.stdout.read()
    assert process.wait(PATIENCE) in (0, 1, 2)
    assert json.loads(told) is not None if "json" in words else told
