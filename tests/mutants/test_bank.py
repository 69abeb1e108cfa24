"""The bank of faults fits the code as it is: each can be put in, and names tests that are there."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.mutants.bank import BANK, ROOT, all_faults
from tests.mutants.operators import mutations

SAMPLE = """\
def key(a, b):
    return (a, b) if a < b and not is_odd(a) else sorted([x for x in b if x])
"""


@pytest.mark.parametrize("area", sorted(file.stem for file in BANK.glob("*.toml")))
def test_every_fault_can_be_put_in_and_names_tests_that_are_there(area: str) -> None:
    for fault in all_faults((area,)):
        assert ast.parse(fault.put_into(read(fault.file)))
        assert fault.tests, fault.name
        for test in fault.tests:
            assert is_there(test), f"{fault.name}: {test}"


@cache
def read(file: str) -> str:
    return (ROOT / file).read_text()


def is_there(test: str) -> bool:
    """Whether a path or the id of a test names one; of the cases of fixtures, whether there is the fixture."""
    file, _, name = test.partition("::")
    function, _, case = name.partition("[")
    if not (ROOT / file).exists() or (function and f"def {function.rpartition('::')[2]}(" not in read(file)):
        return False
    return function != "test_case" or (ROOT / "fixtures" / case.rstrip("]")).is_dir()


def test_names_are_not_used_twice() -> None:
    names = [(fault.area, fault.name) for fault in all_faults()]
    assert len(set(names)) == len(names)


def test_rules_make_faults_of_conditions_orders_and_keys() -> None:
    made = {one.what: one.put_into(SAMPLE.encode()).decode() for one in mutations(SAMPLE)}
    assert "(a,) if" in made["shortened key"]
    assert "a < b or not" in made["swapped and/or"].replace("(", "").replace(")", "")
    assert "a <= b" in made["other comparison"]
    assert "sorted" not in made["dropped order"]
    assert "if True]" in made["dropped filter"]
    assert all(ast.parse(text) and text != SAMPLE for text in made.values())
