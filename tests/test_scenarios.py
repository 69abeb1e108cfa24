"""Every codemod is proven on fixtures of its own: equivalence always, and the number that it exists to improve."""

from __future__ import annotations

import json
import sys

import pytest

from codemods.registry import bundled
from codemods.ui.measured import ROW, prove_case, proven_cases, row_of, wanted_of
from tests.cases import Case
from tests.validate.proofs import CACHE
from validate.model import Ruling

CASES = [Case(case) for name in bundled() for case in proven_cases(name)]


def test_every_codemod_has_a_scenario() -> None:
    assert {case.codemod_name for case in CASES} == set(bundled())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rewrite_is_equivalent_and_as_good_as_it_claims(case: Case) -> None:
    verdict = prove_case(case.folder, case.codemod(), sys.executable, CACHE, untimed=True)
    wanted = wanted_of(case.folder)
    assert verdict.ruling is Ruling(wanted["ruling"]), verdict.sentence
    better = {reason.name for reason in verdict.reasons if reason.tendency == "better"}
    assert set(wanted.get("better", ())) <= better, verdict.sentence
    stored = json.loads((case.folder / ROW).read_text())
    if stored["torch"].partition("+")[0] == verdict.environment["torch"].partition("+")[0]:
        fresh = row_of(verdict) | {"guard_us": stored["guard_us"], "torch": stored["torch"]}
        assert fresh == stored, "`make measure` stores the row again"


def test_explain_shows_the_claim_and_what_was_measured() -> None:
    from codemods.ui.explain import explain

    for name in bundled():
        shown = " ".join(explain(name).split())
        assert "Claimed:" in shown
        assert "Measured: torch 2." in shown
