"""What runs on a worker of a cluster. It has this package and nothing of the user's but what is sent to it."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from fullgraph.codemods.executors.apart import ANSWER, QUESTION
from fullgraph.codemods.executors.parcels import unpack

ONE_AT_A_TIME = threading.Lock()
"""Two proofs on one worker would disturb each other's times, however many threads it has."""

TICK = 0.5
LAST_WORDS = 500


class WentWrong(Exception):  # noqa: N818 - it travels to whoever asked, as one line
    """The process that did the work failed; the text is its last line."""


def keep(block: bytes) -> bytes:
    """A block is the result of a task, because a scheduler does tasks again whose results are lost."""
    return block


@contextmanager
def unpacked(name: str, blocks: Sequence[bytes]) -> Iterator[Path]:
    """A copy of the project for one task; whatever the task leaves in it is gone with it."""
    with tempfile.TemporaryDirectory(prefix="fullgraph-", ignore_cleanup_errors=True) as folder:
        yield unpack(name, blocks, Path(os.path.realpath(folder)))


def look_at(name: str, blocks: Sequence[bytes], question: bytes) -> bytes:
    """The pickled answers about a chunk of files."""
    with unpacked(name, blocks) as root:
        return do_apart("look", (root, *pickle.loads(question)))


def prove_one(name: str, blocks: Sequence[bytes], question: bytes) -> bytes:
    """The pickled verdict of a proof, or the text of why there is none; all paths are those of whoever asked."""
    with ONE_AT_A_TIME, unpacked(name, blocks) as root:
        proof, outside = pickle.loads(question)
        moves = {str(proof.sides.root): str(root)}
        for number, (path, data) in enumerate(outside.items()):
            moves[path] = str(put(root.parent / f"outside-{number}", Path(path).name, data))
        there = replace(proof, scenario=moved(proof.scenario, moves), sides=replace(proof.sides, root=root))
        answer = pickle.loads(do_apart("prove", (there,)))
        answer = moved(answer, {new: old for old, new in moves.items()})
    return pickle.dumps(answer if isinstance(answer, str) else replace(answer, scenario=proof.scenario))


def put(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir()
    (folder / name).write_bytes(data)
    return folder / name


def moved(value: Any, moves: dict[str, str]) -> Any:
    """The same value with other paths in its texts. `/home/me/x2` is not below `/home/me/x`."""
    if isinstance(value, str):
        old = "|".join(map(re.escape, moves))
        return re.sub(rf"(?:{old})(?![\w-]|\.\w)", lambda found: moves[found.group()], value) if moves else value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: moved(getattr(value, one.name), moves) for one in fields(value)})
    if isinstance(value, dict):
        return {moved(key, moves): moved(inner, moves) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(moved(inner, moves) for inner in value)
    return value


def do_apart(what: str, given: tuple[Any, ...]) -> bytes:
    """Have a process do it, and its pickled answer. The process is ended if nobody waits for the answer any more."""
    is_wanted = wanted()
    with tempfile.TemporaryDirectory(prefix="fullgraph-") as folder, (Path(folder) / "said").open("w+b") as said:
        (Path(folder) / QUESTION).write_bytes(pickle.dumps((what, given)))
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fullgraph.codemods.executors.apart", folder],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        with process:
            while still_runs(process):
                if not is_wanted():
                    process.kill()
        if process.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip().splitlines()
            raise WentWrong(words[-1][:LAST_WORDS] if words else f"exit code {process.returncode}")
        return (Path(folder) / ANSWER).read_bytes()


def still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(TICK)
    except subprocess.TimeoutExpired:
        return True
    return False


def wanted() -> Callable[[], bool]:
    """Whether this task's answer is waited for: not after Ctrl-C, nor when whoever asked is gone.

    Dask has no public word for it. Where a version keeps its tasks elsewhere, work is done to its end.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return lambda: True  # not in a task
    key = worker.get_current_task()

    def is_wanted() -> bool:
        try:
            task = worker.state.tasks.get(key)
            return task is not None and task.state not in ("cancelled", "released")
        except AttributeError:
            return True

    return is_wanted
