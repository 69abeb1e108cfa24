"""Find over many files: cached, in parallel processes, in an order that does not depend on either."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.asking import ENOUGH, FILE_LIMIT, Asked, ask_in_turn
from fullgraph.codemods.rewrite.cache import Cache
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.shelf import DiskShelf
from fullgraph.codemods.rewrite.walk import Entry, Tree

WORTH_A_PROCESS = 1_000_000
"""Bytes of source below which starting processes takes longer than reading the files."""

CHUNK_BYTES = 400_000


class Progress(Protocol):
    """Told how many more files are done and their bytes, and when there are no more.

    The first call is about what was known already.
    """

    def __call__(self, files: int, size: int) -> None: ...
    def finish(self) -> None: ...


Each = Callable[[FileResult], None]


class Asker(Protocol):
    """Asks codemods about files of a project: an answer for each, in any order, whatever happens to one of them."""

    def __call__(self, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterable[Asked]: ...


class Stopped(KeyboardInterrupt):
    """Ctrl-C in the middle of a scan: the results so far, by path, and how many files have none."""

    def __init__(self, results: list[FileResult], unseen: int) -> None:
        super().__init__()
        self.results = results
        self.unseen = unseen


@dataclass(frozen=True)
class AskHere:
    """Asks on this machine; `jobs` 0 means a process for every core. A few files are not worth starting one."""

    jobs: int = 0
    limit: float = FILE_LIMIT

    def __call__(self, entries: Sequence[Entry], project: Project, codemods: Sequence[Codemod]) -> Iterable[Asked]:
        workers = self.jobs or available_cores()
        total = sum(entry.size for entry in entries)
        if workers == 1 or total < WORTH_A_PROCESS or not is_cacheable(codemods):
            return ask_in_turn([entry.path for entry in entries], project, codemods, self.limit)
        from fullgraph.codemods.rewrite.crew import Crew

        return Crew(workers, project, codemods, chunks(entries, CHUNK_BYTES), self.limit)


def scan(
    tree: Tree,
    codemods: Sequence[Codemod],
    *,
    ask: Asker | None = None,
    use_cache: bool = True,
    progress: Progress | None = None,
    each: Each | None = None,
) -> list[FileResult]:
    """What the codemods find in the tree's targets, by path. Ctrl-C raises Stopped. `each` is told as answers come."""
    entries = [tree.entries[path] for path in sorted(tree.targets)]
    cache = Cache(tree.root, codemods, tree.entries.values()) if use_cache and is_cacheable(codemods) else None
    answers = cache.answers(cache.fresh_digests(entries)) if cache else {}
    unknown = [entry for entry in entries if entry.path not in answers]
    tell = progress or Unseen()
    tell(len(answers), sum(tree.entries[path].size for path in answers))
    each = each or (lambda result: None)
    for path in sorted(answers):
        each(answers[path])
    project = Project(tree.root, tree.entries, shelf=DiskShelf(tree.root) if use_cache else None)
    seen: list[tuple[Entry, str, FileResult]] = []
    try:
        for path, digest, result in (ask or AskHere())(unknown, project, codemods):
            answers[path] = result
            seen.append((tree.entries[path], digest, result))
            tell(1, tree.entries[path].size)
            each(result)
    except KeyboardInterrupt:
        raise Stopped(in_order(tree, project, answers), len(entries) - len(answers)) from None
    finally:
        tell.finish()
        if cache:
            cache.store(seen)
    return in_order(tree, project, answers)


class Unseen:
    """Progress that nobody looks at."""

    def __call__(self, files: int, size: int) -> None: ...
    def finish(self) -> None: ...


def in_order(tree: Tree, project: Project, answers: Mapping[str, FileResult]) -> list[FileResult]:
    """The results by path; those of files that were named, with their syntax errors."""
    results = []
    for path in sorted(answers):
        results.append(checked(project, answers[path]) if path in tree.named else answers[path])
        project.forget_trees_beyond(ENOUGH)
    return results


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


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def chunks(entries: Sequence[Entry], size: int) -> Iterator[list[str]]:
    """The paths in portions of about so many bytes, the biggest files first so that no core is left with one."""
    chunk: list[str] = []
    held = 0
    for entry in sorted(entries, key=lambda entry: -entry.size):
        chunk.append(entry.path)
        held += entry.size
        if held >= size:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk
