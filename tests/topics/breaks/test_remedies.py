"""The table of remedies: its ids are those that torch gives, and what it advises is seen to help."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fullgraph.codemods.topics.breaks.remedies import read_table, remedy_of
from tests.torch_facts import facts

ROOT = Path(__file__).parents[3]
TORCH = "2.13"


@pytest.fixture(scope="module")
def told(everything: bool) -> dict[str, Any]:
    """What torch says of each program, all of them in one process."""
    answer: dict[str, Any] = facts("provoked", everything)
    if not answer["torch"].startswith(TORCH):
        pytest.skip(f"the ids are those of torch {TORCH}")
    return answer


def test_torch_gives_the_ids_that_the_programs_are_written_for(told: dict[str, Any]) -> None:
    wanted = {name: program["wanted"] for name, program in told["programs"].items()}
    given = {name: ",".join(one["id"] for one in program["breaks"]) for name, program in told["programs"].items()}
    assert given == wanted


def test_every_break_that_was_provoked_has_a_remedy(told: dict[str, Any]) -> None:
    breaks = [one for program in told["programs"].values() for one in program["breaks"]]
    assert len({one["id"] for one in breaks}) >= 70
    assert [one for one in breaks if not remedy_of(one["id"], one["reason"]).is_known] == []


def test_what_the_table_advises_leaves_one_graph_and_no_break(told: dict[str, Any]) -> None:
    assert {name: answer for name, answer in told["advised"].items() if answer != {"graphs": 1, "breaks": []}} == {}


def test_a_setting_that_the_table_names_is_one_that_repaired_the_program(told: dict[str, Any]) -> None:
    settings = {
        name: remedy_of(one["id"], one["reason"]).setting
        for name, program in told["programs"].items()
        for one in program["breaks"]
    }
    named = {name for name, setting in settings.items() if setting}
    assert named <= set(told["advised"]), "each setting is tried on the program that it is named for"


def test_every_narrower_entry_for_one_cause_is_met_by_name() -> None:
    reason = "Failed to trace builtin operator: Dynamo does not know how to trace builtin operator `print` with"
    assert remedy_of("GB0059", reason).codemods == ("log_without_break", "compile_setting")
    assert "print" in remedy_of("GB0059", reason).setting
    assert remedy_of("GB0059", reason.replace("print", "open")).codemods == ()


def test_what_torch_names_as_an_example_is_not_what_broke() -> None:
    reason = (
        "Attempted to call function marked as skipped: Dynamo does not know how to trace the builtin `{}.` This "
        "function is either a Python builtin (e.g. _warnings.warn) or a third-party C/C++ Python extension."
    )
    assert remedy_of("GB0007", reason.format("time.time")).advice.startswith("Take the time outside")
    assert remedy_of("GB0007", reason.format("cpp.fast")).advice == remedy_of("GB0007").advice
    assert remedy_of("GB0007", reason.format("_warnings._filters_mutated")).advice.startswith("Filters of warnings")


def test_without_an_id_the_words_of_torch_decide() -> None:
    assert remedy_of("", "Dynamic shape operator: Operator `aten.nonzero.default`") == remedy_of("GB0036")
    assert remedy_of("", "Dynamo cache limit exceeded") == remedy_of("GB0039")


def test_an_id_that_means_another_kind_gives_way_to_the_words() -> None:
    assert remedy_of("GB0170", "Dynamic shape operator: Operator") == remedy_of("GB0036")
    assert remedy_of("GB0170", "Words that nobody knows: at all") == remedy_of("GB0170")


def test_an_unknown_kind_gets_a_general_answer_with_the_hint_of_torch() -> None:
    remedy = remedy_of("GB99999", "Something new: of tomorrow", "Do not do that.")
    assert not remedy.is_known
    assert remedy.codemods == ()
    assert remedy.advice.endswith("torch says: Do not do that.")


def test_the_words_of_each_row_are_those_of_the_installed_torch() -> None:
    found = find_spec("torch")
    assert found is not None
    assert found.origin is not None
    registry = json.loads((Path(found.origin).parent / "_dynamo" / "graph_break_registry.json").read_text())
    words = {id_: {one["Gb_type"] for one in known} for id_, known in registry.items()}
    assert {id_: row["type"] for id_, row in read_table().items() if row["type"] not in words.get(id_, ())} == {}


def test_rows_are_whole_and_their_patterns_are_regular_expressions() -> None:
    for id_, row in read_table().items():
        entries = [row, *row.get("when", ())]
        assert all(entry["advice"].endswith(".") for entry in entries), id_
        assert set(row) <= {"type", "also", "codemods", "setting", "advice", "echo", "when"}, id_
        assert all(re.compile(entry["says"]) for entry in row.get("when", ())), id_
