"""The patterns: each ends as it was written down beforehand, and none is miscompiled."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.breaks.comparing import compare_plain
from tests.breaks.exam import Result, examine, record_compiled, refusals
from tests.breaks.patterns import ENDS, PATTERNS, Pattern, all_patterns
from tests.breaks.programs import MAIN, PLAIN, Program, opened
from tests.breaks.recording import record_program
from tests.breaks.rewriting import break_codemods
from validate.worker.recording.record import silenced

NAMES = {
    *("log_without_break", "select_without_branch", "check_without_branch"),
    *("keep_scalars_in_graph", "compile_setting"),
}
CODEMODS = break_codemods()
ALL = all_patterns()
EACH = pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
EXAM = pytest.mark.skipif(not CODEMODS, reason="no codemod repairs breaks: every pattern is unchanged")
SAMPLE = [
    *(pytest.param(pattern, "aot_eager", id=f"{pattern.name}-aot_eager") for pattern in ALL[::7]),
    *(pytest.param(pattern, "inductor", id=f"{pattern.name}-inductor") for pattern in ALL[3::29]),
]


def test_the_exam_is_large_and_knows_its_answers() -> None:
    assert len(ALL) >= 70
    assert {pattern.end for pattern in ALL} == set(ENDS)
    assert sum(pattern.end == "either" for pattern in ALL) < 0.15 * len(ALL)
    assert {name for pattern in ALL for name in pattern.by} == NAMES
    assert {folder.name for folder in PATTERNS.iterdir()} == {pattern.name for pattern in ALL}


@EACH
def test_a_pattern_says_why(pattern: Pattern) -> None:
    assert pattern.expected["why"]
    assert (pattern.end == "declined") == (not pattern.by)


@EACH
def test_the_calls_of_a_pattern_take_every_line_and_do_the_same_again(pattern: Pattern, tmp_path: Path) -> None:
    program = pattern.program()
    assert unreached(program, tmp_path) == []
    assert compare_plain(*(record_program(program, tmp_path, PLAIN) for _ in range(2))) == []


@pytest.mark.parametrize("pattern", [one for one in ALL if one.end == "repaired"], ids=lambda pattern: pattern.name)
def test_what_is_to_be_repaired_breaks(pattern: Pattern, tmp_path: Path) -> None:
    assert record_compiled(pattern.program(), tmp_path, "eager")[1].breaks


@EXAM
@EACH
def test_a_pattern_ends_as_expected(pattern: Pattern, tmp_path: Path) -> None:
    result = examined(pattern, tmp_path)
    assert not result.differences, show(result)
    assert is_reached(pattern, result) == (not pattern.missed), show(result)
    if result.is_changed and not pattern.missed:
        assert pattern.by & set(result.rewritten.by), show(result)
        check_graphs(result, tmp_path)


def test_most_of_what_is_to_be_repaired_is() -> None:
    wanted = [pattern for pattern in ALL if pattern.end == "repaired"]
    assert sum(not pattern.missed for pattern in wanted) >= 0.6 * len(wanted)


@EXAM
@pytest.mark.parametrize(("pattern", "backend"), SAMPLE)
def test_a_sample_is_the_same_under_other_backends(pattern: Pattern, backend: str, tmp_path: Path) -> None:
    result = examined(pattern, tmp_path, backend)
    assert not result.differences, show(result)


def examined(pattern: Pattern, folder: Path, backend: str = "eager") -> Result:
    """By what is safe; where that is not enough, by what says when it is not."""
    result = examine(pattern.program(), CODEMODS, folder, backend=backend)
    if end_of(result) == "repaired" or pattern.end != "repaired":
        return result
    bolder = examine(pattern.program(), CODEMODS, folder, unsafe=True, backend=backend)
    assert bolder.after == result.after or bolder.rewritten.caveats
    return bolder


def end_of(result: Result) -> str:
    """Changed is not yet repaired: fewer breaks are."""
    before, after = result.before_graphs, result.after_graphs
    if before is None or after is None:
        return "declined"
    return "repaired" if after.graphs and after.breaks < before.breaks else "changed for nothing"


def is_reached(pattern: Pattern, result: Result) -> bool:
    """Whether the end is the one that was written down, in one graph where that was wanted."""
    if pattern.end == "either":
        return True
    is_whole = result.after_graphs is not None and result.after_graphs.is_whole
    return end_of(result) == pattern.end and (is_whole or not pattern.one_graph)


def check_graphs(result: Result, folder: Path) -> None:
    """No breaks are believed if a graph was captured, and if torch agrees where a break is an error."""
    assert result.after_graphs is not None
    if result.after_graphs.is_whole:
        assert refusals(result.after, folder) == [], show(result)


def show(result: Result) -> str:
    told = [*result.differences, *result.rewritten.declined, str(result.before_graphs), str(result.after_graphs)]
    return "\n".join([*told, result.after.text])


# Which lines run


def unreached(program: Program, folder: Path) -> list[str]:
    """The statements in functions that no call comes by."""
    ran: set[int] = set()

    def follow(frame: FrameType, event: str, argument: Any) -> Any:
        if Path(frame.f_code.co_filename).name != MAIN:
            return None
        ran.add(frame.f_lineno)
        return follow

    before = sys.gettrace()
    with silenced(), opened(program, folder, PLAIN) as subject:
        sys.settrace(follow)
        try:
            for case in subject.cases:
                call_quietly(subject.call, case)
        finally:
            sys.settrace(before)
    lines = program.text.splitlines()
    return [lines[line - 1].strip() for line in sorted(set(statements(program.text)) - ran)]


def call_quietly(call: Any, case: Any) -> None:
    try:
        call(*case.args, **case.kwargs)
    except Exception:
        return


def statements(text: str) -> Iterator[int]:
    """The lines on which the statements of functions begin, without constructors and what has no code of its own."""
    tree = ast.parse(text)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if function.name != "__init__":
            inside = (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function)
            yield from (node.lineno for node in inside if not isinstance(node, ast.Try | ast.Pass | ast.Global))
