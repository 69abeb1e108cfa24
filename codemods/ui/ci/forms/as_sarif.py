"""SARIF 2.1.0, as GitHub's code scanning and other viewers read it: results with places, fingerprints and fixes.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. What GitHub makes of it:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning.
Only findings that are still there are results.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

from fullgraph.codemods.ui.ci.forms.sarif_fix import fix_of
from fullgraph.codemods.ui.ci.forms.sarif_kinds import describe
from fullgraph.codemods.ui.ci.forms.sarif_places import ROOT, artifact, as_region
from fullgraph.codemods.ui.ci.forms.wording import advice, fingerprints
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.report.model import Line
from fullgraph.codemods.ui.view import view_of

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 25_000
"""Results of one run that GitHub accepts."""


def render(report: CiReport) -> bytes:
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run(report)]}
    return (json.dumps(log, indent=2) + "\n").encode()


def run(report: CiReport) -> dict[str, Any]:
    lines, left_out = within_limit(report)
    names = sorted({line.finding.codemod for line in lines})
    marks = fingerprints(report, lines)
    return {
        "tool": {
            "driver": {
                "name": "fullgraph",
                "version": version("fullgraph"),
                "semanticVersion": version("fullgraph"),
                "rules": [describe(name, report.kinds.get(name)) for name in names],
            }
        },
        "automationDetails": {"id": "fullgraph/"},
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder of the repository."}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation(report, left_out)],
        "results": [result(report, line, names, mark) for line, mark in zip(lines, marks, strict=True)],
    }


def within_limit(report: CiReport) -> tuple[list[Line], int]:
    """The findings that are told, in order, and how many are not: the first to go are those that do not count."""
    lines = report.open_lines
    if len(lines) <= MOST:
        return lines, 0
    numbers = sorted(range(len(lines)), key=lambda number: not report.counts(lines[number]))[:MOST]
    return [lines[number] for number in sorted(numbers)], len(lines) - MOST


def result(report: CiReport, line: Line, names: list[str], fingerprint: str) -> dict[str, Any]:
    finding = line.finding
    spot = report.spot_of(line)
    fix = fix_of(report, line)
    return {
        "ruleId": finding.codemod,
        "ruleIndex": names.index(finding.codemod),
        "level": "warning" if finding.is_fixable else "note",
        "message": {"text": "\n".join([f"{finding.message} ({finding.symbol})", *advice(line)])},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact(report.file_of(line)),
                    "region": as_region(spot.region),
                },
                "logicalLocations": [{"fullyQualifiedName": finding.symbol}],
            }
        ],
        "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint[:16]}:1", "fullgraph/v1": fingerprint},
        **({"fixes": [fix]} if fix else {}),
        "properties": {
            "safety": finding.safety.value,
            "badge": view_of(finding).badge.value,
            "outcome": line.outcome,
        },
    }


def invocation(report: CiReport, left_out: int) -> dict[str, Any]:
    """How the run ended. What could not be read, and what is not told, is a notification."""
    told = [notification(*one) for one in report.told_of_files()]
    told += [notification("note", "", 1, notice) for notice in report.notices]
    if report.undecided:
        told.append(notification("error", "", 1, f"undecided: {report.undecided}"))
    if not report.is_complete:
        told.append(notification("error", "", 1, "stopped before all files had been looked at"))
    if left_out:
        told.append(notification("warning", "", 1, f"{left_out} findings are left out: more than {MOST} are refused"))
    return {
        "executionSuccessful": report.is_complete and not report.errors,
        "exitCode": report.exit_code,
        **({"toolExecutionNotifications": told} if told else {}),
    }


def notification(level: str, file: str, line: int, text: str) -> dict[str, Any]:
    place = {"physicalLocation": {"artifactLocation": artifact(file), "region": {"startLine": line}}}
    return {"level": level, "message": {"text": text}, **({"locations": [place]} if file else {})}
