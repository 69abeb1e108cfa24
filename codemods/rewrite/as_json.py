"""Findings as JSON holds them: in the cache, in the journal and in the JSON report."""

from __future__ import annotations

from typing import Any

from fullgraph.codemods.model import Edit, Finding, Safety, Span


def dump_finding(finding: Finding) -> dict[str, Any]:
    return {
        "codemod": finding.codemod,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "last_line": finding.last_line,
        "symbol": finding.symbol,
        "message": finding.message,
        "safety": finding.safety.value,
        "caveat": finding.caveat,
        "left_alone": finding.left_alone,
        "notes": list(finding.notes),
        "key": finding.key,
        "ticket": finding.ticket,
        "span": [finding.span.start, finding.span.end],
        "edits": [dump_edit(edit) for edit in finding.edits],
    }


def dump_edit(edit: Edit) -> dict[str, Any]:
    span = [edit.span.start, edit.span.end]
    return {"path": edit.path, "span": span, "new_text": edit.new_text, "creates": edit.creates}


def load_finding(held: dict[str, Any]) -> Finding:
    """The inverse of `dump_finding`."""
    fields = {
        **held,
        "span": Span(*held["span"]),
        "safety": Safety(held["safety"]),
        "notes": tuple(held["notes"]),
        "edits": tuple(load_edit(edit) for edit in held["edits"]),
    }
    return Finding(**fields)


def load_edit(held: dict[str, Any]) -> Edit:
    return Edit(held["path"], Span(*held["span"]), held["new_text"], held.get("creates", False))
