"""The keys of the review that show something, prove, ignore and open; pages; alternatives. On a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.ui.running import Terminal, run, texts, write_project
from tests.ui.test_review import BEFORE, editor

ALTERNATIVES = ("--codemod", str(Path(__file__).parent / "sample_alternatives.py"))
LOUD = "def speak():\n    loud(1)\n    loud(2)\n\n\nloud(3)\n"
MENDED = LOUD.replace("loud(1)", "quiet(1)").replace("loud(2)", "quiet(2)").replace("loud(3)", "quiet(3)")


@pytest.fixture
def loud(project: Path) -> Path:
    return write_project(project, {"pkg/a.py": LOUD, "pkg/b.py": "", "pkg/c.py": ""})


def after_the_review(terminal: Terminal) -> str:
    """What is on the screen when the review has given it back."""
    return terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()


def test_after_the_review_only_the_summary_is_left_on_the_screen(project: Path) -> None:
    terminal = Terminal(project, "fix", "pkg/b.py", "--select", "call_fast")
    terminal.answer("y")
    assert terminal.end() == 0
    assert terminal.raw.count(b"\x1b[?1049h") == terminal.raw.count(b"\x1b[?1049l") == 1
    shown = after_the_review(terminal)
    assert "Run 1: 1 finding written in 1 file" in shown
    assert "fixed: call_fast" not in shown
    assert "apply?" not in shown
    assert "why:" not in shown


def test_ctrl_c_gives_the_screen_back(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "\x03")
    assert terminal.end() == 130
    assert "nothing was written" in after_the_review(terminal)


def test_the_progress_counts_what_was_answered(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "n", "i", "q")
    terminal.end()
    for line in ("1 of 6\n", "2 of 6, 1 accepted\n", "3 of 6, 1 accepted, 1 declined\n"):
        assert line in terminal.screen
    assert "4 of 6, 1 accepted, 1 declined, 1 ignored\n" in terminal.screen


# What keys show


def test_x_explains_the_codemod_and_asks_again(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("x", "y", "q")
    terminal.end()
    assert "Call `fast()` where `slow()` is called." in terminal.screen
    assert "1 fixed" in terminal.screen


def test_s_counts_by_codemod(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("y", "n", "s", "q")
    terminal.end()
    assert "codemod        left  accepted  declined  ignored\n" in terminal.screen
    assert "call_fast         3         1         1        0\n" in terminal.screen
    assert "rename_shared     1         0         0        0\n" in terminal.screen


def test_a_long_diff_has_pages_and_the_reason_stays_in_view(project: Path) -> None:
    (project / "pkg" / "b.py").write_text("from pkg.c import shared\n\n\n" + "shared()\n\n\n\n" * 30)
    terminal = Terminal(project, "fix", "--select", "rename_shared")
    terminal.answer(" ", "\x1b[6~", " ", " ", " ", " ", "b", "q")
    terminal.end()
    pages = terminal.raw.decode().split("\x1b[H\x1b[2J")[2:]
    assert all("shared is called common now" in page for page in pages)
    assert "lines 1-" in pages[0]
    assert "lines 1-" not in pages[1]
    last = pages[-2]
    assert "121" in last  # of b.py, whose last line it is
    assert pages[-3].split("apply?")[0].count("\n") == last.split("apply?")[0].count("\n")
    assert pages[-1] != last
    assert all(page.count("\n") <= 40 for page in pages)


def test_a_low_terminal_shows_the_caveat_and_some_lines_of_the_diff(project: Path) -> None:
    terminal = Terminal(project, "fix", "pkg/a.py")
    terminal.answer("n")
    terminal.expect("2 of 3")
    terminal.resize(40, 14)
    terminal.asked += 1
    terminal.answer("q")
    terminal.end()
    page = terminal.raw.decode().partition("\x1b[?1049l")[0].split("\x1b[H\x1b[2J")[-1].split("apply")[0]
    assert page.count("\n") <= 12
    assert "unsafe: " in page
    assert "..." in page


# i


def test_i_writes_a_comment_in_the_same_run_and_nobody_is_asked_again(project: Path) -> None:
    terminal = Terminal(project, "fix", "pkg/b.py", "pkg/c.py", "--select", "call_fast")
    terminal.answer("i", "y")
    assert terminal.end() == 0
    assert texts(project)["pkg/b.py"] == BEFORE["pkg/b.py"].replace("slow()", "slow()  # fullgraph: ignore[call_fast]")
    assert "fast()" in texts(project)["pkg/c.py"]
    assert "1 fixed; 1 ignored from now on." in terminal.screen
    assert run(project, "check", "pkg/b.py", "pkg/c.py", "--select", "call_fast").code == 0


def test_undo_takes_the_comment_back(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("i", "y", "q")
    terminal.end()
    assert "add_ignore  one\n" in run(project, "log").out
    run(project, "undo")
    assert texts(project) == BEFORE


def test_u_takes_an_ignored_finding_back(project: Path) -> None:
    terminal = Terminal(project, "fix")
    terminal.answer("i", "u", "y", "q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "fast()", 1)


def test_a_line_that_has_no_room_for_a_comment_says_so(project: Path) -> None:
    (project / "pkg" / "a.py").write_text('x = slow() + """\n"""; y = 2 + \\\n    1\n')
    terminal = Terminal(project, "fix", "pkg/a.py")
    terminal.answer("i", "q")
    terminal.end()
    assert "Not ignored: no comment has room there" in terminal.screen


def test_a_comment_is_written_without_a_proof(project: Path) -> None:
    (project / "scenario.py").write_text("raise SystemExit('never run')\n")
    terminal = Terminal(project, "fix", "pkg/b.py", "--select", "call_fast", "--prove", "scenario.py")
    terminal.answer("i")
    assert terminal.end() == 0
    assert "ignore[call_fast]" in texts(project)["pkg/b.py"]


def test_an_ignored_finding_that_overlaps_is_never_written_as_a_rewrite(project: Path) -> None:
    (project / "pkg" / "a.py").write_text("nest(\n    nest(1)\n)\n")
    terminal = Terminal(project, "fix", "--select", "flatten_nest", "pkg/a.py")
    terminal.answer("y", "i", "q")
    terminal.end()
    assert "Not ignored: overlaps flatten_nest at pkg/a.py:1." in terminal.screen
    assert texts(project)["pkg/a.py"] == "flat(\n    nest(1)\n)\n"


# o


def test_o_opens_the_place_and_the_question_stays(project: Path, tmp_path: Path) -> None:
    vim = tmp_path / "vim"
    Path(editor(tmp_path, f'echo "$@" > {tmp_path}/opened')).rename(vim)
    terminal = Terminal(project, "fix", VISUAL=str(vim))
    terminal.answer("n", "o", "y", "q")
    terminal.end()
    assert (tmp_path / "opened").read_text() == f"+9 {project / 'pkg/a.py'}\n"
    assert "1 fixed; 1 declined" in terminal.screen


def test_a_file_that_was_changed_in_the_editor_is_left_as_it_is(project: Path, tmp_path: Path) -> None:
    terminal = Terminal(project, "fix", EDITOR=editor(tmp_path, 'echo "mine = 1" >> $1'))
    terminal.answer("y", "o", "n", "n", "n")
    assert terminal.end() == 1
    assert terminal.asked == 5  # of a.py, nothing is asked any more
    assert "pkg/a.py has changed since it was looked at" in terminal.screen
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"] + "mine = 1\n"


def test_an_editor_that_cannot_be_started_opens_nothing(project: Path) -> None:
    terminal = Terminal(project, "fix", EDITOR="no-such-editor")
    terminal.answer("o", "q")
    assert terminal.end() == 1
    assert "Not opened: no-such-editor cannot be run" in terminal.screen


# 1 2 3


def test_the_alternative_that_reaches_one_graph_comes_first(loud: Path) -> None:
    terminal = Terminal(loud, "fix", *ALTERNATIVES)
    terminal.answer("q")
    terminal.end()
    assert "alternatives: 1 mend_loud (shown), 2 keep_loud_out" in terminal.screen
    assert "\nmend_loud  safe  speak\n" in terminal.screen


def test_accepting_a_repair_declines_the_isolation_and_asks_about_the_other_repairs(loud: Path) -> None:
    terminal = Terminal(loud, "fix", *ALTERNATIVES)
    terminal.answer("y", "y", "y")
    assert terminal.end() == 1
    assert texts(loud)["pkg/a.py"] == MENDED
    assert "3 fixed; 1 declined." in terminal.screen


def test_accepting_the_isolation_declines_all_repairs_on_its_lines(loud: Path) -> None:
    terminal = Terminal(loud, "fix", *ALTERNATIVES)
    terminal.answer("2", "y")
    assert terminal.end() == 1
    assert texts(loud)["pkg/a.py"] == "def speak():\n    outside()\n"
    assert "1 fixed; 3 declined." in terminal.screen


def test_u_brings_the_alternatives_back(loud: Path) -> None:
    terminal = Terminal(loud, "fix", *ALTERNATIVES)
    terminal.answer("n", "2", "1", "y", "u", "u", "q")
    terminal.end()
    assert terminal.screen.count("alternatives: 1 mend_loud (shown), 2 keep_loud_out") == 5
    assert texts(loud)["pkg/a.py"] == LOUD


def test_whoever_declines_every_repair_is_asked_about_the_isolation(loud: Path) -> None:
    terminal = Terminal(loud, "fix", *ALTERNATIVES)
    terminal.answer("n", "n", "n", "y")
    assert terminal.end() == 1
    assert "outside()" in texts(loud)["pkg/a.py"]


# p


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_what_cannot_be_proven_says_why_and_the_question_stays(project: Path, term: str) -> None:
    terminal = Terminal(project, "fix", "--prove", "nowhere.py", TERM=term)
    terminal.answer("p", "q")
    terminal.end()
    assert terminal.screen.count("proof: undecided: nowhere.py: no such file") == 1


def test_a_finding_outside_of_functions_has_no_scenario(project: Path) -> None:
    (project / "pkg" / "b.py").write_text("slow()\n")
    terminal = Terminal(project, "fix", "pkg/b.py", "--select", "call_fast")
    terminal.answer("p", "q")
    terminal.end()
    assert "proof: undecided: no scenario runs <module>, and none can be drafted" in terminal.screen


SCENARIO = """
from pathlib import Path

import torch

from pkg.a import one

with open(Path(__file__).with_name("starts.txt"), "a") as file:
    file.write("started\\n")


def build(device):
    return one


def cases(device, seed):
    return [(torch.ones(3),)]
"""


def test_what_was_proven_in_the_review_is_not_proven_again(project: Path) -> None:
    fast = "import torch\n\n\ndef slow():\n    torch._dynamo.graph_break()\n\n\ndef fast():\n    pass\n\n\n"
    text = fast + "def one(x):\n    slow()\n    return x + 1\n"
    write_project(project, {"pkg/a.py": text, "pkg/__init__.py": "", "scenarios/one.py": SCENARIO})
    quick = ("--prove", "scenarios/one.py", "--backend", "eager", "--untimed", "--python", sys.executable)
    terminal = Terminal(project, "fix", "pkg/a.py", *quick)
    terminal.answer("p")
    terminal.expect("proof: proven: ")
    starts = (project / "scenarios/starts.txt").read_text()
    terminal.answer("y")
    assert terminal.end() == 0, terminal.screen
    assert (project / "scenarios/starts.txt").read_text() == starts
    assert "PROVEN: scenarios/one.py" in terminal.screen
    assert "    fast()\n" in texts(project)["pkg/a.py"]
