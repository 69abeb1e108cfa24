"""What a scenario never runs, it says nothing about."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.validate.exercised import Trace, did_run, exercise
from fullgraph.validate.model import ChangedPlace, Sides

BEFORE = """import torch


def used(x):
    y = x + 1
    return y


def unused(x):
    return x
"""


def sides(after: str, before: str = BEFORE) -> Sides:
    return Sides(Path("/"), {"m.py": before.encode()}, {"m.py": after.encode()})


def idle(changed: Sides, after: list[int], before: list[int] | None = None) -> list[tuple[str, int]]:
    places = places_of(changed, after, before)
    return [(place.side, place.first) for place in places if not place.ran]


def places_of(changed: Sides, after: list[int], before: list[int] | None = None) -> list[ChangedPlace]:
    ran = {"after": after, "before": before or []}
    return exercise(changed, {side: {"m.py": Trace(frozenset(lines))} for side, lines in ran.items()})


def test_a_changed_line_that_ran_is_exercised() -> None:
    changed = sides(BEFORE.replace("x + 1", "x + 2"))
    assert idle(changed, [5, 6]) == []
    assert idle(changed, [-1, -4, -9]) == [("after", 5)]


def test_a_line_that_was_only_taken_away_must_have_run_before() -> None:
    changed = sides(BEFORE.replace("    y = x + 1\n", "").replace("return y", "return x"))
    assert idle(changed, [5]) == []
    gone = sides("def f(x):\n    return x\n", "def f(x):\n    print(x)\n    return x\n")
    assert idle(gone, [2], [3]) == [("before", 2)]
    assert idle(gone, [2], [2, 3]) == []


def test_a_decorator_counts_only_when_the_function_ran() -> None:
    changed = sides(BEFORE.replace("def used", "@torch.compiler.disable\ndef used"))
    assert idle(changed, [-4, -5]) == [("after", 4)]
    assert idle(changed, [6, 7]) == []


def test_a_docstring_counts_only_when_the_function_ran() -> None:
    changed = sides(BEFORE.replace("    y = x", '    """Say more."""\n    y = x'))
    assert idle(changed, [-4]) == [("after", 5)]
    assert idle(changed, [6]) == []


def test_an_import_serves_others_and_does_not_count() -> None:
    changed = sides(
        BEFORE.replace("import torch\n", "import math\nimport torch\n").replace("return x\n", "return -x\n")
    )
    assert idle(changed, [-1, -2, 6, 7]) == [("after", 11)]


def test_a_module_that_changes_only_at_its_top_level_is_exercised_by_the_import() -> None:
    changed = sides(BEFORE.replace("import torch\n", "import torch\nN = 3\n"))
    assert idle(changed, [-1, -2]) == []
    assert idle(changed, []) == [("after", 2)]


def test_comments_and_blank_lines_are_no_places() -> None:
    assert exercise(sides(BEFORE.replace("    y = x", "    # more\n\n    y = x")), {}) == []


def test_a_statement_over_several_lines_ran_if_its_first_line_did() -> None:
    before = "def f(x):\n    return g(\n        x,\n        1,\n    )\n"
    changed = sides(before.replace("1,", "2,"), before)
    assert idle(changed, [2]) == []
    assert idle(changed, []) == [("after", 4)]


def test_an_inner_function_that_is_never_called_is_idle_though_its_outer_one_ran() -> None:
    before = "def f(x):\n    def g():\n        return 1\n    return x\n"
    changed = sides(before.replace("return 1", "return 2"), before)
    assert idle(changed, [2, 4]) == [("after", 3)]


@pytest.mark.parametrize("text", ["def f(:\n", "\x00", ""])
def test_text_that_does_not_parse_has_places_all_the_same(text: str) -> None:
    assert len(exercise(sides("def f(x):\n    return x\n", text), {})) == 1


def test_a_form_feed_ends_no_line() -> None:
    before = "X = 1\n\f\ndef f(x):\n    return x\n"
    changed = sides(before.replace("return x", "return -x"), before)
    assert idle(changed, [4]) == []
    assert idle(changed, [5]) == [("after", 4)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_python_counts_them(end: str) -> None:
    before = f"def f(x):{end}    return x{end}"
    changed = sides(before.replace("return x", "return -x"), before)
    assert idle(changed, [2]) == []
    assert idle(changed, [1]) == [("after", 2)]


def test_a_place_counts_where_one_of_several_ran() -> None:
    changed = sides(BEFORE.replace("    y = x + 1\n    return y", "    y = x + 2\n    return -y"))
    assert idle(changed, [6]) == []


def test_a_new_file_and_a_file_that_is_gone_are_places() -> None:
    text = b"def f(x):\n    return x\n"
    for before, after, side in ((None, text, "after"), (text, None, "before")):
        places = exercise(Sides(Path("/"), {"m.py": before}, {"m.py": after}), {})
        assert [(place.side, place.first, place.ran) for place in places] == [(side, 1, 0)]


def test_whether_lines_ran_is_unknown_at_the_top_level() -> None:
    raw = BEFORE.encode()
    assert did_run("m.py", raw, [5], [5]) is True
    assert did_run("m.py", raw, [5], [-5, 9]) is False
    assert did_run("m.py", raw, [1], [-1]) is None


def test_the_signature_of_an_inner_function_counts_only_when_that_function_ran() -> None:
    before = "def f(x):\n    def g(y=1):\n        return y\n    return x\n"
    changed = sides(before.replace("y=1", "y=2"), before)
    assert idle(changed, [2, 4]) == [("after", 2)]
    assert idle(changed, [2, 3, 4]) == []


def test_places_at_the_top_level_do_not_count_beside_others() -> None:
    changed = sides(BEFORE.replace("import torch\n", "import torch\nN = 3\n").replace("x + 1", "x + 2"))
    assert [(place.first, place.ran) for place in places_of(changed, [6])] == [(6, 1)]
