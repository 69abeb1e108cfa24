"""The review, on a terminal."""

from __future__ import annotations

import os
import re
import signal
import stat
from pathlib import Path

import pytest

from tests.ui.running import FILES, PROMPT, Terminal, run, texts, write_project

BEFORE = {path: text for path, text in FILES.items() if path.startswith("pkg/")}


def editor(tmp_path: Path, script: str) -> str:
    """An editor that is a shell script; `$1` is the file to edit."""
    file = tmp_path / "editor.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_a_finding_is_shown_with_place_symbol_message_reason_and_diff(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("q")
    terminal.end()
    for piece in (
        "1 of 6\n",
        "\npkg/a.py:2:5\n",
        "\ncall_fast  safe  one\n",
        "\nslow() waits\n",
        "\nwhy: slow() waits a second",
        "\n2   -     slow()\n  2 +     fast()\n",
    ):
        assert piece in terminal.screen


def test_what_is_accepted_is_written_and_the_rest_is_not(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "n", "n", "n", "y", "n")
    assert terminal.end() == 1
    after = texts(project)
    assert after["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "fast()", 1)
    assert after["pkg/c.py"] == "def common():\n    return slow() or 1\n"
    assert after["pkg/b.py"] == BEFORE["pkg/b.py"].replace("shared", "common")


def test_the_run_and_how_to_take_it_back_are_named_at_the_end(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "q")
    terminal.end()
    assert "Run 1: 1 finding written in 1 file; `fullgraph undo 1` takes it back." in terminal.screen
    assert "1 fixed; 5 not asked about." in terminal.screen
    run(project, "undo", "1")
    assert texts(project) == BEFORE


def test_what_the_codemod_leaves_alone_is_counted_at_the_end(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("n", "n", "q")
    terminal.end()
    end = terminal.screen.rpartition("?] ")[2]
    assert "1 finding left alone: other reasons (1); --all shows it." in end
    assert "pkg/a.py" not in end
    assert "2 declined; 4 not asked about." in end


def test_an_unsafe_finding_is_labelled_and_says_why(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("n", "q")
    terminal.end()
    assert "unsafe: fast() may read its argument twice" in terminal.screen
    assert "apply (unsafe)? " in terminal.screen


def test_a_accepts_all_later_safe_ones_of_the_codemod_and_asks_about_the_unsafe(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("a", "n", "n")
    assert terminal.end() == 1
    assert terminal.asked == 3
    assert "4 fixed; 2 declined." in terminal.screen
    assert "slow(item)" in texts(project)["pkg/a.py"]


def test_whoever_leaves_after_a_has_accepted_the_later_ones(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("a", "q")
    assert terminal.end() == 1
    assert terminal.asked == 2
    assert "4 fixed; 2 not asked about." in terminal.screen
    assert "fast()" in texts(project)["pkg/b.py"]


def test_d_declines_the_rest_of_the_file(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("d", "y", "q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"]
    assert "fast()" in texts(project)["pkg/b.py"]


def test_a_finding_shows_its_edits_in_every_file(project: Path) -> None:
    terminal = Terminal(project, "fix", "--select", "rename_shared")
    terminal.answer("y")
    assert terminal.end() == 0
    assert "1 + from pkg.c import common" in terminal.screen
    assert "1 + def common():" in terminal.screen
    assert "1 finding written in 2 files" in terminal.screen


def test_u_takes_back_answers_one_by_one_with_all_that_followed_from_them(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "n", "a", "u", "u", "u", "u", "q")
    terminal.end()
    assert "There is no answer to take back." in terminal.screen
    assert texts(project) == BEFORE


def test_u_after_d_asks_about_the_file_again(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("d", "u", "y", "q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "fast()", 1)


def test_capital_letters_are_answers_too(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("Y", "Q")
    terminal.end()
    assert "1 fixed" in terminal.screen


@pytest.mark.parametrize("key", ["\x1b[1;5C", "\x1bOP", "\x1b[15~", "\x1b", "\t", "\r", "0", "7", "z", "é", "\x00"])
def test_other_keys_answer_nothing(project: Path, key: str) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer(key, "q")
    terminal.end()
    assert "That is none of the keys; ? explains them." in terminal.screen
    assert texts(project) == BEFORE


def test_an_arrow_key_with_a_letter_of_an_answer_in_it_is_no_answer(project: Path) -> None:
    """The left arrow ends with a D, the up arrow with an A."""
    terminal = Terminal(project, "fix")
    terminal.answer("\x1b[D", "\x1b[A", "q")
    terminal.end()
    assert "6 not asked about" in terminal.screen


def test_pasted_keys_are_one_answer_each(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("ynyq")
    terminal.end()
    assert "2 fixed; 1 declined; 3 not asked about." in terminal.screen


def test_a_paste_that_is_no_answer_is_dropped_as_a_whole(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("zip(yaml, pin); " * 40, "q")
    terminal.end()
    assert terminal.screen.count("That is none of the keys") == 1
    assert texts(project) == BEFORE


def test_ctrl_d_stops_and_keeps_what_was_accepted(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "\x04")
    assert terminal.end() == 1
    assert "1 fixed" in terminal.screen


def test_ctrl_c_writes_nothing_and_leaves_the_terminal_as_it_was(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "y")
    terminal.expect("3 of 6")
    assert terminal.is_listening
    terminal.press("\x03")
    terminal.expect("fullgraph: stopped; nothing was written")
    assert not terminal.is_listening
    assert terminal.end() == 130
    assert "Aborted" not in terminal.screen
    assert texts(project) == BEFORE
    assert not (project / ".fullgraph").exists()


def test_ctrl_c_in_a_second_project_names_what_the_first_has_written(project: Path, tmp_path: Path) -> None:
    other = write_project(tmp_path / "z_other")
    terminal = Terminal(tmp_path, "fix", str(project), str(other), "--select", "rename_shared")
    terminal.answer("y", "\x03")
    assert terminal.end() == 130
    assert f"stopped; run 1 in {project} had been written before" in terminal.screen
    assert texts(other) == BEFORE


def test_q_in_one_project_asks_about_no_other(project: Path, tmp_path: Path) -> None:
    other = write_project(tmp_path / "z_other")
    terminal = Terminal(tmp_path, "fix", str(project), str(other), "--select", "call_fast")
    terminal.answer("y", "q")
    assert terminal.end() == 1
    assert f"`fullgraph undo 1 --path {project}`" in terminal.screen
    assert "1 fixed; 9 not asked about." in terminal.screen


def test_ctrl_z_stops_the_review_and_fg_goes_on_with_it(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y")
    terminal.expect("2 of 6")
    os.kill(terminal.pid, signal.SIGSTOP)
    os.waitpid(terminal.pid, os.WUNTRACED)
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.asked += 1
    terminal.answer("n", "q")
    terminal.end()
    assert "1 fixed; 1 declined" in terminal.screen


def test_a_terminal_that_goes_away_writes_nothing(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y")
    terminal.expect("2 of 6")
    os.close(terminal.descriptor)
    os.waitpid(terminal.pid, 0)
    assert texts(project) == BEFORE


@pytest.mark.parametrize("columns", [40, 60, 100, 200])
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_nothing_is_wider_than_the_terminal_and_nothing_of_a_line_is_lost(
    project: Path, columns: int, term: str
) -> None:
    long = f"slow()  # {'a very long line ' * 12}end"
    (project / "pkg" / "a.py").write_text(f"{long}\n")
    terminal = Terminal(project, "fix", columns=columns, TERM=term)
    terminal.answer("?", "q")
    terminal.end()
    shown = terminal.screen.rpartition(PROMPT)[0].split("\n")
    assert max(map(len, shown)) <= columns
    start = next(number for number, line in enumerate(shown) if line.startswith("  1 + "))
    assert "".join(line[6:] for line in shown[start:]).startswith(long.replace("slow", "fast"))
    if columns == 40:
        assert "\na  apply this and all later ones of the\n   same codemod" in terminal.screen.replace(" \n", "\n")


def test_a_resize_is_noticed(project: Path) -> None:
    terminal = Terminal(project, "fix", columns=100)
    terminal.expect("?] ")
    terminal.resize(40)
    terminal.asked += 1
    terminal.answer("q")
    terminal.end()
    assert "\nwhy: slow() waits a second for nothing;\nfast() does not.\n" in terminal.screen.replace(" \n", "\n")


def test_no_color_is_plain_in_the_review(project: Path) -> None:
    terminal = Terminal(project, "fix", NO_COLOR="1")
    terminal.answer("y", "q")
    terminal.end()
    assert not re.search(rb"\x1b\[[0-9;]*m", terminal.raw)


def test_a_dumb_terminal_gets_no_escape_at_all_and_every_finding_once(project: Path) -> None:
    terminal = Terminal(project, "fix", TERM="dumb")
    terminal.answer("z", "y", "q")
    terminal.end()
    assert b"\x1b" not in terminal.raw
    assert terminal.screen.count("  2 +     fast()\n") == 1
    assert "1 fixed; 5 not asked about." in terminal.screen


def test_a_finding_that_cannot_be_written_is_not_asked_about_but_named(project: Path) -> None:
    terminal = Terminal(project, "fix", "--option", "call_fast.to=fast(")
    terminal.answer("y")
    assert terminal.end() == 1
    assert "5 of 6\npkg/c.py:1:1" in terminal.screen
    assert "left alone: the result would not be valid" in terminal.screen


def test_findings_that_overlap_are_written_one_after_the_other(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(nest(1))\n")
    terminal = Terminal(project, "fix", "--select", "flatten_nest")
    terminal.answer("y", "y")
    assert terminal.end() == 0
    assert "note: overlaps flatten_nest at line 1, accepted above; comes after it" in terminal.screen
    assert texts(project)["pkg/a.py"] == "flat(flat(1))\n"
    assert "2 fixed." in terminal.screen


def test_a_declined_finding_is_not_written_in_a_later_round(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(nest(1))\nnest(2)\n")
    terminal = Terminal(project, "fix", "--select", "flatten_nest")
    terminal.answer("y", "y", "n")
    assert terminal.end() == 1
    assert "\nnest(2)\n" in texts(project)["pkg/a.py"]


def test_a_file_that_changed_during_the_review_is_not_written_over(project: Path) -> None:
    terminal = Terminal(project, "fix", "pkg/b.py", "--select", "call_fast")
    terminal.expect("?] ")
    (project / "pkg" / "b.py").write_text("mine = 1\n")
    terminal.answer("y")
    assert terminal.end() != 0
    assert "changed" in terminal.screen
    assert texts(project)["pkg/b.py"] == "mine = 1\n"


# The editor


def test_an_edited_diff_is_what_is_written(project: Path, tmp_path: Path) -> None:
    terminal = Terminal(project, "fix", EDITOR=editor(tmp_path, "sed -i 's/^+    fast()/+    faster(2)/' $1"))
    terminal.answer("e", "q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "faster(2)", 1)
    run(project, "undo")
    assert texts(project) == BEFORE


def test_u_takes_an_edited_diff_back(project: Path, tmp_path: Path) -> None:
    terminal = Terminal(project, "fix", EDITOR=editor(tmp_path, "sed -i 's/^+    fast()/+    faster(2)/' $1"))
    terminal.answer("e", "u", "y", "q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "fast()", 1)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("true", "The diff was not changed."),
        ("exit 1", "Editing failed"),
        ("rm $1", "the editor left nothing to read"),
        (": > $1", "The diff changes nothing any more; n declines the finding."),
        ("echo hello > $1", "The diff changes nothing any more; n declines the finding."),
        ("sed -i 's/^ def one/ def two/' $1", "Not taken: pkg/a.py: the edited patch does not fit at line 1."),
        ("sed -i 's/fast()/fast((/' $1", "Not taken: the result would not be valid: pkg/a.py: line 2"),
        ("sed -i 's/^@@.*/@@ nonsense @@/' $1", "'@@ nonsense @@' is no hunk header"),
        ("sed -i 's/fast()/slow(); slow()/' $1", "Not taken: refused: a second run would change the result again."),
        ("sed -i 's/pkg.a.py/pkg\\/b.py/' $1", "the edited patch names pkg/b.py, which is not part of this finding"),
        ("printf -- '--- a/\\377\\n+++ b/\\377\\n' > $1", "which is not part of this finding"),
    ],
)
def test_a_diff_that_cannot_be_taken_is_asked_about_again(
    project: Path, tmp_path: Path, script: str, said: str
) -> None:
    terminal = Terminal(project, "fix", EDITOR=editor(tmp_path, script))
    terminal.answer("e", "q")
    terminal.end()
    assert said in terminal.screen.replace("\n  ", " ")
    assert texts(project) == BEFORE


@pytest.mark.parametrize("command", ["no-such-editor", "'unclosed"])
def test_an_editor_that_cannot_be_started_is_one_line(project: Path, command: str) -> None:
    terminal = Terminal(project, "fix", EDITOR=command)
    terminal.answer("e", "q")
    assert terminal.end() == 1
    assert "Not taken: " in terminal.screen


def test_ctrl_c_in_the_editor_is_for_the_editor(project: Path, tmp_path: Path) -> None:
    terminal = Terminal(project, "fix", EDITOR=editor(tmp_path, "trap 'exit 0' INT; echo open; sleep 20 & wait"))
    terminal.answer("y", "e")
    terminal.expect("open")
    assert not terminal.is_listening
    terminal.press("\x03")
    terminal.answer("q")
    assert terminal.end() == 1
    assert "1 fixed" in terminal.screen
