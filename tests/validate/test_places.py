"""Lines of a program: whose they are, in which function they stand, and how breaks at one place become one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.graphs import breaks
from fullgraph.validate.worker.graphs.breaks import LONGEST, WAYS, Break, list_breaks, merge, one_line
from fullgraph.validate.worker.graphs.frames import Failure, Frame
from fullgraph.validate.worker.graphs.places import (
    PYTHON,
    TORCH,
    Line,
    find_deepest,
    find_definition,
    is_pythons,
    is_torchs,
    is_users,
    name_function,
    start_of,
)
from fullgraph.validate.worker.graphs.stacks import DEEPEST, tell_stack

TEXT = """\
import functools


@functools.cache
@functools.wraps(print)
def decorated(x):
    return [y for y in x]


class Net:
    def forward(self, x):
        return (lambda y: y)(x)
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "net.py").write_text(TEXT)
    return str(tmp_path / "net.py")


# Whose


def test_files_of_torch_and_of_python_are_not_the_users_and_installed_ones_are() -> None:
    installed = f"{PYTHON[0]}/site-packages/lib/a.py"
    assert [is_users(path) for path in (f"{TORCH}/nn/a.py", f"{PYTHON[0]}/json/a.py", "<string>")] == [False] * 3
    assert (is_users(installed), is_pythons(installed)) == (True, False)
    assert is_users("/project/net.py")


def test_a_folder_that_begins_like_torchs_is_not_torchs() -> None:
    assert is_torchs(f"{TORCH}/a.py")
    assert not is_torchs(f"{TORCH}vision/a.py")


def test_the_users_deepest_line_is_told_and_without_one_the_deepest_of_torch() -> None:
    user, inner, deep = Line("/p/a.py", 1, "f"), Line("/p/b.py", 2, "g"), Line(f"{TORCH}/a.py", 3, "h")
    assert find_deepest([user, inner, deep]) == inner
    assert find_deepest([deep, deep._replace(line=9)]) == deep._replace(line=9)
    assert find_deepest([]) is None


# In which function


def test_a_function_is_told_with_the_classes_around_it(file: str) -> None:
    assert name_function(Line(file, 12, "forward")) == "Net.forward"
    assert name_function(Line(file, 7, "<listcomp>")) == "decorated"
    assert name_function(Line(file, 12, "<lambda>")) == "Net.forward.<lambda>"
    assert name_function(Line(file, 1, "<genexpr>")) == "<module>"
    assert name_function(Line(file, 12, "torch_dynamo_resume_in_forward_at_12")) == "Net.forward"
    assert name_function(Line("/gone.py", 3, "f")) == "f"


def test_a_function_begins_at_its_def_and_not_at_its_decorators(file: str) -> None:
    assert start_of(Line(file, 4, "decorated")).line == 6
    assert start_of(Line(file, 4, "other")).line == 4
    assert start_of(Line(file, 11, "forward")).line == 11
    assert start_of(Line(file, 12, "torch_dynamo_resume_in_forward_at_12")).line == 12


def test_the_definition_of_what_is_called_is_found_behind_modules_partials_and_compiled_forms() -> None:
    import functools

    def plain(x: Any) -> Any:
        return x

    wanted = find_definition(plain)
    assert wanted.function == "plain"
    assert find_definition(functools.partial(plain, 1)) == wanted
    assert find_definition(torch.compile(plain)) == wanted
    assert find_definition(torch.nn.Linear(1, 1)).function == "forward"
    assert find_definition(len) == Line("", 0, "len")


# Stacks


def test_of_a_deep_stack_the_lines_next_to_the_break_are_told() -> None:
    stack = [Line("/p/a.py", line, f"f{line}") for line in range(DEEPEST + 5)]
    assert [line["line"] for line in tell_stack(stack)] == list(range(5, DEEPEST + 5))


def test_only_what_lies_behind_the_last_entrance_is_told() -> None:
    entrance = Line(f"{TORCH}/_dynamo/eval_frame.py", 1, "compile_wrapper")
    stack = [Line("/p/a.py", 1, "main"), entrance, Line("/p/a.py", 2, "f"), entrance, Line("/p/a.py", 3, "g")]
    assert [line["line"] for line in tell_stack(stack)] == [3]
    other = Line("/p/eval_frame.py", 1, "mine")
    assert [line["line"] for line in tell_stack([other, Line("/p/a.py", 2, "f")])] == [1, 2]


# Breaks at one place


def frame(line: int = 1, function: str = "f", **more: Any) -> Frame:
    return Frame("/p/a.py", line, function, **more)


def failed(line: int, message: str = "no way", soft: bool = True, function: str = "f", **more: Any) -> Frame:
    failure = Failure("Unsupported", soft, message, [Line("/p/a.py", line, function)])
    return frame(function=function, failure=failure, outcome="raised", **more)


def test_a_place_that_ends_two_functions_counts_for_both_and_the_same_function_once() -> None:
    (one,) = list_breaks([failed(3), failed(3, function="g"), failed(3)])
    assert (one.frames, one.count) == (2, 3)


def test_two_reasons_on_one_line_are_two_breaks() -> None:
    assert [one.reason for one in list_breaks([failed(3, "first"), failed(3, "second")])] == ["first", "second"]


def test_an_error_outweighs_a_break_at_the_same_place() -> None:
    """A frame is given up for good by an error: that is what a reader must know."""
    told: dict[Any, Break] = {}
    for kind in ("skipped", "error", "break"):
        merge(told, ("/p/a.py", 3, "r"), Break("/p/a.py", 3, "f", "", "r", kind=kind))
    assert [(one.kind, one.count) for one in told.values()] == [("error", 3)]


def test_the_ways_to_a_break_are_bounded_and_each_is_told_once() -> None:
    told: dict[Any, Break] = {}
    for way in [*range(WAYS + 3), 0, 1]:
        merge(told, "k", Break("/p/a.py", 3, "f", "", "r", stacks=[[{"line": way}]]))  # type: ignore[arg-type]
    (one,) = told.values()
    assert [stack[0]["line"] for stack in one.stacks] == list(range(WAYS))


def test_a_frame_that_raised_is_a_break_if_torch_meant_to_and_an_error_otherwise() -> None:
    assert [one.kind for one in list_breaks([failed(3)])] == ["break"]
    (one,) = list_breaks([failed(3, "index out of range", soft=False)])
    assert (one.kind, one.reason) == ("error", "Unsupported: index out of range")


def test_a_frame_that_was_skipped_for_nothing_is_told_only_if_it_has_tensors() -> None:
    assert list_breaks([frame(skip="torch gave up", tensors=False)]) == []
    assert [one.kind for one in list_breaks([frame(skip="torch gave up", tensors=True)])] == ["skipped"]
    assert list_breaks([frame(skip="no content in function call", tensors=True)]) == []


def test_reasons_are_one_line_without_addresses_and_no_longer_than_can_be_read() -> None:
    assert one_line("a  call\n of 0x7f00aa11bb") == "a call of 0x..."
    assert one_line("x" * LONGEST) == "x" * LONGEST
    cut = one_line("x" * (LONGEST + 1))
    assert (len(cut), cut[-4:]) == (LONGEST, "x...")


def test_a_hint_of_the_message_comes_before_that_of_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "_dynamo").mkdir()
    entry = {"Gb_type": "print", "Hints": ["use a log"]}
    (tmp_path / "_dynamo" / "graph_break_registry.json").write_text(json.dumps({"GB0001": [entry]}))
    monkeypatch.setattr(breaks, "TORCH", str(tmp_path))
    breaks.read_registry.cache_clear()
    try:
        assert breaks.find_hint("print\n  Hint: leave it out\n  Hint: or not\n\n", "GB0001") == "leave it out"
        assert breaks.find_hint("print", "GB0001") == "use a log"
        assert breaks.find_id("print", "print") == "GB0001"
        assert breaks.find_id("see /gb/gb0042.html", "print") == "GB0042"
    finally:
        breaks.read_registry.cache_clear()
