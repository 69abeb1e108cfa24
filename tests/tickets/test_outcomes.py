"""What becomes of tickets, piece by piece: the status, the exit code, what is left, and which file is meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.model import Edit, Finding, FullgraphError, Span
from fullgraph.codemods.tickets.closing.boxes import why_ticked
from fullgraph.codemods.tickets.closing.evidence import LONGEST, one_line, run_line
from fullgraph.codemods.tickets.closing.model import PARTLY, RESOLVED, UNVERIFIED, Measured
from fullgraph.codemods.tickets.fixing.leftover import is_met, place_of, unwritten
from fullgraph.codemods.tickets.fixing.measuring import is_test, not_reproduced, status_for, why_not_neutral
from fullgraph.codemods.tickets.fixing.measuring import tests_in as files_of_tests
from fullgraph.codemods.tickets.fixing.model import Filed, Handled
from fullgraph.codemods.tickets.folder import by_severity, read_folder, worst
from fullgraph.codemods.tickets.model import UNKNOWN, CheckItem, Lines, Severity, Ticket, TicketError
from fullgraph.codemods.tickets.parts.severity import level_of
from fullgraph.codemods.tickets.places.model import Located, Spot
from fullgraph.codemods.tickets.places.paths import find_files
from fullgraph.codemods.tickets.read import distinct, is_record
from fullgraph.codemods.tickets.routes.model import Routed
from fullgraph.codemods.tickets.text import open_ticket
from fullgraph.codemods.tickets.understanding import Understood
from fullgraph.codemods.ui.tickets.fix import FixRequest, Outcomes, check_report, path_in
from fullgraph.codemods.ui.tickets.fix import distinct as each_once
from fullgraph.codemods.ui.tickets.show import Desk
from fullgraph.validate.model import Difference, Ruling

from .closings import closing, side, verdict

PROVEN = Measured((verdict(),))
FINDING = Finding("hoist_autocast", "a.py", Span(0, 4), "step", "a message", line=5, last_line=6)


def ticket(name: str = "t", level: str = "", **given: Any) -> Ticket:
    return Ticket("t.md", name, name, Severity(level, level), **given)


def handled(outcome: str = "fixed", **given: Any) -> Handled:
    return Handled(Understood(ticket(), Located(), Routed()), outcome, **given)  # type: ignore[arg-type]


def exit_code(*each: Handled, dry: bool = False, keep: bool = False, **given: Any) -> int:
    desk = Desk(Path(), None, None, errors=given.pop("errors", []))  # type: ignore[arg-type]
    return Outcomes(desk, dry, keep, list(each), **given).exit_code


# The exit code


def test_nothing_left_open_is_0_and_an_open_ticket_1() -> None:
    assert exit_code(handled("fixed"), handled("closed"), handled("skipped")) == 0
    assert exit_code(handled("fixed"), handled("left")) == 1
    assert exit_code(handled("partly")) == 1
    assert exit_code() == 0


def test_what_is_only_in_the_patch_is_still_open_but_not_what_was_settled_before() -> None:
    assert exit_code(handled("fixed"), dry=True) == 1
    assert exit_code(handled("skipped"), dry=True) == 0


def test_of_several_verdicts_the_worst_counts() -> None:
    proven, different = (handled("fixed", verdicts=(verdict(ruling),)) for ruling in (Ruling.PROVEN, Ruling.DIFFERENT))
    undecided = handled("left", error="undecided")
    assert exit_code(proven) == 0
    assert exit_code(proven, different, handled("left")) == 3
    assert exit_code(different, undecided, proven) == 4
    assert exit_code(handled("left", verdicts=(verdict(Ruling.NEUTRAL),))) == 3
    assert exit_code(handled("closed", verdicts=(verdict(Ruling.NEUTRAL),)), keep=True) == 0


def test_an_error_is_2_and_to_be_stopped_130_whatever_else_went_wrong() -> None:
    undecided, broken = handled("left", error="undecided"), handled("left", error="not writable")
    assert exit_code(undecided, broken) == 2
    assert exit_code(undecided, errors=[("t.md", "no ticket")]) == 2
    assert exit_code(broken, errors=[("t.md", "no ticket")], is_stopped=True) == 130


# The status


def test_a_ticket_is_resolved_only_whole_and_with_a_verdict() -> None:
    assert status_for(True, PROVEN) == RESOLVED
    assert status_for(True, Measured()) == UNVERIFIED
    assert status_for(False, PROVEN) == status_for(False, Measured()) == PARTLY


def test_what_was_seen_or_not_run_or_left_is_not_closed_as_not_reproduced() -> None:
    assert why_not_neutral(PROVEN, True, ()) == ""
    for seen in ({"has_warned": True}, {"has_other_changes": True}):
        shown = replace(PROVEN, **seen)  # type: ignore[arg-type]
        assert why_not_neutral(shown, True, ()) == "what the ticket is about was seen to happen"
    assert why_not_neutral(PROVEN, False, ("more",)) == "not all of its findings were run"
    assert why_not_neutral(PROVEN, True, ("more", "and more")) == "more"
    assert not_reproduced(PROVEN) == "closed (not reproduced on torch 2.13.0)"
    assert not_reproduced(Measured()) == "closed (not reproduced)"


def test_the_side_that_stands_is_the_one_that_counts() -> None:
    assert [one.side for one in PROVEN.sides] == ["after"]
    assert [one.side for one in replace(PROVEN, is_written=False).sides] == ["before"]


def ticked(text: str, measured: Measured) -> str:
    return why_ticked(CheckItem(text), measured)


def test_what_was_not_compiled_shows_neither_breaks_nor_recompiles() -> None:
    """A side without graphs has counted nothing, and 0 of nothing is no proof."""
    nothing = Measured((verdict(graphs=()),))
    for text in ("No graph breaks", "No recompiles"):
        assert ticked(text, PROVEN)
        assert not ticked(text, nothing)
        assert not ticked(text, Measured())


def test_values_that_differ_are_not_equal_whatever_the_reasons_say() -> None:
    odd = replace(verdict(), differences=(Difference("eager", "a", "output", "values", "1", "2"),))
    assert ticked("No functional change", PROVEN)
    assert not ticked("No functional change", Measured((verdict(), odd)))
    assert not ticked("No functional change", Measured((verdict(), verdict(equivalence="unknown"))))
    assert not ticked("No functional change", replace(PROVEN, is_written=False))
    assert not ticked("No functional change", replace(PROVEN, has_other_changes=True))


def test_a_check_that_asks_for_two_things_needs_both() -> None:
    text = "No graph breaks and no host reads"
    assert ticked("No graph breaks, no host reads", PROVEN) == "graph breaks counted: 0; host reads counted: 0"
    assert not ticked(text.replace(" and", ","), Measured((replace(verdict(), after=side(syncs=None)),)))


def test_a_check_that_says_nothing_is_not_ticked() -> None:
    assert ticked("Verify the fix", PROVEN) == ""
    assert ticked("", PROVEN) == ""


# What is left


def test_what_several_findings_have_in_common_is_said_once() -> None:
    other = replace(FINDING, line=9)
    told = unwritten([(FINDING, "unsafe"), (other, "unsafe"), (other, "unsafe"), (FINDING, "worse")])
    assert told == ("a.py:5, a.py:9: unsafe", "a.py:5: worse")


def test_a_place_is_met_by_what_touches_its_lines_its_function_or_its_file() -> None:
    lines = Spot("a.py", "step", (Lines(10, 12),))
    touched = [("a.py", 12, 15)], [("a.py", 8, 10)], [("a.py", 13, 15)], [("b.py", 10, 12)], [("a.py", 5, 9)]
    assert [is_met(lines, one) for one in touched] == [True, True, False, False, False]
    assert is_met(replace(lines, extent=Lines(1, 20)), [("a.py", 2, 2)])
    assert is_met(Spot("a.py"), [("a.py", 99, 99)])
    assert not is_met(Spot("a.py"), [("b.py", 1, 1)])


def test_a_place_is_written_as_people_write_it() -> None:
    assert place_of(Spot("a.py", "Net.step", (Lines(3, 3), Lines(5, 7)))) == "a.py:3,5-7 Net.step"
    assert place_of(Spot("a.py", extent=Lines(3, 9))) == "a.py:3-9"
    assert place_of(Spot("a.py")) == "a.py"


def test_only_files_of_tests_in_their_folder_are_tests() -> None:
    assert [is_test(path) for path in ("tests/test_a.py", "a_test.py", "tests/conftest.py", "tests/testing.py")] == [
        *(True, True, False, False)
    ]
    edits = tuple(Edit(path, Span(0, 0), "") for path in ("tests/test_b.py", "tests/test_a.py", "other/test_c.py"))
    made = [replace(FINDING, edits=edits)]
    assert files_of_tests(made, "tests") == ["tests/test_a.py", "tests/test_b.py"]
    assert files_of_tests(made, ".") == ["other/test_c.py", "tests/test_a.py", "tests/test_b.py"]


# Evidence


def test_the_way_back_is_undo_or_for_a_patch_git() -> None:
    assert "`fullgraph undo 3` takes it back and reopens this ticket" in run_line(closing("t", run=3))
    assert "`git apply -R`" in run_line(closing("t", run=0))


def test_a_long_text_is_cut_and_a_line_ends_without_a_full_stop() -> None:
    assert one_line("a\nb. ") == "a b"
    assert one_line("x" * LONGEST) == "x" * LONGEST
    assert one_line("x" * (LONGEST + 1)) == "x" * (LONGEST - 3) + "..."


# Files


def test_the_worst_open_ticket_ranks_a_file_settled_ones_come_late_and_errors_last() -> None:
    done = ticket("d", "P0", is_resolved=True)
    groups = [[ticket("a", "P3"), ticket("b", "P1"), done], [ticket("c")], [done]]
    assert [worst(group) for group in groups] == [1, UNKNOWN, UNKNOWN + 1]
    assert worst(TicketError("t.md", "bad")) == UNKNOWN + 2


def test_equally_bad_tickets_stay_in_order_and_unknown_ones_come_last() -> None:
    given = [ticket("a", "P2"), ticket("b"), ticket("c", "P0"), ticket("d", "P2")]
    assert [each.id for each in by_severity(given)] == ["c", "a", "d", "b"]


def test_hidden_files_and_folders_are_passed_over_and_links_are_not_read(tmp_path: Path) -> None:
    for path in ("a.md", ".hidden.md", ".git/b.md", "deep/C.MD", "notes.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("# Slow\n\n**Severity:** P2\n**File:** `a.py`\n")
    (tmp_path / "link.md").symlink_to("a.md")
    found = dict(read_folder(tmp_path))
    assert sorted(found) == ["a.md", "deep/C.MD", "link.md"]
    assert isinstance(found["link.md"], TicketError)
    assert found["link.md"].reason == "a link; left alone"


def test_tickets_of_one_name_get_numbers_that_nobody_has() -> None:
    names = [each.id for each in distinct([ticket(name) for name in ("a", "a", "a-2", "a", "b")])]
    assert names[0] == "a"
    assert names[2] == "a-2"
    assert len(set(names)) == 5
    assert [name.startswith("a-") for name in names] == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("path", "raw", "is_so"),
    [
        ("t.json", b"# Title", True),
        ("t.SARIF", b"", True),
        ("t.md", b'{"a": 1}', False),
        ("ticket", b'{"a": 1}', False),
        ("t.export", b' \n{"a": 1}', True),
        ("t.export", b"\xef\xbb\xbf[]", True),
        ("t.export", b"# Title", False),
    ],
)
def test_a_file_is_a_record_by_its_suffix_or_its_first_character(path: str, raw: bytes, is_so: bool) -> None:
    assert is_record(path, raw) is is_so


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"plain", "utf-8"),
        ("größe".encode(), "utf-8"),
        ("größe".encode("cp1252"), "cp1252"),
        (b"\xef\xbb\xbfx", "utf-8"),
    ],
)
def test_a_ticket_is_read_in_the_encoding_that_gives_its_bytes_back(raw: bytes, encoding: str) -> None:
    source = open_ticket("t.md", raw)
    assert (source.encoding, source.splice([])) == (encoding, raw)


def test_a_control_character_is_named_with_its_line() -> None:
    with pytest.raises(TicketError, match=r"line 3: holds the control character"):
        open_ticket("t.md", b"a\r\nb\rc\x01")
    with pytest.raises(TicketError, match="holds no text"):
        open_ticket("t.md", b" \n\t\n")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        *(("P2", "P2"), ("sev-1", "P1"), ("High", "P1"), ("P1 -> P3", "P3"), ("low (was high)", "P3"), ("3", "P3")),
        *(("~~P0~~ P4", "P4"), ("6", ""), ("P2.5", ""), ("highway", ""), ("", ""), ("lowered to medium", "P2")),
    ],
)
def test_a_severity_is_read_in_any_of_the_usual_words(text: str, level: str) -> None:
    assert level_of(text) == level


def test_a_path_means_the_file_with_the_longest_end_in_common() -> None:
    files = ("src/net/model.py", "src/old/model.py", "model.py", "src/net/other.py")

    def found(path: str) -> list[tuple[str, float]]:
        return [(one.path, one.score) for one in find_files(path, files)]

    assert found("src/net/model.py") == [("src/net/model.py", 1.0)]
    assert found(r"C:\work\repo\src\net\Model.py") == [("src/net/model.py", 1.0)]
    assert found("net/model.py") == [("src/net/model.py", 0.95)]
    assert found("lib/net/model.py") == [("src/net/model.py", 0.8)]
    assert found("model.py") == [("model.py", 1.0)]
    assert found("elsewhere/other.py") == [("src/net/other.py", 0.4)]
    assert found("../") == found("none.py") == []


def request(tmp_path: Path, report: Path, *files: Path) -> FixRequest:
    given: dict[str, Any] = dict.fromkeys(
        ["yes", "diff", "unsafe", "literal", "close_neutral", "settled", "quiet"], False
    )
    return FixRequest(files, tmp_path, write_tests=None, report=report, torch="", form="text", color="never", **given)


def test_a_report_is_not_written_among_the_tickets(tmp_path: Path) -> None:
    folder = tmp_path / "tickets"
    folder.mkdir()
    for report in (folder / "report.md", tmp_path / "one.md"):
        with pytest.raises(FullgraphError, match="is among the tickets"):
            check_report(request(tmp_path, report, folder, tmp_path / "one.md"))
    check_report(request(tmp_path, tmp_path / "report.md", folder))
    with pytest.raises(FullgraphError, match="there is no folder"):
        check_report(request(tmp_path, tmp_path / "no" / "report.md", folder))


def test_a_ticket_outside_the_project_or_in_the_journal_is_not_edited(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "tickets").mkdir(parents=True)
    assert path_in(root / "tickets" / "a.md", root) == ("tickets/a.md", "")
    assert path_in(tmp_path / "a.md", root) == ("", "it is outside the project")
    assert path_in(tmp_path / "project2" / "a.md", root) == ("", "it is outside the project")
    assert path_in(root / ".fullgraph" / "a.md", root) == ("", "it belongs to the journal")


def test_a_ticket_that_is_named_twice_is_worked_on_once() -> None:
    filed = [Filed(ticket(name), path) for name, path in (("1", "a.md"), ("2", "a.md"), ("1", "b.md"), ("1", "a.md"))]
    outside = [Filed(replace(ticket("1"), source=source), why_not="outside") for source in ("x.md", "y.md", "x.md")]
    kept = list(each_once(iter([iter(filed), iter(outside)])))
    assert kept == [*filed[:3], *outside[:2]]
