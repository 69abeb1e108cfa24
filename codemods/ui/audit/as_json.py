"""Audits for programs. The shape is in audit.schema.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fullgraph.codemods.ui.verdict.as_json import clean
from fullgraph.validate.audit_model import EXIT_CODES, Audit, combined

VERSION = 1
KIND = "fullgraph.audit"
SCHEMA = Path(__file__).with_name("audit.schema.json")


def schema() -> dict[str, Any]:
    held: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return held


def audits_as_json(audits: Sequence[Audit]) -> dict[str, Any]:
    """All audits in one object, with what they say together."""
    conclusion = combined(audits)
    return {
        "version": VERSION,
        "kind": f"{KIND}s",
        "conclusion": conclusion.value,
        "exit_code": EXIT_CODES[conclusion],
        "audits": [audit_as_json(audit) for audit in audits],
    }


def audit_as_json(audit: Audit) -> dict[str, Any]:
    held = {"version": VERSION, "kind": KIND, **asdict(audit), "conclusion": audit.conclusion.value}
    held["hazards"] = [{**asdict(hazard), "is_used": hazard.is_used} for hazard in audit.hazards]
    held["environment"] = dict(sorted(audit.environment.items()))
    cleaned: dict[str, Any] = clean(held)
    return cleaned
