"""A project's files arrive as they were: bytes, modes, and the names of what was not sent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from fullgraph.codemods.executors import parcels
from fullgraph.codemods.executors.parcels import all_files, names_beside, pack, unpack
from fullgraph.codemods.model import FullgraphError
from tests.rewrite.running import read_files, write_files

FILES = {"a.py": b"x = 1\r\n", "pkg/b.py": b"\xff\x00", "pkg/run.sh": b"#!/bin/sh\n", "empty.py": b""}


def test_files_arrive_as_they_were(root: Path, tmp_path: Path) -> None:
    write_files(root, FILES)
    (root / "pkg/run.sh").chmod(0o755)
    parcel = pack(root, FILES)
    there = unpack(parcel.name, parcel.blocks, tmp_path / "there")
    assert read_files(there) == FILES
    assert os.access(there / "pkg/run.sh", os.X_OK)
    assert not os.access(there / "a.py", os.X_OK)


def test_many_files_travel_in_blocks(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "BLOCK", 100)
    files = {f"m{number}.py": b"x" * 60 for number in range(10)}
    write_files(root, files)
    parcel = pack(root, files)
    assert len(parcel.blocks) == 6
    assert read_files(unpack(parcel.name, parcel.blocks, tmp_path / "there")) == files


def test_the_same_files_are_the_same_blocks(root: Path) -> None:
    write_files(root, FILES)
    assert pack(root, FILES).blocks == pack(root, reversed(FILES)).blocks


def test_a_file_that_cannot_be_read_is_named(root: Path) -> None:
    write_files(root, FILES)
    assert pack(root, [*FILES, "gone.py", "pkg"]).unread == ("gone.py", "pkg")


def test_what_stands_beside_has_a_name_there(root: Path, tmp_path: Path) -> None:
    write_files(
        root, {"a.py": "", "ignored.py": "x = 1\n", "notes.txt": "torch\n", "data/big.bin": "1", "data/x.txt": ""}
    )
    write_files(root, {".venv/lib/x.py": "", "env/pyvenv.cfg": "", "env/lib/y.py": ""})
    read, named = names_beside(root, ["a.py"])
    assert read == {"ignored.py", "notes.txt", "pyproject.toml"}
    assert named == {"data/", "data/big.bin", "data/x.txt", ".venv/", "env/"}
    parcel = pack(root, {"a.py", *read}, names=named)
    there = unpack(parcel.name, parcel.blocks, tmp_path / "there")
    assert (there / "ignored.py").read_text() == "x = 1\n"
    assert (there / "data/big.bin").read_bytes() == b""
    assert (there / "env").is_dir()


def test_a_link_to_nowhere_hides_nothing_behind_it(root: Path) -> None:
    write_files(root, {"a.py": "", "c.py": "", "data/x.txt": ""})
    os.symlink("nowhere.py", root / "b.py")
    assert names_beside(root, []) == ({"a.py", "c.py", "pyproject.toml"}, {"b.py", "data/", "data/x.txt"})
    assert all_files(root) == ["a.py", "c.py", "data/x.txt", "pyproject.toml"]


def test_a_link_to_a_folder_is_not_followed(root: Path) -> None:
    write_files(root, {"a.py": ""})
    os.symlink(".", root / "again")
    assert names_beside(root, ["a.py"]) == ({"pyproject.toml"}, {"again/"})


def test_only_so_many_names_are_looked_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folder by folder: the one in which the limit is reached is the last."""
    write_files(root, {"one/a.txt": "", "one/b.txt": "", "two/c.txt": ""})
    monkeypatch.setattr(parcels, "MOST_NAMES", 5)
    read, named = names_beside(root, [])
    assert {"one/", "two/", "one/a.txt", "one/b.txt"} <= named
    assert "two/c.txt" not in named
    assert read == {"pyproject.toml"}


def test_a_file_too_big_to_travel_has_only_its_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "BLOCK", 100)
    write_files(root, {"big.py": "x" * 100, "small.py": "x" * 99})
    read, named = names_beside(root, [])
    assert ("big.py" in named, "small.py" in read) == (True, True)


def test_a_file_that_nobody_may_write_can_be_written_there(root: Path, tmp_path: Path) -> None:
    """Proofs lay their sides over the copy."""
    write_files(root, {"a.py": "x"})
    (root / "a.py").chmod(0o400)
    parcel = pack(root, ["a.py"])
    there = unpack(parcel.name, parcel.blocks, tmp_path / "there")
    assert (there / "a.py").stat().st_mode & 0o777 == 0o600


def test_a_proof_gets_what_git_does_not_ignore(root: Path) -> None:
    write_files(root, {".gitignore": "*.bin\nout/\n", "a.py": "", "data/x.json": "", "data/y.bin": "", "out/z.txt": ""})
    write_files(root, {"data/.gitignore": "!y.bin\n", ".venv/v.py": "", "env/pyvenv.cfg": "", "env/w.py": ""})
    os.symlink("a.py", root / "link.py")
    os.symlink("data", root / "folder")
    assert all_files(root) == sorted(
        [".gitignore", "a.py", "data/.gitignore", "data/x.json", "data/y.bin", "link.py", "pyproject.toml"]
    )
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True
    )
    of_git = set(listed.stdout.split()) - {".venv/v.py", "env/pyvenv.cfg", "env/w.py", "folder"}
    assert set(all_files(root)) == of_git


def test_too_much_is_refused_in_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parcels, "MOST", 1000)
    write_files(root, {"a.py": "", "data/big.json": "1" * 1001})
    with pytest.raises(FullgraphError) as refused:
        all_files(root)
    assert "the biggest is data/big.json" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_root_inside_a_package_is_still_inside_one(tmp_path: Path) -> None:
    write_files(tmp_path, {"outer/__init__.py": "x", "outer/inner/__init__.py": "", "outer/inner/a.py": ""})
    inner = tmp_path / "outer/inner"
    parcel = pack(inner, ["__init__.py", "a.py"])
    assert parcel.name == "outer/inner"
    there = unpack(parcel.name, parcel.blocks, tmp_path / "there")
    assert there == tmp_path / "there/outer/inner"
    assert (tmp_path / "there/outer/__init__.py").is_file()
    assert not (tmp_path / "there/__init__.py").exists()
