"""Which executor a name means, and which worker has a GPU; nothing is connected to."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.codemods.executors.cluster import Cluster, has_gpu
from fullgraph.codemods.executors.local import LocalExecutor
from fullgraph.codemods.executors.model import executor_named
from fullgraph.codemods.executors.on_dask import DaskExecutor
from fullgraph.codemods.model import FullgraphError

WORKERS: dict[str, Any] = {
    "tcp://b": {"nthreads": 2, "resources": {"GPU": 1}},
    "tcp://a": {"nthreads": 3, "resources": {}},
    "tcp://c": {"nthreads": 1, "resources": {"GPU": 0}},
}


class Told(Cluster):
    """A cluster that only knows what it is told."""

    def __init__(self, workers: dict[str, Any]) -> None:
        self.name = "dask://host:1"
        self.told = workers

    def _workers(self) -> dict[str, Any]:
        return self.told


def test_the_same_name_is_the_same_executor() -> None:
    assert executor_named("dask://host:8786") is executor_named("dask://host:8786")
    assert executor_named("local", 1, 5.0) is not executor_named("local", 1, 6.0)


def test_a_name_means_one_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    local = executor_named("local", 3, 5.0)
    assert isinstance(local, LocalExecutor)
    assert (local.jobs, local.limit) == (3, 5.0)
    for name in ("dask://host:8786", "dask://host:8786/", "dask://10.0.0.1:8786"):
        assert isinstance(executor_named(name), DaskExecutor)


@pytest.mark.parametrize("name", ["dask://host:8786/path", "dask://a/b:1", "xdask://host:1", "Local", "dask://host:1 "])
def test_a_name_must_fit_as_a_whole(name: str) -> None:
    with pytest.raises(FullgraphError, match="write local, or dask://host:8786"):
        executor_named(name)


def test_a_worker_has_a_gpu_if_it_says_so() -> None:
    assert [has_gpu(worker) for worker in WORKERS.values()] == [True, False, False]
    assert not has_gpu({})
    assert not has_gpu({"resources": {"GPU": 0.5}})


def test_workers_are_sorted_and_those_without_a_gpu_left_out_on_request() -> None:
    assert Told(WORKERS).workers(gpu=False) == ["tcp://a", "tcp://b", "tcp://c"]
    assert Told(WORKERS).workers(gpu=True) == ["tcp://b"]
    assert (Told(WORKERS).has_gpus(), Told(WORKERS).threads()) == (True, 6)


def test_without_workers_there_is_still_one_thread_and_no_gpu() -> None:
    assert (Told({}).has_gpus(), Told({}).threads()) == (False, 1)
    with pytest.raises(FullgraphError, match="no worker of dask://host:1 has a GPU"):
        Told({"tcp://a": WORKERS["tcp://a"]}).workers(gpu=True)
