"""Why nothing can be decided: which doubts are raised, and which are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate import doubts
from fullgraph.validate.exercised import Trace, exercise
from fullgraph.validate.judge import IDLE, Evidence
from fullgraph.validate.model import Difference, Measurement, Sides


def evidence(*cases: str) -> Evidence:
    return Evidence(Measurement("before", cases=cases), Measurement("after", cases=cases))


def told(raised: tuple[str, ...] = (), skipped: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    exceptions = [f"ValueError no {case}\nmore" for case in raised]
    return {"raised": list(raised), "skipped": list(skipped), "exceptions": exceptions, "opaque": [], **more}


def texts(found: Evidence) -> list[str]:
    return [reason.text for reason in found.doubts]


def differs(path: str, first: str = "1") -> Difference:
    return Difference("eager", "case 1", path, "value", first, "2")


# Cases that raise


def test_cases_that_all_raise_on_both_sides_are_a_doubt() -> None:
    found = evidence("a", "b")
    doubts.doubt_raising(found, {"before": told(("a", "b")), "after": told(("a", "b"))})
    assert texts(found) == ["every case raises, before and after: ValueError no a; give cases that run"]


@pytest.mark.parametrize(("before", "after"), [(("a",), ("a", "b")), (("a", "b"), ("a",)), ((), ())])
def test_one_case_that_runs_is_enough(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    found = evidence("a", "b")
    doubts.doubt_raising(found, {"before": told(before), "after": told(after)})
    assert not found.doubts


# Tests


def test_tests_that_fail_or_are_skipped_are_a_doubt_only_if_none_passes() -> None:
    found = evidence("a", "b")
    doubts.doubt_tests(found, {"after": told(("a",), ("b",))})
    assert texts(found)[0].startswith("no test passes, before and after: ValueError no a")
    found = evidence("a", "b")
    doubts.doubt_tests(found, {"after": told((), ("a", "b"))})
    assert texts(found) == ["no test passes, before and after: skipped"]


def test_a_test_that_is_both_failed_and_skipped_is_one_test() -> None:
    found = evidence("a", "b")
    doubts.doubt_tests(found, {"after": told(("a",), ("a",))})
    assert not found.doubts


def test_tests_that_tell_nothing_are_named_beside_those_that_do() -> None:
    names = tuple("abcdefg")
    found = evidence(*names, "passes")
    doubts.doubt_tests(found, {"after": told(names)})
    about = "a test shows what it asserts, prints and raises; values that it does not look at may differ"
    assert (found.doubts, found.notices) == ([], [about, "fails before and after: a, b, c, d, e"])
    found = evidence("a", "b")
    doubts.doubt_tests(found, {"after": told((), ("b",))})
    assert found.notices == [about, "is skipped before and after: b"]


# What cannot be compared, or differs from itself


def test_what_cannot_be_compared_is_counted_on_both_sides() -> None:
    found, place = evidence("a"), ["a", "output", "list_iterator"]
    doubts.doubt_opaque(found, {"before": told(opaque=[place]), "after": told(opaque=[place])})
    assert texts(found)[0].startswith("a: output is a list_iterator, which cannot be compared (and 1 more); ")
    found = evidence("a")
    doubts.doubt_opaque(found, {"before": told(), "after": told(opaque=[place])})
    assert "which cannot be compared; give" in texts(found)[0]


def test_a_difference_counts_where_the_same_code_is_the_same() -> None:
    found = evidence("case 1")
    found.differences = [differs("output[0]"), differs("stdout[3]")]
    doubts.doubt_unstable(found, [differs("stdout[1]")])
    assert ([one.path for one in found.differences], found.doubts) == (["output[0]"], [])


def test_what_differs_from_itself_in_the_same_channel_is_a_doubt() -> None:
    found = evidence("case 1")
    found.differences = [differs("output[0]['loss']")]
    doubts.doubt_unstable(found, [differs("output.norm", "0.1")])
    assert found.differences == []
    assert texts(found)[0].startswith("case 1: output.norm differs each time that the same code runs: 0.1 / 2; ")


def test_code_that_repeats_itself_leaves_every_difference() -> None:
    found = evidence("case 1")
    found.differences = [differs("output")]
    doubts.doubt_unstable(found, [])
    assert ([one.path for one in found.differences], found.doubts) == (["output"], [])


def test_steady_inputs_are_no_doubt() -> None:
    found = evidence("case 1")
    doubts.doubt_inputs(found, [])
    doubts.doubt_stale(found, "after", [])
    doubts.doubt_late(found, "", 600)
    assert not found.doubts


def test_a_file_that_was_read_from_the_disk_is_named_with_its_side() -> None:
    found = evidence("case 1")
    doubts.doubt_stale(found, "after", [f"m{number}.py" for number in range(7)])
    assert texts(found)[0].startswith("after: m0.py, m1.py, m2.py, m3.py, m4.py was used as on the disk")


def test_the_time_limit_is_told_with_the_stage() -> None:
    found = evidence("case 1")
    doubts.doubt_late(found, "compiled", 600.0)
    assert texts(found) == ["the time limit of 600 s was over in the stage compiled; --time-limit gives more"]


# Lines that never ran

BEFORE = "def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
SIDES = Sides(Path("/"), {"m.py": BEFORE.encode()}, {"m.py": BEFORE.replace("return x", "return -x").encode()})


@pytest.mark.parametrize(
    ("ran", "doubted", "noticed"),
    [
        ((), ["the scenario never runs what was changed: m.py:2 (after), m.py:6 (after)"], []),
        ((2,), [], ["1 of 2 changed places never ran: m.py:6 (after)"]),
        ((2, 6), [], []),
    ],
)
def test_nothing_that_ran_is_a_doubt_and_some_that_did_not_a_notice(
    ran: tuple[int, ...], doubted: list[str], noticed: list[str]
) -> None:
    found = Evidence(changed=exercise(SIDES, {"after": {"m.py": Trace(frozenset(ran))}}))
    doubts.doubt_idle(found)
    assert (texts(found), found.notices) == (doubted, noticed)
    assert all(reason.name == IDLE for reason in found.doubts)


# Neither side compiles


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"backend": "inductor"}, "; --backend eager asks less"),
        ({"backend": "eager", "fullgraph": True}, "; leave out --fullgraph"),
        ({"backend": "inductor", "fullgraph": True}, "; leave out --fullgraph; --backend eager asks less"),
        ({"backend": "eager"}, ""),
    ],
)
def test_what_asks_less_of_the_compiler_is_told_and_nothing_that_was_not_asked(
    options: dict[str, Any], advice: str
) -> None:
    found = evidence("case 1")
    found.compile_failures = {"before": "before: no", "after": "after: no"}
    doubts.doubt_compiling(found, options)
    assert texts(found) == [f"neither side compiles: after: no{advice}"]
