"""Scanning: the same answer with any number of processes, and no file or codemod ends it for the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codemods.codemod import Codemod
from codemods.rewrite.find import FileResult
from codemods.rewrite.scan import chunks, scan
from codemods.rewrite.walk import Entry, plant_trees
from tests.rewrite.running import findings_in, look, write_files
from tests.rewrite.sample import FailSometimes, RenameField, ShareImport, SwapCall

SAMPLES: list[Codemod] = [SwapCall(), ShareImport(), RenameField(), FailSometimes()]


@pytest.fixture
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enough files of every sort for several chunks of work."""
    monkeypatch.setattr("codemods.rewrite.scan.WORTH_A_PROCESS", 1)
    monkeypatch.setattr("codemods.rewrite.scan.CHUNK_BYTES", 300)
    write_files(root, {f"pkg/m{number:02}.py": f"x = {number}\nold()\nbare()\n" for number in range(30)})
    write_files(root, {"pkg/__init__.py": "", "a.py": "class C:\n    field: int\n", "b.py": "c.field\n"})
    write_files(root, {"wrong.py": "old(\n", "raises.py": "raise_it()\nold()\n", "nul.py": b"old()\0"})
    return root


def test_the_answer_does_not_depend_on_the_number_of_processes(project: Path) -> None:
    alone = look(project, *SAMPLES, jobs=1)
    assert look(project, *SAMPLES, jobs=2) == alone
    assert look(project, *SAMPLES, jobs=3) == alone
    assert len(findings_in(alone)) == 62
    assert {result.path for result in alone if result.error} == {"wrong.py", "raises.py", "nul.py"}


def test_results_come_by_path(project: Path) -> None:
    paths = [result.path for result in look(project, *SAMPLES, jobs=2)]
    assert paths == sorted(paths)
    assert len(paths) == 36


@pytest.mark.parametrize("use_cache", [False, True])
def test_a_codemod_that_kills_its_process_is_named_and_the_rest_is_done(project: Path, use_cache: bool) -> None:
    write_files(project, {"pkg/m07.py": "die_now()\n", "pkg/m23.py": "die_now()\nold()\n"})
    results = look(project, *SAMPLES, jobs=2, use_cache=use_cache)
    dead = {result.path for result in results if "ended the process" in result.error}
    assert dead == {"pkg/m07.py", "pkg/m23.py"}
    assert len(results) == 36
    assert len(findings_in(results)) == 58
    if use_cache:
        assert look(project, *SAMPLES, jobs=2, use_cache=True) == results


def test_only_the_targets_are_asked_but_all_files_are_seen(project: Path) -> None:
    [tree], _ = plant_trees([project / "a.py"])
    [result] = scan(tree, SAMPLES, jobs=1, use_cache=False)
    assert len(result.findings[0].edits) == 2


def test_an_unreadable_file_is_one_error(project: Path) -> None:
    [tree], _ = plant_trees([project])
    (project / "b.py").unlink()
    by_path = {result.path: result for result in scan(tree, SAMPLES, jobs=1, use_cache=True)}
    assert by_path["b.py"].error == "not readable: No such file or directory"
    assert len(by_path) == 36


def test_a_huge_file_is_looked_at(project: Path) -> None:
    write_files(project, {"huge.py": "x = [\n" + "    1,\n" * 200_000 + "]\nold()\n"})
    [finding] = [finding for finding in findings_in(look(project, SwapCall(), jobs=2)) if finding.path == "huge.py"]
    assert finding.line == 200_003


def test_deep_recursion_is_an_error_of_that_file(project: Path) -> None:
    write_files(project, {"deep.py": "old(" + "-" * 50_000 + "1)\n", "sum.py": "x = old()" + " + 1" * 20_000 + "\n"})
    by_path = {result.path: result for result in look(project, *SAMPLES, jobs=2)}
    assert by_path["deep.py"].error.startswith("cannot be parsed")
    assert by_path["sum.py"].error or by_path["sum.py"].findings
    assert len(by_path) == 38


def test_progress_counts_every_file_once(project: Path) -> None:
    class Count:
        files = 0
        is_finished = False

        def __call__(self, files: int) -> None:
            self.files += files

        def finish(self) -> None:
            self.is_finished = True

    for _ in range(2):
        count = Count()
        [tree], _ = plant_trees([project])
        scan(tree, SAMPLES, jobs=2, use_cache=True, progress=count)
        assert (count.files, count.is_finished) == (36, True)


def test_chunks_hold_every_file_once_and_begin_with_the_biggest() -> None:
    entries = [Entry(f"{size}.py", (0, 0, size, 0)) for size in (5, 500_000, 10, 300_000, 200_000)]
    portions = list(chunks(entries))
    assert portions == [["500000.py"], ["300000.py", "200000.py"], ["10.py", "5.py"]]


def test_an_empty_project_has_no_results(root: Path) -> None:
    assert look(root, *SAMPLES) == []
    assert look(root, *SAMPLES, use_cache=True) == []


SLOW = """
import sys, time
from pathlib import Path
from codemods.codemod import Codemod
from codemods.rewrite import scan
from codemods.rewrite.walk import plant_trees

class Dawdle(Codemod):
    needles = (b"old",)
    def find(self, module, project):
        time.sleep(0.4)
        return []

scan.WORTH_A_PROCESS, scan.CHUNK_BYTES = 1, 1
[tree], _ = plant_trees([Path(sys.argv[1])])
print("ready", flush=True)
scan.scan(tree, [Dawdle()], jobs=2, use_cache=False)
"""


def test_ctrl_c_ends_the_scan_at_once(project: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, project], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    started = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - started < 4
    assert said.count(b"Traceback") == 1
    assert b"KeyboardInterrupt" in said


def test_results_are_plain_values(project: Path) -> None:
    assert all(isinstance(result, FileResult) for result in look(project, *SAMPLES, jobs=2))
