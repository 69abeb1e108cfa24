"""A cluster that the tests of one file share; what one test connects to, the next one connects to anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rewrite.conftest import root, tmp_path

pytest.importorskip("distributed", reason="Dask is an extra")

from fullgraph.codemods.executors.cluster import cluster_at
from fullgraph.codemods.executors.model import executor_named
from tests.executors.clusters import cluster_of

__all__ = ["root", "tmp_path"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The name of a cluster of two worker processes, which are replaced when they die."""
    with cluster_of({}, {}) as address:
        yield f"dask://{address}"


@pytest.fixture(autouse=True)
def _fresh_connection(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("fullgraph.codemods.executors.cluster.LOOK", 0.2)
    yield
    executor_named.cache_clear()
    cluster_at.cache_clear()
