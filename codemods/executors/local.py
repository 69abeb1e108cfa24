"""The work on this machine: files by a process for every core, scenarios one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors.model import Proof
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import Asked
from fullgraph.codemods.rewrite.scan import AskHere
from fullgraph.codemods.rewrite.walk import Entry

if TYPE_CHECKING:
    from fullgraph.validate.model import Verdict
    from fullgraph.validate.pair import Progress


@dataclass(frozen=True)
class LocalExecutor:
    """Two proofs at once would disturb each other's times, so there is one at a time."""

    jobs: int
    limit: float

    def ask(self, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterable[Asked]:
        return AskHere(self.jobs, self.limit)(entries, project, codemods)

    def prove(self, proofs: Sequence[Proof], progress: Progress) -> list[Verdict]:
        return [prove_here(proof, progress) for proof in proofs]


def prove_here(proof: Proof, progress: Progress) -> Verdict:
    """What inductor has compiled is kept for later proofs."""
    from platformdirs import user_cache_path

    from fullgraph.validate.prove import prove

    cache = user_cache_path("fullgraph") / "inductor"
    given = proof.scenario, proof.sides, proof.settings
    return prove(*given, declared=proof.declared, progress=progress, cache=cache)
