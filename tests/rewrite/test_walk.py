"""Which files: as git sees the tree, as the user names them, each once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.walk import COPIES, Tree, find_root, matching, plant_trees
from tests.rewrite.running import in_child, standing_in, write_files


def tree_of(*paths: Path) -> Tree:
    """The one project that the paths belong to."""
    trees, wrong = plant_trees(paths)
    assert wrong == []
    assert len(trees) == 1
    return trees[0]


def targets(*paths: Path) -> list[str]:
    return sorted(tree_of(*paths).targets)


def touch(root: Path, *paths: str) -> None:
    write_files(root, dict.fromkeys(paths, b"x = 1\n"))


def git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False).stdout


# .gitignore


def test_gitignore_files_count_nested_and_negated(root: Path) -> None:
    touch(root, "a.py", "made/b.py", "pkg/c.py", "pkg/d_gen.py", "pkg/keep_gen.py", "pkg/deep/d_gen.py", "build/e.py")
    write_files(root, {".gitignore": "made/\n*_gen.py\n/build\n", "pkg/.gitignore": "!keep_gen.py\n"})
    assert targets(root) == ["a.py", "pkg/c.py", "pkg/keep_gen.py"]


def test_gitignore_files_between_the_top_of_the_work_tree_and_the_root_count(tmp_path: Path) -> None:
    project = tmp_path / "top/sub/project"
    touch(project, "a.py", "skip.py", "other.py", "third.py")
    write_files(
        tmp_path, {".gitignore": "third.py\n", "top/.gitignore": "skip.py\n", "top/sub/.gitignore": "other.py\n"}
    )
    write_files(project, {"pyproject.toml": ""})
    git(tmp_path / "top", "init", "-q")
    assert targets(project) == ["a.py", "third.py"]


def test_without_git_files_above_the_root_do_not_count(root: Path, tmp_path: Path) -> None:
    touch(root, "a.py", "b.py")
    write_files(tmp_path, {".gitignore": "a.py\n", "project/.gitignore": "b.py\n"})
    assert targets(root) == ["a.py"]


def test_the_exclude_file_of_git_counts_and_gitignore_wins_over_it(root: Path) -> None:
    git(root, "init", "-q")
    touch(root, "a.py", "b.py", "c.py")
    write_files(root, {".git/info/exclude": "a.py\nb.py\n", ".gitignore": "!b.py\n"})
    assert targets(root) == ["b.py", "c.py"]


def test_a_work_tree_inside_another_does_not_inherit_its_patterns(root: Path) -> None:
    git(root, "init", "-q")
    touch(root, "a.py", "inner/a.py", "inner/b.py")
    git(root / "inner", "init", "-q")
    write_files(root, {".gitignore": "a.py\n", "inner/.gitignore": "b.py\n"})
    assert targets(root) == ["inner/a.py"]


@pytest.mark.parametrize(
    "text", [b"!\n\\\na.py\n", b"\xef\xbb\xbfa.py\n", b"a.py\r\n", b"# \xff\n\xff.py\na.py", b"a.py\x0c\na.py"]
)
def test_an_odd_gitignore_is_read_as_far_as_it_goes(root: Path, text: bytes) -> None:
    touch(root, "a.py", "b.py")
    write_files(root, {".gitignore": text})
    assert targets(root) == ["b.py"]


NAMES = ["a", "b.py", "c.py", "made"]
patterns = st.lists(
    st.sampled_from(
        ["a", "a/", "/a", "*.py", "!*.py", "!b.py", "c.*", "a/**", "**/made", "!made/", "a/b.py", "!/a/b.py"]
    )
    | st.sampled_from(
        ["made/*", "!made/c.py", "[bc].py", "?.py", "# x", "", "\\!b.py", "b.py ", "/*", "!/a", "a/*/c.py"]
    ),
    max_size=4,
)


@given(patterns, patterns, patterns)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_left_is_what_git_would_leave(
    root: Path, top: list[str], nested: list[str], excluded: list[str]
) -> None:
    paths = [f"{folder}{name}" for folder in ("", "a/", "made/", "a/made/", "made/a/") for name in ("b.py", "c.py")]
    if not (root / ".git").exists():
        git(root, "init", "-q")
        touch(root, *paths)
    texts = {".gitignore": top, "a/.gitignore": nested, ".git/info/exclude": excluded}
    write_files(root, {path: "\n".join(lines) + "\n" for path, lines in texts.items()})
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z").decode().split("\0")
    assert targets(root) == sorted(path for path in listed if path.endswith(".py"))


# What the user names


def test_a_file_given_by_name_wins_over_gitignore_and_exclude(root: Path) -> None:
    touch(root, "a.py", "made/b.py", "made/c.py")
    write_files(root, {".gitignore": "made/\n"})
    tree = tree_of(root, root / "made/b.py")
    assert sorted(tree.targets) == ["a.py", "made/b.py"]
    tree.leave_out(["*.py"])
    assert tree.targets == {"made/b.py"}


def test_a_folder_given_by_name_wins_over_gitignore(root: Path) -> None:
    touch(root, "a.py", "made/b.py", "made/deep/c.py", "made/deep/skip.py")
    write_files(root, {".gitignore": "made/\n", "made/deep/.gitignore": "skip.py\n"})
    assert targets(root / "made/b.py", root / "made") == ["made/b.py", "made/deep/c.py"]


def test_excluded_globs_are_read_as_in_gitignore(root: Path) -> None:
    touch(root, "a.py", "pkg/b.py", "pkg/c_test.py", "docs/d.py")
    tree = tree_of(root)
    tree.leave_out(["docs", "*_test.py"])
    assert sorted(tree.targets) == ["a.py", "pkg/b.py"]
    assert "docs/d.py" in tree.entries


def test_tests_are_left_out_unless_they_are_named(root: Path) -> None:
    touch(root, "a.py", "pkg/test_b.py", "pkg/c_test.py", "tests/d.py", "tests/deep/e.py", "conftest.py", "latest/f.py")
    tree = tree_of(root)
    assert tree.leave_out_tests() == 5
    assert sorted(tree.targets) == ["a.py", "latest/f.py"]
    assert "tests/d.py" in tree.entries
    for named in (root / "tests", root / "tests/deep", root / "pkg/test_b.py"):
        tree = plant_trees([named])[0][0]
        assert tree.targets
        assert tree.leave_out_tests() == 0


def test_a_glob_that_cannot_be_read_is_said() -> None:
    with pytest.raises(FullgraphError, match="--exclude"):
        list(matching(["a.py"], ["!"]))


def test_paths_given_twice_or_overlapping_or_by_detours_count_once(root: Path) -> None:
    touch(root, "a.py", "pkg/b.py", "pkg/c.py")
    detour = root / "pkg/../pkg/./b.py"
    assert targets(root / "pkg", detour, root / "pkg", root / "pkg/b.py", root / "pkg/../a.py") == [
        "a.py",
        "pkg/b.py",
        "pkg/c.py",
    ]


def test_a_relative_path_counts_from_where_the_user_stands(root: Path) -> None:
    touch(root, "a.py", "pkg/b.py", "pkg/deep/c.py")
    with standing_in(root / "pkg/deep"):
        assert targets(Path("c.py")) == ["pkg/deep/c.py"]
        assert targets(Path("../b.py"), Path("../../a.py")) == ["a.py", "pkg/b.py"]
        assert targets(Path("..")) == ["pkg/b.py", "pkg/deep/c.py"]
        assert targets(Path()) == ["pkg/deep/c.py"]


def test_an_empty_folder_is_no_error(root: Path) -> None:
    (root / "empty").mkdir()
    assert targets(root / "empty") == []


def test_what_cannot_be_looked_at_is_said_and_the_rest_is_done(root: Path) -> None:
    touch(root, "a.py", "script", "notes.txt")
    write_files(root, {"script": "#!/usr/bin/env python3\n", "binary": b"\xff\xfe"})
    os.mkfifo(root / "pipe")
    os.mkfifo(root / "pipe.py")
    (root / "broken.py").symlink_to("nowhere.py")
    (root / "loop.py").symlink_to("loop.py")
    names = ["a.py", "script", "notes.txt", "binary", "pipe", "pipe.py", "broken.py", "loop.py", "none.py", "x" * 300]
    trees, wrong = plant_trees([root / name for name in names])
    assert trees[0].targets == {"a.py", "script"}
    assert dict(wrong) == {
        str(root / "notes.txt"): "not a Python file (.py) or notebook (.ipynb)",
        str(root / "binary"): "not a Python file (.py) or notebook (.ipynb)",
        str(root / "pipe"): "not a file or folder",
        str(root / "pipe.py"): "not a file or folder",
        str(root / "broken.py"): "a broken link",
        str(root / "loop.py"): "not readable: Too many levels of symbolic links",
        str(root / "none.py"): "no such file or folder",
        str(root / ("x" * 300)): "not readable: File name too long",
    }


def test_a_pipe_is_not_read(root: Path) -> None:
    os.mkfifo(root / "pipe.py")
    assert targets(root) == []


def test_errors_elsewhere_in_the_project_are_not_the_users_question(root: Path, tmp_path: Path) -> None:
    touch(root, "a.py", "pkg/b.py")
    touch(tmp_path, "outside.py")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    assert tree_of(root / "pkg").errors == []
    assert tree_of(root / "pkg/b.py").errors == []
    assert [path for path, _ in tree_of(root).errors] == ["link.py"]


# Links


def test_a_link_inside_the_project_is_not_a_second_file(root: Path) -> None:
    touch(root, "a.py", "pkg/b.py")
    (root / "link.py").symlink_to("a.py")
    (root / "folder").symlink_to("pkg", target_is_directory=True)
    (root / "up").symlink_to("..", target_is_directory=True)
    (root / "self").symlink_to(".", target_is_directory=True)
    tree = tree_of(root)
    assert sorted(tree.targets) == ["a.py", "pkg/b.py"]
    assert tree.errors == []


def test_a_link_given_by_name_stands_for_its_file(root: Path) -> None:
    touch(root, "a.py", "pkg/b.py")
    write_files(root, {"script": "x = 1\n"})
    (root / "link.py").symlink_to("a.py")
    (root / "folder").symlink_to("pkg", target_is_directory=True)
    (root / "script.py").symlink_to("script")
    assert targets(root / "link.py") == ["a.py"]
    assert targets(root / "folder") == ["pkg/b.py"]
    assert targets(root / "folder/b.py", root / "pkg/b.py") == ["pkg/b.py"]
    assert targets(root / "script.py") == ["script"]


def test_a_link_out_of_the_project_is_left_alone_and_said(root: Path, tmp_path: Path) -> None:
    touch(tmp_path, "outside.py")
    (root / "link.py").symlink_to("../outside.py")
    (root / "gone.py").symlink_to("../nowhere.py")
    tree = tree_of(root)
    assert tree.targets == set()
    assert tree.errors == [
        ("gone.py", f"links to {tmp_path}/nowhere.py, outside the project; left alone"),
        ("link.py", f"links to {tmp_path}/outside.py, outside the project; left alone"),
    ]


def test_a_link_out_of_the_project_is_not_followed_when_it_is_named_either(root: Path, tmp_path: Path) -> None:
    touch(tmp_path, "other/a.py")
    write_files(tmp_path, {"other/pyproject.toml": ""})
    (root / "folder").symlink_to(tmp_path / "other", target_is_directory=True)
    (root / "link.py").symlink_to(tmp_path / "other/a.py")
    for name in ("folder", "folder/a.py", "link.py"):
        trees, ((path, said),) = plant_trees([root / name])
        assert (trees, path) == ([], str(root / name))
        assert said.startswith(f"a link that leads out of the project; {tmp_path / 'other'}")


def test_a_project_reached_through_a_link_is_one_project(root: Path, tmp_path: Path) -> None:
    touch(root, "a.py", "b.py")
    (tmp_path / "alias").symlink_to(root, target_is_directory=True)
    assert targets(tmp_path / "alias/a.py", root / "b.py") == ["a.py", "b.py"]


# Names and folders


def test_names_may_hold_anything(root: Path) -> None:
    names = ["with space.py", "new\nline.py", "-dash.py", "ünï.py", os.fsdecode(b"\xff.py"), "--help.py", "quo'te\".py"]
    touch(root, *names)
    assert targets(root) == sorted(names)
    assert targets(*(root / name for name in names)) == sorted(names)
    with standing_in(root):
        assert targets(Path("-dash.py")) == ["-dash.py"]


def test_a_folder_may_be_called_like_a_file(root: Path) -> None:
    touch(root, "odd.py/a.py")
    assert targets(root) == ["odd.py/a.py"]


def test_environments_and_caches_are_no_part_of_a_project(root: Path) -> None:
    touch(root, "a.py", "env/b.py", ".venv/c.py", "node_modules/d.py", "__pycache__/e.py", ".fullgraph/runs/1/f.py")
    write_files(root, {"env/pyvenv.cfg": ""})
    assert targets(root) == ["a.py"]


def test_an_installed_package_is_a_project_of_its_own(root: Path) -> None:
    package = root / ".venv/lib/python3.11/site-packages/torch"
    touch(package, "__init__.py", "nn/a.py")
    touch(package.parent, "single.py", "other/b.py")
    assert find_root(package / "nn/a.py") == package
    assert targets(package) == ["__init__.py", "nn/a.py"]
    assert find_root(package.parent / "single.py") == package.parent
    assert targets(package.parent / "single.py") == ["single.py"]


def test_the_nearest_project_counts_and_no_file_counts_twice(root: Path) -> None:
    touch(root, "a.py", "inner/b.py", "inner/c.py")
    write_files(root, {"inner/setup.py": ""})
    assert find_root(root / "inner/b.py") == root / "inner"
    assert targets(root) == ["a.py", "inner/b.py", "inner/c.py", "inner/setup.py"]
    trees, _ = plant_trees([root, root / "inner/b.py"])
    found = sorted(str(tree.root / path) for tree in trees for path in tree.targets)
    assert len(trees) == 2
    assert len(found) == len(set(found)) == 4


def test_without_any_marker_the_folder_is_the_project(tmp_path: Path) -> None:
    touch(tmp_path, "loose/a.py")
    assert find_root(tmp_path / "loose/a.py") == tmp_path / "loose"


@pytest.mark.skipif(os.getuid() != 0, reason="drops root's rights in a child")
def test_a_folder_that_cannot_be_read_is_said_and_the_rest_is_done(root: Path) -> None:
    touch(root, "a.py", "secret/b.py", "secret/deep/c.py")
    for outer in (root, root.parent):
        outer.chmod(0o755)
    (root / "secret").chmod(0o000)

    def look() -> None:
        os.setuid(65534)
        tree = tree_of(root)
        assert tree.targets == {"a.py"}
        assert tree.errors == [("secret/", "not readable: Permission denied")]
        trees, wrong = plant_trees([root / "a.py", root / "secret/b.py"])
        assert trees[0].targets == {"a.py"}
        assert wrong == [(str(root / "secret/b.py"), "not readable: Permission denied")]

    assert in_child(look) == 0


def test_a_tree_knows_which_files_have_changed_since(root: Path) -> None:
    touch(root, "a.py", "b.py", "c.py")
    tree = tree_of(root)
    status = (root / "a.py").stat()
    write_files(root, {"a.py": "y = 2\n"})
    os.utime(root / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    (root / "c.py").unlink()
    assert [tree.has_changed(path) for path in ("a.py", "b.py", "c.py")] == [True, False, True]


def test_a_project_in_an_ignored_folder_does_not_inherit_patterns(root: Path) -> None:
    git(root, "init", "-q")
    write_files(root, {".gitignore": "vendor/\ndata\n", "vendor/thing/pyproject.toml": ""})
    touch(root, "vendor/thing/data/a.py", "vendor/thing/b.py")
    assert targets(root / "vendor/thing") == ["b.py", "data/a.py"]


def test_a_tree_can_take_files_as_they_are_now(root: Path) -> None:
    touch(root, "a.py", "b.py")
    tree = tree_of(root)
    write_files(root, {"a.py": "y = 22\n", "b.py": "y = 22\n"})
    tree.look_again(["a.py", "gone.py"])
    assert [tree.has_changed(path) for path in ("a.py", "b.py")] == [False, True]
    assert set(tree.entries) == {"a.py", "b.py"}


def test_what_a_build_leaves_at_the_root_is_passed_over_but_not_deeper_down(tmp_path: Path) -> None:
    for path in ("pyproject.toml", "build/lib/a.py", "dist/b.py", "pkg/build/c.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert targets(tmp_path) == ["pkg/build/c.py"]
    assert targets(tmp_path / "build") == ["build/lib/a.py"]


def test_a_target_that_is_gone_is_no_target_any_more(root: Path) -> None:
    touch(root, "a.py", "b.py")
    tree = tree_of(root)
    (root / "a.py").unlink()
    tree.look_again(["a.py"])
    assert tree.targets == {"b.py"}


def test_a_folder_of_copies_is_no_part_of_the_project_around_it_and_one_of_its_own(root: Path) -> None:
    touch(root, "a.py", "copies/package/b.py")
    write_files(root, {f"copies/{COPIES}": "{}"})
    assert targets(root) == ["a.py"]
    write_files(root, {"copies/pyproject.toml": ""})
    assert targets(root / "copies") == ["package/b.py"]


def test_a_folder_whose_name_only_begins_the_same_was_not_asked_about(root: Path) -> None:
    touch(root, "pkg/a.py", "pkg_more/b.py", "pkg.py")
    assert targets(root / "pkg") == ["pkg/a.py"]


@pytest.mark.parametrize(
    "line", ["a.py/", "odd\\ ", "odd ", "x[!y]z.py", "x[^y]z.py", "[^b].py", "[!b].py", "x?z.py", "x*z.py", "x/**/z.py"]
)
def test_an_odd_pattern_is_read_as_git_reads_it(root: Path, line: str) -> None:
    git(root, "init", "-q")
    touch(root, "a.py", "b.py", "^.py", "odd/a.py", "odd /a.py", "x/z.py", "xyz.py", "xwz.py", "x/y/z.py")
    write_files(root, {".gitignore": f"{line}\n"})
    listed = git(root, "ls-files", "--others", "--exclude-standard", "-z").decode().split("\0")
    assert targets(root) == sorted(path for path in listed if path.endswith(".py"))
