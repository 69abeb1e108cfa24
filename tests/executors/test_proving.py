"""Proving over a cluster: a scenario on each worker, the same verdicts as here, and no worker's death loses one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from codemods.executors.at_worker import moved
from codemods.executors.model import Proof, executor_named
from codemods.model import FullgraphError
from tests.executors.clusters import cluster_of, is_running, kill, pids_of, wait_until
from validate.model import Settings, Sides, ValidateError, Verdict
from validate.scenario import read_scenario

BEFORE = """
import torch

def step(x):
    print("step")
    return x * 2
"""
AFTER = BEFORE.replace('    print("step")\n', "")
SCENARIO = """
import json, os, sys, time
from pathlib import Path

import torch

from sizes import SIZE
import module

NAME = {name!r}
NOTES = Path({notes!r})
WAIT = {wait}

def build(device):
    DATA = json.loads((Path(__file__).parent / "data.json").read_text())
    (NOTES / f"{{NAME}}-{{os.getpid()}}").write_text(json.dumps({{"file": module.__file__, "data": DATA}}))
    until = time.time() + WAIT
    while time.time() < until and not (NOTES / "go").exists():
        time.sleep(0.05)
    return module.step

def cases(device, seed):
    return [(torch.ones(SIZE, device=device),)]
"""
EAGER = Settings(device="fake-cuda", backend="eager", python=sys.executable)
"""Without values nothing is timed but the guards, so that two verdicts are the same."""


def quiet(stage: str, detail: str) -> None: ...


def proofs_in(root: Path, notes: Path, *names: str, wait: float = 0, settings: Settings = EAGER) -> list[Proof]:
    """A scenario for each name. It needs a module and a file beside it that are no part of the change."""
    notes.mkdir(exist_ok=True)
    (root / "module.py").write_text(BEFORE)
    (root / "sizes.py").write_text("SIZE = 3\n")
    (root / "data.json").write_text("[1, 2]")
    sides = Sides(root, {"module.py": BEFORE.encode()}, {"module.py": AFTER.encode()})
    found = []
    for name in names:
        file = root / f"{name}.py"
        file.write_text(SCENARIO.format(name=name, notes=str(notes), wait=wait))
        found.append(Proof(read_scenario(str(file), root), sides, settings))
    return found


def told(verdict: Verdict) -> str:
    """All of a verdict but the time that a check of the guards took."""
    return re.sub(r"guard_us=[0-9.]+|guard time [^']*", "guards", repr(verdict))


def pids_in(notes: Path) -> list[int]:
    """The processes in which scenarios began."""
    return [int(file.name.partition("-")[2]) for file in notes.glob("*-*")]


def noted(notes: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in sorted(notes.glob(f"{name}-*"))]


def test_the_verdicts_are_the_same_byte_for_byte(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs = proofs_in(root, tmp_path / "notes", "first", "second")
    here = executor_named("local").prove(proofs, quiet)
    there = executor_named(cluster).prove(proofs, quiet)
    assert [told(verdict) for verdict in there] == [told(verdict) for verdict in here]
    assert [verdict.scenario.name for verdict in there] == [str(root / "first.py"), str(root / "second.py")]
    assert ["graph breaks 1 > 0" in told(verdict) for verdict in there] == [True, True]
    places = [note["file"] for note in noted(tmp_path / "notes", "first")]
    assert any(place.startswith(str(root)) for place in places)
    assert any(not place.startswith(str(root)) for place in places), "a worker has a copy of its own"


def test_each_worker_has_one_scenario(cluster: str, root: Path, tmp_path: Path) -> None:
    """Both run at once and on two workers: each waits until the test has seen the other."""
    notes = tmp_path / "notes"
    proofs = proofs_in(root, notes, "first", "second", "third", wait=60)
    done: list[Any] = []
    running = start(lambda: done.extend(executor_named(cluster).prove(proofs, quiet)))
    wait_until(lambda: noted(notes, "first") and noted(notes, "second"))
    busy = processing(cluster)
    assert sorted(map(len, busy.values())) == [1, 1]
    assert not noted(notes, "third"), "it has to wait for a worker"
    (notes / "go").touch()
    running.join(120)
    assert [Path(verdict.scenario.target).stem for verdict in done] == ["first", "second", "third"]


def test_a_worker_that_is_killed_in_the_middle_of_a_proof_loses_nothing(
    cluster: str, root: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    proofs = proofs_in(root, notes, "first", "second", wait=60)
    done: list[Any] = []
    running = start(lambda: done.extend(executor_named(cluster).prove(proofs, quiet)))
    wait_until(lambda: noted(notes, "first") and noted(notes, "second"))
    begun = pids_in(notes)
    kill(min(pids_of(cluster).values()))
    wait_until(lambda: not all(map(is_running, begun)))
    (notes / "go").touch()
    running.join(120)
    assert [told(verdict) for verdict in done] == [told(v) for v in executor_named("local").prove(proofs, quiet)]


def test_nobody_works_for_somebody_who_has_stopped(cluster: str, root: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    wait_until(lambda: len(pids_of(cluster)) == 2)
    proofs = proofs_in(root, notes, "first", wait=1000)

    def stop(stage: str, detail: str) -> None:
        wait_until(lambda: noted(notes, "first"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        executor_named(cluster).prove(proofs, stop)
    wait_until(lambda: not any(map(is_running, pids_in(notes))))


def test_a_scenario_that_cannot_run_says_why_in_the_users_words(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs = proofs_in(root, tmp_path / "notes", "first")
    (root / "first.py").write_text("import nothing_of_this_name\n")
    said = []
    for name in ("local", cluster):
        with pytest.raises(ValidateError) as failed:
            executor_named(name).prove(proofs, quiet)
        said.append(str(failed.value))
    assert said[0] == said[1]
    assert "nothing_of_this_name" in said[0]


def test_a_scenario_outside_the_project_is_sent_too(cluster: str, root: Path, tmp_path: Path) -> None:
    [proof] = proofs_in(root, tmp_path / "notes", "first")
    outside = tmp_path / "elsewhere.py"
    outside.write_text((root / "first.py").read_text().replace("Path(__file__).parent", "Path.cwd()"))
    (root / "first.py").unlink()
    proof = replace(proof, scenario=read_scenario(str(outside), root))
    [here], [there] = (executor_named(name).prove([proof], quiet) for name in ("local", cluster))
    assert told(there) == told(here)
    assert "graph breaks 1 > 0" in told(there)


def test_a_gpu_is_found_by_its_resource(root: Path, tmp_path: Path) -> None:
    with cluster_of({}, {"GPU": 1}) as address:
        executor = executor_named(f"dask://{address}")
        [gpu] = executor.cluster.workers(gpu=True)  # type: ignore[attr-defined]
        assert len(executor.cluster.workers(gpu=False)) == 2  # type: ignore[attr-defined]
        proofs = proofs_in(root, tmp_path / "notes", "first", "second", wait=60, settings=replace(EAGER, device="auto"))
        done: list[Any] = []
        running = start(lambda: done.extend(executor.prove(proofs, quiet)))
        wait_until(lambda: noted(tmp_path / "notes", "first") or noted(tmp_path / "notes", "second"))
        assert {worker: len(tasks) > 0 for worker, tasks in processing(address).items()}[gpu]
        assert sum(map(len, processing(address).values())) == 1, "there is one GPU, so there is one proof"
        (tmp_path / "notes" / "go").touch()
        running.join(200)
        assert len(done) == 2


def test_without_a_gpu_cuda_is_refused_in_one_line(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs = proofs_in(root, tmp_path / "notes", "first", settings=replace(EAGER, device="cuda:0"))
    with pytest.raises(FullgraphError) as refused:
        executor_named(cluster).prove(proofs, quiet)
    assert str(refused.value).startswith(f"no worker of {cluster} has a GPU")
    assert "\n" not in str(refused.value)


def test_the_command_proves_there(cluster: str, root: Path, tmp_path: Path) -> None:
    proofs_in(root, tmp_path / "notes", "first")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "."], cwd=root, check=True)
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *author, "commit", "-q", "-m", "before"], cwd=root, check=True)
    (root / "module.py").write_text(AFTER)
    given = ["first.py", "--device", "fake-cuda", "--backend", "eager", "--format", "json", "--python", sys.executable]
    local, there = (
        subprocess.run(
            [Path(sys.executable).with_name("fullgraph"), "prove", *given, "--executor", name],
            cwd=root,
            capture_output=True,
            timeout=200,
        )
        for name in ("local", cluster)
    )
    stable = [re.sub(r".*guard.*", "", done.stdout.decode()) for done in (local, there)]
    assert "graph breaks 1 > 0" in stable[0]
    assert stable[1] == stable[0]
    assert (there.returncode, there.stderr) == (local.returncode, local.stderr)


def test_paths_move_in_every_text_of_a_value() -> None:
    value = {"a": ("/tmp/x/one.py", ["at /tmp/x/two.py", 3]), "b": Settings(python="/tmp/x/python")}
    there = moved(value, {"/tmp/x": "/home/me"})
    assert there == {"a": ("/home/me/one.py", ["at /home/me/two.py", 3]), "b": Settings(python="/home/me/python")}


def start(work: Any) -> Any:
    import threading

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def processing(name: str) -> dict[str, Any]:
    """What the workers are at, by worker."""
    with Client(name.removeprefix("dask://"), set_as_default=False) as client:
        found: dict[str, Any] = client.processing()
        return found
