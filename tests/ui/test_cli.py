"""The command line: options, exit codes, streams, and one clear line for everything that is wrong."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from fullgraph.codemods.ui.cli import main
from tests.ui.running import COMMAND, FILES, Terminal, arguments, environment, run, texts, write_project

BEFORE = {path: text for path, text in FILES.items() if path.startswith("pkg/")}


def shell(root: Path, line: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `$CHECK` and `$FIX` run the sample codemods."""
    commands = {"CHECK": " ".join(arguments("check")), "FIX": " ".join(arguments("fix"))}
    done = subprocess.run(
        ["bash", "-c", line], cwd=root, env=environment(**commands, **changes), capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


# Exit codes and streams


def test_findings_are_exit_code_1_and_none_is_0(project: Path) -> None:
    assert run(project, "check").code == 1
    clean = run(project, "check", "--select", "flatten_nest")
    assert (clean.code, clean.out) == (0, "")
    assert clean.err.startswith("No findings in 3 files.\n")


def test_findings_go_to_stdout_and_the_rest_to_stderr(project: Path) -> None:
    result = run(project, "check", "--format", "concise")
    assert result.out.splitlines()[0] == "pkg/a.py:2:5: call_fast: slow() waits [safe]"
    assert result.err.splitlines() == [
        "7 findings in 3 files; 6 can be fixed, 1 of them unsafe.",
        "1 finding left alone: other reasons (1); --all shows it.",
        "Next: `fullgraph fix` shows each rewrite and asks, `fullgraph fix --yes` writes the 5 safe ones.",
    ]


def test_quiet_says_findings_and_errors_only(project: Path) -> None:
    result = run(project, "check", "--quiet", "--all", "--format", "concise", ".", "nope")
    assert len(result.out.splitlines()) == 7
    assert result.err == "nope: error: no such file or folder\n"


def test_no_path_means_the_current_folder(project: Path) -> None:
    result = run(project / "pkg", "check", "--select", "rename_shared")
    assert result.out.startswith("c.py  1 finding\n")


def test_the_same_command_says_the_same_twice(project: Path) -> None:
    assert run(project, "check", "--format", "json") == run(project, "check", "--format", "json", PYTHONHASHSEED="7")


def test_several_paths_in_several_projects_are_one_report(project: Path, tmp_path: Path) -> None:
    write_project(tmp_path / "other")
    result = run(tmp_path, "check", "project/pkg/a.py", "other", "project/pkg/a.py")
    assert "--> project/pkg/a.py:2:5 in one\n" in result.out
    assert "--> other/pkg/a.py:2:5 in one\n" in result.out
    assert "11 findings in 4 files" in result.err


def test_a_closed_pipe_ends_quietly(project: Path) -> None:
    (project / "pkg" / "many.py").write_text("slow()\n" * 5000)
    done = shell(project, "set -o pipefail; $CHECK | head -1")
    assert done.stdout == "pkg/a.py  3 findings\n"
    assert done.stderr == ""


@pytest.mark.parametrize("line", ["$CHECK >&-", "$CHECK 2>&-", "$CHECK <&-", "$CHECK >&- 2>&-", "$FIX --diff >&-"])
def test_closed_streams_do_not_matter(project: Path, line: str) -> None:
    assert shell(project, line).returncode == 1


def test_a_full_disk_behind_stdout_is_one_line(project: Path) -> None:
    done = shell(project, "$CHECK > /dev/full")
    assert (done.returncode, done.stderr) == (2, "fullgraph: No space left on device\n")


def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    done = shell(tmp_path, "mkdir gone; cd gone; rmdir ../gone; $CHECK")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "fullgraph: the current folder does not exist any more"


def test_ctrl_c_while_looking_is_exit_code_130(project: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import sys, time\nfrom fullgraph import Codemod\n\n\nclass TakeLong(Codemod):\n"
        "    def find(self, module, project):\n        print('looking', file=sys.stderr)\n        time.sleep(60)\n"
    )
    for command in ("check", "fix"):
        terminal = Terminal(project, command, "--codemod", str(slow))
        terminal.expect("looking")
        terminal.press("\x03")
        assert terminal.end() == 130
        assert "fullgraph: stopped" in terminal.screen


# Colours and progress


def test_pipes_get_no_colours_and_no_progress(project: Path) -> None:
    result = run(project, "check")
    assert "\x1b" not in result.out + result.err
    assert "\r" not in result.err


def test_colours_in_a_pipe_if_asked_for(project: Path) -> None:
    assert "\x1b[" in run(project, "check", "--color", "always").out
    assert "\x1b[" in run(project, "check", FORCE_COLOR="1").out
    assert "\x1b[" in run(project, "fix", "--diff", "--color", "always").out
    assert "\x1b[" not in run(project, "check", FORCE_COLOR="1", NO_COLOR="1").out


@pytest.mark.parametrize(
    ("options", "changes"), [(["--color", "never"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})]
)
def test_a_terminal_can_do_without_colours(project: Path, options: list[str], changes: dict[str, str]) -> None:
    terminal = Terminal(project, "check", *options, columns=80, **changes)
    assert terminal.end() == 1
    assert b"\x1b[" not in terminal.raw


def test_a_terminal_gets_colours(project: Path) -> None:
    terminal = Terminal(project, "check")
    terminal.end()
    assert b"\x1b[1;36mcall_fast" in terminal.raw


# What is asked for


def test_select_and_ignore_take_names_one_by_one_or_with_commas(project: Path) -> None:
    short = ["check", "--format", "concise"]
    assert run(project, *short, "--select", "flatten_nest,rename_shared").out.count("\n") == 1
    assert run(project, *short, "--ignore", "call_fast", "--ignore", "flatten_nest").out.count("\n") == 1


def test_only_findings_in_a_symbol(project: Path) -> None:
    short = ["check", "--format", "concise", "--all", "--symbol"]
    assert run(project, *short, "Thing.run").out.count("\n") == 3
    assert run(project, *short, "Thing").out.count("\n") == 3
    assert run(project, *short, "Thin").out.count("\n") == 0


def test_only_findings_on_lines(project: Path) -> None:
    short = ["check", "--format", "concise", "--all"]
    result = run(project, *short, "pkg/a.py", "--lines", "1-2,10", "--lines", "11")
    assert [line.split(":")[1] for line in result.out.splitlines()] == ["2", "10", "11"]


@pytest.mark.parametrize("lines", ["x", "5-", "-5", "9-3", "²", "0", "1,,2", ""])
def test_what_is_no_range_of_lines_is_refused(project: Path, lines: str) -> None:
    result = run(project, "check", f"--lines={lines}")
    assert result.code == 2
    assert "is no line or range of lines; write 73-74,131" in result.err


def test_an_option_reaches_its_codemod(project: Path) -> None:
    assert "+    faster()" in run(project, "fix", "--diff", "--option", "call_fast.to=faster").out


def test_excluded_files_are_not_looked_at_unless_they_are_named(project: Path) -> None:
    assert "pkg/a.py:" not in run(project, "check", "--exclude", "a.py").out
    assert "pkg/a.py:" in run(project, "check", "--all", "--exclude", "a.py", "pkg/a.py").out


def test_a_finding_that_would_change_an_excluded_file_is_left_alone(project: Path) -> None:
    result = run(project, "check", "--select", "rename_shared", "--exclude", "b.py", "--all")
    assert "left alone: would have to change pkg/b.py, which is excluded" in result.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--select", "call_fats"], "there is no codemod 'call_fats'; did you mean 'call_fast'?"),
        (["--ignore", "rename_shard"], "there is no codemod 'rename_shard'; did you mean 'rename_shared'?"),
        (["--option", "call_fats.to=x"], "there is no codemod 'call_fats'; did you mean 'call_fast'?"),
        (["--option", "call_fast.too=x"], "call_fast has no option 'too'; did you mean 'to'?"),
        (["--option", "call_fast.times=x"], "option call_fast.times: 'x' is not a number"),
        (["--option", "call_fast.loud=x"], "option call_fast.loud: 'x' is not true or false"),
        (["--option", "call_fast.mode=cal"], "option call_fast.mode: 'cal' is not one of call, mark"),
        (["--select", "rename_shared", "--option", "call_fast.too=x"], "call_fast has no option 'too'"),
        (["--option", "to=x"], "--option 'to=x': write NAME.KEY=VALUE"),
        (["--exclude", "!"], "--exclude: "),
        (["--select", "call_fast", "--ignore", "call_fast"], "there is nothing to look for"),
        (["--codemod", "nope.py"], "nope.py: no such file"),
        (["--codemod", "pyproject.toml"], "pyproject.toml"),
    ],
)
def test_a_wrong_option_is_one_line_and_valid_json(project: Path, given: list[str], said: str) -> None:
    text = run(project, "check", *given)
    assert (text.code, text.out) == (2, "")
    assert said in text.err
    assert text.err.count("\n") == 1
    as_json = run(project, "check", "--format", "json", *given)
    assert said in json.loads(as_json.out)["errors"][0]["reason"]
    assert as_json.code == 2


def test_click_suggests_the_nearest_option_and_command(project: Path) -> None:
    assert "--format" in run(project, "check", "--frmat", "json").err
    assert run(project, "check", "--format", "jsn").code == 2


# Files that cannot be looked at


def make_unreadable(folder: Path) -> dict[str, str]:
    """Files with something wrong each, and what is said about them."""
    (folder / "syntax.py").write_text("x = 1\ndef f(:\n    slow()\n")
    (folder / "nul.py").write_bytes(b"slow()\n\0")
    (folder / "bytes.py").write_bytes(b"slow()\n# \xff\n")
    (folder / "cookie.py").write_text("# coding: nope\nslow()\n")
    (folder / "outside.py").symlink_to("/etc/hostname")
    return {
        "syntax.py": "line 2: invalid syntax",
        "nul.py": "line 2: holds a NUL byte; not Python source",
        "bytes.py": "line 2: not utf-8 text",
        "cookie.py": "unknown encoding 'nope'",
        "outside.py": "links to /etc/hostname, outside the project; left alone",
    }


def test_every_file_that_cannot_be_looked_at_is_one_line_and_the_others_are_done(project: Path) -> None:
    wrong = make_unreadable(project / "pkg")
    result = run(project, "check")
    assert result.code == 2
    assert "7 findings in 7 files" in result.err
    for path, reason in wrong.items():
        assert result.err.count(f"pkg/{path}: error: {reason}\n") == 1
    held = json.loads(run(project, "check", "--format", "json").out)
    assert {error["place"]: error["reason"] for error in held["errors"]} == {f"pkg/{p}": r for p, r in wrong.items()}
    assert (len(held["findings"]), held["exit_code"]) == (7, 2)


def test_fix_does_the_other_files_too(project: Path) -> None:
    make_unreadable(project / "pkg")
    result = run(project, "fix", "--yes")
    assert result.code == 2
    assert "5 fixed." in result.err


def test_paths_that_are_nothing_to_look_at_are_one_line_each(project: Path) -> None:
    (project / "notes.txt").write_text("slow()")
    (project / "broken.py").symlink_to("nope.py")
    os.mkfifo(project / "pipe.py")
    result = run(project, "check", "-q", "--format", "concise", "nope", "notes.txt", "broken.py", "pipe.py", "pkg/b.py")
    assert (result.code, result.out.count("\n")) == (2, 1)
    assert result.err.splitlines() == [
        "nope: error: no such file or folder",
        "notes.txt: error: not a Python file (.py) or notebook (.ipynb)",
        "broken.py: error: a broken link",
        "pipe.py: error: not a file or folder",
    ]


def test_pipes_and_sockets_in_a_folder_do_not_hang_or_fail(project: Path) -> None:
    os.mkfifo(project / "pkg" / "pipe.py")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(project)
        server.bind("pkg/socket.py")
    assert run(project, "check").code == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_is_not_readable_is_one_line(project: Path) -> None:
    (project / "pkg" / "a.py").chmod(0)
    result = run(project, "check")
    assert (result.code, "pkg/a.py: error: not readable: Permission denied" in result.err) == (2, True)


def test_a_file_that_is_not_writable_is_one_line_and_the_others_are_written(project: Path) -> None:
    (project / "pkg" / "b.py").chmod(0o444)
    result = run(project, "fix", "--yes", "--all", COLUMNS="200")
    assert result.code == 2
    assert "pkg/b.py: error: not writable\n" in result.err
    assert "left alone: would have to change pkg/b.py, which is not writable" in result.out
    after = texts(project)
    assert after["pkg/b.py"] == BEFORE["pkg/b.py"]
    assert after["pkg/c.py"] == "def shared():\n    return fast() or 1\n"


def test_names_that_are_not_utf8_can_be_shown_patched_and_written(project: Path) -> None:
    odd = os.fsencode(project) + b"/pkg/\xff.py"
    with open(odd, "wb") as file:
        file.write(b"slow()\n")
    assert run(project, "check").code == 1
    assert len(json.loads(run(project, "check", "--format", "json", PYTHONIOENCODING="ascii").out)["findings"]) == 8
    done = subprocess.run(arguments("fix", "--diff"), cwd=project, env=environment(), capture_output=True)
    assert b"+fast()" in done.stdout
    run(project, "fix", "--yes")
    with open(odd, "rb") as file:
        assert file.read() == b"fast()\n"


def test_names_and_messages_beyond_ascii_do_not_fail_on_an_ascii_terminal(project: Path) -> None:
    (project / "pkg" / "é.py").write_text("slow('é')\n")
    assert run(project, "check", PYTHONIOENCODING="ascii").code == 1


# fix without a person


def test_yes_writes_what_is_safe_and_names_the_rest_with_the_reason(project: Path) -> None:
    result = run(project, "fix", "--yes")
    assert result.code == 1
    assert "pkg/a.py:2:5: fixed: call_fast: slow() waits [safe]\n" in result.out
    assert "    unsafe: fast() may read its argument twice; --unsafe includes it\n" in result.out
    assert "1 finding left alone: other reasons (1); --all shows it.\n" in result.err
    assert "Run 1: 5 findings written in 3 files; `fullgraph undo 1` takes them back.\n" in result.err


def test_yes_and_unsafe_write_everything_that_can_be(project: Path) -> None:
    assert "6 fixed." in run(project, "fix", "--yes", "--unsafe").err
    assert run(project, "fix", "--yes", "--unsafe", "--ignore", "call_fast").code == 0


def test_a_patch_applies_with_git(project: Path) -> None:
    patch = run(project, "fix", "--diff")
    assert patch.code == 1
    assert texts(project) == BEFORE
    subprocess.run(["git", "apply"], input=patch.out, text=True, cwd=project, check=True)
    by_git = texts(project)
    write_project(project)
    run(project, "fix", "--yes")
    assert texts(project) == by_git


def test_a_patch_of_overlapping_findings_applies_with_git(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(nest(nest(1)))\n")
    patch = run(project, "fix", "--diff", "--select", "flatten_nest").out
    assert patch.count("+++ ") == 1
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=project, check=True)
    assert texts(project)["pkg/a.py"] == "flat(flat(flat(1)))\n"


def test_a_patch_of_several_projects_counts_from_where_the_user_stands(project: Path, tmp_path: Path) -> None:
    other = write_project(tmp_path / "other")
    patch = run(tmp_path, "fix", "--diff", "project", "other").out
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=tmp_path, check=True)
    assert texts(other) == texts(project) != BEFORE


def test_a_patch_of_projects_elsewhere_says_where_it_counts_from(project: Path, tmp_path: Path) -> None:
    write_project(tmp_path / "other")
    result = run(project, "fix", "--diff", ".", "../other")
    assert f"The patch counts from {tmp_path}.\n" in result.err
    assert "--- a/other/pkg/a.py\n" in result.out


def test_nothing_to_patch_is_exit_code_0(project: Path) -> None:
    result = run(project, "fix", "--diff", "--select", "flatten_nest")
    assert (result.code, result.out) == (0, "")


def test_fix_without_a_terminal_prints_the_patch_and_says_so(project: Path) -> None:
    result = run(project, "fix")
    assert result.out == run(project, "fix", "--diff").out
    assert "nothing is written without --yes or a terminal to ask on" in result.err
    assert texts(project) == BEFORE


def test_diff_on_a_terminal_asks_nothing(project: Path) -> None:
    terminal = Terminal(project, "fix", "--diff")
    assert terminal.end() == 1
    assert texts(project) == BEFORE


def test_json_on_a_terminal_is_json_and_asks_nothing(project: Path) -> None:
    terminal = Terminal(project, "fix", "--format", "json", "-q")
    assert terminal.end() == 1
    assert len(json.loads(terminal.screen)["findings"]) == 7


def test_diff_and_yes_together_are_refused(project: Path) -> None:
    result = run(project, "fix", "--diff", "--yes")
    assert result.code == 2
    assert "give one of them" in result.err


# Start-up and completion

SLOW = {"libcst", "torch", "pygls", "merge3", "sqlite3", "concurrent", "bowler", "asyncio"}


def loaded_by(root: Path, *given: str) -> set[str]:
    """The slow packages that a command imports."""
    code = (
        "import sys\nfrom fullgraph.codemods.ui.cli import main\n"
        f"try: main({list(given)!r})\nexcept SystemExit: pass\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment(), capture_output=True, text=True)
    return set(done.stderr.split()) & SLOW


def test_help_imports_nothing_slow(project: Path) -> None:
    assert loaded_by(project, "--help") == set()
    assert loaded_by(project, "check", "--help") == set()


def test_check_imports_neither_torch_nor_libcst(project: Path) -> None:
    assert not loaded_by(project, "check", ".") & {"torch", "libcst", "bowler", "merge3"}


def complete(words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    line = words.split(" ")
    changes = {"_FULLGRAPH_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(line) - 1)}
    done = subprocess.run([COMMAND], env=environment(**changes), capture_output=True, text=True, check=True)
    return [item.partition(",")[2] for item in done.stdout.splitlines()]


def test_the_shell_completes_the_names_of_codemods() -> None:
    assert complete("fullgraph explain disable_c") == ["disable_compile"]
    assert complete("fullgraph check --select disable_c") == ["disable_compile"]
    assert complete("fullgraph fix --ignore disable_c") == ["disable_compile"]
    assert complete("fullgraph fix --ignore x,disable_c") == ["x,disable_compile"]
    assert "warn_on_device_migration.form=" in complete("fullgraph fix --option warn")


def test_the_shell_completes_commands() -> None:
    assert complete("fullgraph un") == ["undo"]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script(name: str) -> None:
    changes = {"_FULLGRAPH_COMPLETE": f"{name}_source"}
    done = subprocess.run([COMMAND], env=environment(**changes), capture_output=True, text=True, check=True)
    assert f"_FULLGRAPH_COMPLETE={name}_complete" in done.stdout


def test_a_syntax_error_in_a_named_file_is_reported_even_if_nothing_could_be_found_there(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n")
    result = run(tmp_path, "check", "broken.py")
    assert result.code == 2
    assert result.err.startswith("broken.py: error: line 2: ")


@pytest.mark.parametrize("command", ["check", "fix"])
def test_help_tells_every_option_once_in_its_group(command: str) -> None:
    kind = main.commands[command]
    with click.Context(kind, info_name=command) as context:
        text = kind.get_help(context)
    for param in kind.get_params(click.Context(kind)):
        if isinstance(param, click.Option):
            assert len(re.findall(rf"(?m)^  (?:-\w, )?{re.escape(param.opts[0])}(?![\w-])", text)) == 1, param.opts
    titles = re.findall(r"(?m)^(\w.+):$", text)
    assert titles[:2] == ["What is looked for", "What is shown"]


def test_help_tells_every_command_in_a_section() -> None:
    with click.Context(main, info_name="fullgraph") as context:
        text = main.get_help(context)
    assert "Find and fix:\n  check " in text
    assert {*re.findall(r"(?m)^  ([a-z]+)  ", text)} == {*main.commands}
