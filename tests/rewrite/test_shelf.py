"""The shelf: the newest answers first, so many of each kind, and none that push out others."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.rewrite.shelf import KEPT, KEPT_PLACES, DiskShelf, LiveShelf


@pytest.fixture
def shelf(root: Path) -> DiskShelf:
    return DiskShelf(root)


def test_the_newest_answers_are_kept_and_come_first(shelf: DiskShelf) -> None:
    for number in range(KEPT + 2):
        shelf.put("reached", number)
    assert shelf.get("reached") == [5, 4, 3, 2]


def test_every_place_has_answers_of_its_own(shelf: DiskShelf) -> None:
    for number in range(KEPT_PLACES + 1):
        shelf.put(f"at:{number}", number)
    assert [shelf.get(f"at:{number}") for number in (0, 1, KEPT_PLACES)] == [[], [1], [KEPT_PLACES]]


def test_answers_of_one_kind_push_out_no_others(shelf: DiskShelf) -> None:
    shelf.put("reached", "kept")
    for number in range(KEPT_PLACES + 1):
        shelf.put(f"at:{number}", number)
    assert shelf.get("reached") == ["kept"]


def test_a_live_shelf_asks_the_disk_once_and_writes_its_first_answer_only(shelf: DiskShelf) -> None:
    """While somebody types, every answer is another one, and the disk is none the wiser."""
    live = LiveShelf(shelf)
    assert live.get("reached") == []
    for number in range(KEPT + 2):
        live.put("reached", number)
    shelf.put("reached", "by another process")
    assert live.get("reached") == [5, 4, 3, 2]
    assert shelf.get("reached") == ["by another process", 0]
