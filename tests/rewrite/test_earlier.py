"""The past that `prove` compares with: before the last command, before a run, or at a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.earlier import Earlier, earlier, last_command
from fullgraph.codemods.rewrite.journal import Journal
from fullgraph.codemods.rewrite.undo import undo
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.run import fix, writer_for
from tests.rewrite.running import change_of, look, write, write_files
from tests.rewrite.sample import SwapCall, UnwrapNest
from tests.rewrite.test_plan import Choose


def fix_all(root: Path, *codemods: Codemod) -> None:
    """One command, with as many runs as it takes."""
    [tree], _ = plant_trees([root])
    journal = writer_for(Journal(root))
    list(fix(tree, codemods, lambda tree: look(tree.root, *codemods), Choose(), journal))


def past(root: Path, revision: str = "", run: int = 0) -> Earlier:
    return earlier(root, revision, run)


def test_two_runs_of_one_command_have_one_past(root: Path) -> None:
    """The second run met what the first had written: before both of them the file was as the user wrote it."""
    write_files(root, {"a.py": "nest(nest(1))\n", "b.py": "nest(2)\n"})
    fix_all(root, UnwrapNest())
    was = past(root)
    assert was.runs == (1, 2)
    assert was.name == "before run 1"
    assert was.files == {"a.py": b"nest(nest(1))\n", "b.py": b"nest(2)\n"}


def test_the_last_of_two_commands_is_meant(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\nold()\n"})
    fix_all(root, UnwrapNest())
    fix_all(root, SwapCall())
    was = past(root)
    assert (was.runs, was.files) == ((3,), {"a.py": b"flat(flat(1))\nold()\n"})


def test_a_single_run_can_be_named(root: Path) -> None:
    write_files(root, {"a.py": "nest(nest(1))\n"})
    fix_all(root, UnwrapNest())
    assert past(root, run=2).files == {"a.py": b"flat(nest(1))\n"}


def test_what_was_taken_back_is_not_the_last_command(root: Path) -> None:
    write_files(root, {"a.py": "old()\nold()\nnest(1)\n"})
    write(root, SwapCall())
    write(root, UnwrapNest())
    undo(Journal(root), ["2"])
    assert last_command(Journal(root)) == (1,)
    undo(Journal(root), ["1.1"])
    assert last_command(Journal(root)) == (1,), "one of its findings still stands"
    undo(Journal(root), ["1.2"])
    assert last_command(Journal(root)) == ()


def test_notebooks_are_part_of_the_past_and_the_files_of_tickets_are_not(root: Path) -> None:
    write_files(root, {"a.py": "x", "b.ipynb": "y", "ticket.toml": "z"})
    Journal(root).write(change_of(root, {"a.py": b"1", "b.ipynb": b"2", "ticket.toml": b"3"}))
    assert past(root).files == {"a.py": b"x", "b.ipynb": b"y"}


def git(root: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *names, *arguments], cwd=root, check=True, capture_output=True)


def test_at_a_revision_new_files_were_not_there_and_removed_ones_were(root: Path) -> None:
    write_files(root, {"a.py": "x = 1\n", "gone.py": "y = 1\n", "same.py": "z = 1\n", "empty.py": "", "notes.txt": "n"})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    write_files(root, {"a.py": "x = 2\n", "new.py": "n = 1\n", "empty.py": "e = 1\n", "notes.txt": "m"})
    write_files(root, {".fullgraph/lock": ""})
    (root / "gone.py").unlink()
    was = past(root)
    assert was.name == "at HEAD"
    assert was.files == {"a.py": b"x = 1\n", "empty.py": b"", "gone.py": b"y = 1\n", "new.py": None}
    assert was.others == ("notes.txt",)


def test_a_revision_that_is_not_there_is_said(root: Path) -> None:
    git(root, "init", "-q")
    with pytest.raises(FullgraphError, match=r"^git: .*nowhere"):
        past(root, revision="nowhere")
