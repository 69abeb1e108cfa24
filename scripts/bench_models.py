"""Real models before and after fullgraph: seven of Hugging Face's, from small configs, with random weights.

Every model is run as installed; `fullgraph observe` and `fix --into` make a patched copy of transformers beside it; the
same is run with the copy. Graphs, breaks, results, messages and times of both sides make a row; a model that fails has
a row that says why. Each stage is a process of its own. Environments and results are in `.bench`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from zoo.entries import ENTRIES, REFERENCE, Entry
from zoo.judging import compare_values
from zoo.processes import BENCH, make_environment, run
from zoo.rewriting import Rewrite, rewrite
from zoo.row import Row, Stages, add_side, begin, compare_messages, is_patched
from zoo.table import render

STAGES = ("plain", "graphs", "compiled")
OUT = BENCH / "models.json"
LIMIT = 900.0


def main() -> int:
    arguments = read_arguments()
    rows = []
    for version in arguments.transformers:
        python = make_environment(version)
        for name in arguments.models:
            print(f"{name}, transformers {version} ...", file=sys.stderr, flush=True)
            rows.append(measure(ENTRIES[name], version, python, arguments))
            write(rows, arguments.out)
    print(render(rows), end="")
    return 0


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", choices=list(ENTRIES), default=list(ENTRIES), metavar="MODEL")
    parser.add_argument("--transformers", nargs="+", default=[REFERENCE, "newest"], metavar="VERSION")
    parser.add_argument("--backend", default="inductor", help="of the runs whose results and cold start are compared")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that one process may take")
    parser.add_argument("--before-only", action="store_true", help="rewrite nothing")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


def measure(entry: Entry, version: str, python: Path, arguments: argparse.Namespace) -> Row:
    """One model; whatever goes wrong is a reason in its row."""
    row = begin(entry, version)
    try:
        fill(row, entry, python, arguments)
    except Exception as error:
        row.reasons.append(f"{type(error).__name__}: {error}")
    return row


def fill(row: Row, entry: Entry, python: Path, arguments: argparse.Namespace) -> None:
    work = BENCH / "models" / row.version / entry.name
    shutil.rmtree(work, ignore_errors=True)
    before = run_side(work / "before", entry, python, None, arguments)
    add_side(row, 0, before)
    made = None if arguments.before_only else rewrite(python, entry.name, work, arguments.limit)
    after: Stages = {}
    if made is not None:
        note_rewrite(row, made)
    if made is not None and made.files:
        after = run_side(work / "after", entry, python, made.folder, arguments)
        stray = is_patched(after, made.folder)
        if stray:
            raise RuntimeError(stray)
        add_side(row, 1, after)
    compare_values(row, entry, work)
    compare_messages(row, before, after)


def note_rewrite(row: Row, made: Rewrite) -> None:
    row.seconds = made.seconds if made.rounds else None
    row.reasons += [*([made.problem] if made.problem else []), *made.left]
    changed = {"files": made.files, "lines": made.lines, "rounds": made.rounds, "observing": made.observing}
    row.details["rewrite"] = {**changed, "said": made.said}


def run_side(folder: Path, entry: Entry, python: Path, first: Path | None, arguments: argparse.Namespace) -> Stages:
    """Every stage in a fresh process; one that fails leaves its problem."""
    folder.mkdir(parents=True)
    stages: Stages = {}
    for stage in STAGES:
        out = folder / f"{stage}.json"
        command = [python, "-m", "zoo.side", stage, entry.name, "--out", out, "--backend", arguments.backend]
        ending = run(command, folder, first, arguments.limit)
        told = json.loads(out.read_text()) if out.is_file() else {}
        stages[stage] = {**told, "seconds": ending.seconds, "problem": ending.problem}
    return stages


def write(rows: Iterable[Row], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps([row.as_json() for row in rows], indent=1) + "\n")
    out.with_suffix(".txt").write_text(render(list(rows)))


if __name__ == "__main__":
    sys.exit(main())
