"""Answers that can be read: a page of a list, and at most so many characters, with a word on what was cut."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

MOST = 25_000
"""Characters of one answer."""

PAGE, LARGEST_PAGE = 20, 50
SHORT = 400
"""Characters of a text that are never cut."""

Path = tuple[str | int, ...]


def page(items: Sequence[Any], offset: int, limit: int) -> dict[str, Any]:
    """Where a page lies in a list; `items` holds what is on it."""
    first = max(offset, 0)
    last = first + max(1, min(limit, LARGEST_PAGE))
    shown = list(items[first:last])
    return {"total": len(items), "offset": first, "next_offset": last if last < len(items) else None, "items": shown}


def text_page(text: str, offset: int, limit: int = MOST * 3 // 5) -> dict[str, Any]:
    """A part of a text that ends with a line."""
    first = max(offset, 0)
    last = first + limit
    if last < len(text):
        last = text.rfind("\n", first, last) + 1 or last
    following = last if last < len(text) else None
    return {"total": len(text), "offset": first, "next_offset": following, "text": text[first:last]}


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def fit(answer: dict[str, Any], most: int = MOST) -> dict[str, Any]:
    """The answer, with its longest lists and texts cut until it fits; `cut` says which, and how much is left out.

    A page of findings loses the last of them, which the next page then begins with.
    """
    kept: dict[str, Any] = json.loads(json.dumps(answer))
    lost: dict[Path, int] = {}
    while size({**kept, "cut": words(lost)}) > most:
        place = bulkiest(kept)
        if place is None:
            break
        lost[place] = lost.get(place, 0) + halve(kept, place)
    follow_on(kept, lost)
    return {**kept, "cut": words(lost)}


def words(lost: dict[Path, int]) -> list[str]:
    return [f"{name_of(place)}: {number} left out" for place, number in lost.items() if number]


def name_of(place: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).removeprefix(".")


def bulkiest(value: Any, place: Path = ()) -> Path | None:
    """The list or text to cut: down the largest parts, to where no single part makes up half of what is there."""
    if isinstance(value, str):
        return place if len(value) > SHORT else None
    children = sorted(parts(value), key=lambda one: size(one[1]), reverse=True)
    if isinstance(value, list) and children and size(children[0][1]) * 2 < size(value):
        return place
    for key, child in children:
        if (found := bulkiest(child, (*place, key))) is not None:
            return found
    return place if isinstance(value, list) and value and place else None


def parts(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def halve(answer: Any, place: Path) -> int:
    """Cut what stands at a place to its first half; how many items or characters that leaves out."""
    *way, last = place
    for part in way:
        answer = answer[part]
    held = answer[last]
    half = len(held) // 2
    answer[last] = held[:half]
    return len(held) - half


def follow_on(answer: dict[str, Any], lost: dict[Path, int]) -> None:
    """The next page begins where this one was cut."""
    shown = lost.pop(("findings",), 0)
    if shown and "offset" in answer:
        answer["next_offset"] = answer["offset"] + len(answer["findings"])
