"""The server with a second client: Neovim without a screen, set up by the file that users copy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.ui.at.asking import TEXT, at, write_files
from tests.ui.running import COMMAND, environment, run

HERE = Path(__file__).parent
SETUP = HERE.parent.parent / "editors" / "neovim" / "fullgraph.lua"
PATIENCE = 120

pytestmark = pytest.mark.skipif(not shutil.which("nvim"), reason="Neovim is not installed")


def nvim(root: Path, *words: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """Neovim with nothing of the user's, and `fullgraph` on its PATH."""
    own = {
        name: str(root / ".home") for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
    }
    told = environment(PATH=path or f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}", **own)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", *words]
    return subprocess.run(
        command, cwd=root, env=told, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
    )


def drive(root: Path, file: str, *steps: str) -> list[Any]:
    """What Neovim saw in these steps (tests/editors/neovim.lua)."""
    seen = root / ".seen.json"
    settings = f"let g:steps = {json.dumps(steps)} | let g:seen = {json.dumps(str(seen))}"
    setup = ["-c", "filetype on", "-c", f"luafile {SETUP}", "-c", settings]
    done = nvim(root, *setup, "-c", f"edit {file}", "-c", f"luafile {HERE / 'neovim.lua'}")
    assert seen.exists(), done.stderr
    told = json.loads(seen.read_text())
    assert told["failure"] == "", done.stderr
    return list(told["seen"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path, {"pkg/a.py": TEXT})


def test_diagnostics_arrive_with_the_codemod_and_the_right_column(root: Path) -> None:
    first, second = drive(root, "pkg/a.py", "two_findings")
    assert (first["line"], first["column"]) == (3, 1)
    behind_the_emoji = len(TEXT.splitlines()[5].partition("torch")[0].encode())
    assert (second["line"], second["column"]) == (5, behind_the_emoji)
    assert {one["source"] for one in (first, second)} == {"fullgraph"}
    assert "torch.compiler.is_compiling" in second["message"]


def test_a_code_action_gives_the_text_of_the_command_line(root: Path) -> None:
    (text,) = drive(root, "pkg/a.py", "fix_the_second")
    assert text == at(root, "pkg/a.py:6", "--apply", "1", buffer=TEXT.encode()).stdout.decode()
    assert (root / "pkg/a.py").read_text() == TEXT


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_fixing_all_and_saving_gives_the_bytes_of_fix(root: Path, tmp_path: Path, newline: str) -> None:
    raw = TEXT.replace("\n", newline).encode()
    (root / "pkg/a.py").write_bytes(raw)
    drive(root, "pkg/a.py", "two_findings", "fix_all", "write")
    saved = (root / "pkg/a.py").read_bytes()
    (root / "pkg/a.py").write_bytes(raw)
    done = subprocess.run([COMMAND, "fix", "--yes", "-q", "--no-cache", "pkg"], cwd=root, env=environment())
    assert done.returncode == 0
    assert saved == (root / "pkg/a.py").read_bytes() != raw


def test_undo_takes_a_fix_back_in_the_buffer(root: Path) -> None:
    fixed, back = drive(root, "pkg/a.py", "two_findings", "fix_all", "undo")[2:]
    assert back == TEXT != fixed


def test_the_buffer_counts_before_it_is_saved(root: Path) -> None:
    *_, moved = drive(root, "pkg/a.py", "two_findings", "type_a_line_above")
    assert moved == [4, 6]
    assert (root / "pkg/a.py").read_text() == TEXT


def test_one_server_serves_all_buffers_of_all_projects(root: Path) -> None:
    here = write_files(root / "here", {"pkg/a.py": TEXT, "pkg/b.py": TEXT, "pkg/c.py": TEXT})
    write_files(root / "other", {"d.py": TEXT, "e.py": TEXT})
    assert drive(here, "pkg/a.py", "two_findings", "open_the_others", "count_servers")[2:] == [1]


def test_the_page_about_a_finding_opens_in_the_editor(root: Path) -> None:
    name, title = drive(root, "pkg/a.py", "two_findings", "explain")[2:]
    assert name == "use_public_compiler_api.md"
    assert title == "# use_public_compiler_api"


def test_without_the_command_a_message_says_so(root: Path) -> None:
    done = nvim(
        root,
        "-c",
        f"luafile {SETUP}",
        "-c",
        "messages",
        "-c",
        "qall!",
        path=os.path.dirname(shutil.which("nvim") or ""),
    )
    assert "fullgraph: the command is not on PATH" in done.stderr


def test_a_newer_neovim_is_given_a_configuration(root: Path) -> None:
    """Neovim 0.11 has `vim.lsp.config`; here it is written down what it gets."""
    fake = (
        "lua vim.lsp.config = function(name, given) reused = given.reuse_client({name = name}, given); "
        "given.reuse_client = reused; seen = vim.fn.json_encode({name, given}) end"
    )
    enable = "lua vim.lsp.enable = function(name) enabled = name end"
    show = "lua io.stdout:write(seen .. '\\n' .. enabled)"
    done = nvim(root, "-c", fake, "-c", enable, "-c", f"luafile {SETUP}", "-c", show, "-c", "qall!")
    configured, enabled = done.stdout.splitlines()
    name, given = json.loads(configured)
    assert (name, enabled, given["cmd"], given["filetypes"]) == (
        "fullgraph",
        "fullgraph",
        ["fullgraph", "lsp"],
        ["python"],
    )
    assert given["settings"] == {"fullgraph": {}}
    assert given["reuse_client"] is True
    assert run(root, "lsp", "--help").code == 0
