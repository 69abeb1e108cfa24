"""What every executor does, and how the user names one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import FILE_LIMIT, Asked
from fullgraph.codemods.rewrite.walk import Entry

if TYPE_CHECKING:
    from fullgraph.validate.model import Declared, Scenario, Settings, Sides, Verdict
    from fullgraph.validate.pair import Progress

LOCAL = "local"
DASK = re.compile(r"dask://([^/\s]+:[0-9]+)/?")


@dataclass(frozen=True)
class Proof:
    """One scenario to run on the two sides of a change."""

    scenario: Scenario
    sides: Sides
    settings: Settings
    declared: tuple[Declared, ...] = ()


class Executor(Protocol):
    """Does the work somewhere. The answers are the same wherever that is."""

    def ask(self, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterable[Asked]:
        """What the codemods find in each file, in any order."""
        ...

    def prove(self, proofs: Sequence[Proof], progress: Progress) -> list[Verdict]:
        """A verdict for each, in their order. Raises ValidateError for the first that cannot be run."""
        ...


@cache
def executor_named(name: str, jobs: int = 0, limit: float = FILE_LIMIT) -> Executor:
    """`local`, or `dask://host:8786`. The same name is the same executor, with one connection for all its work."""
    if name == LOCAL:
        from fullgraph.codemods.executors.local import LocalExecutor

        return LocalExecutor(jobs, limit)
    if found := DASK.fullmatch(name):
        from fullgraph.codemods.executors.on_dask import DaskExecutor

        return DaskExecutor(found[1], limit)
    raise FullgraphError(f"--executor {name!r}: write local, or dask://host:8786")
