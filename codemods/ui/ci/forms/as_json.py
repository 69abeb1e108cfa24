"""The report for programs: what `check --format json` tells, and what only a pipeline knows.

`ui/report/report.schema.json` says what it holds.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.failure import told
from fullgraph.codemods.ui.report.as_json import as_json


def render(report: CiReport) -> bytes:
    return (json.dumps(whole(report), indent=2) + "\n").encode()


def whole(report: CiReport) -> dict[str, Any]:
    held = as_json(report)
    for found, line in zip(held["findings"], report.lines, strict=True):
        found["file"] = report.file_of(line)
        found["region"] = asdict(report.spot_of(line).region)
        found["counts"] = report.counts(line)
    undecided = told(f"undecided: {report.undecided}", "ci") if report.undecided else {}
    return {**undecided, **held, "ci": job(report)}


def job(report: CiReport) -> dict[str, Any]:
    return {
        "fail_on": report.policy.fail_on,
        "max_findings": report.policy.max_findings,
        "counting": len(report.counting),
        "known": report.known,
        "unchanged": report.unchanged,
        "undecided": report.undecided,
        "commits": [asdict(commit) for commit in report.commits],
    }
