"""Answers that cannot be used are told in one line, whatever is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from fullgraph.validate.answers import SHAPES, find_flaw

SYNC = {"file": "a.py", "line": 3, "call": "item", "count": 1}
RECORDS: dict[str, Any] = {
    "digest": "ab", "raised": ["case 1"], "exceptions": ["ValueError no"], "mutated": False, "random": True,
    "opaque": [["case 1", "output", "generator"]], "peak_bytes": None, "wrote": False,
}  # fmt: skip
AUDIT: dict[str, Any] = {
    "hazards": [{}], "raised": [["case 1", "ValueError: no"]], "graph_runs": 2, "generations": 2, "compiled_calls": 2,
    "skipped": 0, "idle": 0, "passed_over": 0, "compiled_here": True,
}  # fmt: skip
WELL: list[tuple[str, Any]] = [
    ("block", 0.5),
    ("block", 1),
    ("eager", RECORDS),
    ("prepare", {"seconds": 1e-5, "around": 0.0}),
    ("syncs", {"syncs": [SYNC], "moves": [], "how": "", "ran": {}, "stale": []}),
    ("open", {"cases": [], "environment": {}, "exact": True, "rtol": None, "atol": 0.1, "notices": [], "more": 1}),
    ("audit", AUDIT),
    ("collect_errors", ["anything"]),
]
WRONG: list[tuple[str, Any, str]] = [
    ("block", float("nan"), "block is float nan"),
    ("block", float("inf"), "block is float inf"),
    ("block", "0.5", "block is str '0.5'"),
    ("block", True, "block is bool True"),
    ("block", None, "block is NoneType None"),
    ("prepare", {"seconds": 1.0}, "prepare has no 'around'"),
    ("eager", [], "eager is list []"),
    ("eager", {**RECORDS, "exceptions": []}, "the exceptions are not those of the cases that raised"),
    ("eager", {**RECORDS, "opaque": [3]}, "eager.opaque[0] is int 3"),
    ("eager", {**RECORDS, "peak_bytes": "many"}, "eager.peak_bytes is str 'many'"),
    ("audit", {**AUDIT, "raised": [["case 1"]]}, "audit.raised has a row without a case and its error"),
    ("audit", {**AUDIT, "hazards": None}, "audit.hazards is NoneType None"),
    ("syncs", {**WELL[4][1], "syncs": [{"file": "a.py"}]}, "syncs.syncs[0]: 'line' is missing or unknown"),
    ("syncs", {**WELL[4][1], "syncs": [{**SYNC, "x": 1}]}, "syncs.syncs[0]: 'x' is missing or unknown"),
    ("syncs", {**WELL[4][1], "syncs": [{**SYNC, "count": "1"}]}, "syncs.syncs[0].count is str '1'"),
    ("compare", [{"differences": [{}], "declared_seen": []}], "compare[0].differences[0]: 'between' is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "result"), WELL)
def test_a_right_answer_has_no_flaw(stage: str, result: Any) -> None:
    assert find_flaw(stage, {"result": result}) == ""


@pytest.mark.parametrize(("stage", "result", "flaw"), WRONG)
def test_a_wrong_answer_is_told_by_its_first_flaw(stage: str, result: Any, flaw: str) -> None:
    assert find_flaw(stage, {"result": result}).startswith(flaw)


@pytest.mark.parametrize("told", [None, 3, [], {}, {"error": 3, "text": ""}, {"error": "x"}, ValueError("no JSON")])
def test_what_is_neither_a_result_nor_an_error_is_a_flaw(told: Any) -> None:
    assert find_flaw("eager", told)
    assert "\n" not in find_flaw("eager", told)


def test_every_stage_that_proofs_ask_for_has_a_shape() -> None:
    from fullgraph.validate.pair import MEASURING

    assert {*MEASURING, "hello", "open", "eager", "compiled", "compare", "audit", "find_lines"} == set(SHAPES)
