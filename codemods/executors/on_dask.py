"""The work on a Dask cluster: chunks of files, and scenarios one on each worker."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.executors import at_worker
from fullgraph.codemods.executors.cluster import Cluster, cluster_at
from fullgraph.codemods.executors.model import Proof
from fullgraph.codemods.executors.parcels import Parcel, all_files, names_beside, pack
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import Asked
from fullgraph.codemods.rewrite.scan import CHUNK_BYTES, AskHere, chunks, is_cacheable
from fullgraph.codemods.rewrite.walk import Entry
from fullgraph.validate.model import ValidateError

if TYPE_CHECKING:
    from distributed import Future

    from fullgraph.validate.model import Verdict
    from fullgraph.validate.pair import Progress

PORTIONS = 3
"""Chunks for every thread of the cluster: few enough to start few processes, enough to leave no thread idle."""


@dataclass(frozen=True)
class DaskExecutor:
    """A cluster that is there already. It is connected to when there is work."""

    address: str
    limit: float

    @property
    def cluster(self) -> Cluster:
        return cluster_at(self.address)

    def ask(self, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterator[Asked]:
        """Codemods of a user's own file run here: the workers do not have it."""
        here = AskHere(limit=self.limit)
        if not entries or not is_cacheable(codemods):
            yield from here(entries, project, codemods)
            return
        read, named = names_beside(project.root, project.files)
        parcel = pack(project.root, {*project.files, *read}, names=named)
        sent = [entry for entry in entries if entry.path not in parcel.unread]
        for paths, answers in self._look(parcel, sent, project, codemods):
            lost = [entry for entry in sent if entry.path in paths] if answers is None else []
            yield from answers if answers is not None else here(lost, project, codemods)
        yield from here([entry for entry in entries if entry.path in parcel.unread], project, codemods)

    def _look(
        self, parcel: Parcel, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]
    ) -> Iterator[tuple[list[str], list[Asked] | None]]:
        """Each chunk of paths with its answers; None if it outlived every worker that had it."""
        blocks = self.cluster.send(parcel.blocks)
        size = sum(entry.size for entry in entries) // (PORTIONS * self.cluster.threads())
        asked: dict[Future, list[str]] = {}
        for paths in chunks(entries, max(size, CHUNK_BYTES)):
            question = pickle.dumps((project.files, codemods, paths, self.limit))
            asked[self.cluster.submit(at_worker.look_at, parcel.name, blocks, question)] = paths
        for future, answer in self.cluster.finished(asked):
            yield asked[future], None if answer is None else pickle.loads(answer)

    def prove(self, proofs: Sequence[Proof], progress: Progress) -> list[Verdict]:
        """One on each worker at a time. The next one starts where one is done."""
        verdicts: dict[int, Any] = {}
        for number, answer in Proving(self.cluster, proofs).run(progress):
            verdicts[number] = answer
        for number in sorted(verdicts):
            if isinstance(verdicts[number], str):
                raise ValidateError(verdicts[number])
        return [verdicts[number] for number in sorted(verdicts)]


class Proving:
    """Proofs on their way over the workers of a cluster."""

    def __init__(self, cluster: Cluster, proofs: Sequence[Proof]) -> None:
        self.cluster = cluster
        self.todo = list(enumerate(proofs))[::-1]
        self.count = len(proofs)
        devices = {proof.settings.device for proof in proofs}
        self.gpu = any(map(wants_gpu, devices)) or ("auto" in devices and cluster.has_gpus())
        """`auto` is what it would be on a machine of one's own: a GPU where there is one."""

        self.running: dict[Future, int] = {}
        self.sent: dict[tuple[Path, tuple[str, ...]], tuple[str, list[Future]]] = {}

    def run(self, progress: Progress) -> Iterator[tuple[int, Any]]:
        """Each proof's number with its verdict, or with the text of why there is none."""
        try:
            for worker in self.cluster.workers(self.gpu):
                self.start(worker)
            while self.running:
                self.tell(progress)
                for future, answer in self.cluster.finished(list(self.running), first=True):
                    number = self.running.pop(future)
                    yield number, "the workers that ran it died" if answer is None else pickle.loads(answer)
                    self.start(self.cluster.ran_on(future))
        finally:
            self.cluster.cancel(self.running)

    def tell(self, progress: Progress) -> None:
        done = self.count - len(self.todo) - len(self.running)
        progress("proving", f"{done} of {self.count} done, {len(self.running)} running on {self.cluster.name}")

    def start(self, worker: str) -> None:
        if self.todo:
            number, proof = self.todo.pop()
            name, blocks = self.send(proof)
            given = name, blocks, pickle.dumps((proof, files_outside(proof)))
            self.running[self.cluster.submit(at_worker.prove_one, *given, gpu=self.gpu, worker=worker)] = number

    def send(self, proof: Proof) -> tuple[str, list[Future]]:
        """The project's files, once for all proofs that need the same."""
        root = proof.sides.root
        own = tuple(sorted(path.relative_to(root).as_posix() for path in files_of(proof) if path.is_relative_to(root)))
        if (root, own) not in self.sent:
            parcel = pack(root, {*all_files(root), *own})
            self.sent[root, own] = parcel.name, self.cluster.send(parcel.blocks)
        return self.sent[root, own]


def wants_gpu(device: str) -> bool:
    return device.partition(":")[0] == "cuda"


def files_of(proof: Proof) -> list[Path]:
    """What a scenario itself consists of, also where git ignores it."""
    scenario = proof.scenario
    texts: Iterable[str] = (scenario.target.partition("::")[0], scenario.capture)
    return [Path(text) for text in texts if text and Path(text).is_file()]


def files_outside(proof: Proof) -> dict[str, bytes]:
    """Those of them that are not below the project's root."""
    return {str(path): path.read_bytes() for path in files_of(proof) if not path.is_relative_to(proof.sides.root)}
