"""What a run did not show of a changed place, although its lines ran: each is told, and what was shown is not."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.exercised import Trace, changed_lines, exercise
from fullgraph.validate.model import ChangedPlace, Sides
from fullgraph.validate.worker.process.ran import Watch

Calls = Sequence[tuple[Any, ...]]


def seen(
    folder: Path, before: str, after: str, calls: Calls, name: str = "f", tested: Sequence[str] = ()
) -> list[ChangedPlace]:
    """Run a function of both texts, and say what was seen of the difference."""
    texts = {"before": textwrap.dedent(before).encode(), "after": textwrap.dedent(after).encode()}
    sides = Sides(folder, *({"m.py": text} for text in texts.values()))
    file = str(folder / "m.py")
    traces = {}
    for side, text in texts.items():
        watch = Watch([file], {}, {file: changed_lines(sides)[side].get("m.py", [])})
        with watch.on():
            held: dict[str, Any] = {}
            exec(compile(text, file, "exec"), held)
            for call in calls:
                run(held[name], call)
        traces[side] = {"m.py": trace_of(watch, file)}
    return exercise(sides, traces, tested)


def run(function: Callable[..., Any], call: tuple[Any, ...]) -> None:
    with contextlib.suppress(ValueError):
        function(*call)


def trace_of(watch: Watch, file: str) -> Trace:
    told = watch.as_json()
    steps, spots = (frozenset(map(tuple, told[name].get(file, ()))) for name in ("steps", "spots"))
    return Trace(frozenset(told["ran"].get(file, ())), steps, spots)


BRANCH = """
    def f(x):
        if x > 0:
            y = x
        else:
            y = -x
        return y
"""
LOOP = """
    def f(xs):
        out = []
        for x in xs:
            out.append(x + 1)
        return out
"""
HANDLER = """
    def f(x):
        try:
            return int(x)
        except ValueError:
            return 0
"""
CHOICE = """
    def f(x, y):
        z = x if y else -x
        return z
"""
GUARD = """
    def f(x):
        if x < 0:
            raise ValueError("negative")
        return x
"""
NO_GUARD = """
    def f(x):
        return x
"""
LISTED = """
    def f(xs):
        return [x + 1 for x in xs]
"""

GAPS: dict[str, tuple[str, str, list[tuple[Any, ...]], list[tuple[Any, ...]], str]] = {
    "a branch that is gone": (
        BRANCH,
        "def f(x):\n    y = abs(x)\n    return y\n",
        [(1,)],
        [(-1,)],
        "the `else` of line 3 (before) was never taken",
    ),
    "a loop": (LOOP, LISTED, [([],)], [([1],)], "the loop in line 4 (before) had no round"),
    "a lambda": (
        "def f(x):\n    key = lambda v: -v\n    return sorted(x, key=key)\n",
        "def f(x):\n    key = lambda v: 0 - v\n    return sorted(x, key=key)\n",
        [([],)],
        [([1, 2],)],
        "the lambda in line 2 (before) was never called",
    ),
    "a comprehension": (
        LISTED,
        LISTED.replace("x + 1", "1 + x"),
        [([],)],
        [([1],)],
        "the comprehension in line 3 (before) had no item",
    ),
    "a handler": (
        HANDLER,
        HANDLER.replace("int(x)\n", "int(x) + 0\n").replace("except ValueError", "except Exception"),
        [("1",)],
        [("a",)],
        "the `except` of line 5 (before) was never entered",
    ),
    "one side of a conditional expression": (
        CHOICE,
        CHOICE.replace("-x", "0 - x"),
        [(1, 1)],
        [(1, 0)],
        "`-x` in line 3 (before) was never evaluated",
    ),
    "an exception that is gone": (GUARD, NO_GUARD, [(1,)], [(-1,)], "the `if` in line 3 (before) was never true"),
    "a branch that is new": (
        NO_GUARD,
        GUARD.replace("raise ValueError('negative')", "x = 7"),
        [(1,)],
        [(-1,)],
        "the `if` in line 3 (after) was never true",
    ),
    "a condition inside of a branch": (
        "def f(x, y):\n    z = 1\n    if x:\n        if y:\n            z = 2\n    return z\n",
        "def f(x, y):\n    z = 0 + 1\n    if x:\n        if not y:\n            z = 2\n    return z\n",
        [(0, 0)],
        [(1, 0), (1, 1)],
        "",
    ),
}


@pytest.mark.parametrize("what", GAPS)
def test_what_no_case_shows_is_told_and_with_one_more_case_it_is_not(what: str, tmp_path: Path) -> None:
    before, after, few, more, told = GAPS[what]
    unseen = [text for place in seen(tmp_path, before, after, few) if place.ran for text in place.unseen]
    if told:
        assert told in unseen
    else:
        assert [place.ran for place in seen(tmp_path, before, after, few)] == [1, 0]
    assert all(place.is_seen for place in seen(tmp_path, before, after, [*few, *more]))


def test_a_condition_that_was_never_seen_both_ways_is_a_note(tmp_path: Path) -> None:
    (place,) = seen(tmp_path, GUARD, GUARD.replace("x < 0", "x <= -1"), [(1,)])
    assert place.is_seen
    assert place.notes == ("the `if` in line 3 (before) was never true", "the `if` in line 3 (after) was never true")
    (place,) = seen(tmp_path, GUARD, GUARD.replace("x < 0", "x <= -1"), [(-1,)])
    assert place.notes[0] == "the `if` in line 3 (before) was never false"
    (place,) = seen(tmp_path, GUARD, GUARD.replace("x < 0", "x <= -1"), [(1,), (-1,)])
    assert place.sentence == "ran 1 of 1 changed lines"


def test_a_second_condition_that_was_never_asked_is_a_note(tmp_path: Path) -> None:
    both = "def f(x, y):\n    return bool(x and y)\n"
    (place,) = seen(tmp_path, both, both.replace("x and y", "y and x"), [(0, 1)])
    assert place.notes == ("`y` in line 2 (before) was never evaluated",)


def test_what_only_moved_and_ran_on_neither_side_is_no_gap(tmp_path: Path) -> None:
    inside = "def f(x):\n    with open('/dev/null'):\n        if x:\n            y = 1\n        y = 2\n    return y\n"
    outside = "def f(x):\n    if x:\n        y = 1\n    y = 2\n    return y\n"
    (place,) = seen(tmp_path, inside, outside, [(0,)])
    assert place.is_seen


def test_what_runs_only_while_it_is_compiled_is_no_gap(tmp_path: Path) -> None:
    """Plain runs, in which lines are watched, cannot go there; compiled ones do, and are compared."""
    after = "import torch\ndef f(x):\n    if torch.compiler.is_compiling() and x:\n        x = 2\n    return x\n"
    (place,) = [one for one in seen(tmp_path, NO_GUARD, after, [(1,)]) if one.ran]
    assert (place.unseen, place.notes) == ((), ())


def test_a_new_function_that_nobody_calls_is_a_note(tmp_path: Path) -> None:
    after = "def f(x):\n    x = x + 0\n    def g():\n        return 1\n    return x\n"
    (place,) = seen(tmp_path, NO_GUARD, after, [(1,)])
    assert (place.is_seen, place.notes) == (True, ("`g` is new and never ran",))


def test_code_that_is_never_reached_is_no_gap(tmp_path: Path) -> None:
    before = "def f(x):\n    return x\n"
    (place,) = seen(tmp_path, before, "def f(x):\n    return x + 0\n    x = 1\n", [(1,)])
    assert place.is_seen


def test_the_sentence_counts_the_statements_that_ran(tmp_path: Path) -> None:
    after = "def f(x):\n    y = x\n    if y > 5:\n        y = 5\n    return y\n"
    (place,) = seen(tmp_path, "def f(x):\n    return x\n", after, [(1,)])
    assert place.sentence == "ran 3 of 4 changed lines; the `if` in line 3 (after) was never true"


def test_what_stands_beside_the_question_for_compiling_is_no_gap_however_deep(tmp_path: Path) -> None:
    test = "torch.compiler.is_compiling() and (x.bit_length() or len(str(x)))"
    after = f"import torch\ndef f(x):\n    if {test}:\n        x = 2\n    return x\n"
    (place,) = [one for one in seen(tmp_path, NO_GUARD, after, [(1,)]) if one.ran]
    assert (place.unseen, place.notes) == ((), ())


@pytest.mark.parametrize(("tested", "is_seen"), [((), False), (("make",), False), ((r"make(?:\..*)?",), True)])
def test_a_function_with_tests_of_its_own_need_not_be_seen_whole(
    tmp_path: Path, tested: tuple[str, ...], is_seen: bool
) -> None:
    inner = "    def inner(x):\n        if x > 5:\n            return 5\n        return x\n"
    after = f"def make():\n{inner}    return inner\ndef f(x):\n    return make()(x)\n"
    places = seen(tmp_path, "def f(x):\n    return x\n", after, [(1,)], tested=tested)
    assert all(place.is_seen for place in places) == is_seen
