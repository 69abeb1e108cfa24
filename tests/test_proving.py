"""What a change may keep of itself: proven findings are written, harmful ones are found among the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from codemods.model import Change, Edit, Finding, Span
from codemods.project import Project
from codemods.proving import Prover
from validate.judge import IDLE
from validate.model import Measurement, Reason, Ruling, Scenario, Settings, Verdict

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
    assert left == {"b": "not written: no scenario runs the lines that it changes"}


def test_each_finding_is_judged_by_the_scenarios_that_run_it() -> None:
    verdicts = [verdict(Ruling.PROVEN, ran="a"), verdict(Ruling.NEUTRAL, ran="b"), verdict(Ruling.UNDECIDED, "", IDLE)]
    kept, left = settle(Scripted(otherwise=verdicts))
    assert kept == ["a"]
    assert left["b"].startswith("not written: neutral")
    assert left["c"] == "not written: no scenario runs the lines that it changes"
