"""Scanning: the same answer with any number of processes, and no file or codemod ends it for the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Finding, FullgraphError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import Asked
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.scan import AskHere, Stopped, chunks, scan
from fullgraph.codemods.rewrite.walk import Entry, plant_trees
from tests.rewrite.running import findings_in, look, write_files
from tests.rewrite.sample import CountTrees, FailSometimes, NeverEnd, RenameField, ShareImport, SwapCall

SAMPLES: list[Codemod] = [SwapCall(), ShareImport(), RenameField(), FailSometimes()]


@pytest.fixture
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enough files of every sort for several chunks of work."""
    monkeypatch.setattr("fullgraph.codemods.rewrite.scan.WORTH_A_PROCESS", 1)
    monkeypatch.setattr("fullgraph.codemods.rewrite.scan.CHUNK_BYTES", 300)
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
    [result] = scan(tree, SAMPLES, ask=AskHere(1), use_cache=False)
    assert len(result.findings[0].edits) == 2


def test_an_unreadable_file_is_one_error(project: Path) -> None:
    [tree], _ = plant_trees([project])
    (project / "b.py").unlink()
    by_path = {result.path: result for result in scan(tree, SAMPLES, ask=AskHere(1), use_cache=True)}
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

        def __call__(self, files: int, size: int) -> None:
            self.files += files

        def finish(self) -> None:
            self.is_finished = True

    for file in project.rglob("*.py"):
        os.utime(file, (1e9, 1e9))  # a stamp that is believed, so that the second scan knows the answers
    for _ in range(2):
        count = Count()
        [tree], _ = plant_trees([project])
        scan(tree, SAMPLES, ask=AskHere(2), use_cache=True, progress=count)
        assert (count.files, count.is_finished) == (36, True)


def test_a_syntax_error_is_told_of_files_that_were_named(root: Path) -> None:
    """Nothing could be found in them, so nobody parses them; who named one asks about it."""
    write_files(root, {"a.py": "x = = 1\n", "b.py": "y = = 1\n"})
    [tree], _ = plant_trees([root, root / "a.py"])
    errors = {result.path: result.error for result in scan(tree, SAMPLES, ask=AskHere(1))}
    assert errors["a.py"].startswith("line 1: ")
    assert errors["b.py"] == ""


class SayShelf(SwapCall):
    """Says whether answers about the project outlive the scan."""

    name = "say_shelf"

    def find(self, module: Module, project: Project) -> Iterator[Finding]:
        for finding in super().find(module, project):
            yield replace(finding, message="none" if project.shelf is None else "one")


def test_without_a_cache_nothing_outlives_the_scan(root: Path) -> None:
    write_files(root, {"a.py": "old()\n"})
    for use_cache, said in ((True, "one"), (False, "none")):
        [finding] = findings_in(look(root, SayShelf(), use_cache=use_cache))
        assert finding.message == said


def test_chunks_hold_every_file_once_and_begin_with_the_biggest() -> None:
    entries = [Entry(f"{size}.py", (0, 0, size, 0)) for size in (5, 500_000, 10, 300_000, 200_000)]
    portions = list(chunks(entries, 400_000))
    assert portions == [["500000.py"], ["300000.py", "200000.py"], ["10.py", "5.py"]]


def test_an_empty_project_has_no_results(root: Path) -> None:
    assert look(root, *SAMPLES) == []
    assert look(root, *SAMPLES, use_cache=True) == []


SLOW = """
import sys, time
from pathlib import Path
from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.rewrite import scan
from fullgraph.codemods.rewrite.walk import plant_trees

class Dawdle(Codemod):
    needles = (b"old",)
    def find(self, module, project):
        time.sleep(0.4)
        return []

class Tell:
    def __call__(self, files, size):
        print("done", files, flush=True)
    def finish(self):
        pass

scan.WORTH_A_PROCESS, scan.CHUNK_BYTES = 1, 1
[tree], _ = plant_trees([Path(sys.argv[1])])
try:
    scan.scan(tree, [Dawdle()], ask=scan.AskHere(int(sys.argv[2])), use_cache=False, progress=Tell())
except KeyboardInterrupt as stopped:
    paths = [result.path for result in stopped.results]
    print("stopped", len(paths), stopped.unseen, paths == sorted(paths))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_gives_what_was_done_until_then(project: Path, jobs: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, project, jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(6):
        process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    told, said = process.communicate(timeout=120)
    stopped, done, unseen, is_sorted = told.splitlines()[-1].split()
    assert (stopped, is_sorted, said) == ("stopped", "True", "")
    assert 5 <= int(done) < 36
    assert int(done) + int(unseen) == 36


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("call", ["spin_on", "sleep_on", "spin_deaf"])
def test_a_file_that_never_ends_is_named_and_the_rest_is_done(
    project: Path, jobs: int, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if call == "spin_deaf" and jobs == 1:
        pytest.skip("code that cannot be interrupted can only be ended with its process")
    monkeypatch.setattr("fullgraph.codemods.rewrite.crew.GRACE", 0.5)
    monkeypatch.setattr("fullgraph.codemods.rewrite.asking.SLACK", 1.5)
    write_files(project, {"pkg/m07.py": f"{call}()\nold()\n", "pkg/m23.py": f"{call}()\n"})
    [tree], _ = plant_trees([project])
    results = scan(tree, [*SAMPLES, NeverEnd()], ask=AskHere(jobs, 1), use_cache=False)
    late = {result.path: result.error for result in results if "longer" in result.error}
    assert late == dict.fromkeys(["pkg/m07.py", "pkg/m23.py"], "took longer than 1 s (--time-limit-per-file); left")
    assert len(results) == 36
    assert len(findings_in(results)) == 58


def test_a_file_that_took_too_long_is_asked_about_again_next_time(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fullgraph.codemods.rewrite.asking.SLACK", 1.5)
    write_files(project, {"pkg/m07.py": "spin_on()\n"})
    for _ in range(2):
        [tree], _ = plant_trees([project])
        results = scan(tree, [*SAMPLES, NeverEnd()], ask=AskHere(1, 1))
        assert [result.path for result in results if "longer" in result.error] == ["pkg/m07.py"]


def test_an_interrupted_scan_leaves_its_answers_in_the_cache(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupt:
        left = 10

        def __call__(self, files: int, size: int) -> None:
            self.left -= files
            if not self.left:
                raise KeyboardInterrupt

        def finish(self) -> None: ...

    monkeypatch.setattr("fullgraph.codemods.rewrite.cache.SETTLED_NS", 0)
    [tree], _ = plant_trees([project])
    with pytest.raises(Stopped) as stopped:
        scan(tree, SAMPLES, ask=AskHere(1), progress=Interrupt())
    assert (len(stopped.value.results), stopped.value.unseen) == (10, 26)
    asked: list[str] = []

    def note(entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterable[Asked]:
        asked.extend(entry.path for entry in entries)
        return AskHere(1)(entries, project, codemods)

    [tree], _ = plant_trees([project])
    assert scan(tree, SAMPLES, ask=note) == look(project, *SAMPLES)
    assert not {result.path for result in stopped.value.results} & set(asked)


@pytest.mark.parametrize("jobs", [1, 2])
def test_trees_are_not_kept(project: Path, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files there are, what is parsed stays below a bound, and the answers are the same."""
    expected = look(project, *SAMPLES, CountTrees())
    monkeypatch.setattr("fullgraph.codemods.rewrite.asking.ENOUGH", 60)
    results = look(project, *SAMPLES, CountTrees(), jobs=jobs)
    assert [replace(result, findings=without_counts(result)) for result in results] == [
        replace(result, findings=without_counts(result)) for result in expected
    ]
    assert max(counted(expected)) == 33
    assert max(counted(results)) <= 6


def without_counts(result: FileResult) -> tuple[Finding, ...]:
    return tuple(finding for finding in result.findings if finding.codemod != CountTrees().name)


def counted(results: list[FileResult]) -> list[int]:
    return [int(f.message) for f in findings_in(results) if f.codemod == CountTrees().name]


def test_a_crew_that_cannot_start_says_so(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fullgraph.codemods.rewrite.crew.serve", lambda *given: os._exit(1))
    with pytest.raises(FullgraphError, match="--jobs 1"):
        look(project, *SAMPLES, jobs=2)


def test_no_process_is_left_when_a_scan_is_over(project: Path) -> None:
    look(project, *SAMPLES, jobs=3)
    assert not multiprocessing.active_children()
    [tree], _ = plant_trees([project])
    answers = iter(AskHere(2)(list(tree.entries.values()), Project(tree.root, tree.entries), SAMPLES))
    next(answers)
    assert multiprocessing.active_children()
    del answers
    assert not multiprocessing.active_children()


def test_results_are_plain_values(project: Path) -> None:
    assert all(isinstance(result, FileResult) for result in look(project, *SAMPLES, jobs=2))
