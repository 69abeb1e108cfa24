"""The cache: never another answer than without it, never an error, never in the way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.codemod import Codemod
from codemods.rewrite.cache import KEPT_QUESTIONS, Cache, cache_folder, code_of
from codemods.rewrite.find import FileResult
from codemods.rewrite.walk import plant_trees
from tests.rewrite.running import findings_in, look, standing_in, write_files
from tests.rewrite.sample import RenameField, ShareImport, SwapCall

CODEMODS: list[Codemod] = [SwapCall(), RenameField()]
LONG_AGO = 1_600_000_000_000_000_000


@pytest.fixture
def project(root: Path) -> Path:
    """Files that are old enough for their time stamps to be believed."""
    write_files(root, {"a.py": "class C:\n    field: int\n", "b.py": "c.field\n", "c.py": "old()\n"})
    write_files(
        root, {"quiet.py": "x = 1\n", "wrong.py": "old(\n", "ignored.py": "x  # fullgraph: ignore[swap_call]\n"}
    )
    age(root)
    return root


def age(root: Path) -> None:
    for file in root.rglob("*.py"):
        os.utime(file, ns=(LONG_AGO, LONG_AGO))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The files that codemods were really asked about."""
    from codemods.rewrite import asking

    paths: list[str] = []
    original = asking.ask_one

    def ask_one(project: object, path: str, codemods: object) -> object:
        paths.append(path)
        return original(project, path, codemods)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask_one", ask_one)
    yield paths
    paths.clear()


def cached(root: Path, *codemods: Codemod) -> list[FileResult]:
    return look(root, *(codemods or CODEMODS), use_cache=True)


def plain(root: Path, *codemods: Codemod) -> list[FileResult]:
    return look(root, *(codemods or CODEMODS), use_cache=False)


def test_cold_and_warm_give_the_same_as_no_cache(project: Path, asked: list[str]) -> None:
    expected = plain(project)
    asked.clear()
    assert cached(project) == expected
    assert len(asked) == 6
    asked.clear()
    assert cached(project) == expected
    assert asked == []


def test_a_changed_file_is_asked_again_and_its_neighbours_only_where_they_matter(
    project: Path, asked: list[str]
) -> None:
    cached(project)
    asked.clear()
    write_files(project, {"c.py": "old() + old()\n"})
    results = cached(project)
    assert sorted(asked) == ["a.py", "c.py"]
    assert results == plain(project)


def test_the_same_size_and_the_same_second_are_not_the_same_file(project: Path) -> None:
    write_files(project, {"c.py": "old() + 1\n"})
    os.utime(project / "c.py", ns=(LONG_AGO, LONG_AGO))
    cached(project)
    for text in ("1 + old()\n", "old() - 1\n"):
        write_files(project, {"c.py": text})
        os.utime(project / "c.py", ns=(LONG_AGO + 1_000, LONG_AGO + 1_000))
        assert cached(project) == plain(project)


def test_the_same_size_and_the_very_same_time_are_not_the_same_file(project: Path) -> None:
    cached(project)
    write_files(project, {"c.py": "ol_()\n"})
    os.utime(project / "c.py", ns=(LONG_AGO, LONG_AGO))
    assert cached(project) == plain(project)


def test_a_file_written_a_moment_ago_is_not_believed_by_its_stamp(project: Path, asked: list[str]) -> None:
    """Two writes within one tick of the file system's clock have the same stamp."""
    write_files(project, {"c.py": "old()\n"})
    cached(project)
    asked.clear()
    cached(project)
    assert asked == ["c.py"]


def test_a_touched_file_is_known_by_its_content(project: Path, asked: list[str]) -> None:
    expected = cached(project, SwapCall())
    asked.clear()
    for step in range(2):
        os.utime(project / "c.py", ns=(LONG_AGO + step, LONG_AGO + step))
        assert cached(project, SwapCall()) == expected
    assert asked == []


def test_removed_and_added_files_are_noticed(project: Path) -> None:
    cached(project)
    (project / "c.py").unlink()
    write_files(project, {"new.py": "c.field + old()\n"})
    assert cached(project) == plain(project)
    assert "new.py" in [finding.path for finding in findings_in(cached(project))]


def test_a_new_package_changes_the_names_of_modules(project: Path) -> None:
    write_files(project, {"pkg/m.py": "from . import x\nold()\n"})
    age(project)
    cached(project)
    write_files(project, {"pkg/__init__.py": ""})
    assert cached(project) == plain(project)


def test_what_the_project_requires_is_part_of_the_question(project: Path, asked: list[str]) -> None:
    cached(project)
    asked.clear()
    write_files(project, {"requirements.txt": "torch>=2.4\n"})
    cached(project)
    assert len(asked) == 6


def test_options_symbols_and_codemods_are_part_of_the_question(project: Path) -> None:
    for codemods in ([SwapCall()], [SwapCall({"to": "other"})], [SwapCall(symbols=("f",))], [ShareImport()], CODEMODS):
        assert cached(project, *codemods) == plain(project, *codemods)
    [finding] = findings_in(cached(project, SwapCall({"to": "other"})))
    assert finding.edits[0].new_text == "other"


def test_an_error_of_reading_is_not_remembered(project: Path) -> None:
    [tree], _ = plant_trees([project])
    from codemods.rewrite.scan import scan

    (project / "c.py").rename(project / "away")
    scan(tree, CODEMODS, use_cache=True)
    (project / "away").rename(project / "c.py")
    assert cached(project) == plain(project)


def test_names_need_not_be_utf_8(project: Path, asked: list[str]) -> None:
    write_files(project, {os.fsdecode(b"\xff.py"): "old()\n", "new\nline.py": "old()\n"})
    age(project)
    assert cached(project) == plain(project)
    asked.clear()
    assert cached(project) == look(project, *CODEMODS, use_cache=True)
    assert asked == []


# Damage


def database() -> Path:
    [file] = cache_folder().glob("*.sqlite")
    return file


@pytest.mark.parametrize("damage", [b"", b"no database at all\n" * 1_000, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_file_is_no_error_and_is_replaced(project: Path, asked: list[str], damage: bytes) -> None:
    expected = cached(project)
    database().write_bytes(damage)
    assert cached(project) == expected
    assert cached(project) == expected
    asked.clear()
    assert cached(project) == expected
    assert asked == []


def test_damage_in_the_middle_is_no_error(project: Path) -> None:
    expected = cached(project)
    file = database()
    raw = file.read_bytes()
    for start in range(200, len(raw), 512):
        file.write_bytes(raw[:start] + b"\xaa" * 64 + raw[start + 64 :])
        assert cached(project) == expected, start
        file.write_bytes(raw[:start])
        assert cached(project) == expected, start


def test_a_damaged_row_is_no_row(project: Path) -> None:
    expected = cached(project)
    with sqlite3.connect(database()) as connection:
        connection.execute("""update results set answer = '{"findings": [{}]}'""")
    connection.close()
    assert cached(project) == expected


def test_a_locked_file_is_no_error(project: Path) -> None:
    expected = cached(project)
    connection = sqlite3.connect(database())
    connection.execute("begin exclusive")
    started = time.monotonic()
    assert cached(project) == expected
    assert time.monotonic() - started < 10
    connection.close()


def test_a_cache_folder_that_cannot_be_made_is_no_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(project, {"file": ""})
    for place in ("file", "file/below", "/proc/fullgraph"):
        monkeypatch.setenv("FULLGRAPH_CACHE", str(project / place))
        assert cached(project) == plain(project)


SCAN = """
import sys
from pathlib import Path
from tests.rewrite.running import look
from tests.rewrite.sample import RenameField, SwapCall
for _ in range(10):
    results = look(Path(sys.argv[1]), SwapCall(), RenameField(), use_cache=True)
print(len(results))
"""


def test_two_processes_share_the_cache(project: Path) -> None:
    with standing_in(Path(__file__).parent.parent.parent):
        command = [sys.executable, "-c", SCAN, str(project)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        assert [process.communicate() for process in both] == [(b"6\n", b"")] * 2
    assert cached(project) == plain(project)


# Growth


def rows(table: str) -> int:
    connection = sqlite3.connect(database())
    [(count,)] = connection.execute(f"select count(*) from {table}").fetchall()
    connection.close()
    return int(count)


def test_files_that_are_gone_are_forgotten(project: Path) -> None:
    cached(project)
    assert (rows("files"), rows("results")) == (6, 6)
    for name in ("a.py", "b.py", "quiet.py"):
        (project / name).unlink()
    write_files(project, {"c.py": "old() \n"})
    cached(project)
    assert (rows("files"), rows("results")) == (3, 3)


def test_old_questions_are_forgotten_and_the_last_ones_kept(project: Path, asked: list[str]) -> None:
    for number in range(KEPT_QUESTIONS + 5):
        cached(project, SwapCall({"to": f"name_{number}"}))
    assert rows("results") == KEPT_QUESTIONS * 6
    assert rows("questions") == KEPT_QUESTIONS
    asked.clear()
    cached(project, SwapCall({"to": f"name_{KEPT_QUESTIONS + 4}"}))
    assert asked == []


def test_projects_that_nobody_looks_at_are_forgotten(project: Path) -> None:
    old = cache_folder() / "old.1.sqlite"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_bytes(b"")
    os.utime(old, (1e9, 1e9))
    cached(project)
    assert not old.exists()


def test_the_code_of_a_third_party_is_part_of_the_question() -> None:
    assert Path(__file__).parent / "sample.py" in set(code_of(SwapCall))


def test_the_cache_leaves_no_open_file_behind(project: Path) -> None:
    [tree], _ = plant_trees([project])
    cache = Cache(project, CODEMODS, tree.entries.values())
    cache.store([])
    assert cache.connection is None
