"""The patterns: each ends as it was written down beforehand, and none is miscompiled.

The exam of a pattern whose key is stored was made on the very same bytes, and is not made again; a tenth of them is.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.breaks.known import Outcome, exam_of, known
from tests.breaks.patterns import ENDS, PATTERNS, Pattern, all_patterns
from tests.chosen import is_chosen

NAMES = {
    *("log_without_break", "select_without_branch", "check_without_branch"),
    *("keep_scalars_in_graph", "compile_setting"),
}
ALL = all_patterns()
SAMPLE = [*((pattern, "aot_eager") for pattern in ALL[::7]), *((pattern, "inductor") for pattern in ALL[3::29])]
"""What is tried with other backends, too."""


def test_the_exam_is_large_and_knows_its_answers() -> None:
    assert len(ALL) >= 70
    assert {pattern.end for pattern in ALL} == set(ENDS)
    assert sum(pattern.end == "either" for pattern in ALL) < 0.15 * len(ALL)
    assert {name for pattern in ALL for name in pattern.by} == NAMES
    assert {folder.name for folder in PATTERNS.iterdir() if folder.is_dir()} == {pattern.name for pattern in ALL}


def test_most_of_what_is_to_be_repaired_is() -> None:
    wanted = [pattern for pattern in ALL if pattern.end == "repaired"]
    assert sum(not pattern.missed for pattern in wanted) >= 0.6 * len(wanted)


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_a_pattern_ends_as_expected(pattern: Pattern, tmp_path: Path, everything: bool) -> None:
    assert pattern.expected["why"]
    assert (pattern.end == "declined") == (not pattern.by)
    outcome = examined(pattern, "eager", tmp_path, everything)
    assert outcome.unreached == (), "statements that no call comes by"
    assert outcome.unsteady == ()
    assert outcome.differences == ()
    assert pattern.end != "repaired" or outcome.breaks, "there is nothing to repair"
    assert is_reached(pattern, outcome) == (not pattern.missed), outcome
    if outcome.by and not pattern.missed:
        assert pattern.by & set(outcome.by), outcome
        assert outcome.refused == (), "torch says that there is a break"


@pytest.mark.parametrize(("pattern", "backend"), SAMPLE, ids=lambda one: one if isinstance(one, str) else one.name)
def test_a_sample_is_the_same_under_other_backends(
    pattern: Pattern, backend: str, tmp_path: Path, everything: bool
) -> None:
    assert examined(pattern, backend, tmp_path, everything).differences == ()


def examined(pattern: Pattern, backend: str, folder: Path, everything: bool) -> Outcome:
    """What came of a pattern: known from the same bytes, or found out now. A row that was edited is noticed then."""
    exam = exam_of(pattern, backend)
    assert exam.bold.files == exam.safe.files or exam.bold.caveats
    row = known().get(exam.name, {})
    told = {name: value for name, value in row.items() if name != "key"}
    is_known = row.get("key") == exam.key
    if is_known and not everything and not is_chosen(exam.name):
        return Outcome.from_json(told)
    outcome = exam.run(folder)
    assert not is_known or told == outcome.as_json(), "`make measure` stores the row again"
    return outcome


def is_reached(pattern: Pattern, outcome: Outcome) -> bool:
    """Whether the end is the one that was written down, in one graph where that was wanted."""
    if pattern.end == "either":
        return True
    return outcome.end == pattern.end and (outcome.is_whole or not pattern.one_graph)
