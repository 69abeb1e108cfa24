"""Programs that a repository's own settings name are not run, folders that are exchanged are not entered, and what is
there is not lost under a report."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.folder import Folder, identity_of, pinned
from fullgraph.codemods.rewrite.journal import Journal
from tests.attack.test_clones import call
from tests.rewrite.running import write_files

CODE = "import torch\n\n\ndef f(x):\n    with torch.cuda.amp.autocast():\n        return x\n"
CHOSEN = ["--select", "use_public_compiler_api"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, and a program beside it that leaves a trace."""
    root = tmp_path / "project"
    write_files(root, {"m.py": CODE})
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho ran >> "{tmp_path / "trace"}"\ncat\n')
    program.chmod(0o755)
    monkeypatch.chdir(root)
    for command in (["init", "-q"], ["add", "m.py"], ["commit", "-qm", "a"]):
        git(*command)
    (root / "m.py").write_text(CODE + "x = 1\n")
    return root


def git(*arguments: str) -> None:
    named = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *named, *arguments], check=True)


READING = [["ci", *CHOSEN, "--since", "HEAD", "."], ["prove", "m.py", "--before", "HEAD", "--python", "/bin/true"]]


@pytest.mark.parametrize("command", READING, ids=["ci", "prove"])
@pytest.mark.parametrize("kind", ["clean", "process"])
def test_a_filter_of_the_repository_is_not_run(project: Path, command: list[str], kind: str) -> None:
    git("config", f"filter.x.{kind}", str(project.parent / "program"))
    git("config", "filter.x.required", "true")
    (project / ".git/info/attributes").write_text("*.py filter=x\n")
    call(command, codes=(0, 1, 2, 4))
    assert not (project.parent / "trace").exists()


@pytest.mark.parametrize("command", READING, ids=["ci", "prove"])
def test_what_is_missing_in_a_partial_clone_is_not_fetched(project: Path, command: list[str]) -> None:
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{project.parent / 'program'}",
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        git("config", key, value)
    blob = subprocess.run(["git", "rev-parse", "HEAD:m.py"], capture_output=True, text=True, check=True).stdout.strip()
    (project / ".git/objects" / blob[:2] / blob[2:]).unlink()
    done = call(command, codes=(2, 4))
    assert "never fetched" in done.output
    assert not (project.parent / "trace").exists()


def test_a_project_that_was_exchanged_is_not_written(project: Path) -> None:
    identity = identity_of(project)
    outside = project.parent / "outside"
    write_files(outside, {"m.py": CODE})
    project.rename(project.parent / "aside")
    project.symlink_to(outside)
    with pinned(project, identity), pytest.raises(FullgraphError, match="not the folder that it was"):
        Journal(project).runs()
    with pytest.raises(FullgraphError, match="not the folder that it was"):
        identity_of(project)
    Folder.at(project).close()


def test_a_link_out_of_a_folder_without_a_marker_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"outside/m.py": CODE, "unpacked/m.py": CODE})
    (tmp_path / "unpacked/pk").symlink_to(tmp_path / "outside")
    monkeypatch.chdir(tmp_path / "unpacked")
    assert "leads out" in call(["fix", *CHOSEN, "--yes", "pk"], codes=(2,)).output
    assert (tmp_path / "outside/m.py").read_text() == CODE
    assert os.listdir(tmp_path / "outside") == ["m.py"]


@pytest.mark.parametrize("name", ["m.py", "pyproject.toml", ".git/config"])
@pytest.mark.parametrize("command", ["observe", "page", "ci", "ticket"])
def test_a_report_replaces_no_file_that_is_none(project: Path, name: str, command: str) -> None:
    write_files(project, {"pyproject.toml": "[project]\n", "t.md": "# Old name of autocast\n\nm.py:5\n"})
    before = (project / name).read_bytes()
    given = {
        "observe": ["observe", "--out", name, "--", "/bin/true"],
        "page": ["observe", "--html", name, "--", "/bin/true"],
        "ci": ["ci", *CHOSEN, "--output", f"json={name}", "."],
        "ticket": ["ticket", "fix", "t.md", "--report", name],
    }[command]
    call(given, codes=(0, 1, 2))
    assert (project / name).read_bytes() == before


@pytest.mark.parametrize("variable", ["", "GITHUB_STEP_SUMMARY"])
def test_a_pipe_that_nobody_reads_is_an_error_and_not_waited_for(
    project: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo("pipe.json")
    monkeypatch.setenv(variable or "UNUSED", "pipe.json")
    outputs = [] if variable else ["--output", "json=pipe.json"]
    call(["ci", *CHOSEN, *outputs, "."], codes=(1, 2))


def test_entries_of_others_are_not_read_whole(project: Path) -> None:
    for number in range(1, 40):
        (project / f".fullgraph/runs/{number}").mkdir(parents=True)
        with open(project / f".fullgraph/runs/{number}/entry", "wb") as stream:
            stream.write(b"fullgraph run 3 " + b"0" * 16 + b" ")
            stream.truncate(1 << 28)
    assert len(Journal(project).foreign()) == 39
    assert Journal(project).runs() == []


@pytest.mark.parametrize("what", ["a file", "a link"])
def test_who_cannot_keep_a_journal_is_told_what_to_remove(project: Path, what: str) -> None:
    place = project / ".fullgraph"
    place.write_text("x") if what == "a file" else place.symlink_to("/tmp")
    for command in (["fix", *CHOSEN, "--yes", "."], ["undo"], ["log"]):
        assert "remove it" in call(command, codes=(0, 2)).output
