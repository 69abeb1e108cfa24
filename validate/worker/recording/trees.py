"""Two lists of leaves, and where they part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from .closeness import Gap, Rule, measure, tell_pair
from .leaf import Leaf

VALUES = ("int", "bool", "float", "real", "imaginary", "str", "bytes", "text", "enum", "state", "value")
FLOATS = ("float", "real", "imaginary")
WORDS = {"same as": "aliasing", "memory": "aliasing", "items": "type", "opaque": "type", "function": "name"}
EAGER_ONLY = ("strides", "marks")
"""Facts about a tensor that torch.compile may change by itself: it lays out its results as it likes."""

CODE = ("code", "running")
"""Facts about code: another one is no difference, as nobody knows what it does; nor is what belongs to it."""

PLAIN = ("None", "bool", "int", "float", "str", "bytes", "enum", "function", "class", "module")
"""Kinds that open a value which nobody else can hold and see changed."""

LONGEST = 200


class Found(NamedTuple):
    """One place, what is not the same there, and how it looks on either side."""

    path: str
    what: str
    first: str
    second: str
    error: str = ""


class Growth(NamedTuple):
    """Places that only the second has, and those that only the first has, where neither is a difference."""

    added: set[str]
    lost: set[str]


OnGap = Callable[[str, Gap], None]


def find_differences(
    first: Sequence[Leaf], second: Sequence[Leaf], rule: Rule, on_gap: OnGap, grown: Growth | None = None
) -> Iterator[Found]:
    """In the order of the tree. What lies below a difference is passed over.

    With `grown`, objects of the second may have attributes that those of the first do not have; they are put there.
    Functions of the second may then do without a plain value that those of the first hold.
    """
    here = there = 0
    only = grown or Growth(set(), set())
    while True:
        here, there = pass_over(first, here, only.lost), pass_over(second, there, only.added)
        if here == len(first) or there == len(second):
            break
        ours, theirs = first[here], second[there]
        growth = None if grown is None else find_growth(ours, theirs, first)
        if growth is not None:
            only.added.update(growth.added)
            only.lost.update(growth.lost)
            here, there = here + 1, there + 1
            continue
        if ours[0] != theirs[0]:
            found = tell_missing(ours, theirs, in_first=any(ours[0] == leaf[0] for leaf in second[there:]))
        else:
            differs = compare_leaves(ours, theirs, rule, on_gap)
            if differs is None:
                here, there = here + 1, there + 1
                continue
            found = differs
        yield found
        here, there = skip(first, here, found.path), skip(second, there, found.path)
    if here < len(first):
        yield tell_missing(first[here], None, in_first=False)
    elif there < len(second):
        yield tell_missing(None, second[there], in_first=True)


def find_growth(ours: Leaf, theirs: Leaf, first: Sequence[Leaf]) -> Growth | None:
    """The places that only the second has, and those that it may do without; None if it is a difference, or nothing."""
    if ours[:2] != theirs[:2] or ours[1] not in ("attributes", "held") or ours[2] == theirs[2]:
        return None
    mine, yours = ({f"{ours[0]}.{name}" for name in leaf[2].split(", ") if name} for leaf in (ours, theirs))
    lost = mine - yours
    if lost and (ours[1] == "attributes" or not lost <= find_plain(first)):
        return None
    return Growth(yours - mine, lost)


def find_plain(leaves: Sequence[Leaf]) -> set[str]:
    """Places whose first leaf tells that nobody else can see them change."""
    opening = {path: kind for path, kind, _ in reversed(leaves)}
    return {path for path, kind in opening.items() if kind in PLAIN}


def promote(leaves: Sequence[Leaf], is_left_out: Callable[[str], bool]) -> list[Leaf]:
    """Without some places. What is said to be the same as one of them is told where it is met next."""
    kept: list[Leaf] = []
    moved: dict[str, str] = {}
    waiting = [leaf for leaf in reversed(leaves) if not is_left_out(leaf[0])]
    while waiting:
        path, kind, fact = waiting.pop()
        if kind == "same as" and is_left_out(fact):
            home = next((old for old in moved if is_below(fact, old)), None)
            if home is None:
                moved[fact] = path
                inside = [(path + leaf[0][len(fact) :], *leaf[1:]) for leaf in leaves if is_below(leaf[0], fact)]
                waiting.extend(reversed(inside))
                continue
            fact = moved[home] + fact[len(home) :]
        kept.append((path, kind, fact))
    return kept


def relabel(leaves: list[Leaf], has_free_keys: Callable[[str], bool]) -> list[Leaf]:
    """With the items of such dicts called by their number, and nothing said of the keys but how many there are."""
    place = 0
    while place < len(leaves):
        path, kind, _ = leaves[place]
        if kind == "keys" and has_free_keys(path):
            leaves = relabel_items(leaves, place)
        place += 1
    return leaves


def relabel_items(leaves: Sequence[Leaf], place: int) -> list[Leaf]:
    top, end = leaves[place][0], skip(leaves, place, leaves[place][0])
    names: dict[str, str] = {}
    items: list[Leaf] = []
    item = ""
    for path, kind, fact in leaves[place + 1 : end]:
        if path.startswith(f"{top}["):
            if not item or not is_below(path, item):
                item = path
                names[item] = f"{top}[#{len(names)}]"
            items.append((names[item] + path[len(item) :], kind, fact))
        elif not path.startswith(f"{top}.keys()["):
            items.append((path, kind, fact))
    relabeled = [*leaves[:place], (top, "keys", f"{len(names)} keys"), *items, *leaves[end:]]
    return [(path, kind, names.get(fact, fact) if kind == "same as" else fact) for path, kind, fact in relabeled]


def pass_over(leaves: Sequence[Leaf], place: int, added: set[str]) -> int:
    while place < len(leaves) and leaves[place][0] in added:
        place = skip(leaves, place, leaves[place][0])
    return place


def tell_missing(ours: Leaf | None, theirs: Leaf | None, *, in_first: bool) -> Found:
    """`in_first`: the place where the second goes on is missing in the first; otherwise the other way round."""
    if ours is None or (in_first and theirs is not None):
        assert theirs is not None
        return Found(theirs[0], "missing", "nothing", tell_leaf(theirs))
    return Found(ours[0], "missing", tell_leaf(ours), "nothing")


def skip(leaves: Sequence[Leaf], place: int, path: str) -> int:
    """The next place that is not at this path or below it."""
    while place < len(leaves) and is_below(leaves[place][0], path):
        place += 1
    return place


def is_below(path: str, top: str) -> bool:
    return path.startswith(top) and path[len(top) : len(top) + 1] in ("", ".", "[", "{", "(")


def compare_leaves(ours: Leaf, theirs: Leaf, rule: Rule, on_gap: OnGap) -> Found | None:
    """Leaves of one place."""
    path, kind, mine = ours
    other_kind, yours = theirs[1:]
    if kind != other_kind:
        aliased = "same as" in (kind, other_kind)
        return Found(path, "aliasing" if aliased else "type", tell_leaf(ours, aliased), tell_leaf(theirs, aliased))
    if isinstance(mine, torch.Tensor) and isinstance(yours, torch.Tensor):
        held_to = rule if kind == "value" else loosen(rule)
        return compare_tensors(path, mine, yours, held_to, on_gap)
    if kind in FLOATS:
        return compare_floats(path, mine, yours, rule, on_gap)
    if mine == yours:
        return None
    what = "value" if kind in VALUES else WORDS.get(kind, kind)
    return Found(path, what, *shorten_pair(tell_fact(kind, mine), tell_fact(kind, yours)))


def compare_tensors(path: str, mine: torch.Tensor, yours: torch.Tensor, rule: Rule, on_gap: OnGap) -> Found | None:
    if mine.shape != yours.shape or mine.dtype != yours.dtype:
        return Found(path, "shape", f"{mine.dtype} {list(mine.shape)}", f"{yours.dtype} {list(yours.shape)}")
    gap = measure(mine, yours, rule)
    if gap is None:
        return None
    on_gap(path, gap)
    return Found(path, "value", gap.first, gap.second, gap.tell()) if gap.wrong else None


def compare_floats(path: str, mine: float, yours: float, rule: Rule, on_gap: OnGap) -> Found | None:
    gap = measure(wrap(mine), wrap(yours), loosen(rule))
    if gap is None:
        return None
    on_gap(path, gap)
    error = f"absolute {gap.absolute:.3g}, relative {gap.relative:.3g}"
    return Found(path, "value", *tell_pair(mine, yours), error) if gap.wrong else None


def loosen(rule: Rule) -> Rule:
    """For Python's floats: compiled code may have read them from a float32, so that is what they are held to."""
    relative, absolute = rule.tolerances(torch.float32)
    return rule._replace(rtol=relative, atol=absolute)


def wrap(number: float) -> torch.Tensor:
    return torch.tensor(number, dtype=torch.float64, device="cpu")


def tell_leaf(leaf: Leaf, aliased: bool = False) -> str:
    _, kind, fact = leaf
    if aliased and kind != "same as":
        return "an object of its own"
    if kind in ("type", "None", "same as", "opaque", "memory", "written"):
        return tell_fact(kind, fact)
    return shorten(f"{kind} {tell_fact(kind, fact)}")


def tell_fact(kind: str, fact: Any) -> str:
    if kind == "same as":
        return f"the same object as {fact}"
    if kind == "memory":
        return f"in the memory of {fact}"
    if kind == "written":
        return "written in place"
    if isinstance(fact, torch.Tensor):
        return f"a tensor of {list(fact.shape)}"
    return repr(fact) if kind in ("str", "bytes") else str(fact)


def shorten_pair(first: str, second: str) -> tuple[str, str]:
    """Both cut down to where they begin to differ."""
    same = len(common_start(first, second))
    start = max(0, same - LONGEST // 4)
    return shorten(first, start), shorten(second, start)


def shorten(text: str, start: int = 0) -> str:
    if len(text) <= LONGEST:
        return text
    start = min(start, len(text))
    return ("..." if start else "") + text[start : start + LONGEST] + ("..." if start + LONGEST < len(text) else "")


def common_start(first: str, second: str) -> str:
    for place in range(min(len(first), len(second))):
        if first[place] != second[place]:
            return first[:place]
    return first if len(first) < len(second) else second
