"""The codemods for programs: what `list` and `explain` tell with `--format json`, as described.schema.json has it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.registry import all_codemods, codemod_named
from fullgraph.codemods.ui.explain import example_of, held_by, settings_of, summary_of
from fullgraph.codemods.ui.measured import measured_text

VERSION = 1
SCHEMA = Path(__file__).with_name("described.schema.json")


def list_as_json(files: Sequence[Path] = ()) -> dict[str, Any]:
    kinds = held_by(files) or all_codemods()
    return {"version": VERSION, "codemods": [brief(kind) for kind in kinds.values()]}


def explain_as_json(name: str, files: Sequence[Path] = ()) -> dict[str, Any]:
    kind = codemod_named(name, {**all_codemods(), **held_by(files)})
    return {
        "version": VERSION,
        **brief(kind),
        "doc": inspect.getdoc(kind) or "",
        "why": kind.why,
        "claim": kind.claim,
        "measured": list(measured_text(name)),
        "options": [setting._asdict() for setting in settings_of(kind)],
        "example": example_of(name).decode(errors="replace"),
        "silence": f"# fullgraph: ignore[{name}]",
    }


def brief(kind: type[Codemod]) -> dict[str, Any]:
    return {
        "name": kind.name,
        "summary": summary_of(kind),
        "on_request": kind.on_request,
        "writes_tests": kind.writes_tests,
        "repairs_breaks": kind.repairs_breaks,
    }
