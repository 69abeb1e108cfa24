"""The programs of reading_programs.py on a device: what was counted, and what was counted by hand."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

from tests.validate import reading_programs

FILE = Path(reading_programs.__file__).resolve()
LINES = FILE.read_text(encoding="utf-8").splitlines()
Counts = dict[int, tuple[dict[str, int], dict[str, int]]]
"""By line: reads and moves."""


def expect(name: str, moves: bool) -> Counts:
    """What the marks say of a program and of what stands before it, back to the next program."""
    found: Counts = {}
    for number in range(end_of(before(name)) + 1, end_of(name) + 1):
        reads, _, copies = LINES[number - 1].partition("#:")[2].partition(";")
        if reads.strip() or (moves and copies.strip()):
            found[number] = (read_marks(reads), read_marks(copies) if moves else {})
    return found


def before(name: str) -> str:
    names = ["", *reading_programs.PROGRAMS]
    return names[names.index(name) - 1]


def end_of(name: str) -> int:
    if not name:
        return 0
    lines, start = inspect.getsourcelines(reading_programs.PROGRAMS[name])
    return start + len(lines) - 1


def read_marks(text: str) -> dict[str, int]:
    parts = (part.strip().partition("*") for part in text.split(",") if part.strip())
    return {name: int(times or 1) for name, _, times in parts}


def tidy(counted: dict[str, Any]) -> Counts:
    """What `count_syncs` found, in the words of the marks."""
    found: dict[int, tuple[Counter[str], Counter[str]]] = {}
    for position, kind in enumerate(("syncs", "moves")):
        for one in counted[kind]:
            assert one["file"] == str(FILE)
            word = one["call"] if kind == "syncs" else ("in" if one["call"].startswith("cpu>") else "out")
            found.setdefault(one["line"], (Counter(), Counter()))[position][word] += one["count"]
    return {line: (dict(reads), dict(moves)) for line, (reads, moves) in sorted(found.items())}


def count_elsewhere(device: str) -> Any:
    """All programs on a device, in a process of its own: torch does not forget what it is told about devices."""
    return ask(
        f"""
        from tests.validate import reading_programs
        from fullgraph.validate.worker.devices import device, syncs

        chosen = device.choose({device!r})
        answer = {{}}
        with chosen.active():
            for name in reading_programs.PROGRAMS:
                run = reading_programs.prepare(name, chosen.torch_device)
                answer[name] = syncs.count_syncs(run, chosen, [{str(FILE.parent)!r}])
        """
    )


def ask(program: str) -> Any:
    """Run a program in a process of its own, and return what it has called `answer`."""
    text = f"import json\n{textwrap.dedent(program)}\nprint()\nprint(json.dumps(answer))"
    command = [sys.executable, "-W", "ignore", "-c", text]
    done = subprocess.run(command, cwd=FILE.parents[2], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
