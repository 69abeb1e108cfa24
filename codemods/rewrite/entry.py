"""One run as the journal tells it: a value, and its JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from codemods.model import Finding
from codemods.rewrite.as_json import dump_finding, load_finding

VERSION = 1
WRITING, DONE, ROLLED_BACK = "writing", "done", "rolled back"


@dataclass(frozen=True)
class Run:
    """One entry of the journal. `undoes` names the run, or the findings of a run, that an undo took back."""

    number: int
    kind: str
    started: str
    state: str
    paths: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    undoes: tuple[str, ...] = ()
    command: int = 0
    """The first run of the command that made this one: what overlaps is written in a run of its own."""

    created: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """The folders that the run makes, or that it may leave empty; those that are empty in the end are not kept."""

    def finding_name(self, index: int) -> str:
        """`3.1` is the first finding of run 3."""
        return f"{self.number}.{index + 1}"


def dump_run(run: Run) -> bytes:
    held = {
        "version": VERSION,
        "kind": run.kind,
        "started": run.started,
        "state": run.state,
        "paths": run.paths,
        "undoes": run.undoes,
        "command": run.command,
        "created": run.created,
        "removed": run.removed,
        "folders": run.folders,
        "findings": [dump_finding(finding) for finding in run.findings],
    }
    return json.dumps(held, indent=1).encode()


def load_run(number: int, data: bytes) -> Run:
    """The inverse of `dump_run`; what is missing in the entries of older versions is empty."""
    held = json.loads(data)
    run = Run(
        number,
        kind=held["kind"],
        started=held["started"],
        state=held["state"],
        paths=tuple(held["paths"]),
        findings=tuple(load_finding(finding) for finding in held["findings"]),
        undoes=tuple(held["undoes"]),
        command=int(held.get("command", number)),
        created=tuple(held.get("created", ())),
        removed=tuple(held.get("removed", ())),
        folders=tuple(held.get("folders", ())),
    )
    if any(Path(path).is_absolute() or ".." in Path(path).parts for path in (*run.paths, *run.folders)):
        raise ValueError("a path that leads out of the project")
    return run
