"""The tenth that is looked at again: about a tenth, and all of it in the course of commits."""

from __future__ import annotations

from tests.chosen import is_chosen

NAMES = [f"case {number}" for number in range(300)]


def test_about_a_tenth_is_chosen_by_a_commit() -> None:
    assert 15 < sum(is_chosen(name, "4f2a") for name in NAMES) < 50


def test_another_commit_chooses_another_tenth_and_the_same_one_the_same() -> None:
    first, second = ([name for name in NAMES if is_chosen(name, commit)] for commit in ("4f2a", "9b01"))
    assert first != second
    assert first == [name for name in NAMES if is_chosen(name, "4f2a")]


def test_every_name_has_its_turn() -> None:
    assert all(any(is_chosen(name, f"{commit:x}") for commit in range(300)) for name in NAMES)
