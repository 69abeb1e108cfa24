"""Proving over a cluster: a scenario on each worker, the same verdicts as here, and no worker's death loses one.

Most proofs here are not about torch: a stand-in for the user's python says where it runs, waits until it may go on,
and then refuses.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client

from fullgraph.codemods.executors import at_worker
from fullgraph.codemods.executors.at_worker import moved
from fullgraph.codemods.executors.cluster import cluster_at
from fullgraph.codemods.executors.model import Proof, executor_named
from fullgraph.codemods.executors.on_dask import Proving, files_outside
from fullgraph.codemods.executors.parcels import pack
from fullgraph.codemods.model import FullgraphError
from fullgraph.validate.model import Settings, Sides, ValidateError
from fullgraph.validate.scenario import read_scenario
from tests.executors.clusters import cluster_of, is_running, kill, pids_of, wait_until

pytestmark = pytest.mark.everything

BEFORE = """
import torch

def step(x):
    print("step")
    return x * 2
"""
AFTER = BEFORE.replace('    print("step")\n', "")
SCENARIO = """
import json
from pathlib import Path

import torch

from sizes import SIZE
import module

DATA = json.loads((Path.cwd() / "data.json").read_text())
with Path({notes!r}).open("a") as file:
    print(module.__file__, file=file)

def build(device):
    return module.step

def cases(device, seed):
    return [(torch.ones(SIZE, device=device),)] * len(DATA)
"""
STAND_IN = """\
#!{python} -IS
import hashlib, json, os, select, sys
from pathlib import Path

seal = hashlib.blake2b(key=bytes.fromhex(sys.stdin.readline().strip()), digest_size=32)
sys.stdin.readline()
Path({notes!r}, f"{name}-{{os.getpid()}}").write_text(os.getcwd())
while not Path({notes!r}, "go").exists():
    if select.select([0], [], [], 0.05)[0]:
        sys.exit()  # whoever asked is gone
body = json.dumps({{"error": "torch", "text": f"{name} ran in {{os.getcwd()}}"}})
seal.update(f"1 {{body}}".encode())
print(seal.hexdigest(), body, flush=True)
sys.stdin.read()
"""
CPU = Settings(device="cpu", backend="eager")


def quiet(stage: str, detail: str) -> None: ...


def write_project(root: Path) -> Sides:
    """A change, and files that a scenario needs and that are no part of it."""
    (root / "module.py").write_text(BEFORE)
    (root / "sizes.py").write_text("SIZE = 3\n")
    (root / "data.json").write_text("[1, 2]")
    return Sides(root, {"module.py": BEFORE.encode()}, {"module.py": AFTER.encode()})


def proofs_in(root: Path, notes: Path, *names: str, settings: Settings = CPU) -> list[Proof]:
    """A proof for each name, which waits for the file `go` among the notes."""
    notes.mkdir(exist_ok=True)
    sides = write_project(root)
    found = []
    for name in names:
        (root / f"{name}.py").write_text(SCENARIO.format(notes=str(notes / "unused")))
        python = notes.parent / f"python-{name}"
        python.write_text(STAND_IN.format(python=sys.executable, notes=str(notes), name=name))
        python.chmod(0o755)
        scenario = read_scenario(str(root / f"{name}.py"), root)
        found.append(Proof(scenario, sides, replace(settings, python=str(python))))
    return found


def begun(notes: Path, name: str = "") -> dict[int, str]:
    """The processes in which a proof has begun, with the folders they run in."""
    return {int(file.name.partition("-")[2]): file.read_text() for file in notes.glob(f"{name}*-*")}


class Run:
    """Proofs that run in the background. `said` is what came of each, by its number."""

    def __init__(self, name: str, proofs: list[Proof], progress: Callable[[str, str], None] = quiet) -> None:
        self.said: dict[int, Any] = {}
        proving = Proving(cluster_at(name.removeprefix("dask://")), proofs)
        self.thread = threading.Thread(target=lambda: self.said.update(proving.run(progress)), daemon=True)
        self.thread.start()

    def go_on(self, notes: Path) -> dict[int, Any]:
        (notes / "go").touch()
        self.thread.join(120)
        return self.said


def test_the_verdicts_are_the_same_byte_for_byte(cluster: str, root: Path, tmp_path: Path) -> None:
    """A real proof, by the command."""
    write_project(root)
    notes = tmp_path / "notes"
    (root / "first.py").write_text(SCENARIO.format(notes=str(notes)))
    commit_all(root)
    (root / "module.py").write_text(AFTER)
    given = ["first.py", "--device", "fake-cuda", "--backend", "eager", "--untimed"]
    local, there = (
        subprocess.run(
            [Path(sys.executable).with_name("fullgraph"), "prove", *given, "--format", "json", "--executor", name],
            cwd=root,
            capture_output=True,
            timeout=300,
        )
        for name in ("local", cluster)
    )
    stable = [re.sub(r".*guard.*", "", done.stdout.decode()) for done in (local, there)]
    assert stable[0].count('"graph breaks 1 > 0"') == 1
    assert stable[1] == stable[0]
    assert (there.returncode, there.stderr) == (local.returncode, local.stderr)
    places = notes.read_text().splitlines()
    assert [place.startswith(str(root)) for place in places] == [True] * 2 + [False] * 2, "workers have copies"


def commit_all(root: Path) -> None:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for given in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "before"]):
        subprocess.run(["git", *given], cwd=root, check=True)


def test_each_worker_has_one_scenario(cluster: str, root: Path, tmp_path: Path) -> None:
    """Two run at once and on two workers: they wait until the test has seen both. A proof has two processes."""
    notes = tmp_path / "notes"
    run = Run(cluster, proofs_in(root, notes, "first", "second", "third"))
    wait_until(lambda: len(begun(notes, "first")) == len(begun(notes, "second")) == 2)
    assert sorted(map(len, processing(cluster).values())) == [1, 1]
    assert not begun(notes, "third"), "it has to wait for a worker"
    assert not any(place.startswith(str(root)) for place in begun(notes).values()), "each has a copy of its own"
    said = run.go_on(notes)
    assert said == {number: f"{name} ran in {root}" for number, name in enumerate(("first", "second", "third"))}


def test_a_worker_that_is_killed_in_the_middle_of_a_proof_loses_nothing(
    cluster: str, root: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    run = Run(cluster, proofs_in(root, notes, "first", "second"))
    wait_until(lambda: len(begun(notes)) == 4)
    pids = begun(notes)
    kill(min(pids_of(cluster).values()))
    wait_until(lambda: [is_running(pid) for pid in pids].count(False) == 2)
    assert run.go_on(notes) == {0: f"first ran in {root}", 1: f"second ran in {root}"}
    wait_until(lambda: len(pids_of(cluster)) == 2)


def test_nobody_works_for_somebody_who_has_stopped(cluster: str, root: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    def stop(stage: str, detail: str) -> None:
        wait_until(lambda: len(begun(notes)) == 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor_named(cluster).prove(proofs_in(root, notes, "first"), stop)
    wait_until(lambda: not any(map(is_running, begun(notes))))


def test_a_dask_that_keeps_its_tasks_elsewhere_has_the_work_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.get_worker", lambda: SimpleNamespace(get_current_task=lambda: "key"))
    assert at_worker.wanted()()


def test_two_runs_share_a_cluster(cluster: str, root: Path, tmp_path: Path) -> None:
    """And the one that is stopped takes nothing from the other."""
    notes = tmp_path / "notes"
    other = Run(cluster, proofs_in(root, notes, "other"))
    wait_until(lambda: len(begun(notes, "other")) == 2)

    def stop(stage: str, detail: str) -> None:
        wait_until(lambda: len(begun(notes, "mine")) == 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor_named(cluster).prove(proofs_in(root, notes, "mine"), stop)
    wait_until(lambda: not any(map(is_running, begun(notes, "mine"))))
    assert all(map(is_running, begun(notes, "other")))
    assert other.go_on(notes) == {0: f"other ran in {root}"}


def test_a_proof_that_cannot_run_says_why_in_the_users_words(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs = proofs_in(root, tmp_path / "notes", "first", "second")
    (tmp_path / "notes/go").touch()
    for name in ("local", cluster):
        with pytest.raises(ValidateError) as failed:
            executor_named(name).prove(proofs, quiet)
        assert str(failed.value) == f"first ran in {root}"


def test_a_scenario_outside_the_project_is_sent_too(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [proof] = proofs_in(root, tmp_path / "notes", "first")
    outside = tmp_path / "elsewhere.py"
    outside.write_text((root / "first.py").read_text())
    proof = replace(proof, scenario=read_scenario(str(outside), root))
    question = pickle.dumps((proof, files_outside(proof)))
    outside.unlink()
    read: list[str] = []

    def read_it(what: str, given: tuple[Proof]) -> bytes:
        read.append(Path(given[0].scenario.target).read_text())
        return pickle.dumps(f"{given[0].scenario.target}: no")

    monkeypatch.setattr(at_worker, "do_apart", read_it)
    answer = at_worker.prove_one("name", pack(root, ["module.py"]).blocks, question)
    assert pickle.loads(answer) == f"{outside}: no"
    assert read == [(root / "first.py").read_text()]


def test_a_gpu_is_found_by_its_resource(root: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with cluster_of({}, {"GPU": 1}) as address:
        there = cluster_at(address)
        [gpu] = there.workers(gpu=True)
        assert len(there.workers(gpu=False)) == 2
        run = Run(address, proofs_in(root, notes, "first", "second", settings=replace(CPU, device="auto")))
        wait_until(lambda: len(begun(notes)) == 2)
        assert {worker: len(tasks) for worker, tasks in processing(address).items() if tasks} == {gpu: 1}
        assert run.go_on(notes) == {0: f"first ran in {root}", 1: f"second ran in {root}"}


def test_without_a_gpu_cuda_is_refused_in_one_line(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs = proofs_in(root, tmp_path / "notes", "first", settings=replace(CPU, device="cuda:0"))
    with pytest.raises(FullgraphError) as refused:
        executor_named(cluster).prove(proofs, quiet)
    assert str(refused.value).startswith(f"no worker of {cluster} has a GPU")
    assert "\n" not in str(refused.value)


def test_paths_move_in_every_text_of_a_value() -> None:
    value = {"a": ("/tmp/x/one.py", ["at /tmp/x/two.py", 3]), "b": Settings(python="/tmp/x/python")}
    there = moved(value, {"/tmp/x": "/home/me"})
    assert there == {"a": ("/home/me/one.py", ["at /home/me/two.py", 3]), "b": Settings(python="/home/me/python")}


def test_a_path_that_only_begins_like_another_does_not_move() -> None:
    """A scenario may lie beside the project, in a folder whose name begins with the project's."""
    moves = {"/home/me/x": "/tmp/1/x", "/home/me/x_scenarios/one.py": "/tmp/1/outside-0/one.py"}
    assert moved("/home/me/x_scenarios/one.py in /home/me/x, /home/me/x/a.py.", moves) == (
        "/tmp/1/outside-0/one.py in /tmp/1/x, /tmp/1/x/a.py."
    )
    assert moved(("/home/me/x2/a.py", "/home/me/x-old", "/home/me/x.old/a.py"), moves) == (
        "/home/me/x2/a.py",
        "/home/me/x-old",
        "/home/me/x.old/a.py",
    )
    assert moved("/home/me/x", {}) == "/home/me/x"


def processing(name: str) -> dict[str, Any]:
    """What the workers are at, by worker."""
    with Client(name.removeprefix("dask://"), set_as_default=False) as client:
        found: dict[str, Any] = client.processing()
        return found
