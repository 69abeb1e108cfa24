"""Every codemod is proven on fixtures of its own: equivalence always, and the number that it exists to improve.

A proof whose key is stored was made from the very same bytes, and is not made again. A tenth is, in case a stored row
was edited.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest

from fullgraph.codemods.registry import bundled
from fullgraph.codemods.ui.measured import ROW, Question, prove_question, proven_cases, question_of, row_of, wanted_of
from fullgraph.validate.model import Declared, Settings
from tests.cases import Case
from tests.chosen import is_chosen
from tests.validate.proofs import CACHE

CASES = [Case(case) for name in bundled() for case in proven_cases(name)]
TORCH = version("torch")


def test_every_codemod_has_a_scenario() -> None:
    assert {case.codemod_name for case in CASES} == set(bundled())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rewrite_is_equivalent_and_as_good_as_it_claims(case: Case, everything: bool) -> None:
    stored = json.loads((case.folder / ROW).read_text())
    check_claim(case, stored)
    question = question_of(case.folder, case.codemod(), sys.executable)
    if stored["key"] == question.key(TORCH) and not everything and not is_chosen(case.name):
        return
    verdict = prove_question(question, CACHE)
    fresh = row_of(verdict)
    check_claim(case, fresh)
    if is_same_torch(stored["torch"], fresh["torch"]):
        measured = {"guard_us": stored["guard_us"], "torch": stored["torch"], "key": stored["key"]}
        assert {**fresh, **measured} == stored, f"{verdict.sentence}; `make measure` stores the row again"


def check_claim(case: Case, row: dict[str, Any]) -> None:
    """What `case.toml` says of the proof."""
    wanted = wanted_of(case.folder)
    assert row["ruling"] == wanted["ruling"], row
    assert set(wanted.get("better", ())) <= set(row["better"]), row


def is_same_torch(stored: str, fresh: str) -> bool:
    return stored.partition("+")[0] == fresh.partition("+")[0]


ASKED = Question({"m.py": b"1"}, {"m.py": b"2"}, b"3", Settings(backend="eager"), (Declared("warning", "a", "b"),))
OTHERS = {
    "before": replace(ASKED, before={"m.py": b"4"}),
    "after": replace(ASKED, after={"m.py": b"4"}),
    "sides": replace(ASKED, before=ASKED.after, after=ASKED.before),
    "path": replace(ASKED, after={"n.py": b"2"}),
    "file": replace(ASKED, after={"m.py": b"2", "n.py": b""}),
    "scenario": replace(ASKED, scenario=b"4"),
    "settings": replace(ASKED, settings=Settings(backend="aot_eager")),
    "device": replace(ASKED, settings=Settings(backend="eager", device="second")),
    "declared": replace(ASKED, declared=()),
}


@pytest.mark.parametrize("what", OTHERS)
def test_whatever_a_proof_rests_on_is_part_of_its_key(what: str) -> None:
    assert OTHERS[what].key(TORCH) != ASKED.key(TORCH)


def test_another_torch_or_python_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = ASKED.key("2.13.0+cpu")
    assert key != ASKED.key("2.12.0+cpu")
    assert key == ASKED.key("2.13.0+cu130"), "the same release"
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert key != ASKED.key("2.13.0+cpu")


def test_where_the_interpreter_lies_is_no_part_of_the_key() -> None:
    assert replace(ASKED, settings=replace(ASKED.settings, python="/there")).key(TORCH) == ASKED.key(TORCH)


def test_explain_shows_the_claim_and_what_was_measured() -> None:
    from fullgraph.codemods.ui.explain import explain

    for name in bundled():
        shown = " ".join(explain(name).split())
        assert "Claimed:" in shown
        assert "Measured: torch 2." in shown
