"""What fullgraph makes of one model: observed and rewritten into a copy, until nothing changes any more."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zoo.processes import run

FULLGRAPH = [sys.executable, "-c", "from fullgraph.codemods.ui.cli import main; main()"]
WRITTEN = ("--yes", "--unsafe")
"""All that there is: whether a caveat holds shows in what is compared."""
NO_BREAKS = "nothing breaks here: nothing to rewrite"
NOT_REWRITTEN = "nothing was rewritten"
LEFT = re.compile(r"\s+\S+:\d+ \(GB\d+\): (?!repaired)")
"""How `fix` tells of a break that it does not repair."""

ROUNDS = 5
"""A break may stand behind another one, and is seen only when that is gone."""


@dataclass
class Rewrite:
    """A folder for PYTHONPATH, how long making it took, and what was changed."""

    folder: Path
    seconds: float = 0.0
    observing: float = 0.0
    rounds: int = 0
    problem: str = ""
    files: list[str] = field(default_factory=list)
    lines: int = 0
    said: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """The breaks that the last round has left, each with its reason."""


def rewrite(python: Path, model: str, work: Path, limit: float) -> Rewrite:
    """Rounds of `observe` and `fix --into`; only the latter counts as rewriting."""
    made = Rewrite(work / "patched")
    shutil.rmtree(made.folder, ignore_errors=True)
    while made.rounds < ROUNDS and not made.problem:
        report = work / f"observed-{made.rounds}.json"
        if not observe(made, python, model, report, limit) or not list_breaks(report):
            made.problem = made.problem or ("" if made.rounds else NO_BREAKS)
            made.left = []
            break
        known = snapshot(made.folder)
        fix(made, report, limit)
        if snapshot(made.folder) == known:
            made.problem = made.problem or ("" if made.rounds else NOT_REWRITTEN)
            break
        made.rounds += 1
    describe_changes(made, python, work / "patch.diff")
    return made


def observe(made: Rewrite, python: Path, model: str, report: Path, limit: float) -> bool:
    report.unlink(missing_ok=True)
    program = [str(python), "-m", "zoo.program", model]
    command = [*FULLGRAPH, "observe", "--out", str(report), "--python", str(python), "--", *program]
    ending = run(command, report.parent, patched(made), limit)
    made.observing += ending.seconds
    if ending.problem or not report.is_file():
        made.problem = f"observe: {ending.problem or 'no report'}"
    return not made.problem


def list_breaks(report: Path) -> list[dict[str, Any]]:
    return [one for entry in json.loads(report.read_text())["entries"] for one in entry["breaks"]]


def fix(made: Rewrite, report: Path, limit: float) -> None:
    """An exit code of its own says that something was left; only a copy that is not there is a problem."""
    ending = run([*FULLGRAPH, "fix", "--observed", report, "--into", made.folder, *WRITTEN], report.parent, None, limit)
    made.seconds += ending.seconds
    made.said.append(ending.text)
    made.left = [" ".join(line.split()) for line in ending.text.splitlines() if LEFT.match(line)]
    if not made.left and not (made.folder / "transformers").is_dir():
        made.problem = f"fix: {ending.problem or 'no copy was made'}"


def patched(made: Rewrite) -> Path | None:
    return made.folder if made.folder.is_dir() else None


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(folder.glob("*/**/*.py")) if ".fullgraph" not in file.parts}


def describe_changes(made: Rewrite, python: Path, diff: Path) -> None:
    """The patch against the installed package, and its size."""
    installed = next(python.parents[1].glob("lib/python*/site-packages"))
    hunks: list[str] = []
    for file, content in snapshot(made.folder).items():
        name = file.relative_to(made.folder).as_posix()
        original = installed / name
        old = original.read_bytes() if original.is_file() else b""
        if old != content:
            made.files.append(name)
            hunks += difflib.unified_diff(split(old), split(content), f"a/{name}", f"b/{name}")
    made.lines = sum(line[0] in "+-" and line[:3] not in ("+++", "---") for line in hunks)
    diff.write_text("".join(hunks))


def split(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines(keepends=True)
