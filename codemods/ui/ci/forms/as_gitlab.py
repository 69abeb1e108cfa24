"""GitLab's code quality report. https://docs.gitlab.com/ci/testing/code_quality/ says what it reads of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from fullgraph.codemods.model import Safety
from fullgraph.codemods.ui.ci.forms.wording import advice, fingerprints
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.model import Line


def render(report: CiReport) -> bytes:
    lines = report.open_lines
    names = fingerprints(report, lines)
    issues = [issue(report, line, name) for line, name in zip(lines, names, strict=True)]
    return (json.dumps(issues + file_issues(report), indent=2) + "\n").encode()


def issue(report: CiReport, line: Line, fingerprint: str) -> dict[str, Any]:
    region = report.spot_of(line).region
    return {
        "description": "; ".join([line.finding.message, *advice(line)]),
        "check_name": line.finding.codemod,
        "fingerprint": fingerprint,
        "severity": severity(line),
        "location": {"path": report.file_of(line), "lines": {"begin": region.first_line, "end": region.last_line}},
    }


def severity(line: Line) -> str:
    """What can be fixed safely should be; of the rest somebody has to think."""
    if not line.finding.is_fixable:
        return "info"
    return "major" if line.finding.safety is Safety.SAFE else "minor"


def file_issues(report: CiReport) -> list[dict[str, Any]]:
    """Files that could not be looked at, and comments that silence nothing."""
    return [
        {
            "description": reason,
            "check_name": "fullgraph",
            "fingerprint": hashlib.sha256(f"{number}\0{file}\0{reason}".encode(errors="surrogatepass")).hexdigest(),
            "severity": "critical" if level == "error" else "info",
            "location": {"path": file or ".", "lines": {"begin": line}},
        }
        for number, (level, file, line, reason) in enumerate(report.told_of_files())
    ]
