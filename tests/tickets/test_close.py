"""A closed ticket says what was measured, and every byte that has nothing to do with that stays."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

import pytest

from fullgraph.codemods.tickets import Ticket, read_tickets
from fullgraph.codemods.tickets.close import NotClosed, close_ticket
from fullgraph.codemods.tickets.closing.boxes import why_ticked
from fullgraph.codemods.tickets.closing.model import PARTLY, RESOLVED, UNVERIFIED, Measured
from fullgraph.codemods.tickets.model import CheckItem
from fullgraph.codemods.tickets.parts.status import is_settled
from fullgraph.validate.model import Ruling

from .closings import BREAK, READ, RECOMPILED, closing, verdict
from .corpus import CORPUS, Sample, samples

PROVEN = Measured((verdict(),))
NO_PLACE = ("findings_table", "bot_table", "plan_list")
"""Tables and lists in which there is no place for the status of one finding."""

PLAIN = """\
# Clock waits

**Severity:** P3
**Status:** open
**Updated:** 2025-06-01
**File:** `src/clock.py`

## Verification

- [ ] No functional change
- [ ] TORCH_LOGS=graph_breaks shows no break
- [ ] Add a test
"""


def closed(text: str, status: str = RESOLVED, measured: Measured = PROVEN, name: str = "ticket") -> str:
    return close_ticket("ticket.md", text.encode(), closing(name, status, measured)).decode()


def changed_lines(before: bytes, after: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines that are gone, and those that are new."""
    pairs = list(difflib.SequenceMatcher(None, before.splitlines(True), after.splitlines(True)).get_opcodes())
    gone = [line for kind, a, b, _, _ in pairs if kind != "equal" for line in before.splitlines(True)[a:b]]
    new = [line for kind, _, _, a, b in pairs if kind != "equal" for line in after.splitlines(True)[a:b]]
    return gone, new


def prose() -> list[Sample]:
    return [sample for sample in samples() if sample.file.suffix == ".md"]


# Every shape of ticket


@pytest.mark.parametrize("sample", prose(), ids=lambda sample: sample.folder.name)
def test_a_closed_ticket_is_read_as_settled_and_its_neighbours_as_before(sample: Sample) -> None:
    raw = sample.file.read_bytes()
    tickets = sample.read()
    for ticket in tickets:
        if sample.folder.name in NO_PLACE or (sample.folder.name == "plan_boxes" and ticket.is_resolved):
            continue
        after = read_tickets(sample.path, close_ticket(sample.path, raw, closing(ticket.id, measured=PROVEN)))
        assert [each.id for each in after] == [each.id for each in tickets]
        assert next(each for each in after if each.id == ticket.id).is_resolved
        assert [t for t in map(outline, after) if t[0] != ticket.id] == [
            t for t in map(outline, tickets) if t[0] != ticket.id
        ]


def outline(ticket: Ticket) -> tuple[object, ...]:
    return ticket.id, ticket.status, ticket.is_resolved, [check.is_ticked for check in ticket.checks], ticket.problem


@pytest.mark.parametrize("sample", prose(), ids=lambda sample: sample.folder.name)
def test_only_lines_about_the_status_the_date_and_boxes_are_touched(sample: Sample) -> None:
    raw = sample.file.read_bytes()
    if sample.folder.name in (*NO_PLACE, "utf16", "plan_boxes"):
        return
    for ticket in sample.read():
        gone, new = changed_lines(raw, close_ticket(sample.path, raw, closing(ticket.id, measured=PROVEN)))
        touched = {field.where.first for field in ticket.fields if field.name in ("status", "updated") and field.where}
        touched |= {check.where.first for check in ticket.checks if check.where}
        lines = raw.splitlines(True)
        boxes = [line for line in lines if re.match(rb"\s*[-*] \[.\]", line)]
        last = [line for line in lines if not line.endswith((b"\n", b"\r"))]
        assert {*gone} <= {*(lines[number - 1] for number in touched), *boxes, *last}
        assert b"".join(new).endswith(b"\n") == raw.endswith(b"\n")


@pytest.mark.parametrize("sample", prose(), ids=lambda sample: sample.folder.name)
def test_nothing_is_ticked_without_a_measurement(sample: Sample) -> None:
    raw = sample.file.read_bytes()
    if sample.folder.name in (*NO_PLACE, "plan_boxes"):
        return
    for ticket in sample.read():
        after = read_tickets(sample.path, close_ticket(sample.path, raw, closing(ticket.id, UNVERIFIED)))
        found = next(each for each in after if each.id == ticket.id)
        assert [check.is_ticked for check in found.checks] == [check.is_ticked for check in ticket.checks]
        assert found.is_resolved == ticket.is_resolved


def test_crlf_and_the_byte_order_mark_stay() -> None:
    file = CORPUS / "crlf_bom/ticket.md"
    after = close_ticket("ticket.md", file.read_bytes(), closing("ticket", measured=PROVEN))
    assert after.startswith(b"\xef\xbb\xbf#")
    assert after.count(b"\n") == after.count(b"\r\n")
    assert b"**Status:** resolved\r\n**Updated:** 2026-03-04\r\n" in after


def test_encodings_and_mojibake_stay() -> None:
    latin, garbled = (CORPUS / name / "ticket.md" for name in ("windows_1252", "plan_many"))
    after = close_ticket("ticket.md", latin.read_bytes(), closing("ticket", measured=PROVEN))
    assert "Filtre lié".encode("cp1252") in after
    plan = close_ticket("ticket.md", garbled.read_bytes(), closing("ticket#2", measured=PROVEN))
    assert "â€“ inner loop".encode() in plan


def test_utf_16_stays_utf_16() -> None:
    raw = (CORPUS / "utf16/ticket.md").read_bytes()
    after = close_ticket("ticket.md", raw, closing("ticket", measured=PROVEN)).decode("utf-16")
    assert after.startswith(raw.decode("utf-16").rstrip())
    assert "## Evidence" in after


def test_what_the_encoding_cannot_hold_leaves_the_file_alone() -> None:
    raw = "# Délai\n\n**Severity:** P1\n**Status:** open\n".encode("cp1252")
    with pytest.raises(NotClosed, match="cannot be written in cp1252"):
        close_ticket("ticket.md", raw, closing("ticket", "r\u00e9solu \u2713"))


# Where things go


def test_the_evidence_has_the_numbers_and_the_way_back() -> None:
    text = closed(PLAIN)
    evidence = text.partition("## Evidence\n\n")[2]
    assert evidence.splitlines() == [
        "- ticket, 2026-03-04: 1 finding of hoist_autocast in src/a.py.",
        "- Proven by scenarios/step.py: equivalent on 2 cases; graph breaks 2 > 0.",
        "- Measured with torch 2.13.0, Python 3.12.1, on cpu.",
        '- Ticked: "No functional change" (equivalent on 2 cases).',
        '- Ticked: "TORCH_LOGS=graph_breaks shows no break" (graph breaks counted: 0).',
        "- Run 3 of the journal; `fullgraph undo 3` takes it back and reopens this ticket.",
    ]
    assert "- [x] No functional change\n- [x] TORCH_LOGS" in text
    assert "- [ ] Add a test\n" in text


def test_a_second_run_adds_to_the_same_section() -> None:
    once = closed(PLAIN, PARTLY)
    twice = close_ticket("ticket.md", once.encode(), closing("ticket", measured=PROVEN, run=4)).decode()
    assert twice.count("## Evidence") == 1
    assert twice.index("undo 3") < twice.index("undo 4")
    assert "**Status:** resolved" in twice


def test_a_note_below_the_evidence_does_not_make_it_the_problem() -> None:
    text = closed(PLAIN) + "\nSeen by QA.\n"
    assert read_tickets("ticket.md", text.encode())[0].problem == read_tickets("ticket.md", PLAIN.encode())[0].problem


def test_an_empty_section_for_evidence_is_filled() -> None:
    text = closed(PLAIN.replace("## Verification", "## Evidence\n\n## Verification"))
    assert "## Evidence\n\n- ticket, 2026-03-04" in text
    assert "of the fix" not in text
    again = close_ticket("ticket.md", text.encode(), closing("ticket", measured=PROVEN, run=4)).decode()
    assert again.partition("## Evidence")[2].index("undo 4") < again.partition("## Evidence")[2].index(
        "## Verification"
    )


def test_evidence_of_the_problem_is_left_alone() -> None:
    text = closed(PLAIN.replace("## Verification", "## Evidence\n\n`stop()` waits.\n\n## Verification"))
    assert text.count("## Evidence of the fix") == 1
    assert "## Evidence\n\n`stop()` waits.\n\n## Verification" in text


def test_a_ticket_without_a_status_gets_one_in_its_evidence() -> None:
    text = closed(PLAIN.replace("**Status:** open\n", ""))
    assert "- **Status:** resolved\n" in text
    assert read_tickets("ticket.md", text.encode())[0].is_resolved


def test_an_empty_cell_for_the_status_is_filled() -> None:
    text = closed("# A\n\n| Field | Value |\n|---|---|\n| **Severity** | P1 |\n| **Status** | |\n| **Updated** | |\n")
    assert "| **Status** | resolved |\n" in text
    assert "| **Updated** | 2026-03-04 |\n" in text


def test_front_matter_stays_valid() -> None:
    text = closed('---\nid: T-1\nstatus: "open" # as of May\npriority: P1\n---\n\n# A\n', name="T-1")
    assert text.startswith('---\nid: T-1\nstatus: "resolved" # as of May\npriority: P1\n---\n')


def test_in_a_list_of_states_the_tick_moves() -> None:
    text = close_ticket("t.md", (CORPUS / "status_checklist/ticket.md").read_bytes(), closing("t", measured=PROVEN))
    assert b"- [ ] Open\n- [ ] In progress\n- [x] Done\n" in text
    still = close_ticket("t.md", (CORPUS / "status_checklist/ticket.md").read_bytes(), closing("t", UNVERIFIED))
    assert b"- [x] In progress\n- [ ] Done\n" in still


def test_an_issue_that_is_an_item_with_a_box_is_ticked_once_it_is_settled() -> None:
    raw = (CORPUS / "plan_boxes/ticket.md").read_bytes()
    ticket = next(each for each in read_tickets("ticket.md", raw) if not each.is_resolved)
    after = close_ticket("ticket.md", raw, closing(ticket.id, measured=PROVEN))
    assert b"\n- [x] P2: `stop()` synchronises" in after
    assert b"**Status:**" not in after
    with pytest.raises(NotClosed, match="no place"):
        close_ticket("ticket.md", raw, closing(ticket.id, UNVERIFIED))


def test_each_issue_of_a_plan_has_its_own_evidence() -> None:
    raw = (CORPUS / "plan_many/ticket.md").read_bytes()
    first = close_ticket("ticket.md", raw, closing("ticket#1", measured=PROVEN, run=1))
    both = close_ticket("ticket.md", first, closing("ticket#2", measured=PROVEN, run=2)).decode()
    assert both.index("undo 1") < both.index("## Issue 2") < both.index("undo 2") < both.index("## Lower priority")
    assert "**Status:** Draft\n" in both
    states = [ticket.is_resolved for ticket in read_tickets("ticket.md", both.encode())]
    assert states == [True, True, False, False]


def test_a_date_that_stands_twice_in_a_row_is_changed_in_its_own_cell() -> None:
    head = "# A\n\n| ID | Status | Severity | Updated | Created |\n|---|---|---|---|---|\n"
    text = closed(head + "| A-1 | open | P1 | 2024-01-01 | 2024-01-01 |\n", name="A-1")
    assert "| A-1 | resolved | P1 | 2026-03-04 | 2024-01-01 |\n" in text


def test_a_status_that_is_a_word_of_another_cell_is_changed_in_its_own() -> None:
    head = "# Sweep\n\n| ID | Status | Severity | File | Note |\n|---|---|---|---|---|\n"
    text = closed(head + "| A-1 | open | P1 | a.py | left open, opens |\n| A-2 | open | P2 | b.py | x |\n", name="A-1")
    assert "| A-1 | resolved | P1 | a.py | left open, opens |\n| A-2 | open |" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("**Status:** **OPEN** (since May)", "**Status:** resolved"),
        ("**Status:** **open**", "**Status:** **resolved**"),
        ("| Status | open \\| waiting | x |", "| Status | resolved | x |"),
        ("| Status || x |", "| Status | resolved | x |"),
        ("> | Status | `open` |", "> | Status | `resolved` |"),
        ("Status | open", "Status | resolved"),
    ],
)
def test_the_markup_around_a_status_stays_whole(before: str, after: str) -> None:
    is_row = "|" in before
    quote = "> " if before.startswith(">") else ""
    head = f"{quote}| Field | Value |\n{quote}|---|---|\n" if is_row else ""
    text = closed(f"# A\n\n{head}{before}\n\n**Severity:** P1\n**File:** `a.py`\n")
    assert f"\n{after}\n" in text


def test_an_empty_status_in_front_matter_stays_yaml() -> None:
    assert "\nstatus: resolved\n" in closed("---\nid: T-1\nstatus:\npriority: P1\n---\n\n# A\n", name="T-1")


# What is not edited


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("t.json", '{"id": "t", "severity": "high"}', "JSON"),
        ("t.sarif", "{}", "JSON"),
        ("t.md", PLAIN + "\n```python\nnever closed", "read differently"),
        ("t.md", PLAIN + "\n<!-- never closed", "would not be seen"),
        ("t.md", "# Other\n\n**ID:** X-1\n**Severity:** P1\n", "not in it any more"),
        ("t.md", "", "holds no text"),
        ("t.md", "# Index\n\nNothing here.\n", "no ticket in it"),
    ],
)
def test_what_cannot_be_edited_safely_is_not(path: str, text: str, why: str) -> None:
    with pytest.raises(NotClosed, match=why):
        close_ticket(path, text.encode(), closing("t", measured=PROVEN))


def test_a_row_without_a_cell_for_its_status_is_not_edited() -> None:
    raw = (CORPUS / "findings_table/ticket.md").read_bytes()
    with pytest.raises(NotClosed, match="no place"):
        close_ticket("ticket.md", raw, closing("WS-1", measured=PROVEN))


def test_a_row_with_a_cell_for_its_status_is() -> None:
    head = b"# Sweep\n\n| ID | Severity | File | Status |\n|---|---|---|---|\n"
    raw = head + b"| A-1 | P1 | a.py | open |\n| A-2 | P2 | b.py | open |\n"
    after = close_ticket("ticket.md", raw, closing("A-2", measured=PROVEN))
    assert b"| A-1 | P1 | a.py | open |\n| A-2 | P2 | b.py | resolved |\n" in after


def test_words_from_a_scenario_make_no_markup() -> None:
    hostile = closing("ticket", measured=PROVEN)
    text = close_ticket(
        "ticket.md",
        PLAIN.encode(),
        type(hostile)(hostile.ticket, RESOLVED, "a\n## Issue 9: `x` <b> **Status:** open", PROVEN, hostile.day, 3),
    ).decode()
    assert "\n## Issue 9" not in text
    assert "<b>" not in text


# Boxes


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        ("No functional change", Measured((verdict(),))),
        ("Same outputs as before", Measured((verdict(),))),
        ("`TORCH_LOGS=graph_breaks` shows no breaks", Measured((verdict(),))),
        ("Profile with TORCH_LOGS=graph_breaks to detect issues", Measured((verdict(),))),
        ("Compiles under fullgraph=True", Measured((verdict(),))),
        ("No recompiles any more", Measured((verdict(),))),
        ("No host syncs left", Measured((verdict(),))),
        ("Test that warning appears when expected", Measured((verdict(),), has_warned=True)),
        ("Add test for torch.compile compatibility", Measured((verdict(),), tests=("tests/test_a.py",))),
        ("No graph breaks", Measured((verdict(), verdict()))),
        ("Warning seen when the filter is moved", Measured((verdict(),), has_warned=True)),
        ("Verify that there are no graph breaks left", Measured((verdict(),))),
        ("No change in the numbers", Measured((verdict(),))),
        ("Same result", Measured((verdict(),))),
        ("Outputs unchanged", Measured((verdict(),))),
    ],
)
def test_a_measurement_ticks_what_it_shows(text: str, measured: Measured) -> None:
    assert why_ticked(CheckItem(text, False), measured)
    assert not why_ticked(CheckItem(text, False), Measured())


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        ("No graph breaks", Measured((verdict(breaks=(BREAK,)),))),
        ("No graph breaks", Measured((verdict(breaks=None),))),
        ("No graph breaks", Measured((verdict(graphs=()),))),
        ("No graph breaks", Measured((verdict(), verdict(breaks=(BREAK,))))),
        ("No graph breaks", Measured((verdict(),), is_written=False)),
        ("No recompiles", Measured((verdict(graphs=(RECOMPILED,)),))),
        ("No host reads", Measured((verdict(syncs=(READ,)),))),
        ("No host reads", Measured((verdict(syncs=None),))),
        ("fullgraph=True compiles", Measured((verdict(fullgraph=None),))),
        ("No functional change", Measured((verdict(equivalence="unknown"),))),
        ("No functional change", Measured((verdict(),), has_other_changes=True)),
        ("No functional change", Measured((verdict(),), is_written=False)),
        ("Warning seen", Measured((verdict(),))),
        ("Warning is not seen any more", Measured((verdict(),), has_warned=True)),
        ("Warning is seen once", Measured((verdict(),), has_warned=True)),
        ("No warning is given", Measured((verdict(),), has_warned=True)),
        ("Add docstring warning about torch.compile", Measured((verdict(),), has_warned=True)),
        ("Add a test", Measured((verdict(),))),
        ("Existing tests pass", Measured((verdict(),), tests=("tests/test_a.py",))),
        ("No graph breaks and 20% faster", Measured((verdict(),))),
        ("One break instead of four", Measured((verdict(),))),
        ("Same loss within tolerance", Measured((verdict(),))),
        ("No race under load", Measured((verdict(),))),
        ("No functional change on 8 GPUs", Measured((verdict(),))),
        ("Decorator added", Measured((verdict(),))),
        ("No recompile when the dict gains an entry", Measured((verdict(),))),
        ("No graph breaks in eval mode", Measured((verdict(),))),
        ("No breaks reported inside `gradient_stats`", Measured((verdict(),))),
        ("No functional change for existing callers", Measured((verdict(),))),
        ("Same outputs on CUDA", Measured((verdict(),))),
        ("Add a test and make it faster", Measured((verdict(),), tests=("tests/test_a.py",))),
        ("No graph breaks?", Measured((verdict(),))),
        ("No graph breaks, no leaks", Measured((verdict(),))),
        ("Warning seen when strict mode is off", Measured((verdict(),), has_warned=True)),
        ("Verify debug code is not in compiled paths", Measured((verdict(),))),
    ],
)
def test_no_box_is_ticked_by_less(text: str, measured: Measured) -> None:
    assert not why_ticked(CheckItem(text, False), measured)


BOXES = [
    ("- [ ] No graph breaks", "- [x] No graph breaks"),
    ("- [] No graph breaks", "- [x] No graph breaks"),
    ("* \u2610 No graph breaks", "* \u2611 No graph breaks"),
    ("1) [ ] No graph breaks", "1) [x] No graph breaks"),
    ("> - [ ] No graph breaks", "> - [x] No graph breaks"),
    ("-\t[ ] **No graph breaks**", "-\t[x] **No graph breaks**"),
]


@pytest.mark.parametrize(("before", "after"), BOXES)
def test_boxes_of_all_shapes_are_ticked(before: str, after: str) -> None:
    assert f"\n{after}\n" in closed(PLAIN.replace("- [ ] No functional change", before))


@pytest.mark.parametrize(
    "text",
    [
        "- [-] No graph breaks",
        "- [ ] ~~No graph breaks~~",
        "- [ ] No graph breaks:\n  - [ ] in train mode\n  - [ ] in eval mode",
        "- [ ] No graph breaks\n    * [ ] in train mode",
        "```\n- [ ] No graph breaks\n```",
        "| [ ] | No graph breaks |",
        "- [ ] No synchronization",
    ],
)
def test_boxes_that_were_dropped_or_ask_for_more_stay(text: str) -> None:
    assert f"\n{text}\n" in closed(PLAIN.replace("- [ ] No functional change", text))


def test_nothing_is_ticked_while_a_part_is_left() -> None:
    assert "[x]" not in closed(PLAIN, PARTLY)


def test_what_is_left_is_told_in_the_evidence() -> None:
    given = replace(closing("ticket", PARTLY), left=("src/a.py:3: declined",))
    assert "\n- Left: src/a.py:3: declined.\n" in close_ticket("ticket.md", PLAIN.encode(), given).decode()


def test_a_patch_names_no_run() -> None:
    text = close_ticket("ticket.md", PLAIN.encode(), closing("ticket", measured=PROVEN, run=0)).decode()
    assert "undo" not in text
    (ticket,) = read_tickets("ticket.md", text.encode())
    assert ticket.problem == read_tickets("ticket.md", PLAIN.encode())[0].problem


def test_only_a_verdict_settles() -> None:
    assert is_settled(RESOLVED)
    assert is_settled("closed (not reproduced on torch 2.13.0)")
    assert not is_settled(PARTLY)
    assert not is_settled(UNVERIFIED)


def test_a_neutral_verdict_is_told_as_one() -> None:
    assert "- Neutral by scenarios/step.py" in closed(PLAIN, measured=Measured((verdict(Ruling.NEUTRAL),)))
