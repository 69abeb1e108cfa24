"""Tries faults on copies of the tree, as many at a time as there are cores."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from tests.mutants.bank import ROOT
from tests.zygote import Forked, Zygote

PRELOADED = (
    *("torch._dynamo", "pytest", "hypothesis", "pytest_asyncio", "pytest_lsp", "xdist"),
    *("click", "libcst", "jsonschema", "numpy"),
)
"""What most tests need, and no fault is put into."""

MINUTE = 60.0
TICKS = itertools.count(2_000_000_000)
"""Time stamps for faulty files: byte code is kept by the second, and a fault may be younger than that."""


@dataclass(frozen=True)
class Trial:
    """What became of one fault: caught, survived, late (no answer in a minute) or broken (the tests did not start)."""

    name: str
    end: str
    told: str = ""


class Tree:
    """A copy of the tracked files in which one fault at a time is put; tests are forked from a process of its own."""

    def __init__(self, folder: Path, source: Path = ROOT) -> None:
        self.folder = folder
        self.zygote = Zygote(*PRELOADED).require()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(listed, cwd=source, capture_output=True, check=True)
        for name in filter(None, done.stdout.decode().split("\0")):
            if os.path.lexists(source / name):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, folder / name, follow_symlinks=False)

    @contextmanager
    def faulty(self, file: str, raw: bytes) -> Iterator[None]:
        """The file with the fault in it, for as long as the block lasts."""
        path = self.folder / file
        before = path.read_bytes()
        self._write(path, raw)
        try:
            yield
        finally:
            self._write(path, before)

    def _write(self, path: Path, raw: bytes) -> None:
        path.write_bytes(raw)
        stamp = next(TICKS)
        os.utime(path, (stamp, stamp))

    def test(self, tests: Sequence[str], limit: float) -> tuple[str, str]:
        """How the tests end, and what they print last."""
        given = {"PYTHONPATH": str(self.folder), "FULLGRAPH_CACHE": str(self.folder / ".cache")}
        argv = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--everything", *tests]
        request = {"argv": argv, "cwd": str(self.folder), "env": {**self.zygote.variables, **given}}
        with (self.folder / ".told").open("w+b") as told:
            process = Forked(self.zygote.socket, request, told, told.fileno())
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "late", f"no end after {limit:.0f} s"
            told.seek(0)
            lines = told.read().decode(errors="replace").splitlines()
        return {0: "survived", 1: "caught"}.get(code, "broken"), "\n".join(lines[-15:])


@dataclass(frozen=True)
class Attempt:
    """A file with a fault in it, and the tests that should notice."""

    name: str
    file: str
    put_into: Callable[[bytes], bytes]
    tests: tuple[str, ...]


def try_all(
    attempts: Sequence[Attempt], jobs: int, told: Callable[[Trial], None], source: Path = ROOT, limit: float = MINUTE
) -> list[Trial]:
    """Every attempt in a copy of the tree. Raises if the tests do not pass without any fault."""
    with tempfile.TemporaryDirectory(prefix="fullgraph-mutants-") as folder:
        trees: Queue[Tree] = Queue()
        for number in range(jobs):
            (Path(folder) / str(number)).mkdir()
            trees.put(Tree(Path(folder) / str(number), source))
        check_clean(trees.queue[0], attempts)

        def work(attempt: Attempt) -> Trial:
            tree = trees.get()
            try:
                with tree.faulty(attempt.file, attempt.put_into((tree.folder / attempt.file).read_bytes())):
                    trial = Trial(attempt.name, *tree.test(attempt.tests, limit))
            finally:
                trees.put(tree)
            told(trial)
            return trial

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(work, attempts))


def check_clean(tree: Tree, attempts: Sequence[Attempt]) -> None:
    """A test that fails anyway would catch every fault."""
    tests = sorted({test for attempt in attempts for test in attempt.tests})
    end, words = tree.test(tests, 30 * MINUTE) if tests else ("survived", "")
    if end != "survived":
        raise SystemExit(f"the tests do not pass without a fault:\n{words}")
