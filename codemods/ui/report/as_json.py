"""The report for programs: one JSON object on standard output, the same for the same input."""

from __future__ import annotations

import json
from typing import Any

import click

from fullgraph.codemods.rewrite.as_json import dump_finding
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.ui.report.model import Line, Report
from fullgraph.codemods.ui.view import view_of

VERSION = 1


def render(report: Report) -> None:
    click.echo(json.dumps(as_json(report), indent=2))


def render_lines(report: Report) -> None:
    """A line for each finding that was not told as it came; what is wrong goes to standard error."""
    for line in report.lines if not report.tell else ():
        click.echo(json.dumps(line_as_json(line)))
    for place, reason in report.errors:
        click.echo(json.dumps({"error": reason, "place": place}), err=True)


def tell_findings(tree: Tree, result: FileResult) -> None:
    """The lines of one file, as soon as it was looked at."""
    told = Report()
    told.add_results(tree, [result])
    for line in told.lines:
        click.echo(json.dumps(line_as_json(line)))


FORMS = {"json": render, "jsonl": render_lines}


def as_json(report: Report) -> dict[str, Any]:
    return {
        "version": VERSION,
        "exit_code": report.exit_code,
        "complete": report.is_complete,
        "files": report.files,
        "suppressed": report.suppressed,
        "tests_left_out": report.tests,
        "unfollowed": list(report.unfollowed),
        "findings": [line_as_json(line) for line in report.lines],
        "errors": [{"place": place, "reason": reason} for place, reason in report.errors],
        "warnings": [{"place": place, "reason": reason} for place, reason in report.warnings],
        "notices": list(report.notices),
        "runs": [
            {"root": str(root), "run": run, "findings": findings, "files": files, "created": list(created)}
            for root, run, findings, files, created in report.runs
        ],
        "patch": report.patch.decode(errors="replace"),
        **({"observed": [one.as_json() for one in report.unexplained]} if report.observed else {}),
        **({"breaks": [end.as_json() for end in report.ends]} if report.observed else {}),
        **({"proofs": proofs_as_json(report)} if report.verdicts else {}),
    }


def proofs_as_json(report: Report) -> list[dict[str, Any]]:
    from fullgraph.codemods.ui.verdict.as_json import verdict_as_json

    return [verdict_as_json(verdict) for verdict in report.verdicts]


def line_as_json(line: Line) -> dict[str, Any]:
    return {
        **dump_finding(line.finding),
        "place": line.place,
        "root": str(line.root),
        "badge": view_of(line.finding).badge.value,
        "outcome": line.outcome,
        "reason": line.reason,
        **({"observed": line.observed.as_json()} if line.observed else {}),
    }
