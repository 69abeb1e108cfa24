"""What runs on a worker of a cluster. It has this package and nothing of the user's but what is sent to it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from codemods.executors.parcels import unpack

ONE_AT_A_TIME = threading.Lock()
"""Two proofs on one worker would disturb each other's times, however many threads it has."""

LAST_WORDS = 500


class NotWanted(BaseException):
    """Nobody waits for the answer any more."""


def keep(block: bytes) -> bytes:
    """A block is the result of a task, because a scheduler does tasks again whose results are lost."""
    return block


@contextmanager
def unpacked(name: str, blocks: Sequence[bytes]) -> Iterator[Path]:
    """A copy of the project for one task; whatever the task leaves in it is gone with it."""
    with tempfile.TemporaryDirectory(prefix="fullgraph-", ignore_cleanup_errors=True) as folder:
        yield unpack(name, blocks, Path(os.path.realpath(folder)))


def look_at(name: str, blocks: Sequence[bytes], question: bytes) -> tuple[bytes, str]:
    """The pickled answers about a chunk of files; or nothing, and why."""
    with unpacked(name, blocks) as root:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "codemods.executors.chunk"],
            input=pickle.dumps((root, *pickle.loads(question))),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    said = done.stderr.decode(errors="replace").strip()
    return (done.stdout, "") if not done.returncode else (b"", said[-LAST_WORDS:])


def prove_one(name: str, blocks: Sequence[bytes], question: bytes) -> bytes:
    """The pickled verdict of a proof, or the text of why there is none; all paths are those of whoever asked."""
    from codemods.executors.local import prove_here
    from validate.model import ValidateError

    with ONE_AT_A_TIME, unpacked(name, blocks) as root:
        proof, outside = pickle.loads(question)
        moves = {str(proof.sides.root): str(root)}
        for number, (path, data) in enumerate(outside.items()):
            moves[path] = str(put(root.parent / f"outside-{number}", Path(path).name, data))
        try:
            scenario = moved(proof.scenario, moves)
            there = replace(proof, scenario=scenario, sides=replace(proof.sides, root=root))
            verdict = prove_here(there, while_wanted())
            answer: Any = replace(moved(verdict, {new: old for old, new in moves.items()}), scenario=proof.scenario)
        except ValidateError as error:
            answer = moved(str(error), {new: old for old, new in moves.items()})
    return pickle.dumps(answer)


def put(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir()
    (folder / name).write_bytes(data)
    return folder / name


def moved(value: Any, moves: dict[str, str]) -> Any:
    """The same value with other paths in its texts."""
    if isinstance(value, str):
        for old, new in moves.items():
            value = value.replace(old, new)
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: moved(getattr(value, one.name), moves) for one in fields(value)})
    if isinstance(value, dict):
        return {moved(key, moves): moved(inner, moves) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(moved(inner, moves) for inner in value)
    return value


def while_wanted() -> Callable[[str, str], None]:
    """A proof's progress, which ends it once its task is cancelled: on Ctrl-C, or when whoever asked is gone."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def check(stage: str, detail: str) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state in ("cancelled", "released"):
            raise NotWanted

    return check
