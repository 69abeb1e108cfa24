"""Find over many files: cached, in parallel processes, in an order that does not depend on either."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codemods.codemod import Codemod
from codemods.foreign.blame import in_one_line
from codemods.model import SourceError
from codemods.project import Project
from codemods.rewrite.cache import Cache, digest_bytes
from codemods.rewrite.find import FileResult, find
from codemods.rewrite.walk import Entry, Tree

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

WORTH_A_PROCESS = 1_000_000
"""Bytes of source below which starting processes takes longer than reading the files."""

CHUNK_BYTES = 400_000

Asked = tuple[str, str, FileResult]


class Progress(Protocol):
    """Told how many more files are done, and when there are no more."""

    def __call__(self, files: int) -> None: ...
    def finish(self) -> None: ...


def scan(
    tree: Tree,
    codemods: Sequence[Codemod],
    *,
    jobs: int = 0,
    use_cache: bool = True,
    progress: Progress | None = None,
) -> list[FileResult]:
    """What the codemods find in the tree's targets, by path. `jobs` 0 means one for every core."""
    entries = [tree.entries[path] for path in sorted(tree.targets)]
    cache = Cache(tree.root, codemods, tree.entries.values()) if use_cache and is_cacheable(codemods) else None
    digests = cache.fresh_digests(entries) if cache else {}
    answers = cache.answers(digests) if cache else {}
    if progress:
        progress(len(answers))
    project = Project(tree.root, tree.entries)
    seen: list[tuple[Entry, str, FileResult]] = []
    for path, digest, result in ask_about([e for e in entries if e.path not in answers], project, codemods, jobs):
        answers[path] = result
        seen.append((tree.entries[path], digest, result))
        if progress:
            progress(1)
    if progress:
        progress.finish()
    if cache:
        cache.store(seen)
    return [checked(project, answers[path]) if path in tree.named else answers[path] for path in sorted(answers)]


def checked(project: Project, result: FileResult) -> FileResult:
    """The result, with the syntax error of a file that was not parsed because nothing could be found in it."""
    if result.error or result.findings:
        return result
    try:
        project.module(result.path)
    except SourceError as error:
        return replace(result, error=error.reason)
    return result


def is_cacheable(codemods: Sequence[Codemod]) -> bool:
    """A codemod loaded from a user's file may change behind the cache's back."""
    return not any(hasattr(codemod, "origin") for codemod in codemods)


def ask_about(entries: list[Entry], project: Project, codemods: Sequence[Codemod], jobs: int) -> Iterable[Asked]:
    workers = jobs or available_cores()
    total = sum(entry.size for entry in entries)
    if workers == 1 or total < WORTH_A_PROCESS or not is_cacheable(codemods):
        return ask_in_process(entries, project, codemods)
    return ask_in_pool(entries, project, codemods, workers)


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def ask_in_process(entries: list[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterator[Asked]:
    for entry in entries:
        yield ask_one(project, entry.path, codemods)


def ask_one(project: Project, path: str, codemods: Sequence[Codemod]) -> Asked:
    """One file's result, whatever happens. It is not cached (no digest) when the file could not be read."""
    digest = ""
    try:
        raw = project.read(path)
        digest = digest_bytes(raw)
        return path, digest, find(project, path, codemods, raw)
    except SourceError as error:
        return path, digest, FileResult(path, error=error.reason)
    except Exception as error:
        return path, "", FileResult(path, error=in_one_line(error))


# The pool: paths in, plain values out

_worker: tuple[Project, Sequence[Codemod]]


def ask_in_pool(entries: list[Entry], project: Project, codemods: Sequence[Codemod], workers: int) -> Iterator[Asked]:
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    gc.freeze()
    lost: list[str] = []
    with pool_of(workers, project, codemods) as pool:
        waiting = {pool.submit(work, chunk): chunk for chunk in chunks(entries)}
        try:
            for done in as_completed(waiting):
                try:
                    yield from done.result()
                except BrokenProcessPool:
                    lost += waiting[done]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise
    yield from ask_apart(sorted(lost), project, codemods)


def ask_apart(paths: list[str], project: Project, codemods: Sequence[Codemod]) -> Iterator[Asked]:
    """Ask again about files with which a process died: in halves, until the file that it dies of stands alone."""
    from concurrent.futures.process import BrokenProcessPool

    if not paths:
        return
    try:
        with pool_of(1, project, codemods) as pool:
            yield from pool.submit(work, paths).result()
    except BrokenProcessPool:
        if len(paths) == 1:
            yield paths[0], "", FileResult(paths[0], error="a codemod ended the process that asked it about this file")
        else:
            half = len(paths) // 2
            yield from ask_apart(paths[:half], project, codemods)
            yield from ask_apart(paths[half:], project, codemods)


def pool_of(workers: int, project: Project, codemods: Sequence[Codemod]) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor

    return ProcessPoolExecutor(workers, initializer=start_worker, initargs=(project.root, project.files, codemods))


def start_worker(root: Path, files: Sequence[str], codemods: Sequence[Codemod]) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that the user started
    gc.disable()
    _worker = Project(root, files), codemods


def work(paths: list[str]) -> list[Asked]:
    project, codemods = _worker
    answers = []
    for path in paths:
        answers.append(ask_one(project, path, codemods))
        project.forget(path)
    return answers


def chunks(entries: list[Entry]) -> Iterator[list[str]]:
    """The paths in portions of about the same size, the biggest files first so that no core is left with one."""
    chunk: list[str] = []
    size = 0
    for entry in sorted(entries, key=lambda entry: -entry.size):
        chunk.append(entry.path)
        size += entry.size
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
