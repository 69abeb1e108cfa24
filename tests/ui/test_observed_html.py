"""The page of an observed run: what it says is what the report holds, whatever that is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.model import Finding, Span
from fullgraph.codemods.ui.observed.as_html import observed_html
from fullgraph.codemods.ui.observed.heat import NO_CODEMOD, NOT_OURS, find_heat, find_lines
from fullgraph.codemods.ui.observed.timeline import timeline_of
from fullgraph.codemods.ui.report.model import FOUND, Line
from fullgraph.validate.observe import Observed
from tests.ui.browser import OVERFLOWING, Browser, find_chromium
from tests.ui.page import Page
from tests.ui.running import FILES
from tests.ui.test_observed import FULL, break_at, entry, read_at, recompile, report

HOSTILE = "</script><script>alert(1)</script></style>\x1b[31m\u202e\"'&{{ title }}"


def compiled(at: float, kind: str = "compile", **changes: Any) -> dict[str, Any]:
    return {"entry": "Thing.run", "kind": kind, "at": at, "seconds": 0.5, "breaks": 0, **changes}


TIMED = report(
    entries=[
        entry(breaks=[break_at(9), break_at(11, kind="skipped", id="")], recompiles=[recompile(7)], reentries=3),
        entry(name="score", calls=0, phases={}, inputs=[], compile_seconds=0.0),
    ],
    reads=[read_at(line, 100 - line) for line in range(1, 20)],
    timeline={
        "compiles": [
            compiled(1.0, breaks=3),
            compiled(2.0, "recompile", breaks=1),
            compiled(3.0, "", breaks=1),
            compiled(12.3, "backward", seconds=9.0),
        ],
        "reads": [0, 1800, *[0] * 117, 10],
    },
)


# Numbers


def number(text: str, name: str) -> str:
    """What stands behind a name in the totals, which come before everything else."""
    found = re.search(rf"{name} (\S+)", text)
    assert found, name
    return found[1]


def test_the_totals_are_those_of_the_report() -> None:
    text = Page(observed_html(TIMED)).text.partition("exit code 0.")[2]
    expected = {"calls": 300, "graphs": 4, "breaks": 2, "recompiles": 4, "host reads": 1710}
    assert {name: int(number(text, name)) for name in expected} == expected
    assert number(text, "compiling") == "3.2"
    assert number(text, "in all") == "12.3"


def test_every_line_has_its_host_reads_and_breaks() -> None:
    rows = Page(observed_html(TIMED)).text.partition("Lines with host reads or breaks")[2]
    for one in TIMED["reads"]:
        breaks = sum(broken["line"] == one["line"] for broken in TIMED["entries"][0]["breaks"])
        assert f"pkg/a.py:{one['line']} in one {one['count']} {breaks}" in rows


def test_the_five_that_cost_most_stand_at_the_top() -> None:
    """A break that 300 calls pass costs more than any of the reads."""
    text = Page(observed_html(TIMED)).text
    top = text.partition(" Hottest lines ")[2].partition("The order is")[0].partition(" Hottest lines ")[2]
    assert re.findall(r"pkg/a\.py:(\d+)", top) == ["9", "11", "1", "2", "3"]
    assert "91 host reads (item); 1 break (GB0059), passed by 300 calls" in top


def test_the_timeline_tells_what_the_report_holds() -> None:
    timeline = timeline_of(TIMED)
    assert timeline
    told = {lane.label: (lane.value, len(lane.bars)) for lane in timeline.lanes}
    assert told == {
        "compiling": ("3 times, 10.0 s", 3),
        "recompiling": ("1 time, 0.5 s", 1),
        "breaks": ("5 times", 3),
        "host reads": ("1810", 2),
    }
    assert [one.seconds for one in timeline.longest] == ["9.00 s", "0.50 s", "0.50 s", "0.50 s"]


def test_nothing_of_the_timeline_sticks_out() -> None:
    timeline = timeline_of(TIMED)
    assert timeline
    for bar in (bar for lane in timeline.lanes for bar in lane.bars):
        assert 0 <= bar.start <= bar.start + bar.width <= 100.01
        assert 0 < bar.height <= 100


def test_a_report_without_moments_has_a_page_that_says_so() -> None:
    assert "This report holds no moments." in Page(observed_html(FULL)).text


# Findings and source


def found_at(line: int, **changes: Any) -> Line:
    finding = Finding("batch_reads", "pkg/a.py", Span(0, 1), "one", "read at once", line=line, **changes)
    return Line(Path("/p"), "", finding, FOUND)


def test_a_hot_line_has_its_finding_or_none_yet() -> None:
    known, unknown = find_heat(report(reads=[read_at(2, 9), read_at(3, 5)]), [found_at(2)])
    assert [one.codemod for one in known.findings or ()] == ["batch_reads"]
    assert unknown.findings == []
    text = Page(observed_html(report(reads=[read_at(2, 9), read_at(3, 5)]), [found_at(2, left_alone="why")])).text
    assert "9 host reads (item) batch_reads read at once left alone: why" in text
    assert f"5 host reads (item) {NO_CODEMOD}" in text


@pytest.mark.parametrize("file", ["/elsewhere/net.py", ".venv/lib/python3.12/site-packages/net.py"])
def test_of_a_line_that_is_not_the_projects_it_is_said_that_nobody_was_asked(file: str) -> None:
    text = Page(observed_html(report(reads=[read_at(2, 9, file)]), [])).text
    assert f"9 host reads (item) {NOT_OURS}" in text
    assert NO_CODEMOD not in text


def test_where_no_codemod_was_asked_nothing_is_said_of_them() -> None:
    assert NO_CODEMOD not in Page(observed_html(FULL)).text


READING = """\
import torch


def span(x: torch.Tensor) -> float:
    low, high = x.min().item(), x.max().item()
    return high - low
"""


def test_the_codemods_are_asked_about_the_files_that_have_hot_lines(tmp_path: Path) -> None:
    for name in ("read.py", "cold.py"):
        (tmp_path / name).write_text(READING)
    files = {"read.py": {"sha256": hashlib.sha256(READING.encode()).hexdigest(), "ran": [4], "is_all": True}}
    told = report(root=str(tmp_path), reads=[read_at(5, 300, "read.py")], files=files)
    (tmp_path / "observed.json").write_text(json.dumps(told))
    found = find_lines(Observed(tmp_path / "observed.json", told, 0))
    assert {line.finding.path for line in found or ()} == {"read.py"}
    (hot,) = find_heat(told, found)
    assert [one.codemod for one in hot.findings or ()] == ["batch_host_reads"]
    assert hot.source
    shown = "".join(text for piece in hot.source.pieces for text, _ in piece.parts)
    assert shown == "low, high = x.min().item(), x.max().item()"


def test_the_source_of_a_file_that_has_changed_is_not_shown(project: Path) -> None:
    told = report(root=str(project), reads=[read_at(2, 300)])
    (project / "pkg/a.py").write_text("import os\n" + FILES["pkg/a.py"])
    assert find_heat(told, None)[0].source is None


# Whatever a program is called


def hostile(folder: Path) -> dict[str, Any]:
    """Every text of a report, and the source itself, written by an enemy."""
    source = f"x = 1  # {HOSTILE}\n"
    (folder / "a.py").write_text(source)
    sha = hashlib.sha256(source.encode()).hexdigest()
    broken = break_at(1, "a.py", function=HOSTILE, id=HOSTILE, reason=HOSTILE, hint=HOSTILE, kind=HOSTILE)
    again = {**recompile(1, HOSTILE), "function": HOSTILE, "file": HOSTILE}
    return report(
        root=str(folder),
        command=[HOSTILE, HOSTILE],
        ending=HOSTILE,
        device=HOSTILE,
        torch=HOSTILE,
        notices=[HOSTILE],
        entries=[
            entry(
                name=HOSTILE,
                file=HOSTILE,
                backends=[HOSTILE],
                phases={HOSTILE: 300},
                inputs=[{"inputs": HOSTILE, "count": 1}],
                breaks=[broken],
                recompiles=[again],
            )
        ],
        reads=[{**read_at(1, 3, HOSTILE), "function": HOSTILE, "call": HOSTILE}],
        files={"a.py": {"sha256": sha, "ran": [], "is_all": True}},
        timeline={"compiles": [compiled(1.0, entry=HOSTILE)], "reads": [3]},
    )


def test_what_a_program_names_cannot_become_markup(tmp_path: Path) -> None:
    page = Page(observed_html(hostile(tmp_path), [found_at(1, left_alone=HOSTILE)]))
    page.check()
    assert page.html.count("<style>") == page.html.count("</style>") == 1
    assert "</script><script>alert(1)</script></style>\\x1b[31m\\u202e\"'&{{ title }}" in page.text


@pytest.mark.parametrize("made", [TIMED, FULL, report(torch="", device="", python="", processes=[])])
def test_the_page_is_whole_and_asks_for_nothing_from_elsewhere(made: dict[str, Any]) -> None:
    Page(observed_html(made)).check()


def test_a_page_of_nothing_is_a_page() -> None:
    text = Page(observed_html(report(torch="", device="", python="", processes=[]))).text
    assert "Nothing was compiled." in text
    assert "No host read and no break was seen." in text


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = find_chromium()
    if not chromium:
        pytest.skip("no Chromium is installed")
    started = Browser(chromium)
    yield started
    started.close()


@pytest.mark.parametrize(("width", "scheme"), [*product((390, 1200), ("light", "dark"))])
def test_a_browser_shows_the_page_at_every_width_without_complaint(
    browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "page.html"
    for made in (TIMED, hostile(tmp_path)):
        file.write_text(observed_html(made), encoding="utf-8")
        browser.open(file, width, scheme)
        assert browser.complaints == []
        assert browser.requests == [file.as_uri()]
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sticking_out = [one for one in browser.evaluate(OVERFLOWING) if not re.match("<(table|t[rhdb]|a|code)", one)]
        assert sticking_out == [], "only the table of the entries may be wider, and scrolls by itself"


def test_a_print_is_light_and_unfolded(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(observed_html(TIMED), encoding="utf-8")
    browser.open(file, 1000, "dark", media="print")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    folded = "document.querySelector('#lines details:not([open]) table').checkVisibility({contentVisibilityAuto: true})"
    assert browser.evaluate(folded) is True
