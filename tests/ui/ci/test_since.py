"""Findings on changed lines: what counts as changed, in every state that a clone can be in."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.ui.ci.since import parse_diff, unquoted
from tests.ui.ci.jobs import Repository, ci, places
from tests.ui.running import texts

LONG = "".join(f"value_{number} = {number}\n" for number in range(40))


def book(*cells: str) -> str:
    made: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text.splitlines(True)}
        for text in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False)


def test_only_findings_on_changed_lines_count(repository: Repository) -> None:
    text = texts(repository.root)["pkg/a.py"]
    repository.write("pkg/a.py", text.replace("    return 1\n", "    slow(2)\n    return 1\n"))
    result = ci("--since", "HEAD")
    assert places(result) == ["pkg/a.py:3:5"]
    assert "4 more are on lines that have not changed." in result.err


def test_a_line_that_only_moved_has_not_changed(repository: Repository) -> None:
    text = texts(repository.root)["pkg/a.py"]
    repository.write("pkg/a.py", "\n\n# new\n" + text)
    assert ci("--since", "HEAD").code == 0


def test_a_removed_line_changes_no_other(repository: Repository) -> None:
    text = texts(repository.root)["pkg/a.py"]
    repository.write("pkg/a.py", text.replace("    return 1\n", ""))
    assert ci("--since", "HEAD").code == 0


def test_a_finding_of_several_lines_counts_if_one_of_them_has_changed(repository: Repository) -> None:
    repository.write("pkg/a.py", "x = slow(\n    1,\n    2,\n)\ny = 1\n")
    repository.commit()
    repository.write("pkg/a.py", "x = slow(\n    1,\n    3,\n)\ny = 1\n")
    assert places(ci("--since", "HEAD")) == ["pkg/a.py:1:5"]
    repository.write("pkg/a.py", "x = slow(\n    1,\n    2,\n)\ny = 2\n")
    assert ci("--since", "HEAD").code == 0


@pytest.mark.parametrize("state", ["untracked", "intended", "staged", "committed"])
def test_every_line_of_a_new_file_counts(repository: Repository, state: str) -> None:
    start = repository.git("rev-parse", "HEAD").strip()
    repository.write("pkg/new.py", "slow()\nslow()\n")
    if state == "intended":
        repository.git("add", "--intent-to-add", "pkg/new.py")
    elif state != "untracked":
        repository.git("add", "--all")
    if state == "committed":
        repository.commit()
    assert places(ci("--since", start)) == ["pkg/new.py:1:1", "pkg/new.py:2:1"]


def test_of_a_renamed_file_only_changed_lines_count(repository: Repository) -> None:
    repository.write("pkg/old.py", LONG + "slow()\n")
    repository.commit()
    repository.git("mv", "pkg/old.py", "pkg/new.py")
    assert ci("--since", "HEAD").code == 0
    repository.write("pkg/new.py", "slow(1)\n" + LONG + "slow()\n")
    assert places(ci("--since", "HEAD")) == ["pkg/new.py:1:1"]


def test_what_others_did_on_the_other_branch_does_not_count(repository: Repository) -> None:
    repository.git("switch", "--quiet", "--create", "work")
    repository.write("pkg/mine.py", "slow()\n")
    repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.write("pkg/a.py", "x = 1\n")
    repository.commit()
    repository.git("switch", "--quiet", "work")
    assert places(ci("--since", "main")) == ["pkg/mine.py:1:1"]


def test_a_detached_head_is_as_good_as_a_branch(repository: Repository) -> None:
    start = repository.git("rev-parse", "HEAD").strip()
    repository.write("pkg/new.py", "slow()\n")
    repository.commit()
    repository.git("checkout", "--quiet", "--detach")
    assert places(ci("--since", start)) == ["pkg/new.py:1:1"]


@pytest.mark.parametrize(
    "name", ["with space.py", "größe.py", "日本.py", 'quo"te.py', "back\\slash.py", "tab\there.py"]
)
def test_any_name_of_a_file_will_do(repository: Repository, name: str) -> None:
    repository.write(f"pkg/{name}", "x = 1\ny = 2\n")
    repository.commit()
    repository.write(f"pkg/{name}", "x = 1\nslow()\n")
    assert ci("--since", "HEAD", "--output", "json").json["findings"][0]["file"] == f"pkg/{name}"


def test_a_name_that_is_no_text_will_do(repository: Repository) -> None:
    name = os.fsdecode(b"pkg/caf\xe9.py")
    repository.write(name, "x = 1\n")
    repository.commit()
    repository.write(name, "x = 1\nslow()\n")
    assert ci("--since", "HEAD", "--output", "json").json["findings"][0]["line"] == 2


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_line_endings_change_no_count(repository: Repository, ending: str) -> None:
    repository.write("pkg/a.py", ("x = 1\nslow()\ny = 1\n").replace("\n", ending))
    repository.commit()
    repository.write("pkg/a.py", ("x = 1\nslow()\ny = 1\nslow()\n").replace("\n", ending))
    assert places(ci("--since", "HEAD")) == ["pkg/a.py:4:1"]


def test_a_notebook_counts_by_the_lines_of_its_file(repository: Repository) -> None:
    repository.write("book.ipynb", book("slow()\n", "x = 1\ny = 2"))
    repository.commit()
    repository.write("book.ipynb", book("slow()\n", "x = 1\nslow()"))
    assert places(ci("--since", "HEAD")) == ["book.ipynb:cell 2:2"]


def test_git_attributes_and_settings_do_not_matter(repository: Repository) -> None:
    repository.write(".gitattributes", "*.ipynb -diff\n*.py diff=python\n")
    repository.write("book.ipynb", book("x = 1"))
    repository.commit()
    settings = {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.context": "9",
        "diff.external": "false",
        "color.ui": "always",
        "diff.renames": "false",
        "diff.interHunkContext": "50",
        "core.quotePath": "true",
        "diff.relative": "true",
    }
    for key, value in settings.items():
        repository.git("config", key, value)
    repository.git("mv", "pkg/a.py", "pkg/größer.py")
    repository.write("book.ipynb", book("slow()"))
    assert places(ci("--since", "HEAD")) == ["book.ipynb:cell 1:1"]


def test_a_folder_below_the_repository_can_be_the_root(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("inner/pyproject.toml", "")
    repository.write("inner/lib.py", "x = 1\n")
    repository.commit()
    repository.write("inner/lib.py", "x = 1\nslow()\n")
    monkeypatch.chdir(repository.root / "inner")
    result = ci("--since", "HEAD", "--output", "json").json
    assert [found["file"] for found in result["findings"]] == ["inner/lib.py"]
    assert places(ci("--since", "HEAD")) == ["lib.py:2:1"]


def test_a_script_without_suffix_counts_where_it_is_named(repository: Repository) -> None:
    repository.write("tool", "#!/usr/bin/env python\nx = 1\n")
    repository.commit()
    assert ci("tool", "--since", "HEAD").code == 0
    repository.write("tool", "#!/usr/bin/env python\nslow()\n")
    assert places(ci("tool", "--since", "HEAD")) == ["tool:2:1"]


def clone(source: Path, target: Path, *options: str) -> Repository:
    subprocess.run(["git", "clone", "--quiet", *options, f"file://{source}", str(target)], check=True)
    return Repository(target)


def test_a_shallow_clone_says_what_is_missing(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = repository.git("rev-parse", "HEAD").strip()
    repository.commit()
    shallow = clone(repository.root, tmp_path / "clone", "--depth=1")
    monkeypatch.chdir(shallow.root)
    result = ci("--since", start)
    assert result.code == 2
    assert "this clone is shallow and does not have it" in result.err
    assert result.err.count("\n") == 1


def test_a_shallow_clone_without_a_common_ancestor_compares_directly(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("switch", "--quiet", "--create", "work")
    repository.write("pkg/mine.py", "slow()\n")
    repository.commit()
    repository.git("switch", "--quiet", "main")
    repository.commit()
    shallow = clone(repository.root, tmp_path / "clone", "--depth=1", "--branch=work")
    shallow.git("fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main")
    monkeypatch.chdir(shallow.root)
    result = ci("--since", "origin/main")
    assert places(result) == ["pkg/mine.py:1:1"]
    assert "no common ancestor of origin/main and HEAD is known (this clone is shallow)" in result.err


def test_a_partial_clone_fetches_nothing(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.write("pkg/a.py", "slow()\n")
    repository.commit()
    partial = clone(repository.root, tmp_path / "clone", "--filter=blob:none")
    monkeypatch.chdir(partial.root)
    result = ci("--since", "HEAD~1")
    assert result.code == 2
    assert "this clone is partial, and what is missing is never fetched from here" in result.err
    assert result.err.count("\n") == 1


def test_a_branch_that_only_the_remote_has_is_suggested(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.git("branch", "next")
    copy = clone(repository.root, tmp_path / "clone")
    monkeypatch.chdir(copy.root)
    assert "git knows no such commit; did you mean origin/next?" in ci("--since", "next").err


def test_a_repository_without_commits_is_an_error_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Repository(tmp_path)
    made.write("a.py", "slow()\n")
    monkeypatch.chdir(tmp_path)
    result = ci("--since", "HEAD")
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_outside_of_a_repository_it_is_an_error_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "a.py").write_text("slow()\n")
    monkeypatch.chdir(tmp_path)
    result = ci("--since", "HEAD")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "not a git repository" in result.err


@pytest.mark.parametrize("revision", ["HEAD..HEAD", "--output=x", "HEAD:pkg", ""])
def test_what_is_no_commit_is_refused(repository: Repository, revision: str) -> None:
    result = ci(f"--since={revision}")
    assert result.code == (1 if not revision else 2)
    assert not (repository.root / "x").exists()


@pytest.fixture
def outer(repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository that has the sample project as the submodule `lib`."""
    root = tmp_path / "outer"
    root.mkdir()
    made = Repository(root)
    made.write("pyproject.toml", "")
    made.write("main.py", "x = 1\n")
    made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), "lib")
    made.commit()
    monkeypatch.chdir(root)
    return made


def test_a_submodule_is_compared_with_the_commit_that_it_was_at(outer: Repository) -> None:
    assert ci("--since", "HEAD").code == 0
    text = (outer.root / "lib/pkg/b.py").read_text()
    outer.write("lib/pkg/b.py", text + "    slow()\n")
    outer.write("lib/pkg/fresh.py", "slow()\n")
    expected = ["lib/pkg/b.py:7:5", "lib/pkg/fresh.py:1:1"]
    assert places(ci("--since", "HEAD")) == expected
    outer.git("-C", "lib", "add", "--all")
    outer.git("-C", "lib", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--quiet", "--message", "inner")
    assert places(ci("--since", "HEAD")) == expected
    start = outer.git("rev-parse", "HEAD").strip()
    outer.commit()
    assert places(ci("--since", start)) == expected
    assert ci("--since", "HEAD").code == 0


def test_a_submodule_that_was_not_there_is_new(outer: Repository) -> None:
    outer.git("rm", "--quiet", "--cached", "lib")
    outer.git("commit", "--quiet", "--message", "without")
    start = outer.git("rev-parse", "HEAD").strip()
    outer.git("add", "lib")
    outer.git("commit", "--quiet", "--message", "with")
    assert len(places(ci("--since", start))) == 7


def test_a_repository_inside_that_git_does_not_track_is_new(repository: Repository) -> None:
    (repository.root / "other").mkdir()
    inner = Repository(repository.root / "other")
    inner.write("x.py", "slow()\n")
    inner.commit()
    assert places(ci("--since", "HEAD")) == ["other/x.py:1:1"]


def test_unchanged_files_are_not_even_looked_at(repository: Repository) -> None:
    repository.write("pkg/bad.py", "slow(\n")
    repository.commit()
    repository.write("pkg/b.py", "x = 1\n")
    result = ci("--since", "HEAD")
    assert result.code == 0
    assert "No findings in 1 file." in result.err


def test_only_what_is_on_changed_lines_is_fixed(repository: Repository) -> None:
    text = texts(repository.root)["pkg/a.py"]
    repository.write("pkg/a.py", text + "\n\ndef three():\n    slow()\n")
    assert ci("--since", "HEAD", "--fix", "--allow-dirty").code == 0
    assert texts(repository.root)["pkg/a.py"] == text + "\n\ndef three():\n    fast()\n"


def test_a_diff_is_read_whatever_its_lines_hold() -> None:
    shown = (
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n-a\n+++ b/y.py\n+@@ no\n"
        "@@ -9,2 +10,0 @@\n-x\n-y\ndiff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    assert parse_diff(shown) == {"x.py": [(1, 2)]}


def test_quoted_names_are_read_back() -> None:
    assert unquoted(r'"b/a\"b\\c\td\001e"') == 'b/a"b\\c\td\x01e'
    assert unquoted("b/plain") == "b/plain"
