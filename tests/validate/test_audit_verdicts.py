"""What an audit concludes from what a worker saw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.audit import Auditing, judge, limits_of
from fullgraph.validate.audit_model import EXIT_CODES, Audit, Conclusion, Hazard, RealError, combined
from fullgraph.validate.model import Scenario, Settings

SCENARIO = Scenario("file", "s", "s")
QUIET: dict[str, Any] = {
    "raised": [], "graph_runs": 4, "compiled_calls": 4, "generations": 2,
    "compiled_here": False, "skipped": 0, "passed_over": 0, "idle": 0,
}  # fmt: skip


def hazard(used_by: str = "") -> Hazard:
    return Hazard("attribute", "C.x", "self.x", "t", None, (), (), None, None, None, used_by, None, (), False, "a", 1)


ERROR = RealError("case 1", "overwritten", None, None)


@pytest.mark.parametrize(
    ("hazards", "errors", "reason"),
    [
        ((hazard("add"), hazard()), (), "2 hazards, 1 used after the step"),
        ((hazard(),), (ERROR,), "1 hazard, 0 used after the step; CUDA graphs raised 1 error"),
        ((), (ERROR, ERROR), "0 hazards, 0 used after the step; CUDA graphs raised 2 errors"),
    ],
)
def test_hazards_and_errors_are_counted(
    hazards: tuple[Hazard, ...], errors: tuple[RealError, ...], reason: str
) -> None:
    """Also where a case raised afterwards: what was seen until then was seen."""
    assert judge({**QUIET, "raised": [["a", "no"]]}, hazards, errors) == (Conclusion.HAZARDS, reason)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"raised": [["a", "no"], ["b", "no"]]}, "2 cases raised: what comes after that was not seen"),
        ({"graph_runs": 0}, "no compiled call uses CUDA graphs; --all audits every compiled call"),
        ({"graph_runs": 0, "compiled_calls": 0}, "nothing was compiled"),
        ({"generations": 1}, "no second step began, so that nothing could be overwritten"),
    ],
)
def test_what_could_not_be_seen_is_undecided_with_the_reason(seen: dict[str, Any], reason: str) -> None:
    assert judge({**QUIET, **seen}, (), ()) == (Conclusion.UNDECIDED, reason)


def test_clean_says_how_much_was_looked_at() -> None:
    assert judge(QUIET, (), ()) == (Conclusion.CLEAN, "4 graph runs in 2 steps, none held")


def audit_of(conclusion: Conclusion) -> Audit:
    return Audit(conclusion, "", SCENARIO, Settings(), everything=False)


def test_of_several_audits_hazards_outweigh_undecided_and_undecided_outweighs_clean() -> None:
    clean, hazards, undecided = map(audit_of, (Conclusion.CLEAN, Conclusion.HAZARDS, Conclusion.UNDECIDED))
    assert combined([undecided, clean, hazards]) is Conclusion.HAZARDS
    assert combined([clean, undecided]) is Conclusion.UNDECIDED
    assert combined([clean, clean]) is Conclusion.CLEAN
    assert EXIT_CODES == {Conclusion.CLEAN: 0, Conclusion.HAZARDS: 3, Conclusion.UNDECIDED: 4}


def test_what_was_not_audited_is_told_and_nothing_else() -> None:
    assert limits_of(QUIET) == []
    assert limits_of({**QUIET, "skipped": 1})[0].startswith("1 graph run changed inputs in place")
    assert limits_of({**QUIET, "passed_over": 2})[0].startswith("2 outputs looked as very many did before")
    assert limits_of({**QUIET, "idle": 1})[0].startswith("1 of 4 compiled calls ran no graph")
    assert limits_of({**QUIET, "compiled_here": True})[0].startswith("the program compiled nothing itself")


def test_calls_without_a_graph_are_not_told_twice() -> None:
    """Where no call has one, the conclusion says it."""
    assert limits_of({**QUIET, "idle": 4, "graph_runs": 0}) == []


def auditing(kind: str = "file", device: str = "cpu") -> Auditing:
    found = Auditing(
        Scenario(kind, "s", "s"), Path("/p"), Settings(), everything=False, progress=lambda *_: None, folder=Path("/s")
    )
    found.opened = {"environment": {"device": device}}
    return found


def test_a_line_is_told_below_the_root_where_it_lies_there() -> None:
    files = [auditing().place({"file": file, "line": 3, "function": "f"}) for file in ("/p/a/b.py", "/pq/b.py")]
    assert [place.file if place else None for place in files] == ["a/b.py", "/pq/b.py"]
    assert auditing().place(None) is None


def test_real_cuda_graphs_are_asked_only_on_a_gpu_and_not_of_tests() -> None:
    plain, tests = auditing(), auditing("pytest", "cuda (NVIDIA)")
    assert (plain.ask_cuda(QUIET), plain.notices) == ([], [])
    assert tests.ask_cuda(QUIET) == []
    assert tests.notices == ["what CUDA graphs themselves raise is collected of scenarios, not of tests"]


def test_a_case_that_raised_is_a_notice_of_one_line_that_is_told_once() -> None:
    found = auditing()
    found.opened["notices"] = ["n"]
    found.notices = ["n"]
    told = found.conclude({**QUIET, "hazards": [], "raised": [["case 1", "ValueError no\nmore"]]}, [])
    assert told.notices == ("n", "case 1 raised ValueError no")
