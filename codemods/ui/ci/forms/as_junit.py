"""JUnit's XML: a test suite for each file with findings, a test case for each finding.

What counts against the job is a failure; what does not is skipped; what was fixed passes.
"""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree

from fullgraph.codemods.ui.ci.forms.wording import advice
from fullgraph.codemods.ui.ci.model import CiReport
from fullgraph.codemods.ui.plain import plain
from fullgraph.codemods.ui.report.model import FIXED, Line

FORBIDDEN = re.compile("[\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, beyond those that `plain` spells out."""

COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: CiReport) -> bytes:
    suites = ElementTree.Element("testsuites", name="fullgraph")
    for file, lines in groupby(sorted(report.lines, key=report.file_of), report.file_of):
        suite = add(suites, "testsuite", name=file)
        for line in lines:
            add_case(suite, report, line, file)
    add_wrong_files(suites, report)
    if not len(suites):
        add(add(suites, "testsuite", name="fullgraph"), "testcase", name="no findings", classname="fullgraph")
    for suite in suites:
        count(suite)
    count(suites)
    ElementTree.indent(suites)
    return bytes(ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def add_case(suite: ElementTree.Element, report: CiReport, line: Line, file: str) -> None:
    region = report.spot_of(line).region
    name = f"{line.finding.codemod} at {region.first_line}:{region.first_column} ({line.finding.symbol})"
    case = add(suite, "testcase", name=name, classname=file, file=file, line=str(region.first_line))
    if line.outcome == FIXED:
        return
    kind = "failure" if report.counts(line) else "skipped"
    told = add(case, kind, message=line.finding.message)
    if kind == "failure":
        told.set("type", line.finding.codemod)
    told.text = clean("\n".join([line.place, *advice(line)]))


def add_wrong_files(suites: ElementTree.Element, report: CiReport) -> None:
    for level, file, _, reason in report.told_of_files():
        if level == "error":
            case = add(add(suites, "testsuite", name=file or "fullgraph"), "testcase", name="fullgraph", classname=file)
            add(case, "error", message=reason, type="error")


def count(element: ElementTree.Element) -> None:
    element.set("tests", str(len(element.findall(".//testcase"))))
    for name, kind in COUNTS.items():
        element.set(name, str(len(element.findall(f".//{kind}"))))


def add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {name: clean(value) for name, value in attributes.items()})


def clean(text: str) -> str:
    return FORBIDDEN.sub("?", plain(text, keep="\n"))
