"""The breaks of a scenario, as a report of the same form as that of a program which was observed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fullgraph.validate.launch import Deadline, Died, Refused, Worker, python_of
from fullgraph.validate.model import Scenario, Settings, ValidateError
from fullgraph.validate.observe import FORMAT, SCHEMA, Observed, add_hashes, write_whole
from fullgraph.validate.observe_merge import place, place_break, shorten
from fullgraph.validate.worker.process.guard import PREFIX


def observe_scenario(scenario: Scenario, root: Path, settings: Settings, file: Path) -> Observed:
    """Compile the scenario's cases without a backend, and write what broke to `file`."""
    began, start = time.time(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        try:
            greeted, opened, counted = ask_worker(scenario, root, settings, Path(folder))
        except (Died, Refused) as error:
            raise ValidateError(f"{scenario.name} could not be run: {error.outcome.text}") from error
        breaks = [{**one, "stacks": ways} for one, ways in zip(counted["breaks"], counted["stacks"], strict=True)]
        report = {
            **head(scenario, root, {**greeted, **opened["environment"]}),
            "entries": [{**entry(scenario, counted, breaks, root), "calls": len(opened["cases"])}],
            "others": add_hashes(files_of(breaks, root), root, began),
            "notices": [*opened.get("notices", ()), *nothing_compiled(counted)],
            "seconds": round(time.monotonic() - start, 3),
        }
        write_whole(Path(folder) / "report", file, report)
    return Observed(file, report, 0)


def ask_worker(scenario: Scenario, root: Path, settings: Settings, folder: Path) -> tuple[Any, Any, Any]:
    deadline = Deadline(settings.time_limit)
    with Worker(python_of(settings.python, root), "observe", root, folder) as worker:
        greeted = worker.ask("hello", limit=deadline.left)
        opened = worker.ask(
            "open",
            limit=deadline.left,
            scenario=asdict(scenario),
            files={},
            watched=[],
            settings={**asdict(settings), "roots": [str(root)]},
            scratch=str(worker.scratch),
            shared_cache=str(folder / "shared"),
        )
        return greeted, opened, worker.ask("run", limit=deadline.left, stage="graphs")


def head(scenario: Scenario, root: Path, environment: Mapping[str, Any]) -> dict[str, Any]:
    """Which files ran is not noted: `files` is empty."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "root": str(root.resolve()),
        "command": [scenario.name],
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "exit_code": 0,
        "ending": "a scenario, compiled without a backend",
        **{name: str(environment.get(name, "")) for name in ("torch", "python", "device")},
        "processes": [],
        "reads": [],
        "files": {},
    }


def entry(scenario: Scenario, counted: Mapping[str, Any], breaks: list[dict[str, Any]], root: Path) -> dict[str, Any]:
    """The scenario as one entry."""
    first = counted["graphs"][0] if counted["graphs"] else {"file": scenario.target, "line": 1, "function": ""}
    return {
        **place({"file": first["file"], "line": first["line"]}, root),
        "name": scenario.name,
        "kind": "scenario",
        "function": first["function"],
        "compiled_at": [],
        "backends": [],
        "phases": {},
        "inputs": [],
        "other_inputs": 0,
        "reentries": 0,
        "backwards": 0,
        "graphs": counted["counts"]["graphs"],
        "operators": counted["counts"]["operators"],
        "breaks": [place_break(one, root) for one in breaks],
        "recompiles": [],
        "compile_seconds": 0.0,
        "more_frames": 0,
    }


def files_of(breaks: list[dict[str, Any]], root: Path) -> dict[str, Any]:
    lines = [line for one in breaks for stack in [[one], *one["stacks"]] for line in stack]
    return {shorten(line["file"], root): {"module": ""} for line in lines if line["file"]}


def nothing_compiled(counted: Mapping[str, Any]) -> list[str]:
    return [] if counted["graphs"] else ["no graph was captured"]
