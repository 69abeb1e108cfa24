"""What a change may keep of itself: proven findings are written, harmful ones are found among the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.model import Change, Edit, Finding, Span
from fullgraph.codemods.project import Project
from fullgraph.codemods.proving import Prover, is_exercised
from fullgraph.validate.judge import EFFECT, IDLE
from fullgraph.validate.model import ChangedPlace, Measurement, Reason, Ruling, Scenario, Settings, Verdict

TEXT = b"def a(x):\n    return x\n\n\ndef b(x):\n    return x\n\n\ndef c(x):\n    return x\n"
PROJECT = Project(Path("/"), ["m.py"], {"m.py": TEXT})
LINES = {"a": 2, "b": 6, "c": 10}


def finding(name: str) -> Finding:
    start = TEXT.decode().index("return", TEXT.decode().index(f"def {name}"))
    return Finding(
        "some_codemod", "m.py", Span(start, start + 6), name, "m", (Edit("m.py", Span(start, start + 6), "return  "),)
    )


def plan(findings: Sequence[Finding]) -> Change:
    return Change({"m.py": TEXT}, {"m.py": TEXT}, tuple(findings))


def verdict(ruling: Ruling, ran: str = "abc", name: str = "breaks") -> Verdict:
    lines = {"m.py": tuple(LINES[one] for one in ran)}
    measured = Measurement("before", ran=lines)
    reasons = (Reason(name, "why", "unknown"),)
    return Verdict(ruling, reasons, measured, measured, Scenario("file", "s", "s"), Settings())


class Scripted:
    """Gives a verdict by the functions that a change touches; counts how often it was asked."""

    def __init__(self, *harmful: str, otherwise: Sequence[Verdict] = (verdict(Ruling.PROVEN),)) -> None:
        self.harmful = {frozenset(names) for names in harmful}
        self.otherwise = otherwise
        self.asked = 0

    def __call__(self, change: Change, project: Project) -> Sequence[Verdict]:
        self.asked += 1
        names = {finding.symbol for finding in change.applied}
        is_harmful = any(harm <= names for harm in self.harmful)
        return [verdict(Ruling.DIFFERENT)] if is_harmful else self.otherwise


def settle(prove: Scripted, keep_neutral: bool = False) -> tuple[list[str], dict[str, str]]:
    change = plan([finding(name) for name in "abc"])
    settled = Prover(prove, keep_neutral).settle(change, plan, PROJECT)
    return [one.symbol for one in settled.applied], {one.symbol: reason for one, reason in settled.left_out}


def test_a_change_that_is_proven_is_kept_whole_and_proven_once() -> None:
    prove = Scripted()
    assert settle(prove) == (["a", "b", "c"], {})
    assert prove.asked == 1


def test_the_finding_that_does_harm_is_left_and_the_others_are_kept() -> None:
    kept, left = settle(Scripted("b"))
    assert kept == ["a", "c"]
    assert left == {"b": "not written: different: why"}


def test_findings_that_do_harm_only_together_are_not_kept_together() -> None:
    kept, left = settle(Scripted("ac"))
    assert kept == ["a"]
    assert left.keys() == {"b", "c"}
    assert left["c"].endswith("(together with others)")


@pytest.mark.parametrize("ruling", [Ruling.NEUTRAL, Ruling.UNDECIDED])
def test_what_is_not_proven_is_not_kept(ruling: Ruling) -> None:
    prove = Scripted(otherwise=[verdict(ruling)])
    kept, left = settle(prove)
    assert kept == []
    assert left["a"].startswith(f"not written: {ruling.value}: why")
    assert prove.asked == 1


def test_neutral_is_kept_on_request() -> None:
    assert settle(Scripted(otherwise=[verdict(Ruling.NEUTRAL)]), keep_neutral=True)[0] == ["a", "b", "c"]


def test_a_finding_that_no_scenario_runs_is_left() -> None:
    kept, left = settle(Scripted(otherwise=[verdict(Ruling.PROVEN, ran="ac")]))
    assert kept == ["a", "c"]
    assert left == {"b": "not written: undecided: no scenario runs the lines that it changes"}


def test_each_finding_is_judged_by_the_scenarios_that_run_it() -> None:
    verdicts = [verdict(Ruling.PROVEN, ran="a"), verdict(Ruling.NEUTRAL, ran="b"), verdict(Ruling.UNDECIDED, "", IDLE)]
    kept, left = settle(Scripted(otherwise=verdicts))
    assert kept == ["a"]
    assert left["b"].startswith("not written: neutral")
    assert left["c"] == "not written: undecided: no scenario runs the lines that it changes"


# What counts as run


def test_what_is_worse_is_looked_for_among_the_others() -> None:
    def prove(change: Change, project: Project) -> Sequence[Verdict]:
        is_worse = any(one.symbol == "b" for one in change.applied)
        return [verdict(Ruling.WORSE if is_worse else Ruling.PROVEN)]

    settled = Prover(prove, keep_neutral=False).settle(plan([finding(name) for name in "abc"]), plan, PROJECT)
    assert [one.symbol for one in settled.applied] == ["a", "c"]
    assert [reason for _, reason in settled.left_out] == ["not written: worse: why"]


def test_what_is_written_is_planned_anew_without_what_was_refused() -> None:
    def planned(findings: Sequence[Finding]) -> Change:
        text = "".join(one.symbol for one in findings).encode()
        return Change({"m.py": TEXT}, {"m.py": text}, tuple(findings))

    settled = Prover(Scripted("b"), keep_neutral=False).settle(planned([finding(n) for n in "abc"]), planned, PROJECT)
    assert settled.after == {"m.py": b"ac"}


def test_what_the_plan_left_out_stays_named() -> None:
    change = replace(plan([finding("a")]), left_out=((finding("b"), "overlaps some_codemod at m.py:2"),))
    settled = Prover(Scripted("a"), keep_neutral=False).settle(change, plan, PROJECT)
    assert [one.symbol for one, _ in settled.left_out] == ["b", "a"]


def test_no_scenario_runs_where_nothing_would_be_written() -> None:
    prove = Scripted()
    assert Prover(prove, keep_neutral=False).settle(Change(), plan, PROJECT) == Change()
    assert prove.asked == 0


def test_the_verdicts_that_decided_are_told_and_those_of_larger_parts_are_not() -> None:
    prover = Prover(Scripted("b"), keep_neutral=False)
    prover.settle(plan([finding(name) for name in "abc"]), plan, PROJECT)
    assert [one.ruling for one in prover.verdicts] == [Ruling.PROVEN, Ruling.DIFFERENT, Ruling.PROVEN]


def test_the_reason_is_that_of_the_scenario_which_decided() -> None:
    fine = replace(verdict(Ruling.PROVEN), reasons=(Reason("breaks", "fewer breaks", "better"),))
    _, left = settle(Scripted(otherwise=[fine, verdict(Ruling.UNDECIDED)]))
    assert left["a"] == "not written: undecided: why"


def test_what_is_neutral_says_how_it_can_be_written() -> None:
    _, left = settle(Scripted(otherwise=[verdict(Ruling.NEUTRAL)]))
    assert left["a"] == "not written: neutral: why (--keep neutral writes it)"


def test_a_scenario_that_failed_before_any_line_ran_tells_why() -> None:
    failed = replace(verdict(Ruling.UNDECIDED), before=Measurement("before"))
    _, left = settle(Scripted(otherwise=[failed]))
    assert left["a"] == "not written: undecided: why"


def edited(text: bytes, *pieces: str) -> tuple[Finding, Change]:
    """A finding that replaces these pieces of a text, and the change that it makes."""
    starts = [text.decode().index(piece) for piece in pieces]
    spans = [Span(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)]
    one = Finding("some_codemod", "m.py", spans[0], "f", "m", tuple(Edit("m.py", span, "pass") for span in spans))
    return one, Change({"m.py": text}, {"m.py": text}, (one,))


def is_run(text: bytes, *pieces: str, ran: tuple[int, ...]) -> bool:
    one, change = edited(text, *pieces)
    measured = Measurement("before", ran={"m.py": ran})
    return is_exercised(one, change, replace(verdict(Ruling.PROVEN), before=measured))


BRANCH = b"import os\n\n\ndef f(x):\n    if x:\n        a = 1\n        b = 2\n    return x\n"


def test_one_line_that_ran_of_all_that_a_finding_changes_is_enough() -> None:
    assert is_run(BRANCH, "a = 1", "return x", ran=(5, 8))
    assert is_run(BRANCH, "a = 1\n        b = 2\n    return x", ran=(5, 8))
    assert not is_run(BRANCH, "a = 1", "b = 2", ran=(5, 8))


def test_the_line_behind_an_edit_is_no_part_of_it() -> None:
    assert not is_run(BRANCH, "        b = 2\n", ran=(5, 8))
    assert not is_run(BRANCH.replace(b"\n", b"\r\n"), "        b = 2\r\n", ran=(5, 8))


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_as_python_counts_them(newline: bytes) -> None:
    text = BRANCH.replace(b"\n", newline)
    assert is_run(text, "return x", ran=(5, 8))
    assert not is_run(text, "a = 1", ran=(5, 8))


def test_an_edit_at_the_top_level_is_run_by_whatever_runs_the_rest() -> None:
    """An import serves others: it counts unless the scenario ran nothing of the change."""
    assert is_run(BRANCH, "import os", ran=(5, 8))
    assert is_run(BRANCH, "import os", "return x", ran=(8,))
    one, change = edited(BRANCH, "import os")
    assert not is_exercised(one, change, verdict(Ruling.UNDECIDED, "", IDLE))


# What of a finding was seen

ELSE = "the `else` of line 6 (before) was never taken"


def gap(name: str, text: str = ELSE) -> ChangedPlace:
    line = LINES[name]
    return ChangedPlace("m.py", "after", line, line, before=(line, line), lines=2, ran=1, unseen=(text,))


def half_seen(*gaps: ChangedPlace, better: str = "better") -> Verdict:
    """All lines ran, and what they do was not seen everywhere."""
    reasons = (Reason(EFFECT, "not all was seen", "unknown"), Reason("breaks", "graph breaks 1 > 0", better))
    found = verdict(Ruling.UNDECIDED if gaps else Ruling.PROVEN)
    return replace(found, reasons=reasons if gaps else reasons[1:], changed=gaps or (replace(gap("b"), unseen=()),))


def test_a_finding_whose_effect_was_not_seen_is_not_carried_by_its_neighbours() -> None:
    def prove(change: Change, project: Project) -> Sequence[Verdict]:
        return [half_seen(*(gap("b") for one in change.applied if one.symbol == "b"))]

    settled = Prover(prove, keep_neutral=True).settle(plan([finding(name) for name in "abc"]), plan, PROJECT)
    assert [one.symbol for one in settled.applied] == ["a", "c"]
    assert [reason for _, reason in settled.left_out] == [
        f"not written: undecided: its effect was not seen: m.py: {ELSE}"
    ]


def test_what_one_scenario_does_not_show_another_may() -> None:
    other = gap("b", "the `if` in line 6 (before) was never true")
    assert settle(Scripted(otherwise=[half_seen(gap("b")), half_seen(other)])) == (["a", "b", "c"], {})
    assert settle(Scripted(otherwise=[half_seen(gap("b")), half_seen()])) == (["a", "b", "c"], {})
    kept, left = settle(Scripted(otherwise=[half_seen(gap("b")), half_seen(gap("b"), other)]))
    assert (kept, list(left)) == ([], ["b", "a", "c"])


def test_harm_is_told_before_what_was_not_seen() -> None:
    harmful = replace(half_seen(gap("a")), ruling=Ruling.DIFFERENT)
    _, left = settle(Scripted(otherwise=[harmful]))
    assert set(left.values()) == {"not written: different: not all was seen; graph breaks 1 > 0"}
