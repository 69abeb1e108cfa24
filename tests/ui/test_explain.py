"""`list` and `explain`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.ui.explain import explain, list_codemods, options_text
from tests.ui.running import SAMPLE, run
from tests.ui.sample_codemod import CallFast, RenameShared


def test_every_codemod_is_listed_once_below_its_subject_with_what_was_measured() -> None:
    text = list_codemods()
    named = re.findall(r"(?m)^  (\w+)(?:  on request)?\n      \S.*\n", text)
    assert sorted(named) == sorted(all_codemods())
    assert "\n\nWhere the host waits for the device\n  batch_host_reads\n" in text
    assert "      Proven in 1 of 2 fixtures: recompiles 1 > 0 (torch " in text
    assert "  hoist_autocast  on request\n" in text


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_list_and_explain_fit_the_width(project: Path, columns: int) -> None:
    text = run(project, "list", COLUMNS=str(columns)).out
    assert max(map(len, text.splitlines())) <= columns
    prose = run(project, "explain", "batch_host_reads", COLUMNS=str(columns)).out.partition("Each `.item()`")[2]
    told = [line for line in prose.splitlines() if "--option" not in line]
    assert all(len(line) <= columns or " " not in line.strip() for line in told[:-1])


def test_explain_shows_the_example_before_all_else() -> None:
    text = explain("batch_host_reads")
    assert text.index("Example\n--- a/") < text.index("Each `.item()` makes the host wait") < text.index("Left alone:")


def test_every_codemod_explains_itself_with_what_it_leaves_alone_and_an_example() -> None:
    for name in all_codemods():
        text = explain(name)
        assert text.startswith(f"{name}\n")
        for piece in ("Left alone:", "Example\n", f"# fullgraph: ignore[{name}]"):
            assert piece in text, f"{name} lacks {piece}"


def test_options_are_shown_with_values_default_and_meaning() -> None:
    text = options_text(CallFast, False)
    assert "  --option call_fast.mode=call|mark (default: call)\n      Call the other name" in text
    assert "  --option call_fast.loud=true|false (default: false)\n" in text
    assert options_text(RenameShared, False) == ""


def test_a_wrong_name_is_answered_with_the_nearest(project: Path) -> None:
    result = run(project, "explain", "disable_compil")
    assert (result.code, result.out) == (2, "")
    assert result.err == "fullgraph: there is no codemod 'disable_compil'; did you mean 'disable_compile'?\n"


def test_colours_only_if_asked_for_or_on_a_terminal(project: Path) -> None:
    assert "\x1b[" not in run(project, "explain", "disable_compile").out
    assert "\x1b[" in run(project, "explain", "disable_compile", "--color", "always").out


def test_list_says_everything_on_stdout(project: Path) -> None:
    result = run(project, "list")
    assert (result.code, result.out, result.err) == (0, list_codemods(), "")


def test_the_codemods_of_a_file_can_be_listed_and_explained(project: Path) -> None:
    listed = run(project, "list", "--codemod", str(SAMPLE)).out
    assert "  call_fast\n      Call `fast()` where `slow()` is called.\n      Nothing measured.\n" in listed
    text = run(project, "explain", "call_fast", "--codemod", str(SAMPLE)).out
    assert "--option call_fast.to=TEXT (default: fast)" in text
    assert run(project, "explain", "call_fast").code == 2
