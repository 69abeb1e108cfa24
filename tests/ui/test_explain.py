"""`list` and `explain`."""

from __future__ import annotations

from pathlib import Path

from fullgraph.codemods.registry import all_codemods
from fullgraph.codemods.ui.explain import explain, list_codemods, options_text
from tests.ui.running import SAMPLE, run
from tests.ui.sample_codemod import CallFast, RenameShared


def test_every_codemod_is_listed_with_one_line() -> None:
    lines = list_codemods().splitlines()
    assert [line.split()[0] for line in lines] == sorted(all_codemods())
    assert all(len(line.split()) > 3 for line in lines)


def test_every_codemod_explains_itself_with_what_it_leaves_alone_and_an_example() -> None:
    for name in all_codemods():
        text = explain(name)
        assert text.startswith(f"{name}\n")
        for piece in ("Left alone:", "Example\n--- a/", f"# fullgraph: ignore[{name}]"):
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
    assert (
        "call_fast      Call `fast()` where `slow()` is called.\n" in run(project, "list", "--codemod", str(SAMPLE)).out
    )
    text = run(project, "explain", "call_fast", "--codemod", str(SAMPLE)).out
    assert "--option call_fast.to=TEXT (default: fast)" in text
    assert run(project, "explain", "call_fast").code == 2
