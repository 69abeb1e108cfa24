"""What follows from answers: alternatives, sweeps, what is taken back. Without a terminal."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.codemods.model import ADD_IGNORE, Edit, Finding, Safety, Span
from fullgraph.codemods.ui.report.model import DECLINED, NOT_ASKED
from fullgraph.codemods.ui.review.ledger import ACCEPTED, IGNORED, LEFT, Ledger

CODEMODS = ("mend", "batch", "isolate")


def finding(number: int, codemod: str = "mend", path: str = "a.py", safety: Safety = Safety.SAFE) -> Finding:
    edit = Edit(path, Span(number, number + 1), "x")
    return Finding(codemod, path, Span(number, number + 1), "f", "m", (edit,), safety, line=number, key=f"k{number}")


def ignoring(one: Finding) -> Finding:
    return replace(one, codemod=ADD_IGNORE)


def rivals(*pairs: tuple[Finding, Finding]) -> dict[str, frozenset[str]]:
    keys = {one.key for pair in pairs for one in pair}
    return {key: frozenset(other.key for pair in pairs for other in pair if key in names(pair)) - {key} for key in keys}


def names(pair: tuple[Finding, Finding]) -> set[str]:
    return {one.key for one in pair}


@st.composite
def reviews(draw: st.DrawFn) -> Ledger:
    """Findings of three codemods, some of them alternatives, with any answers in any order."""
    queue = [finding(n, draw(st.sampled_from(CODEMODS)), draw(st.sampled_from("ab"))) for n in range(6)]
    possible = [(one, two) for one in queue for two in queue if one.key < two.key and one.codemod != two.codemod]
    chosen = draw(st.lists(st.sampled_from(possible), max_size=6)) if possible else []
    ledger = Ledger(queue, rivals(*chosen))
    for key, number, everywhere in draw(
        st.lists(st.tuples(st.sampled_from("ynadi"), st.integers(0, 5), st.booleans()))
    ):
        one = queue[number]
        ledger.answer(key, ignoring(one) if key == "i" else one, everywhere)
    return ledger


@given(reviews())
def test_no_two_alternatives_are_ever_accepted(ledger: Ledger) -> None:
    accepted = {one.key for one in ledger.accepted() if not one.is_ignored}
    for key in accepted:
        assert not accepted & ledger.rivals.get(key, frozenset())


@given(reviews())
def test_the_last_answer_to_a_finding_holds_unless_an_alternative_was_accepted_later(ledger: Ledger) -> None:
    last = ledger.given[-1] if ledger.given else None
    if last:
        state = ledger.state(last.finding, ledger.decisions())
        assert state == {"y": ACCEPTED, "a": ACCEPTED, "i": IGNORED}.get(last.key, DECLINED)


@given(reviews())
def test_taking_everything_back_leaves_nothing_decided(ledger: Ledger) -> None:
    while ledger.take_back():
        pass
    assert ledger.decisions() == {}
    assert ledger.totals() == {LEFT: 6, ACCEPTED: 0, DECLINED: 0, IGNORED: 0}


def test_choosing_the_other_alternative_later_changes_the_choice() -> None:
    one, two = finding(1), finding(2, "isolate")
    ledger = Ledger([one, two], rivals((one, two)))
    ledger.answer("y", one)
    ledger.answer("y", two)
    assert ledger.accepted() == [two]
    assert ledger.why_left(one) == DECLINED


def test_a_sweep_leaves_alone_whose_alternative_was_accepted() -> None:
    one, two, three = finding(1, "isolate"), finding(2), finding(3)
    ledger = Ledger([one, two, three], rivals((one, three)))
    ledger.answer("y", one)
    ledger.answer("a", two)
    assert ledger.accepted() == [one, two]


def test_a_sweep_reaches_later_findings_or_all_that_are_undecided() -> None:
    queue = [finding(number) for number in range(3)]
    for everywhere, expected in ((False, queue[1:]), (True, queue)):
        ledger = Ledger(queue)
        ledger.answer("a", queue[1], everywhere)
        assert ledger.accepted() == expected


def test_a_sweep_accepts_unsafe_findings_only_if_it_began_at_one() -> None:
    safe, unsafe = finding(0), finding(1, safety=Safety.UNSAFE)
    ledger = Ledger([safe, unsafe, finding(2)])
    ledger.answer("a", safe)
    assert [one.key for one in ledger.accepted()] == ["k0", "k2"]
    assert ledger.why_left(unsafe) == NOT_ASKED


def test_ignoring_declines_no_alternative() -> None:
    one, two = finding(1), finding(2, "isolate")
    ledger = Ledger([one, two], rivals((one, two)))
    ledger.answer("i", ignoring(one))
    assert ledger.state(two, ledger.decisions()) == LEFT
