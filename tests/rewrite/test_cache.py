"""The cache: never another answer than without it, never an error, never in the way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, Site
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite import cache as caching
from fullgraph.codemods.rewrite.cache import KEPT_QUESTIONS, Cache, cache_folder, code_of, digest_of
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.scan import AskHere, scan
from fullgraph.codemods.rewrite.walk import plant_trees
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
    from fullgraph.codemods.rewrite import asking

    paths: list[str] = []
    original = asking.ask_one

    def ask_one(project: object, path: str, codemods: object) -> object:
        paths.append(path)
        return original(project, path, codemods)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask_one", ask_one)
    yield paths
    paths.clear()


class NameModule(SwapCall):
    """Says by which name its file is imported."""

    name = "name_module"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for finding in super().find(module, project):
            yield replace(finding, message=module.name)


class AsTold(SwapCall):
    """Says what it was told beside its options."""

    name = "as_told"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for finding in super().find(module, project):
            yield replace(finding, message=f"{self.tests} {self.sites}")


def messages(results: list[FileResult], path: str) -> list[str]:
    return [finding.message for finding in findings_in(results) if finding.path == path]


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
    write_files(project, {"src/pkg/m.py": "old()\n"})
    age(project)
    [before] = messages(cached(project, NameModule()), "src/pkg/m.py")
    write_files(project, {"src/__init__.py": "", "src/pkg/__init__.py": ""})
    [after] = messages(cached(project, NameModule()), "src/pkg/m.py")
    assert (before, after) == ("pkg.m", "src.pkg.m")


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


def test_lines_that_broke_and_the_folder_of_tests_are_part_of_the_question(project: Path) -> None:
    seen, unseen, testing = AsTold(), AsTold(), AsTold(tests="tests")
    seen.sites = (Site("c.py", 1, "GB0170"),)
    for codemod in (unseen, seen, testing):
        assert cached(project, codemod) == plain(project, codemod)


def test_codemods_of_one_name_from_two_modules_do_not_share_answers(project: Path) -> None:
    namesake = type("Namesake", (NameModule,), {"name": "swap_call", "__module__": "tests.rewrite.running"})
    cached(project, SwapCall())
    assert cached(project, namesake()) == plain(project, namesake())


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg", "requirements.txt", "requirements-dev.txt"])
def test_an_edit_of_what_the_project_requires_asks_again(project: Path, asked: list[str], name: str) -> None:
    for stamp in (LONG_AGO, LONG_AGO + 1):
        write_files(project, {name: ""})
        os.utime(project / name, ns=(stamp, stamp))
        asked.clear()
        cached(project)
        assert len(asked) == 6


def test_another_python_and_a_newer_fullgraph_ask_again(
    project: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(project)
    asked.clear()
    monkeypatch.setattr(sys, "version", "another")
    cached(project)
    assert len(asked) == 6
    asked.clear()
    monkeypatch.setattr(caching, "fingerprint_of_code", lambda codemods: "newer")
    cached(project)
    assert len(asked) == 6


def test_an_answer_to_one_question_is_not_given_for_content_that_only_another_has_seen(project: Path) -> None:
    cached(project, SwapCall())
    write_files(project, {"c.py": "old() + old()\n"})
    age(project)
    cached(project, ShareImport())
    assert cached(project, SwapCall()) == plain(project, SwapCall())


def test_a_touched_file_is_read_once(project: Path) -> None:
    cached(project)
    os.utime(project / "c.py", ns=(LONG_AGO + 5, LONG_AGO + 5))
    for touched in (["c.py"], []):
        [tree], _ = plant_trees([project])
        cache = Cache(project, CODEMODS, tree.entries.values())
        cache.fresh_digests(list(tree.entries.values()))
        assert [entry.path for entry, _ in cache.touched] == touched
        cache.store([])


def test_silenced_findings_are_still_counted(project: Path) -> None:
    write_files(project, {"silenced.py": "old()  # fullgraph: ignore[swap_call]\n"})
    age(project)
    for _ in range(2):
        [result] = [result for result in cached(project) if result.path == "silenced.py"]
        assert result.suppressed == 1


def test_a_codemod_from_a_users_file_is_asked_every_time(project: Path, asked: list[str]) -> None:
    codemod = SwapCall()
    codemod.origin = "own.py"  # type: ignore[attr-defined]
    for _ in range(2):
        asked.clear()
        cached(project, codemod)
        assert len(asked) == 6


def test_a_file_beside_the_one_that_was_named_counts_too(project: Path) -> None:
    """The rename in a.py reaches into b.py, which nobody asked about."""
    for text in ("c.field\n", "c.field + c.field\n"):
        write_files(project, {"b.py": text})
        [tree], _ = plant_trees([project / "a.py"])
        [result] = scan(tree, [RenameField()], ask=AskHere(1))
        assert len(result.findings[0].edits) == 1 + text.count("field")


def test_an_error_of_reading_is_not_remembered(project: Path) -> None:
    [tree], _ = plant_trees([project])
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


def test_a_locked_file_is_no_error_and_is_kept(project: Path, asked: list[str]) -> None:
    expected = cached(project)
    connection = sqlite3.connect(database())
    connection.execute("begin exclusive")
    assert cached(project) == expected
    connection.close()
    asked.clear()
    assert cached(project) == expected
    assert asked == []


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


def test_a_question_that_is_asked_again_is_not_the_oldest(project: Path, asked: list[str]) -> None:
    for number in range(KEPT_QUESTIONS):
        cached(project, SwapCall({"to": f"name_{number}"}))
    write_files(project, {"c.py": "old() + 1\n"})
    age(project)
    for number in (0, KEPT_QUESTIONS):
        cached(project, SwapCall({"to": f"name_{number}"}))
    asked.clear()
    cached(project, SwapCall({"to": "name_0"}))
    assert asked == []


def test_projects_that_nobody_looks_at_are_forgotten(project: Path) -> None:
    day = 86_400
    files = {days: cache_folder() / f"{days}.1.sqlite" for days in (30, 90)}
    for days, file in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
        os.utime(file, (time.time() - days * day,) * 2)
    cached(project)
    assert [days for days, file in files.items() if file.exists()] == [30]


def test_the_code_of_a_third_party_is_part_of_the_question() -> None:
    here = Path(__file__).parent
    assert {here / "sample.py", here / "running.py"} <= set(code_of(SwapCall))


def test_every_edit_of_the_tools_own_code_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "__file__", str(tmp_path / "codemods/rewrite/cache.py"))
    deep = tmp_path / "codemods/syntax/effects/aliases.py"
    seen = []
    for text, stamp in (("x = 1\n", LONG_AGO), ("x = 2\n", LONG_AGO + 1), ("x = 22\n", LONG_AGO + 1)):
        write_files(deep.parent, {deep.name: text})
        os.utime(deep, ns=(stamp, stamp))
        seen.append(caching.fingerprint_of_code([]))
    assert len(set(seen)) == 3


def test_a_digest_of_several_texts_knows_where_each_ends() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")


def test_the_cache_leaves_no_open_file_behind(project: Path) -> None:
    [tree], _ = plant_trees([project])
    cache = Cache(project, CODEMODS, tree.entries.values())
    cache.store([])
    assert cache.connection is None
