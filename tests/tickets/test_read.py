"""Tickets of many shapes are understood as a person would; what is read points at where it stands."""

from __future__ import annotations

import ast
import codecs
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.registry import bundled
from fullgraph.codemods.tickets import NoTicketError, Ticket, TicketError, by_severity, read_folder, read_tickets
from fullgraph.codemods.tickets.model import Where
from fullgraph.codemods.tickets.text import open_ticket

from .corpus import PROJECT, Sample, reading, samples

HEAD = "# A title\n\n**Severity:** P2\n**File:** `src/a.py`\n\n"


def read_one(text: str, path: str = "a.md") -> Ticket:
    (ticket,) = read_tickets(path, text.encode())
    return ticket


def places_in_file(ticket: Ticket) -> Iterator[Where]:
    parts = (ticket.places, ticket.code, ticket.checks, ticket.reviews, ticket.fields, (ticket,))
    yield from (part.where for each in parts for part in each if part.where)


def spans_in(ticket: Ticket) -> Iterator[Span]:
    yield from (where.span for where in places_in_file(ticket))
    yield from (check.box for check in ticket.checks if check.box)
    yield from (field.span for field in ticket.fields if field.span)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_a_ticket_is_read_as_expected(sample: Sample) -> None:
    expected = [{**ticket} for ticket in sample.expected]
    for ticket in expected:
        ticket.pop("place"), ticket.pop("route")
    assert [reading(ticket) for ticket in sample.read()] == expected


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_spans_lie_in_the_file_and_hold_what_was_read(sample: Sample) -> None:
    text = open_ticket(sample.path, sample.file.read_bytes()).text
    for ticket in sample.read():
        assert all(0 <= span.start <= span.end <= len(text) for span in spans_in(ticket))
        for check in ticket.checks:
            assert check.box is None or text[check.box.start - 1] == "["
        for field in ticket.fields:
            if field.name == "status" and field.span:
                assert text[field.span.start : field.span.end] == field.value


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.folder.name)
def test_every_snippet_parses_and_its_holes_stand_for_something(sample: Sample) -> None:
    for ticket in sample.read():
        for snippet in (block.snippet for block in ticket.code if block.snippet):
            ast.parse(snippet.text)
            for hole in snippet.holes:
                assert snippet.text[hole.span.start : hole.span.end] in ("...", "___", "*__", "**_")


def test_the_corpus_is_as_large_and_as_mixed_as_promised() -> None:
    tickets = [ticket for sample in samples() for ticket in sample.expected]
    routes = [ticket["route"]["codemod"] for ticket in tickets]
    assert len(samples()) >= 40
    assert set(bundled()) <= set(routes)
    assert routes.count("") >= len(samples()) // 4


def test_expected_places_exist_in_the_project() -> None:
    for sample in samples():
        for ticket in sample.expected:
            path, symbol = ticket["place"]["path"], ticket["place"]["symbol"]
            assert not path or (PROJECT / path).is_file()
            assert not symbol or f" {symbol.rpartition('.')[2]}" in (PROJECT / path).read_text()


def test_a_box_can_be_ticked_and_nothing_else_changes() -> None:
    raw = (
        codecs.BOM_UTF8
        + HEAD.replace("\n", "\r\n").encode()
        + b"## Verification\r\n\r\n- [ ] seen\r\n- [ ] \xc3\xa9\r\n"
    )
    (ticket,) = read_tickets("a.md", raw)
    box = ticket.checks[1].box
    assert box
    assert open_ticket("a.md", raw).splice([Edit("a.md", box, "x")]) == raw.replace(b"[ ] \xc3", b"[x] \xc3")


def test_an_empty_cell_says_where_to_write() -> None:
    text = "| Field | Value |\n|---|---|\n| Severity | P1 |\n| **Updated** | |\n"
    (ticket,) = read_tickets("a.md", text.encode())
    updated = ticket.field("updated")
    assert updated
    assert updated.span
    assert updated.span.start == updated.span.end
    assert text[: updated.span.start].endswith("| **Updated** | ")


def test_mojibake_is_repaired_but_positions_are_those_of_the_file() -> None:
    text = HEAD.replace("A title", "CPU\u00e2\u2020\u2019GPU") + "## Verification\n\n- [ ] GPU\u00e2\u2020\u2019CPU\n"
    ticket = read_one(text)
    assert ticket.title == "CPU\u2192GPU"
    assert ticket.checks[0].text == "GPU\u2192CPU"
    assert ticket.checks[0].box == Span(text.index("[ ]") + 1, text.index("[ ]") + 2)


@pytest.mark.parametrize(
    ("said", "rejects", "level"),
    [
        ("REJECT", True, ""),
        ("This is not a bug.", True, ""),
        ("False positive: the branch is dead.", True, ""),
        ("This is not a false positive.", False, ""),
        ("I would not reject this.", False, ""),
        ("Agreed. Downgrade to P4.", False, "P4"),
        ("Agreed. Elevate to P0 if it is on the hot path.", False, ""),
        ("Endorsed; severity should be P3.", False, "P3"),
        ("Valid. No need to lower it to P3.", False, ""),
        ("Not endorsed.", True, ""),
        ("I disagree with this finding.", True, ""),
        ("I disagree with the severity; downgrade to P3.", False, "P3"),
        ("This finding should be rejected.", True, ""),
        ("Recommendation: reject", True, ""),
        ("Verdict \u2014 **REJECT**. It is fine.", True, ""),
        ("~~REJECT~~ ENDORSE", False, ""),
        ("ENDORSE. I see no reason to reject it.", False, ""),
        ("Endorsed. The sampler rejects 3 % of actions.", False, ""),
        ("- [x] Not a bug\n- [ ] Valid", True, ""),
        ("- [ ] Not a bug\n- [x] Valid", False, ""),
        ("```\nVERDICT: REJECT\n```", True, ""),
        ("| Reviewer | Decision |\n|---|---|\n| A | ENDORSE |\n| B | Reject: no |", True, ""),
    ],
)
def test_a_review_rejects_only_what_it_says_it_rejects(said: str, rejects: bool, level: str) -> None:
    ticket = read_one(HEAD + f"## Review (second desk)\n\n{said}\n")
    assert ticket.is_rejected is rejects
    assert ticket.severity.effective == (level or "P2")


@pytest.mark.parametrize(
    "said",
    [
        "## Resolution\n\nNot a bug.",
        "## Recommended Fix\n\nNone: this is not a bug.",
        "Reviewer comments:\n- Kim: LGTM\n- Bo: rejected, the keys are fine",
        "## Anything\n\nREJECT (S. Oduya): the snippet is not in the file.",
        "> **Reviewer:** this is a false positive",
        "**Verdict:** invalid",
        "**Verdict:** \u274c",
        "### Verdict: REJECT",
        "## Cross-Review\n\n| Reviewer | Verdict |\n|---|---|\n| A | ENDORSE |\n| B | OBJECT |",
        "## Votes\n\n- Kim: \u2705 ENDORSE\n- Bo: \u274c REJECT",
        "## Review by Kim\n\n> I don't think this is a real issue. Closing.",
        "## Second opinion\n\nI'd close this as invalid.",
        "## Notes\n\nUpdate: this turned out to be a false alarm.",
        "## Outcome\n\nNo change needed.",
        "## Recommended Fix\n\nNone needed.",
        "## Problem\n\nTuples.\n\n_Reviewed-by: Kim, verdict: rejected_",
        "> Closed as not planned.",
    ],
)
def test_a_rejection_is_seen_under_any_heading(said: str) -> None:
    assert read_one(HEAD + said + "\n").is_rejected


@pytest.mark.parametrize(
    "said",
    [
        "## Review\n\nEndorse. -1 on the message, though.",
        "## Review\n\nAgree; not a blocker.",
        "## Review\n\nENDORSE \u2014 \u274c no tests though",
        "## Votes\n\n- A: \U0001f44d\n- B: +1",
        "**Decision:** fix it in the next sprint",
        "## Verdict\n\nENDORSE (was REJECT)",
        "## Problem\n\nRejected samples are kept; the decision is made per object.",
        "## Review\n\nObject creation per batch is real.",
        "## Notes\n\nObjects of this class are shared.",
        "## Outcome\n\nThe step takes 3 ms.",
    ],
)
def test_no_rejection_is_read_into_other_words(said: str) -> None:
    assert not read_one(f"{HEAD}{said}\n").is_rejected


def test_the_story_of_a_problem_is_no_verdict() -> None:
    assert not read_one(HEAD + "## Problem\n\nThe bot said that this is not a bug, and was wrong.\n").reviews


@pytest.mark.parametrize(
    ("status", "settled"),
    [
        ("Fixed in 12ab", True),
        ("won't fix", True),
        ("partially fixed", False),
        ("not done", False),
        ("reopened", False),
    ],
)
def test_a_status_settles_by_its_first_words(status: str, settled: bool) -> None:
    assert read_one(HEAD + f"**Status:** {status}\n").is_resolved is settled


@pytest.mark.parametrize(
    ("path", "settled"),
    [
        ("docs/tickets/resolved/a.md", True),
        ("docs/tickets/closed/2024/a.md", True),
        ("docs/tickets/done/a.json", True),
        ("/home/done/work/docs/tickets/a.md", False),
        ("docs/tickets/open/a.md", False),
    ],
)
def test_a_folder_settles_what_stands_in_it(path: str, settled: bool) -> None:
    text = '[{"title": "x", "file": "a.py"}]' if path.endswith(".json") else HEAD + "**Status:** open\n"
    assert read_one(text, path).is_resolved is settled


@pytest.mark.parametrize(
    ("written", "path", "lines"),
    [
        ("`src/a.py:340-387`", "src/a.py", [(340, 387)]),
        ("src/a.py#L10-L20", "src/a.py", [(10, 20)]),
        ("`a.py` (lines 3-5, 9)", "a.py", [(3, 5), (9, 9)]),
        ("a.py, line 45", "a.py", [(45, 45)]),
        ("a.py L7", "a.py", [(7, 7)]),
        ("C:\\src\\a.py:12:5", "C:\\src\\a.py", [(12, 12)]),
        ("https://github.com/o/r/blob/0af3/pkg/a.py#L10-L20", "pkg/a.py", [(10, 20)]),
        ("https://gitlab.com/g/r/-/blob/main/pkg/a%20b.py#L3-5", "pkg/a b.py", [(3, 5)]),
        ("[the loop](../src/a.py#L8)", "../src/a.py", [(8, 8)]),
        ("../../../etc/passwd", "../../../etc/passwd", []),
    ],
)
def test_a_file_and_its_lines_are_told_apart(written: str, path: str, lines: list[tuple[int, int]]) -> None:
    (place,) = read_one(f"# T\n\n**Severity:** P1\n**File:** {written}\n").places
    assert (place.path, [(each.first, each.last) for each in place.lines]) == (path, lines)


@pytest.mark.parametrize(
    "said",
    [
        "**Status:** ~~open~~ fixed",
        "**Status:** Won't Do",
        "## Status: RESOLVED in 12ab",
        "**Resolved on:** 2025-03-09",
        "| Field | Value |\n|---|---|\n| Fixed in | 12ab |",
        "**Status:** open\n\n## Resolution\n\nFixed in 12ab.",
        "**Status:** open\n\n**Resolution:** Fixed by the second request.",
    ],
)
def test_what_settles_a_ticket_is_seen_wherever_it_stands(said: str) -> None:
    assert read_one(f"{HEAD}{said}\n").is_resolved


@pytest.mark.parametrize(
    "said",
    [
        "**Resolved on:** no",
        "**Fixed in:** TBD",
        "**Resolution:** Unresolved",
        "## Resolution\n\nFixed sizes would do.",
        "## Fixed-size buffers\n\nThey are not.",
        "**Status:** ~~fixed~~ reopened",
        "Fixed in 12ab was another one.",
    ],
)
def test_words_of_being_done_alone_settle_nothing(said: str) -> None:
    assert not read_one(f"{HEAD}{said}\n").is_resolved


@pytest.mark.parametrize(
    "line",
    [
        "**Status:** open | **Sprint:** 12 | **Owner:** Kim",
        "**Sprint:** 12; **Status:** open",
        "Status: open | Sprint: 12",
        "*Sprint: 12 \u00b7 Status: open \u00b7 Confidence: 0.9*",
        "Severity: P1, Status: open",
    ],
)
def test_a_status_is_only_its_own_words(line: str) -> None:
    text = f"# T\n\n**File:** `a.py`\n\n{line}\n"
    status = read_one(text).field("status")
    assert status
    assert status.span
    assert (status.value, text[status.span.start : status.span.end]) == ("open", "open")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("# Keys", "Keys"),
        ("# Location", "Location"),
        ("# Names: a mess", "Names: a mess"),
        ("# Status of it", "Status of it"),
    ],
)
def test_a_title_labels_nothing(title: str, shown: str) -> None:
    ticket = read_one(f"{title}\n\n**Severity:** P1\n**File:** `a.py`\n\nA tuple.\n")
    assert (ticket.title, ticket.id, ticket.problem) == (shown, "a", "A tuple.")


def test_the_questions_of_a_form_are_no_title() -> None:
    ticket = read_one("### Contact\n\nx\n\n### Which file?\n\na.py\n\n### More\n\ny\n\n### Other\n\nz\n", "form.md")
    assert (ticket.title, ticket.places[0].path) == ("form", "a.py")


def test_a_list_of_other_tickets_is_no_plan() -> None:
    ticket = read_one(HEAD + "## Duplicates\n\n- P1: one two three four\n- P2: one two three four\n")
    assert (ticket.title, ticket.severity.effective) == ("A title", "P2")


def test_a_linter_that_counts_from_zero_is_understood() -> None:
    text = '[{"file": "a.py", "message": "m", "range": {"start": {"line": 0}, "end": {"line": 2}}}]'
    (lines,) = read_one(text, "a.json").places[0].lines
    assert (lines.first, lines.last) == (1, 3)


def test_findings_under_the_names_of_files_are_found() -> None:
    text = '{"src/a.py": [{"line_number": 3, "text": "m"}], "src/b.py": [{"line_number": 4, "text": "n"}]}'
    found = read_tickets("a.json", text.encode())
    assert [(ticket.title, ticket.places[0].path) for ticket in found] == [("m", "src/a.py"), ("n", "src/b.py")]


def test_a_finding_with_a_body_keeps_its_place() -> None:
    ticket = read_one('[{"title": "t", "body": "b", "file": "a.py", "line": 3}]', "a.json")
    assert (ticket.places[0].path, ticket.problem) == ("a.py", "b")


def test_a_folder_is_read_in_order_of_severity(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text(HEAD.replace("P2", "P0"))
    (tmp_path / "a.md").write_text(HEAD)
    (tmp_path / "c.md").write_text("# T\n\n**File:** `a.py`\n")
    (tmp_path / "README.md").write_text("Words only.\n")
    (tmp_path / "resolved").mkdir()
    (tmp_path / "resolved" / "d.md").write_text(HEAD.replace("P2", "P0"))
    outside = tmp_path.parent / "outside.md"
    outside.write_text(HEAD)
    (tmp_path / "link.md").symlink_to(outside)
    found = read_folder(tmp_path)
    assert [path for path, _ in found] == ["b.md", "a.md", "c.md", "resolved/d.md", "README.md", "link.md"]
    assert isinstance(found[4][1], NoTicketError)
    assert isinstance(found[5][1], TicketError)
    assert "a link" in str(found[5][1])


def test_tickets_of_one_file_can_be_put_in_order() -> None:
    text = "# Plan\n\n" + "".join(f"## Issue {n}: x\n\n**Priority:** P{p}\n\n" for n, p in ((1, 3), (2, 0), (3, 1)))
    tickets = read_tickets("plan.md", text.encode())
    assert [ticket.id for ticket in tickets] == ["plan#1", "plan#2", "plan#3"]
    assert [ticket.id for ticket in by_severity(tickets)] == ["plan#2", "plan#3", "plan#1"]


def test_prose_right_behind_a_short_field_is_the_problem() -> None:
    ticket = read_one("# Slow\n**File:** net.py\n**Lines:** 37-38\nThe nested helper is made at every call. Move it.\n")
    assert ticket.problem == "The nested helper is made at every call. Move it."
    assert [(place.path, [each.first for each in place.lines]) for place in ticket.places] == [("net.py", [37])]


def test_a_list_of_files_may_go_on_in_the_next_line() -> None:
    ticket = read_one("# Slow\n**Files:** net.py,\nloss.py and also the one called step.py\n**Severity:** P2\n")
    assert {place.path for place in ticket.places} == {"net.py", "loss.py", "step.py"}
