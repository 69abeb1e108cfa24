"""A program that is run and watched for an agent: the report, and the end of what it printed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.rewrite.lock import make_folder
from fullgraph.codemods.ui.observed.command import DEFAULT, words_of
from fullgraph.validate.observe import observe

TAIL = 3_000
"""Characters of what the program printed last."""

TOLD = ("command", "exit_code", "ending", "seconds", "torch", "python", "device", "entries", "reads", "notices")


def observe_program(command: Sequence[str], root: Path, python: str) -> dict[str, Any]:
    if not command:
        raise FullgraphError("there is no command; give the program and its arguments as a list of words")
    with make_folder(root / DEFAULT.parent) as folder:
        folder.plain(DEFAULT.name)
    os.chdir(root)
    with printed() as output:
        seen = observe(words_of(command, python, root), root, root / DEFAULT)
        output.seek(max(0, output.seek(0, os.SEEK_END) - TAIL))
        tail = output.read().decode(errors="replace")
    held = {name: seen.report[name] for name in TOLD}
    return {"version": 1, **held, "report": str(seen.file), "output": tail}


@contextmanager
def printed() -> Iterator[IO[bytes]]:
    """A file that takes all that is printed inside, by this process and by those that it starts."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        try:
            yield file
        finally:
            for stream, own in zip((1, 2), kept, strict=True):
                os.dup2(own, stream)
                os.close(own)
