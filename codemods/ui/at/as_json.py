"""The answer for editors: one JSON object on standard output. The shape is in at.schema.json."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import Change, Edit, Finding, Span
from fullgraph.codemods.rewrite.as_json import dump_edit, dump_finding
from fullgraph.codemods.source import decode
from fullgraph.codemods.ui.at.command import Answer
from fullgraph.codemods.ui.at.place import Lines, Position
from fullgraph.codemods.ui.failure import told
from fullgraph.codemods.ui.view import view_of

VERSION = 1
SCHEMA = Path(__file__).with_name("at.schema.json")


def render(answer: Answer) -> str:
    root, project = answer.project.root, answer.project
    lines = cache(lambda path: Lines(project.source(path)))
    held = {
        "version": VERSION,
        "asked": answer.place.asked,
        "root": str(root),
        "path": answer.path,
        **(told(answer.error, "at") if answer.error else {"error": ""}),
        "findings": [
            {"number": number, **finding_as_json(finding, root, lines)}
            for number, finding in enumerate(answer.findings, 1)
        ],
        **applied_as_json(answer),
    }
    return json.dumps(held, indent=2)


def render_error(asked: str, error: str) -> str:
    """What could not be answered, in the same shape: whoever reads standard output need not read another."""
    return json.dumps({"version": VERSION, "asked": asked, **told(error, "at"), "findings": []}, indent=2)


def finding_as_json(finding: Finding, root: Path, lines: Any) -> dict[str, Any]:
    own = lines(finding.path)
    return {
        **dump_finding(finding),
        "badge": view_of(finding).badge.value,
        **ends_as_json(own, finding.span),
        "edits": [edit_as_json(edit, root, lines) for edit in finding.edits],
    }


def edit_as_json(edit: Edit, root: Path, lines: Any) -> dict[str, Any]:
    """An edit with its ends as people count them; a file that is yet to be made has one place only."""
    where = Lines(decode(edit.path, b"")) if edit.creates else lines(edit.path)
    return {**dump_edit(edit), "file": str(root / edit.path), **ends_as_json(where, edit.span)}


def ends_as_json(lines: Lines, span: Span) -> dict[str, Any]:
    return {"start": as_pair(lines.position(span.start)), "end": as_pair(lines.position(span.end))}


def as_pair(position: Position) -> dict[str, int]:
    cell = {"cell": position.cell} if position.cell else {}
    return {**cell, "line": position.line, "column": position.column}


def applied_as_json(answer: Answer) -> dict[str, Any]:
    """What applying made of the files: their new text, and the run if they were written."""
    if not answer.change:
        return {}
    files = [file_as_json(answer.project.root, path, answer.change) for path in answer.change.written]
    return {"applied": [finding.key for finding in answer.change.applied], "run": answer.run, "files": files}


def file_as_json(root: Path, path: str, change: Change) -> dict[str, Any]:
    text = text_of(path, change.written[path])
    return {"file": str(root / path), "path": path, "created": change.before[path] is None, "text": text}


def text_of(path: str, raw: bytes) -> str:
    """A file as an editor holds it: in characters, a byte order mark among them."""
    return raw.decode(decode(path, raw).encoding)
