"""Commits: one for each codemod, of nothing but its own changes, wherever HEAD is."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.ui.ci.jobs import Repository, ci, run, start, wait_for
from tests.ui.running import FILES, SAMPLE, Terminal, texts

BOTH = ["fullgraph: rename_shared in 2 files", "fullgraph: call_fast in 3 files", "start"]


def test_each_codemod_gets_a_commit_of_its_own(repository: Repository) -> None:
    result = ci("--commit", "--fail-on", "safe")
    assert result.code == 0
    assert repository.subjects() == BOTH
    assert repository.git("status", "--porcelain") == ""
    assert "on main: fullgraph: call_fast in 3 files" in result.err


def test_all_commits_together_are_what_fix_writes(repository: Repository) -> None:
    ci("--commit")
    committed = texts(repository.root)
    repository.git("reset", "--quiet", "--hard", "HEAD~2")
    ci("--fix")
    assert texts(repository.root) == committed


def test_every_commit_is_the_codemod_alone(repository: Repository) -> None:
    ci("--commit")
    assert "shared" not in repository.git("diff", "HEAD~2", "HEAD~1", "--", "pkg/c.py").replace("def shared()", "")
    assert "def shared():\n    return fast() or 1" in repository.git("show", "HEAD~1:pkg/c.py")
    assert "fast" not in repository.git("diff", "--unified=0", "HEAD~1", "HEAD")


def test_the_message_says_what_was_found_where_and_what_was_proven(repository: Repository) -> None:
    ci("--commit", "--select", "call_fast")
    message = repository.git("log", "-1", "--format=%B")
    assert message.startswith("fullgraph: call_fast in 3 files\n\nCall `fast()` where `slow()` is called.\n\n")
    assert "- pkg/a.py:2 (one): slow() waits\n" in message
    assert "\nNot proven: no scenario was run.\n" in message


def test_a_message_lists_no_more_than_can_be_read(repository: Repository) -> None:
    repository.write("pkg/a.py", "slow()\n" * 80)
    repository.commit()
    ci("--commit", "pkg/a.py")
    assert "\n- and 30 more\n" in repository.git("log", "-1", "--format=%B")


def test_findings_that_overlap_are_one_commit(repository: Repository) -> None:
    repository.write("pkg/a.py", "nest(nest(nest(1)))\n")
    repository.commit()
    ci("--commit", "--select", "flatten_nest")
    assert repository.subjects()[0] == "fullgraph: flatten_nest in 1 file"
    assert repository.subjects()[1] == "work"
    assert texts(repository.root)["pkg/a.py"] == "flat(flat(flat(1)))\n"


def test_codemods_that_meet_in_one_expression_are_both_committed(repository: Repository) -> None:
    repository.write("pkg/a.py", "x = nest(slow())\ny = slow(), nest(slow())\n")
    repository.commit()
    ci("--commit", "pkg/a.py")
    assert texts(repository.root)["pkg/a.py"] == "x = flat(fast())\ny = fast(), flat(fast())\n"
    assert repository.subjects()[:2] == ["fullgraph: flatten_nest in 1 file", "fullgraph: call_fast in 1 file"]


def test_a_new_branch_holds_the_commits(repository: Repository) -> None:
    ci("--commit", "--branch", "tidy/fullgraph")
    assert repository.git("branch", "--show-current").strip() == "tidy/fullgraph"
    assert repository.subjects() == BOTH
    assert repository.git("rev-list", "--count", "main").strip() == "1"


def test_no_branch_is_made_for_nothing(repository: Repository) -> None:
    for path in FILES:
        repository.write(path, "")
    repository.commit()
    assert ci("--commit", "--branch", "tidy").code == 0
    assert repository.git("branch", "--format=%(refname:short)").split() == ["main"]


def test_the_current_branch_may_be_named(repository: Repository) -> None:
    ci("--commit", "--branch", "main")
    assert repository.subjects() == BOTH


@pytest.mark.parametrize(
    ("name", "said"), [("taken", "there is such a branch already"), ("a..b", "not allow"), ("-x", "not allow")]
)
def test_a_branch_that_cannot_be_made_is_said_before_anything_is_written(
    repository: Repository, name: str, said: str
) -> None:
    repository.git("branch", "taken")
    before = texts(repository.root)
    result = ci("--commit", f"--branch={name}")
    assert result.code == 2
    assert said in result.err
    assert texts(repository.root) == before


def test_a_detached_head_is_committed_on_with_a_notice(repository: Repository) -> None:
    repository.git("checkout", "--quiet", "--detach")
    result = ci("--commit")
    assert repository.subjects() == BOTH
    assert "HEAD is detached: the commits are on no branch" in result.err
    repository.git("checkout", "--quiet", "main")
    repository.git("checkout", "--quiet", "--detach")
    assert "detached" not in ci("--commit", "--branch", "kept").err
    assert repository.git("rev-list", "--count", "kept").strip() == "3"


def test_a_dirty_tree_is_neither_written_nor_committed(repository: Repository) -> None:
    repository.write("pkg/b.py", FILES["pkg/b.py"] + "# mine\n")
    result = ci("--commit")
    assert result.code == 2
    assert repository.subjects() == ["start"]
    assert texts(repository.root)["pkg/a.py"] == FILES["pkg/a.py"]


def test_changes_of_others_are_never_committed(repository: Repository) -> None:
    mine = FILES["pkg/b.py"] + "# mine\n"
    repository.write("pkg/b.py", mine)
    repository.write("notes.txt", "staged")
    repository.git("add", "notes.txt")
    result = ci("--commit", "--allow-dirty")
    assert repository.subjects() == ["fullgraph: call_fast in 2 files", "start"]
    assert texts(repository.root)["pkg/b.py"] == mine
    assert "would have to change pkg/b.py, which is changed and not committed" in result.out
    assert repository.git("status", "--porcelain").splitlines() == ["A  notes.txt", " M pkg/b.py"]


def test_files_that_git_does_not_track_are_left_alone(repository: Repository) -> None:
    repository.write("pkg/mine.py", "slow()\n")
    result = ci("--commit", "pkg/mine.py")
    assert (result.code, repository.subjects()) == (1, ["start"])
    assert "pkg/mine.py, which is not tracked by this repository" in result.out
    assert (repository.root / "pkg/mine.py").read_text() == "slow()\n"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_changes_that_git_was_told_not_to_see_are_never_committed(repository: Repository, flag: str) -> None:
    mine = FILES["pkg/a.py"] + "SECRET = 1\n"
    repository.git("update-index", flag, "pkg/a.py")
    repository.write("pkg/a.py", mine)
    result = ci("--commit", "--select", "call_fast")
    assert "pkg/a.py, which is hidden from git" in result.out
    assert texts(repository.root)["pkg/a.py"] == mine
    assert repository.git("show", "HEAD:pkg/a.py") == FILES["pkg/a.py"]
    assert repository.subjects()[0] == "fullgraph: call_fast in 2 files"


def test_a_submodule_is_left_alone(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outer").mkdir()
    outer = Repository(tmp_path / "outer")
    outer.write("pyproject.toml", "")
    outer.write("main.py", "slow()\n")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), "lib")
    outer.commit()
    monkeypatch.chdir(outer.root)
    ci("--commit")
    assert outer.subjects() == ["fullgraph: call_fast in 1 file", "work"]
    assert outer.git("status", "--porcelain") == ""


def test_a_new_file_is_part_of_the_commit(repository: Repository, tmp_path: Path) -> None:
    from tests.ui.test_proof import MAKES_A_MODULE, SHIFTS

    codemod = tmp_path / "making.py"
    codemod.write_text(MAKES_A_MODULE)
    repository.write(".gitignore", "fresh/\n")
    repository.write("module.py", SHIFTS)
    repository.commit()
    ci("--codemod", str(codemod), "--select", "move_to_module", "--commit")
    assert repository.git("show", "--name-only", "--format=").split() == ["fresh/shifting.py", "module.py"]


@pytest.mark.parametrize("name", [":(glob)x.py", "*.py", "a b.py", "größe.py", "-n.py", 'q"\n.py'])
def test_any_name_of_a_file_can_be_committed(repository: Repository, name: str) -> None:
    repository.write(name, "slow()\n")
    repository.commit()
    ci("--commit", f"./{name}")
    assert repository.git("show", "--name-only", "--format=", "-z").split("\0")[0] == name
    assert texts(repository.root) == {path: FILES[path] for path in FILES if path.startswith("pkg/")}


def test_line_endings_stay_as_they_are(repository: Repository) -> None:
    repository.write("pkg/a.py", b"x = 1\r\nslow()\r\n")
    repository.commit()
    ci("--commit", "pkg/a.py")
    assert repository.git("show", "HEAD:pkg/a.py") == "x = 1\r\nfast()\r\n"


def test_a_subfolder_can_be_the_root(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("inner/pyproject.toml", "")
    repository.write("inner/x.py", "slow()\n")
    repository.commit()
    monkeypatch.chdir(repository.root / "inner")
    ci("--commit")
    assert repository.git("show", "--name-only", "--format=").split() == ["inner/x.py"]


def add_hook(repository: Repository, name: str, script: str) -> None:
    repository.write(f".git/hooks/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def test_a_hook_that_refuses_leaves_a_run_that_can_be_taken_back(repository: Repository) -> None:
    add_hook(repository, "pre-commit", "echo no >&2; exit 1")
    result = ci("--commit")
    assert result.code == 2
    assert "run 1 (call_fast) is written and not committed; `fullgraph undo 1` takes it back" in result.err
    assert repository.subjects() == ["start"]
    assert "def shared" in texts(repository.root)["pkg/c.py"]


def test_a_new_file_that_was_refused_is_not_left_staged(repository: Repository, tmp_path: Path) -> None:
    from tests.ui.test_proof import MAKES_A_MODULE, SHIFTS

    codemod = tmp_path / "making.py"
    codemod.write_text(MAKES_A_MODULE)
    repository.write("module.py", SHIFTS)
    repository.commit()
    add_hook(repository, "pre-commit", "exit 1")
    result = ci("--codemod", str(codemod), "--select", "move_to_module", "--commit")
    assert "is written and not committed" in result.err
    assert run("undo").code == 0
    assert repository.git("status", "--porcelain") == ""


def test_a_hook_finds_files_by_patterns_as_it_always_does(repository: Repository) -> None:
    add_hook(repository, "pre-commit", "git diff --cached --name-only -- '*.py' > seen")
    ci("--commit", "--select", "call_fast")
    assert (repository.root / "seen").read_text().split() == ["pkg/a.py", "pkg/b.py", "pkg/c.py"]


@pytest.mark.parametrize("hook", ["pre-commit", "post-commit"])
def test_what_a_hook_has_rewritten_is_left_as_it_is(repository: Repository, hook: str) -> None:
    """Places in the old text mean nothing in the new one, even where something else could be replaced there."""
    repository.write("pkg/b.py", "x = nest(1)\ny = slow()\n")
    repository.commit()
    add_hook(repository, hook, "sed -i '1i s = 123456789' pkg/b.py")
    result = ci("--commit", "pkg/b.py")
    assert texts(repository.root)["pkg/b.py"] == "s = 123456789\nx = nest(1)\ny = fast()\n"
    assert "pkg/b.py has changed since it was looked at" in result.out
    assert repository.subjects()[0] == "fullgraph: call_fast in 1 file"


def test_nobody_is_asked_by_a_hook(repository: Repository) -> None:
    add_hook(repository, "pre-commit", "read answer < /dev/tty || { echo nobody >&2; exit 1; }")
    terminal = Terminal(repository.root, "ci", "--codemod", str(SAMPLE), "--commit")
    assert terminal.end() == 2
    assert "run 1 (call_fast) is written and not committed" in terminal.screen


def test_a_commit_that_is_stopped_leaves_no_lock(repository: Repository) -> None:
    add_hook(repository, "pre-commit", "touch waiting; sleep 600")
    process = start(repository.root, "--codemod", str(SAMPLE), "--commit")
    wait_for(repository.root / "waiting", process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"`fullgraph undo 1` takes them back" in said
    assert not (repository.root / ".git/index.lock").exists()
    assert repository.subjects() == ["start"]


def test_somebody_has_to_be_known_to_git(repository: Repository) -> None:
    repository.git("config", "--unset", "user.name")
    repository.git("config", "--unset", "user.email")
    repository.git("config", "user.useConfigOnly", "true")
    result = ci("--commit")
    assert result.code == 2
    assert "git does not know who commits" in result.err
    assert texts(repository.root)["pkg/a.py"] == FILES["pkg/a.py"]


def test_nothing_is_committed_in_the_middle_of_a_merge(repository: Repository) -> None:
    repository.write(".git/MERGE_HEAD", repository.git("rev-parse", "HEAD"))
    result = ci("--commit")
    assert (result.code, "a merge is under way" in result.err) == (2, True)
    assert texts(repository.root)["pkg/a.py"] == FILES["pkg/a.py"]


def test_without_a_repository_nothing_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "a.py").write_text("slow()\n")
    monkeypatch.chdir(tmp_path)
    result = ci("--commit")
    assert result.code == 2
    assert "not a git repository" in result.err
    assert (tmp_path / "a.py").read_text() == "slow()\n"


def test_settings_of_git_do_not_get_in_the_way(repository: Repository) -> None:
    repository.git("config", "commit.template", "/no/such/file")
    repository.git("config", "commit.cleanup", "strip")
    repository.git("config", "core.commentChar", "-")
    repository.git("config", "core.editor", "false")
    ci("--commit", "--select", "call_fast")
    assert "- pkg/a.py:2 (one): slow() waits\n" in repository.git("log", "-1", "--format=%B")


def test_what_git_tells_its_hooks_does_not_lead_astray(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    other.commit()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git/index"))
    ci("--commit")
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert repository.subjects() == BOTH
    assert other.subjects() == ["work"]
