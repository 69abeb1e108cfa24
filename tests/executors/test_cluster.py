"""Clusters that are not there, or not right: one line, after a bounded time."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fullgraph.codemods.executors import cluster as cluster_module
from fullgraph.codemods.executors.cluster import Cluster, describe_code, tell_mismatch
from fullgraph.codemods.executors.model import executor_named
from fullgraph.codemods.model import FullgraphError
from tests.executors.clusters import cluster_of
from tests.rewrite.running import write_files

pytestmark = pytest.mark.everything

FULLGRAPH = Path(sys.executable).with_name("fullgraph")


@contextmanager
def port(listens: bool) -> Iterator[str]:
    """An address where nobody is, or where somebody takes calls and says nothing."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listens:
            taken.listen()
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.mark.parametrize("listens", [False, True])
def test_a_scheduler_that_does_not_answer_is_one_line(listens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE", 1.0)
    with port(listens) as address, pytest.raises(FullgraphError) as refused:
        Cluster(address)
    assert str(refused.value) == f"dask://{address}: no Dask scheduler answers there (waited 1 s)"


def test_the_command_says_it_and_nothing_else(root: Path) -> None:
    write_files(root, {"a.py": "x = 1\n"})
    with port(listens=True) as address:
        done = subprocess.run(
            [FULLGRAPH, "check", "--executor", f"dask://{address}"],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=90,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"fullgraph: dask://{address}: no Dask scheduler answers there (waited 10 s)"]


def test_a_cluster_without_workers_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE", 2.0)
    with cluster_of() as address, pytest.raises(FullgraphError) as refused:
        Cluster(address)
    assert str(refused.value) == f"dask://{address} has no workers (waited 2 s)"


def test_a_worker_with_another_version_is_refused_in_one_line(cluster: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = {**describe_code(), "fullgraph": "9.9"}
    monkeypatch.setattr(cluster_module, "describe_code", lambda: mine)
    with pytest.raises(FullgraphError) as refused:
        Cluster(cluster.removeprefix("dask://"))
    said = str(refused.value)
    assert said.startswith("the worker tcp://")
    assert said.endswith(f"has fullgraph {describe_code_there()}, and here it is 9.9: install the same on both")
    assert "\n" not in said


def describe_code_there() -> str:
    from importlib.metadata import version

    return version("fullgraph")


@pytest.mark.parametrize(
    ("theirs", "text"),
    [
        ({}, ""),
        ({"Python": "3.9"}, "has Python 3.9, and here it is 3.11"),
        ({"fullgraph": "0.2"}, "has fullgraph 0.2, and here it is 0.1"),
        ({"files": "def"}, "has other files in its fullgraph 0.1"),
    ],
)
def test_what_answers_depend_on_must_be_the_same(theirs: dict[str, str], text: str) -> None:
    mine = {"Python": "3.11", "fullgraph": "0.1", "files": "abc"}
    assert tell_mismatch(mine, {**mine, **theirs}) == text


def test_a_worker_without_fullgraph_says_so() -> None:
    error = ModuleNotFoundError("No module named 'codemods'")
    assert tell_mismatch({}, error) == "has no fullgraph that can be imported (No module named 'codemods')"


def test_a_scheduler_that_goes_away_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE", 5.0)
    with cluster_of({}) as address:
        there = Cluster(address)
        waiting = there.submit(time.sleep, 60)
    with pytest.raises(FullgraphError, match=r"the connection to dask://.* was lost"):
        list(there.finished([waiting]))


def test_a_cluster_that_loses_all_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "LONELY", 1.0)
    with cluster_of({}) as address:
        there = Cluster(address)
        there.client.retire_workers()
        waiting = there.submit(time.sleep, 1)
        with pytest.raises(FullgraphError, match="has had no workers for 1 s"):
            list(there.finished([waiting]))


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(FullgraphError) as refused:
        Cluster("host:8786")
    assert str(refused.value) == "--executor dask://host:8786 needs Dask: pip install 'fullgraph[dask]'"


@pytest.mark.parametrize(
    "name", ["", "dask", "dask://", "dask://host", "dask://host:x", "ray://host:1", "dask://a b:1"]
)
def test_what_is_no_executor_is_refused(name: str, root: Path) -> None:
    with pytest.raises(FullgraphError, match="write local, or dask://host:8786"):
        executor_named(name)


def test_a_wrong_name_is_one_line_of_the_command(root: Path) -> None:
    done = subprocess.run([FULLGRAPH, "check", "--executor", "ray"], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "fullgraph: --executor 'ray': write local, or dask://host:8786\n")


def test_a_run_here_never_imports_dask(root: Path) -> None:
    loading = "import sys, fullgraph.codemods.ui.commands, fullgraph.codemods.ui.proof"
    code = f"{loading}; print({{'dask', 'distributed'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
