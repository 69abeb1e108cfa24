"""What several processes of one program have seen, as one: counts added up, paths as people write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

COUNTS = ("calls", "other_inputs", "reentries", "backwards", "graphs", "operators", "compile_seconds", "more_frames")
PHASES = ("train, grad", "train, no grad", "train, inference", "eval, grad", "eval, no grad", "eval, inference")
INPUTS = 24

Told = Sequence[dict[str, Any]]


def merge_entries(told: Told, root: Path) -> list[dict[str, Any]]:
    """Each entry once, the one that was longest compiled first."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for entry in (entry for process in told for entry in process["entries"]):
        key = (entry["file"], entry["line"], entry["name"], entry["kind"])
        found[key] = add_entry(found[key], entry) if key in found else entry
    merged = [place_entry(entry, root) for entry in found.values()]
    return sorted(merged, key=lambda one: (-one["calls"], one["file"], one["line"], one["name"]))


def add_entry(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return {
        **first,
        **{name: first[name] + second[name] for name in COUNTS},
        "phases": add_counts([first["phases"], second["phases"]]),
        "inputs": add_counts([first["inputs"], second["inputs"]]),
        "backends": sorted({*first["backends"], *second["backends"]}),
        "compiled_at": add_places([*first["compiled_at"], *second["compiled_at"]], ("file", "line")),
        "breaks": add_breaks([*first["breaks"], *second["breaks"]]),
        "recompiles": add_places([*first["recompiles"], *second["recompiles"]], ("file", "line", "function", "guard")),
    }


def add_counts(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in counts:
        for name, number in one.items():
            found[name] = found.get(name, 0) + number
    return found


def add_places(places: Iterable[dict[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Places that agree in these names are one; the others keep their order."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in places:
        key = tuple(one[name] for name in names)
        found[key] = {**one, "count": one["count"] + (found[key]["count"] if key in found else 0)}
    return list(found.values())


def add_breaks(breaks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each place once, with all ways that led there."""
    names = ("file", "line", "id", "reason")
    ways = {tuple(one[name] for name in names): list[Any]() for one in breaks}
    for one in breaks:
        known = ways[tuple(one[name] for name in names)]
        known += [stack for stack in one["stacks"] if stack not in known]
    return [{**one, "stacks": ways[tuple(one[name] for name in names)]} for one in add_places(breaks, names)]


def place_entry(entry: dict[str, Any], root: Path) -> dict[str, Any]:
    """The entry with paths below the root as such, and everything in an order that is the same every time."""
    inputs = sorted(entry["inputs"].items(), key=lambda one: (-one[1], one[0]))
    rest = sum(number for _, number in inputs[INPUTS:])
    return {
        **entry,
        "file": shorten(entry["file"], root),
        "compile_seconds": round(entry["compile_seconds"], 3),
        "phases": {name: entry["phases"][name] for name in sorted(entry["phases"], key=order_of)},
        "inputs": [{"inputs": text, "count": number} for text, number in inputs[:INPUTS]],
        "other_inputs": entry["other_inputs"] + rest,
        **{name: [place(one, root) for one in entry[name]] for name in ("compiled_at", "recompiles")},
        "breaks": [place_break(one, root) for one in entry["breaks"]],
    }


def place_break(one: dict[str, Any], root: Path) -> dict[str, Any]:
    return {**place(one, root), "stacks": [[place(line, root) for line in stack] for stack in one["stacks"]]}


def order_of(phase: str) -> tuple[int, str]:
    return (PHASES.index(phase) if phase in PHASES else len(PHASES), phase)


def merge_reads(told: Told, root: Path) -> list[dict[str, Any]]:
    """Host reads by line, the most frequent first."""
    all_reads = [read for process in told for read in process["reads"]]
    merged = [place(one, root) for one in add_places(all_reads, ("file", "line", "function", "call"))]
    return sorted(merged, key=lambda one: (-one["count"], one["file"], one["line"], one["call"]))


def merge_files(told: Told, root: Path) -> dict[str, Any]:
    """The project's files, each with the first lines of its functions that ran in any process; if these are all."""
    found: dict[str, Any] = {}
    for file, one in (pair for process in told for pair in process["files"].items()):
        name = shorten(file, root)
        known = found.get(name, one)
        ran = sorted({*known["ran"], *one["ran"]})
        found[name] = {"ran": ran, "is_all": known["is_all"] and one["is_all"]}
    return dict(sorted(found.items()))


def merge_others(told: Told, root: Path) -> dict[str, Any]:
    """The files that are not the project's and lead to a break, each with the name that it is imported by."""
    found = {file: one for process in told for file, one in process.get("others", {}).items()}
    return {shorten(file, root): found[file] for file in sorted(found)}


def place(one: dict[str, Any], root: Path) -> dict[str, Any]:
    return {**one, "file": shorten(one["file"], root)}


def shorten(file: str, root: Path) -> str:
    """Relative to the root, with slashes, for a file below it."""
    base = os.path.realpath(root) + os.sep
    return file[len(base) :].replace(os.sep, "/") if file.startswith(base) else file
