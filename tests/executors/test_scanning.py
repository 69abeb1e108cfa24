"""Scanning over a cluster: the same answers as here, byte for byte, whatever becomes of a worker."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors import at_worker
from fullgraph.codemods.executors.model import executor_named
from fullgraph.codemods.executors.parcels import names_beside, pack
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.scan import scan
from fullgraph.codemods.rewrite.walk import plant_trees
from tests.executors.clusters import kill, pids_of, wait_until
from tests.executors.sample import TellPlace, WaitForGo
from tests.rewrite.running import findings_in, look, write_files
from tests.rewrite.sample import BorrowHelper, FailSometimes, NeverEnd, RenameField, ShareImport, SwapCall

pytestmark = pytest.mark.everything

SAMPLES: list[Codemod] = [SwapCall(), ShareImport(), RenameField(), BorrowHelper(), FailSometimes(), NeverEnd()]
FULLGRAPH = Path(sys.executable).with_name("fullgraph")


@pytest.fixture
def project(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of every sort, in several chunks."""
    monkeypatch.setattr("fullgraph.codemods.executors.on_dask.CHUNK_BYTES", 1)
    monkeypatch.setattr("fullgraph.codemods.executors.on_dask.PORTIONS", 2)
    write_files(root, {f"pkg/m{number:02}.py": f"x = {number}\nold()\nbare()\n" for number in range(30)})
    write_files(root, {"pkg/__init__.py": "", "a.py": "class C:\n    field: int\n", "b.py": "c.field\n"})
    write_files(root, {"wrong.py": "old(\n", "raises.py": "raise_it()\nold()\n", "nul.py": b"old()\0"})
    return root


def look_there(name: str, root: Path, *codemods: Codemod, limit: float = 60) -> list[FileResult]:
    [tree], _ = plant_trees([root])
    return scan(tree, codemods, ask=executor_named(name, limit=limit).ask, use_cache=False)


def test_the_answers_are_the_same_byte_for_byte(cluster: str, project: Path) -> None:
    here = look(project, *SAMPLES)
    assert repr(look_there(cluster, project, *SAMPLES)) == repr(here)
    assert len(findings_in(here)) == 62


def test_a_file_that_ends_its_process_or_never_ends_is_named_there_too(cluster: str, project: Path) -> None:
    write_files(project, {"pkg/m07.py": "die_now()\n", "pkg/m23.py": "spin_on()\n"})
    pids = pids_of(cluster)
    results = look_there(cluster, project, *SAMPLES, limit=2)
    errors = {result.path: result.error for result in results}
    assert errors["pkg/m07.py"] == "a codemod ended the process that asked it about this file"
    assert errors["pkg/m23.py"] == "took longer than 2 s (--time-limit-per-file); left"
    assert len(findings_in(results)) == 58
    assert pids_of(cluster) == pids, "no worker was lost by it"


@pytest.mark.parametrize("lost", [1, 2])
def test_workers_that_are_killed_in_the_middle_lose_nothing(
    cluster: str, project: Path, tmp_path: Path, lost: int
) -> None:
    """Not even if all are: the scheduler has every block of the files, so that new workers get them, too."""
    wait_until(lambda: len(pids_of(cluster)) == 2)
    (tmp_path / "notes").mkdir()
    codemods = [SwapCall(), WaitForGo({"notes": str(tmp_path / "notes")})]
    results: list[FileResult] = []
    running = threading.Thread(target=lambda: results.extend(look_there(cluster, project, *codemods)), daemon=True)
    running.start()
    wait_until(lambda: len(list((tmp_path / "notes").iterdir())) == 2)
    killed = list(pids_of(cluster).values())[:lost]
    kill(*killed)
    (tmp_path / "notes/go").touch()
    running.join(120)
    assert repr(results) == repr(look(project, *codemods))
    wait_until(lambda: len(pids_of(cluster)) == 2 and not {*killed} & {*pids_of(cluster).values()})


def test_workers_see_a_copy_and_not_the_users_folder(cluster: str, project: Path) -> None:
    [here] = {finding.message for finding in findings_in(look(project, TellPlace()))}
    [there] = {
        finding.message.rpartition("/fullgraph-")[0]
        for finding in findings_in(look_there(cluster, project, TellPlace()))
    }
    assert here == str(project)
    assert there
    assert not there.startswith(str(project))


def test_what_is_sent_is_enough(project: Path) -> None:
    """The folder is gone when the worker looks: nothing is read that was not sent."""
    import pickle

    write_files(project, {".gitignore": "ignored.py\nextra/\n", "ignored.py": "x = 1\n", "extra/lending.py": "x = 2\n"})
    write_files(project, {"c.py": "borrow()\n", "requirements.txt": "torch>=2.6\n"})
    here = look(project, *SAMPLES)
    assert "extra/lending.py" in next(r for r in here if r.path == "c.py").findings[0].left_alone
    [tree], _ = plant_trees([project])
    files = Project(project, tree.entries).files
    read, named = names_beside(project, files)
    parcel = pack(project, {*files, *read}, names=named)
    shutil.rmtree(project)
    answers = at_worker.look_at(parcel.name, parcel.blocks, pickle.dumps((files, SAMPLES, files, 60.0)))
    assert repr([result for *_, result in sorted(pickle.loads(answers), key=lambda one: one[0])]) == repr(here)


def test_a_file_that_cannot_be_read_has_the_same_error(cluster: str, project: Path) -> None:
    [tree], _ = plant_trees([project])
    (project / "b.py").unlink()
    (project / "b.py").mkdir()
    here = scan(tree, SAMPLES, use_cache=False)
    there = scan(tree, SAMPLES, ask=executor_named(cluster).ask, use_cache=False)
    assert "not readable: Is a directory" in {result.error for result in here}
    assert repr(there) == repr(here)


def test_a_project_inside_a_package_keeps_its_modules_names(cluster: str, tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    write_files(tmp_path, {"outer/__init__.py": "", "outer/inner/__init__.py": "", "outer/inner/a.py": "tell()\n"})
    write_files(inner, {"pyproject.toml": ""})
    codemod = TellPlace({"what": "module"})
    assert [finding.message for finding in findings_in(look(inner, codemod))] == ["outer.inner.a"]
    assert repr(look_there(cluster, inner, codemod)) == repr(look(inner, codemod))


def test_the_command_says_the_same(cluster: str, project: Path) -> None:
    write_files(project, {"model.py": SYNCS})
    local, there = (
        subprocess.run(
            [FULLGRAPH, "check", "--no-cache", "--format", "json", "--executor", name, "."],
            cwd=project,
            capture_output=True,
            timeout=120,
        )
        for name in ("local", cluster)
    )
    assert b"batch_host_reads" in local.stdout
    assert there.stdout == local.stdout
    assert (there.returncode, there.stderr) == (local.returncode, local.stderr)


SYNCS = """\
import torch


def log(losses: list[torch.Tensor]) -> list[float]:
    values = []
    for loss in losses:
        values.append(loss.item())
    return values
"""
