"""The comparer trusts nobody: rewrites that are wrong on purpose, each in its own way, are all caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.breaks.exam import Result, compare_sides
from tests.breaks.programs import program_of
from tests.breaks.rewriting import Rewritten
from tests.breaks.wrong_rewrites import RIGHT, WRONG, Pair


def compared(pair: Pair, folder: Path) -> Result:
    before, after = (program_of(text, pair.calls, pair.entry) for text in (pair.before, pair.after))
    return compare_sides(before, after, Rewritten(after.files, pair.by), folder, "eager")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rewrite_is_caught(name: str, tmp_path: Path) -> None:
    pair = WRONG[name]
    differences = compared(pair, tmp_path).differences
    assert any(pair.seen_in in told for told in differences), differences


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rewrite_is_not_blamed(name: str, tmp_path: Path) -> None:
    result = compared(RIGHT[name], tmp_path)
    assert not result.differences
    assert result.after_graphs is not None
    assert result.after_graphs.is_whole


@pytest.mark.parametrize("name", [name for name in WRONG if WRONG[name].only_compiled])
def test_what_is_wrong_in_compiled_code_alone_is_caught_there(name: str, tmp_path: Path) -> None:
    assert all(told.startswith(("compiled", "breaks")) for told in compared(WRONG[name], tmp_path).differences)
