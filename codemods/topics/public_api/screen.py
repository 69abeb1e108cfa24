"""Whether the bytes of a file can hold an old name: asked of every file, so that few are parsed."""

from __future__ import annotations

import re
from functools import cache

from fullgraph.codemods.topics.public_api.table import table

LISTED = r"[ \t]*(?:\([^)]*?|(?:[^\r\n(\\]|\\\r?\n)*?)\b"


def may_use_old_names(raw: bytes) -> bool:
    """Whether an old name stands behind its module somewhere, or is imported, or its module is."""
    if b"torch" not in raw:
        return False
    groups = (group for word, group in screens().items() if word in raw)
    return any(
        any(pattern.search(raw) for pattern in patterns)
        for group in groups
        for words, patterns in group
        if any(word in raw for word in words)
    )


def old_names_in(raw: bytes) -> list[int] | None:
    """Where old names stand behind their modules; None if one is imported, and may be used anywhere."""
    found: list[int] = []
    for group in screens().values():
        for _, (written, *imported) in group:
            if any(pattern.search(raw) for pattern in imported):
                return None
            found += [match.start() for match in written.finditer(raw)]
    return found


Screen = tuple[tuple[bytes, ...], tuple[re.Pattern[bytes], ...]]


@cache
def screens() -> dict[bytes, tuple[Screen, ...]]:
    """By a word that must occur: for each module with old names, words of which one must, and what must match."""
    groups: dict[str, dict[str, dict[str, set[str]]]] = {}
    for old in table():
        home, _, name = old.rpartition(".")
        parts = home.split(".")
        group = next(part for part in parts[1:] if part not in ("cuda", "cpu"))
        only = name if group == "_C" else group
        groups.setdefault(only, {}).setdefault(parts[-1], {}).setdefault(home, set()).add(name)
    return {
        group.encode(): tuple((words_for(tail, homes), patterns_for(tail, homes)) for tail, homes in tails.items())
        for group, tails in groups.items()
    }


def words_for(tail: str, homes: dict[str, set[str]]) -> tuple[bytes, ...]:
    names = set().union(*homes.values())
    if len(names) == 1:
        return (names.pop().encode(),)
    return tuple(word.encode() for word in (f"{tail}.", f"{tail} ", f"import {tail}"))


def patterns_for(tail: str, homes: dict[str, set[str]]) -> tuple[re.Pattern[bytes], ...]:
    """As few as can be that begin with plain text, which is what makes a search fast."""
    either = "|".join(sorted(set().union(*homes.values())))
    found = [rf"{tail}\.(?:{either})\b"]
    for home, names in homes.items():
        parent = home.rpartition(".")[0]
        found.append(rf"from {re.escape(home)} import{LISTED}(?:{'|'.join(sorted(names))})\b")
        found.append(rf"from {re.escape(parent)} import{LISTED}{tail}\b")
        found.append(rf"import {re.escape(home)} as\b")
    return tuple(re.compile(text.encode()) for text in found)
