"""Does what a page says: writes the files that it shows, runs its commands, compares what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(`{3,})(\w+)[ ]?([^\n]*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
TIME_LIMIT = 600
UNSET = {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}


@dataclass(frozen=True)
class Command:
    """A line behind a `$`, and what the page shows below it; `...` stands for anything."""

    text: str
    shown: str


def follow(page: Path, folder: Path) -> list[Command]:
    """Every block of a page, in order, in a folder. A block whose head names a file is that file."""
    done: list[Command] = []
    for _, language, head, text in FENCE.findall(page.read_text()):
        if language == "console":
            for command in commands(text):
                run(command, folder)
                done.append(command)
        elif head:
            write(folder, head, text)
    return done


def write(folder: Path, head: str, text: str) -> None:
    """`file.py` is the whole file; `file.py -1` is what stands in the place of its last method."""
    name, _, place = head.partition(" ")
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if place:
        kept, method, _ = file.read_text().rpartition("    def ")
        assert method, f"{name} has no method yet"
        text = kept + text
    file.write_text(text)


def commands(block: str) -> list[Command]:
    pieces = re.split(r"(?m)^\$ ", block)
    assert not pieces[0].strip(), f"output without a command: {pieces[0]}"
    return [Command(*piece.partition("\n")[::2]) for piece in pieces[1:]]


def run(command: Command, folder: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env={**kept, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert "Traceback" not in done.stdout, done.stdout
    if not command.shown:
        assert done.returncode == 0, f"{command.text}\n{done.stdout}"
    assert is_shown(command.shown, done.stdout), f"$ {command.text}\n{done.stdout}\n--- the page shows\n{command.shown}"


def is_shown(shown: str, said: str) -> bool:
    """Whether a command said what the page shows. A line `...` is any number of lines; in a line it is any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(re.escape, line.split("..."))) + r"[ ]*\n"
        for line in shown.splitlines()
    )
    return not shown or re.fullmatch(pattern, said if said.endswith("\n") else said + "\n") is not None
