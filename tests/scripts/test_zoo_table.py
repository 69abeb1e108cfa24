"""The bench of models: a row shows what was measured, and nothing that was not."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

from zoo.entries import ENTRIES, SOURCE
from zoo.messages import Message, compare_compiled, compare_plain, listening
from zoo.row import Row, Stages, add_side, begin, compare_messages, is_patched
from zoo.table import COLUMNS, render, show

DEPRECATED = ("log WARNING model", "a tuple is deprecated")
WARNED = ("warning FutureWarning", "device is deprecated")


def side(graphs: int = 1, breaks: int = 0, fullgraph: bool = True, raised: tuple[str, ...] = ()) -> Stages:
    counts = {"graphs": graphs, "places": breaks, "recompiles": 0}
    count: dict[str, Any] = {"counts": counts, "fullgraph": fullgraph, "fullgraph_reason": "", "raised": [*raised]}
    return {"graphs": {"explain": {"graphs": graphs, "breaks": graphs - 1}, "count": count, "fragments": graphs}}


def row_of(before: Stages, after: Stages | None = None) -> Row:
    row = begin(ENTRIES["t5"], "4.52.4")
    add_side(row, 0, before)
    if after is not None:
        add_side(row, 1, after)
    return row


def cell(row: Row, column: str) -> str:
    return show(row)[COLUMNS.index(column)]


# Graphs


def test_no_graph_is_not_no_break() -> None:
    row = row_of(side(graphs=4, breaks=1, fullgraph=False), side(graphs=0))
    assert cell(row, "explain") == "3 > no graph"
    assert cell(row, "breaks") == "1 > no graph"
    assert cell(row, "fullgraph") == "no > no"


def test_no_breaks_are_believed_if_fullgraph_agrees_and_nothing_was_raised() -> None:
    assert row_of(side(), side()).breaks == ["0", "0"]
    assert row_of(side(), side(fullgraph=False)).breaks[1] == "0 (not believed)"
    row = row_of(side(), side(raised=("ValueError: no",)))
    assert row.breaks[1] == "0 (not believed)"
    assert "after, raised: ValueError: no" in row.reasons


def test_a_number_that_is_not_the_reported_one_is_told() -> None:
    assert row_of(side(graphs=4)).reasons == []
    assert row_of(side(graphs=5)).reasons == ["before: explain counts 4 here, 3 was reported"]


def test_what_was_not_measured_is_no_number() -> None:
    row = row_of({"graphs": {"problem": "stopped after 900 s"}})
    assert cell(row, "explain") == cell(row, "breaks") == cell(row, "fullgraph") == "- > -"
    assert row.reasons == ["before, graphs: stopped after 900 s"]


def test_a_side_that_ran_the_installed_package_is_found_out(tmp_path: Path) -> None:
    copy = tmp_path / "transformers" / "__init__.py"
    assert is_patched({"plain": {"file": str(copy)}}, tmp_path) == ""
    assert "not imported" in is_patched({"plain": {"file": str(copy)}, "graphs": {"file": "/env/x.py"}}, tmp_path)


# Messages


def test_a_lost_message_shows() -> None:
    assert compare_plain([[DEPRECATED], []], [[DEPRECATED], []]) == []
    assert compare_plain([[DEPRECATED], []], [[], []]) == [
        "call 0: lost (1 > 0): log WARNING model: a tuple is deprecated"
    ]
    assert compare_compiled([[DEPRECATED]], [[]]) == ["lost (1 > 0): log WARNING model: a tuple is deprecated"]


def test_another_count_order_call_or_text_shows() -> None:
    assert compare_plain([[DEPRECATED]], [[DEPRECATED, DEPRECATED]])
    assert compare_plain([[DEPRECATED, WARNED]], [[WARNED, DEPRECATED]]) == ["call 0: another order"]
    assert compare_plain([[DEPRECATED], []], [[], [DEPRECATED]])
    assert compare_compiled([[DEPRECATED]], [[(DEPRECATED[0], "a tuple is deprecate")]])
    assert compare_compiled([[DEPRECATED], []], [[DEPRECATED], [DEPRECATED]])


def test_a_warning_is_seen_once_however_often_it_is_given() -> None:
    assert compare_compiled([[WARNED], [WARNED]], [[WARNED], []]) == []
    assert compare_compiled([[WARNED], [WARNED]], [[], []])
    assert compare_plain([[WARNED], [WARNED]], [[WARNED], []])


def test_everything_that_is_said_is_heard_once() -> None:
    logger = logging.getLogger("zoo-test")
    with listening("zoo-test") as listener:
        logger.warning("a %s", "log")
        logging.getLogger("torch._dynamo").warning("about compiling")
        for _ in range(2):
            warnings.warn("a warning", FutureWarning, stacklevel=1)
        print("a print")
        said: list[Message] = listener.take()
    assert [where.split()[0] for where, _ in said] == ["log", "warning", "warning", "print"]
    assert [text for _, text in said] == ["a log", "a warning", "a warning", "a print"]


def test_the_messages_of_all_runs_are_in_the_row() -> None:
    spoken: list[list[Message]] = [[DEPRECATED], []]
    before: Stages = {"plain": {"said": spoken, "forwards": 1}, "compiled": {"said": [[DEPRECATED]]}}
    row = row_of(before)
    compare_messages(row, before, {"plain": {"said": spoken}, "compiled": {"said": [[]]}})
    assert row.messages == ["all 1", "all 1", "1 differ"]
    assert row.reasons == ["compiled after: message lost (1 > 0): log WARNING model: a tuple is deprecated"]


def test_a_run_that_was_not_made_keeps_no_messages() -> None:
    before: Stages = {"plain": {"said": [[DEPRECATED]], "forwards": 1}}
    row = row_of(before)
    compare_messages(row, before, {})
    assert row.messages == [None, None, None]


# Text


def test_the_rival_stands_beside_with_its_source() -> None:
    known = [(entry.known, entry.rival) for entry in ENTRIES.values()]
    assert known == [(3, 0), (3, 0), (7, 0), (5, 0), (2, 0), (5, 3), (16, 7)]
    text = render([begin(entry, "4.52.4") for entry in ENTRIES.values()])
    assert SOURCE in text


def test_other_versions_have_no_reported_numbers() -> None:
    row = begin(ENTRIES["t5"], "newest")
    assert (cell(row, "reported"), cell(row, "GraphMend")) == ("-", "-")


def test_a_row_that_failed_says_why() -> None:
    row = begin(ENTRIES["t5"], "4.52.4")
    row.reasons.append("fix: exit code 2")
    assert "    fix: exit code 2\n" in render([row])


def test_the_cold_start_has_a_ratio_if_both_sides_have_one() -> None:
    row = begin(ENTRIES["t5"], "4.52.4")
    row.cold = [4.0, 2.0]
    assert cell(row, "cold start") == "4.0 > 2.0 (0.50)"
    row.cold = [4.0, None]
    assert cell(row, "cold start") == "4.0 > -"
