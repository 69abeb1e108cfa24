"""The files for Vim, Emacs, PyCharm and Helix: each is run by its editor, or as that would run it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cases import FIXTURES
from tests.ui.at.asking import FIXED, TEXT, write_files
from tests.ui.running import COMMAND, environment

EDITORS = Path(__file__).parent.parent.parent / "editors"
PATIENCE = 180
WITH_COMMAND = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"

needs_vim = pytest.mark.skipif(not shutil.which("vim"), reason="Vim is not installed")
needs_emacs = pytest.mark.skipif(not shutil.which("emacs"), reason="Emacs is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(tmp_path, {"pkg/a.py": TEXT})


def start(root: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    told = environment(PATH=WITH_COMMAND, HOME=str(root / ".home"))
    return subprocess.run(command, cwd=root, env=told, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)


# Vim


def vim(root: Path, file: str, *lines: str) -> dict[str, object]:
    """What a script in Vim leaves in g:seen."""
    script, seen = root / "script.vim", root / "seen.json"
    ending = [f"call writefile([json_encode(g:seen)], {str(seen)!r})", "qall!"]
    head = ["set encoding=utf-8", f"source {EDITORS / 'vim' / 'fullgraph.vim'}", f"edit {file}", "let g:seen = {}"]
    script.write_text("\n".join([*head, *lines, *ending]) + "\n")
    done = start(root, "vim", "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", str(script))
    assert seen.exists(), done.stdout + done.stderr
    return dict(json.loads(seen.read_text()))


@needs_vim
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_vim_applies_what_is_at_the_cursor_to_the_buffer(root: Path, newline: str) -> None:
    raw = TEXT.replace("\n", newline).encode()
    (root / "pkg/a.py").write_bytes(raw)
    unsaved = "call append(0, '# not saved')"
    chosen = "call feedkeys(\":FullgraphAt\\<CR>1\\<CR>\", 'tx')"
    vim(root, "pkg/a.py", unsaved, "call cursor(7, 0)", "call search('torch')", chosen, "write")
    assert (root / "pkg/a.py").read_bytes() == b"# not saved" + newline.encode() + FIXED.replace("\n", newline).encode()


@needs_vim
def test_vim_lists_the_findings_of_a_file_by_bytes(root: Path) -> None:
    keep = "let g:seen = {'found': map(getqflist(), '[v:val.lnum, v:val.col]'), 'saved': !&modified}"
    seen = vim(root, "pkg/a.py", "FullgraphFile", keep)
    behind_the_emoji = len(TEXT.splitlines()[5].partition("torch")[0].encode()) + 1
    assert seen == {"found": [[4, 2], [6, behind_the_emoji]], "saved": 1}


@needs_vim
def test_vim_shows_errors(root: Path) -> None:
    (root / "pkg/a.py").write_text("def f(:\n")
    seen = vim(root, "pkg/a.py", "FullgraphFile", "let g:seen = {'said': execute('messages')}")
    assert "fullgraph: " in str(seen["said"])


@needs_vim
def test_vim_puts_a_fix_over_several_files_into_their_buffers(tmp_path: Path) -> None:
    root = shutil.copytree(FIXTURES / "demo", tmp_path / "demo")
    chosen = "call feedkeys(\":FullgraphAt\\<CR>1\\<CR>\", 'tx')"
    vim(root, "src/seedling/policy.py", "call cursor(159, 9)", chosen, "silent wall")
    written = subprocess.run(
        ["git", "diff", "--no-index", "--stat", FIXTURES / "demo/src", "src"], cwd=root, capture_output=True
    )
    assert b"compiled_steps.py" in written.stdout
    expected = shutil.copytree(FIXTURES / "demo", tmp_path / "expected")
    start(expected, str(COMMAND), "at", "src/seedling/policy.py:159:9", "--apply", "1")
    for file in (expected / "src").rglob("*.py"):
        assert (root / file.relative_to(expected)).read_bytes() == file.read_bytes(), file.name


# Emacs


def emacs(root: Path, file: str, *forms: str) -> str:
    """What forms print in a buffer of this file."""
    load = ["-l", str(EDITORS / "emacs" / "fullgraph.el")]
    body = f'(with-current-buffer (find-file-noselect "{file}") {" ".join(forms)})'
    done = start(root, "emacs", "-Q", "--batch", *load, "--eval", body)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@needs_emacs
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_emacs_applies_what_is_at_point_to_the_buffer(root: Path, newline: str) -> None:
    raw = TEXT.replace("\n", newline).encode()
    (root / "pkg/a.py").write_bytes(raw)
    first = "(lambda (_ choices &rest _) (caar choices))"
    choose = f"(cl-letf (((symbol-function 'completing-read) {first})) (fullgraph-at-point))"
    type_it = '(require (quote cl-lib)) (insert "# not saved\\n") (search-forward "torch._dynamo.is")'
    emacs(root, "pkg/a.py", type_it, choose, "(save-buffer)")
    assert (root / "pkg/a.py").read_bytes() == b"# not saved" + newline.encode() + FIXED.replace("\n", newline).encode()


@needs_emacs
def test_emacs_marks_the_findings_of_a_buffer(root: Path) -> None:
    show = (
        "(fullgraph-flymake (lambda (found &rest _) (dolist (one found)"
        " (princ (buffer-substring (flymake--diag-beg one) (flymake--diag-end one))) (terpri))))"
    )
    assert emacs(root, "pkg/a.py", show) == "torch._dynamo.disable\ntorch._dynamo.is_compiling\n"


@needs_emacs
def test_emacs_tells_of_a_file_that_cannot_be_read(root: Path) -> None:
    (root / "pkg/a.py").write_text("def f(:\n")
    show = '(fullgraph-flymake (lambda (found &rest more) (princ (format "%S %S" found more))))'
    assert "fullgraph: " in emacs(root, "pkg/a.py", show)


# PyCharm


def tools() -> dict[str, list[str]]:
    """The command line of every tool, with the macros that PyCharm fills in."""
    found = {}
    for tool in ElementTree.parse(EDITORS / "pycharm" / "fullgraph.xml").getroot():
        held = {option.get("name"): option.get("value") or "" for option in tool.iter("option")}
        found[tool.get("name") or ""] = [held["COMMAND"], *shlex.split(held["PARAMETERS"].replace("\\", "\\\\"))]
    return found


def run_tool(root: Path, name: str, line: int = 6) -> str:
    macros = {
        "$FilePath$": str(root / "pkg/a.py"),
        "$FileDir$": str(root / "pkg"),
        "$LineNumber$": str(line),
        "$Prompt$": "1",
    }
    command = tools()[name]
    for macro, value in macros.items():
        command = [word.replace(macro, value) for word in command]
    assert not [word for word in command if "$" in word], command
    return start(root, *command).stdout.decode()


def test_pycharm_has_tools_that_find_fix_and_take_back(root: Path) -> None:
    assert run_tool(root, "Findings on this line").startswith("pkg/a.py:6:20: use_public_compiler_api: ")
    assert run_tool(root, "Findings in this file").count("use_public_compiler_api: ") == 2
    assert "takes it back" in run_tool(root, "Fix a finding on this line")
    assert (root / "pkg/a.py").read_text() == FIXED
    assert "Took back run 1" in run_tool(root, "Take the last fix back")
    assert (root / "pkg/a.py").read_text() == TEXT


# Helix


def test_helix_starts_a_command_that_serves(root: Path) -> None:
    held = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text())
    server = held["language-server"]["fullgraph"]
    assert [language["name"] for language in held["language"] if "fullgraph" in language["language-servers"]] == [
        "python"
    ]
    done = start(root, server["command"], *server["args"], "--help")
    assert b"language server protocol" in done.stdout
