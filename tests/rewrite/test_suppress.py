"""`# fullgraph: ignore[name]`: on its line, in a comment, and named when it silences nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import FileResult, find
from tests.rewrite.sample import ShareImport, SwapCall


def found(text: str | bytes) -> FileResult:
    raw = text if isinstance(text, bytes) else text.encode()
    return find(Project(Path("/nowhere"), ["a.py"], {"a.py": raw}), "a.py", [SwapCall(), ShareImport()])


def lines(result: FileResult) -> list[int]:
    return [finding.line for finding in result.findings]


def unused(result: FileResult) -> list[tuple[int, str]]:
    return [(item.line, item.name) for item in result.unused]


@pytest.mark.parametrize(
    "comment",
    [
        "# fullgraph: ignore[swap_call]",
        "#fullgraph:ignore[swap_call]",
        "#   fullgraph:   ignore[ swap_call ]",
        "# noqa: E501  # fullgraph: ignore[swap_call]",
        "# fullgraph: ignore[swap_call] because of the tests",
        "# fullgraph: ignore[swap_call]  # noqa",
    ],
)
def test_a_comment_silences_its_line(comment: str) -> None:
    result = found(f"old()  {comment}\nold()\n")
    assert lines(result) == [2]
    assert result.suppressed == 1
    assert unused(result) == []


def test_several_names_in_one_comment_count_each() -> None:
    result = found("old() + bare()  # fullgraph: ignore[swap_call, share_import]\n")
    assert lines(result) == []
    assert result.suppressed == 2


def test_a_name_that_silences_nothing_is_named() -> None:
    result = found("old()  # fullgraph: ignore[swap_call, share_import]\nx = 1  # fullgraph: ignore[swap_call]\n")
    assert unused(result) == [(1, "share_import"), (2, "swap_call")]


def test_an_unknown_name_and_no_name_silence_nothing() -> None:
    result = found("old()  # fullgraph: ignore[swap_calls]\nold()  # fullgraph: ignore\nold()  # fullgraph: ignore[]\n")
    assert lines(result) == [1, 2, 3]
    assert unused(result) == [(1, "swap_calls"), (2, ""), (3, "")]


def test_a_codemod_that_did_not_run_was_not_asked() -> None:
    assert unused(found("x = 1  # fullgraph: ignore[disable_compile]\n")) == []


@pytest.mark.parametrize(
    "text", ['x = "# fullgraph: ignore[swap_call]"; old()\n', '"""\n# fullgraph: ignore[swap_call]\n"""; old()\n']
)
def test_in_a_string_it_is_no_comment(text: str) -> None:
    assert len(lines(found(text))) == 1
    assert found(text).suppressed == 0


@pytest.mark.parametrize("line", [1, 4])
def test_the_first_and_the_last_line_of_a_long_finding_count(line: int) -> None:
    text = ["old(", "    1,", "    2,", ")"]
    text[line - 1] += "  # fullgraph: ignore[swap_call]"
    assert lines(found("\n".join(text))) == []


def test_a_line_in_the_middle_does_not_count() -> None:
    result = found("old(\n    1,  # fullgraph: ignore[swap_call]\n)\n")
    assert lines(result) == [1]
    assert unused(result) == [(2, "swap_call")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("head", ["", "\f\n", "# \u00e9\n", "if x:\n\tpass\n", "s = '''\n\n'''\n", "t = 1 + \\\n  2\n"])
def test_any_layout_has_the_same_lines(newline: str, head: str) -> None:
    text = head + "x = 1\nold()  # fullgraph: ignore[swap_call]\nold()\n"
    result = found(text.replace("\n", newline))
    assert result.suppressed == 1
    assert lines(result) == [head.count("\n") + 3]


def test_a_file_with_nothing_but_a_suppression_is_looked_at() -> None:
    assert unused(found("x = 1  # fullgraph: ignore[swap_call]\n")) == [(1, "swap_call")]


def test_other_encodings_are_read_too() -> None:
    result = found(b"# coding: latin-1\nold('\xe9')  # fullgraph: ignore[swap_call]\n")
    assert (result.suppressed, lines(result)) == (1, [])


def test_two_comments_on_both_ends_of_a_finding_are_both_used() -> None:
    mark = "# fullgraph: ignore[swap_call]"
    result = found(f"old(  {mark}\n    1,\n)  {mark}\n")
    assert (result.suppressed, unused(result)) == (1, [])


def test_a_longer_word_is_no_suppression() -> None:
    assert unused(found("old()  # fullgraph: ignored by nobody\n")) == []
