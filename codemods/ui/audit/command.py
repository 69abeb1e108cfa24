"""What `audit` does: the command line in, hazards out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from fullgraph.codemods.rewrite.walk import find_root
from fullgraph.codemods.source_roots import import_folders
from fullgraph.codemods.ui.proof import undecided
from fullgraph.codemods.ui.stage_line import StageLine
from fullgraph.codemods.ui.terminal import use_color
from fullgraph.validate.audit import audit
from fullgraph.validate.audit_model import EXIT_CODES, Audit, combined
from fullgraph.validate.model import Settings
from fullgraph.validate.scenario import read_scenario


@dataclass(frozen=True)
class AuditRequest:
    """What to audit, as the command line gives it."""

    scenarios: tuple[str, ...]
    settings: Settings
    everything: bool
    path: Path
    form: str
    quiet: bool
    color: str


def audit_scenarios(request: AuditRequest) -> int:
    """`fullgraph audit`: every scenario in a process of its own; the exit code."""
    with undecided():
        audits = audit_all(request)
    tell(request, audits)
    return EXIT_CODES[combined(audits)]


def audit_all(request: AuditRequest) -> list[Audit]:
    root = find_root(request.path)
    line = StageLine(request.quiet)
    try:
        scenarios = [read_scenario(text, root, import_folders(root)) for text in request.scenarios]
        return [
            audit(scenario, root, request.settings, everything=request.everything, progress=line)
            for scenario in scenarios
        ]
    finally:
        line.finish()


def tell(request: AuditRequest, audits: Sequence[Audit]) -> None:
    if request.form == "json":
        from fullgraph.codemods.ui.audit.as_json import audits_as_json

        click.echo(json.dumps(audits_as_json(audits), indent=2))
    else:
        from fullgraph.codemods.ui.audit.as_text import audit_text

        click.echo(audit_text(audits, use_color(request.color)), nl=False)
