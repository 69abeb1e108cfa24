"""Two runs of a program, and all in which they differ.

Plain code before and after is the same in every bit and every message. Compiled code after is held against plain code
before: numbers may differ by what `torch.testing` allows, and a check that became part of a graph raises a
RuntimeError with the text that it had, where `{x.min()}` stands for the value that plain code shows there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from fullgraph.validate.worker.recording.compare import CHANNELS, compare, tell_error
from fullgraph.validate.worker.recording.leaf import Leaf
from tests.breaks.recording import Record

RESULTS = ("output", "args", "state", "grads", "modes", "backward")
DRAWS_LIKE_PLAIN_CODE = ("eager", "aot_eager")
TRACING = ("torch._dynamo.exc.TorchRuntimeError",)
"""How torch tells of an operator that failed while it was traced."""

TRACED = "\n\nfrom user code:"
"""Where torch begins to tell the lines that it traced: a rewrite moves them."""

HOLE = re.compile(r"\{[^{}]+\}")
"""A value in the text of a check, by its source: a graph cannot show it."""


def compare_plain(before: Sequence[Record], after: Sequence[Record]) -> list[str]:
    """In what two plain runs differ: nothing may."""
    return [told for pair in zip(before, after, strict=True) for told in plain_differences(*pair)]


def plain_differences(before: Record, after: Record) -> Iterator[str]:
    found = compare(before, after, between="eager", exact=True, signed_zero=True, channels=CHANNELS["eager"])
    for one in found["differences"]:
        yield f"{one['case']}: {one['path']}: {one['what']}: {one['first']} > {one['second']}"
    for told in (
        *said(before, after),
        *named_files(before, after),
        *placed(before, after, "layout"),
        *placed(before, after, "sharing"),
    ):
        yield f"{before['case']}: {told}"


def compare_compiled(
    plain: Sequence[Record],
    compiled: Sequence[Record],
    backend: str = "eager",
    *,
    checks: bool = False,
    early: Collection[str] = (),
) -> list[str]:
    """In what a compiled run differs from a plain one.

    `checks`: whether a check may raise a RuntimeError instead. `early`: texts that are said once, while code is traced:
    they may come before what another function says, and also if that raises.

    A graph that raises has not yet done what was to be done in Python before the check: calls after that one begin in
    another state, and tell nothing.
    """
    found = list(told_late(plain, compiled, early))
    plain, compiled = without(plain, early), without(compiled, early)
    for ours, theirs in zip(plain, compiled, strict=True):
        found += compiled_differences(ours, theirs, backend=backend, checks=checks)
        if checks and ours["exception"] and has_other_state(ours, theirs):
            break
    return found


def compiled_differences(plain: Record, compiled: Record, *, backend: str, checks: bool) -> Iterator[str]:
    found = compare(plain, compiled, between="after", exact=False, channels=RESULTS)
    for one in found["differences"]:
        told = one["error"] or f"{one['first']} > {one['second']}"
        yield f"{one['case']}: {one['path']}: {one['what']}: {told}"
    if is_refused_while_tracing(plain, compiled):
        return
    for told in (*raised(plain, compiled, checks), *said(plain, compiled)):
        yield f"{plain['case']}: {told}"
    if backend in DRAWS_LIKE_PLAIN_CODE and not plain["exception"]:
        channels = ("rng", "sharing") if backend == "eager" else ("rng",)
        for told in (told for channel in channels for told in placed(plain, compiled, channel)):
            yield f"{plain['case']}: {told}"


def is_refused_while_tracing(plain: Record, compiled: Record) -> bool:
    """Whether something fails in plain code, and so early in compiled code that nothing has run."""
    ours, theirs = plain["exception"], compiled["exception"]
    return bool(ours and theirs and (theirs[0] in TRACING or (ours[0] == theirs[0] and TRACED in theirs[1])))


def has_other_state(plain: Record, compiled: Record) -> bool:
    """Whether a call has left other things behind, although it is not held to that because it raised."""
    calm = [{**record, "exception": None} for record in (plain, compiled)]
    found = compare(*calm, between="after", exact=False, channels=("args", "state"))
    return bool(found["differences"])


def said(first: Record, second: Record) -> Iterator[str]:
    """Messages: the same ones, in the same order. Within the call they may come later."""
    if first["heard"] != second["heard"]:
        yield f"messages: {first['heard']} > {second['heard']}"


def without(records: Sequence[Record], early: Collection[str]) -> list[Record]:
    return [{**record, "heard": [one for one in record["heard"] if one[-1] not in early]} for record in records]


def told_late(plain: Sequence[Record], compiled: Sequence[Record], early: Collection[str]) -> Iterator[str]:
    """What is said once is said by the time that plain code does, and no more often."""
    for text in early:
        ours, theirs = ([n for n, one in enumerate(run) if text in heard_texts(one)] for run in (plain, compiled))
        is_late = bool(ours) and (not theirs or theirs[0] > ours[0])
        if is_late or len(theirs) > max(1, len(ours)):
            yield f"messages: {text!r} in calls {ours} > {theirs}"


def heard_texts(record: Record) -> list[str]:
    return [message[-1] for message in record["heard"]]


def named_files(first: Record, second: Record) -> Iterator[str]:
    """Filters of warnings go by the file that a warning names."""
    ours, theirs = ([Path(line[2]).name for line in record["warnings"]] for record in (first, second))
    if ours != theirs:
        yield f"files of warnings: {ours} > {theirs}"


def raised(plain: Record, compiled: Record, checks: bool) -> Iterator[str]:
    """An `assert` on a tensor is put into the graph by torch itself, where nothing else stands in its way."""
    ours, theirs = plain["exception"], compiled["exception"]
    may_differ = checks or bool(ours and ours[0] == "AssertionError")
    if (ours and ours[:2]) == (theirs and theirs[:2]) or (may_differ and is_same_check(ours, theirs)):
        return
    yield f"exception: {tell_error(ours)} > {tell_error(theirs).partition(TRACED)[0]}"


def is_same_check(ours: list[str] | None, theirs: list[str] | None) -> bool:
    """Whether the second is how a graph raises the first. A bare one has no text to keep."""
    if not ours or not theirs or theirs[0] != "RuntimeError":
        return False
    return ours[1] == theirs[1] or not ours[1] or is_filled(theirs[1], ours[1])


def is_filled(text: str, shown: str) -> bool:
    """Whether the second is the first with something in the place of each source: all around it is the same."""
    pieces = HOLE.split(text)
    return any(map(str.strip, pieces)) and re.fullmatch(".+".join(map(re.escape, pieces)), shown, re.DOTALL) is not None


def placed(first: Record, second: Record, channel: str) -> Iterator[str]:
    """Facts that belong to places: the first that is not the same. Attributes of ours may be new to the second."""
    ours, theirs = facts(first[channel]), facts(second[channel])
    for path in [*ours, *(path for path in theirs if path not in ours)]:
        if ours.get(path) != theirs.get(path) and not (path not in ours and path.startswith("state")):
            yield f"{channel} of {path}: {ours.get(path)} > {theirs.get(path)}"
            return


def facts(leaves: Sequence[Leaf]) -> dict[str, object]:
    return {path: fact for path, _, fact in leaves}
