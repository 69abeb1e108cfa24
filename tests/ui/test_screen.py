"""The screen of `check`: frames and diffs at any width, whatever the code and the names hold."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len

from fullgraph.codemods.ui.report.block import block, concise
from fullgraph.codemods.ui.screen import Screen
from fullgraph.codemods.ui.view import Assumed, CodeLine, FileDiff, View
from tests.ui.running import COMMAND, environment, run

LONG = "the number is read one at a time, " * 6


def view(frame: tuple[CodeLine, ...], **changes: object) -> View:
    given = {"frame": frame, "path": "a.py", "place": "a.py:1:1", "symbol": "f", **changes}
    return View("call_fast", LONG, **given)  # type: ignore[arg-type]


def shown(one: View, width: int = 80, color: bool = False) -> str:
    where = Screen(width, color)
    return where.show(block(one, where))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_fits_and_prose_is_wrapped_by_words(width: int) -> None:
    code = "    value = " + "call(" * 60 + ")" * 60
    one = view(
        (CodeLine(7, code, marked=(200, 230)),),
        assumptions=(Assumed(LONG),),
        notes=(LONG,),
        gain=LONG,
        fix=(FileDiff("a.py", ((CodeLine(7, code, "-"), CodeLine(7, code[:9], "+")),)),),
    )
    lines = shown(one, width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert " ".join(" ".join(lines).split()).count(LONG.strip()) == 4, "no word is torn"
    assert any("^" in line for line in lines), "the span is seen however far out it is"


def test_the_mark_is_below_the_code_with_wide_characters_and_tabs() -> None:
    text = '\tx = "日本語", slow()'
    start = text.index("slow")
    lines = shown(view((CodeLine(3, text, marked=(start, start + 6)),))).splitlines()
    code, mark = next((code, mark) for code, mark in pairwise(lines) if "^" in mark)
    before = code[: code.index("slow")]
    assert cell_len(before) == mark.index("^")
    assert mark.count("^") == 6
    assert "\t" not in code


def test_a_span_of_several_lines_has_a_bar_and_a_long_one_is_cut() -> None:
    frame = tuple(CodeLine(number, f"    line {number}", marked=(4, 10)) for number in range(1, 10))
    lines = [line.rstrip() for line in shown(view(frame)).splitlines()]
    start = lines.index("1 | /     line 1")
    assert lines[start : start + 6] == [
        "1 | /     line 1",
        "2 | |     line 2",
        "3 | |     line 3",
        "...",
        "9 | |     line 9",
        "  | |__________^",
    ]


def test_a_fix_of_the_line_that_is_shown_is_shown_with_its_mark_once() -> None:
    line = CodeLine(3, "slow()", marked=(0, 4))
    fix = (FileDiff("a.py", ((CodeLine(3, "slow()", "-"), CodeLine(3, "fast()", "+")),)),)
    lines = shown(view((line,), fix=fix)).splitlines()
    start = lines.index("3 - slow()")
    assert lines[start + 1 : start + 3] == ["  | ^^^^", "3 + fast()"]
    assert sum("slow()" in line for line in lines) == 1


def test_a_long_fix_says_how_much_of_it_is_missing() -> None:
    added = tuple(CodeLine(number, "x", "+") for number in range(1, 31))
    text = shown(view((), fix=(FileDiff("a.py", (added,)), FileDiff("b.py", (added,), is_new=True))))
    assert "... 24 more lines; `fullgraph fix --diff` shows all" in text
    assert "> b.py (new, 30 lines)" in text


def test_what_names_and_code_hold_is_never_sent_to_the_terminal() -> None:
    nasty = "\x1b[31m\x9b2J\n\u202e"
    line = CodeLine(1, f"x = '{nasty}'", marked=(0, 1))
    fix = (FileDiff(nasty, ((CodeLine(1, nasty, "+"),),)),)
    one = view((line,), path=nasty, place=nasty, symbol=nasty, notes=(nasty,), also=(nasty,), cost=nasty, fix=fix)
    assert not {"\x1b", "\x9b", "\u202e"} & {*shown(one)}
    assert not {"\x1b", "\x9b", "\u202e", "\n"} & {*concise(one)}


def test_colours_change_nothing_but_colours() -> None:
    one = view((CodeLine(3, "slow()", marked=(0, 4)),), notes=("n",))
    painted = shown(one, color=True)
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == shown(one)


# The command


def test_the_screen_of_a_small_project(project: Path) -> None:
    out = run(project, "check", "pkg/b.py").out
    assert out == (
        "pkg/b.py  1 finding\n"
        "\n"
        "call_fast [safe] slow() waits\n"
        " --> pkg/b.py:6:5 in two\n"
        "  |\n"
        "6 -     slow()\n"
        "  |     ^^^^^^\n"
        "6 +     fast()\n"
        "  |\n"
        "  = gain: slow() waits a second for nothing; fast() does not.\n"
        "  = help: `fullgraph fix --select call_fast`, `fullgraph explain call_fast`\n"
        "\n"
    )


def test_a_file_of_500_findings_shows_each_and_says_what_holds_for_all_once(project: Path) -> None:
    (project / "pkg" / "many.py").write_text("slow()\r\n" * 500)
    out = run(project, "check", "pkg/many.py").out
    assert out.count("--> pkg/many.py:") == 500
    assert out.count("= gain: ") == 1


def test_a_name_that_holds_a_line_break_and_an_escape_is_spelt_out(project: Path) -> None:
    (project / "pkg" / "a b\n\x1b[31m.py").write_text("slow()\n")
    for form in ("full", "concise"):
        out = run(project, "check", "--format", form, "pkg").out
        assert r"pkg/a b\x0a\x1b[31m.py:1:1" in out
        assert "\x1b" not in out


def test_jsonl_is_an_object_for_each_finding_as_json_has_it(project: Path) -> None:
    lines = [json.loads(line) for line in run(project, "check", "--format", "jsonl").out.splitlines()]
    assert lines == json.loads(run(project, "check", "--format", "json").out)["findings"]
    wrong = run(project, "check", "--format", "jsonl", "nope")
    assert (wrong.code, json.loads(wrong.err)) == (2, {"error": "no such file or folder", "place": "nope"})


def test_statistics_count_by_codemod_and_badge(project: Path) -> None:
    result = run(project, "check", "--statistics")
    assert [line.split() for line in result.out.splitlines()] == [
        ["codemod", "safe", "unsafe", "left", "alone"],
        ["call_fast", "4", "1", "1"],
        ["rename_shared", "1", "0", "0"],
    ]
    assert result.code == 1
    assert run(project, "check", "--statistics", "--format", "json").code == 2


def test_no_findings_say_what_was_looked_at_and_what_to_do_next(project: Path) -> None:
    (project / "pkg" / "net.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    return x + 1\n")
    said = run(project, "check", "--select", "log_without_break").err
    assert "No findings in 4 files.\n" in said
    assert "code is compiled in 1 place." in said
    assert "`fullgraph observe -- COMMAND`" in said


def test_a_long_line_of_a_fix_goes_on_in_the_next_row() -> None:
    text = "    x = [" + "1, " * 30 + "]"
    lines = shown(view((), fix=(FileDiff("a.py", ((CodeLine(1, text, "+"),),)),))).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("1 + "))
    assert (lines[start][4:] + lines[start + 1][4:].strip()).replace(" ", "") == text.replace(" ", "")


def test_jsonl_tells_of_a_file_before_the_next_is_looked_at(project: Path, tmp_path: Path) -> None:
    waits = tmp_path / "waits.py"
    waits.write_text(
        "import time\nfrom pathlib import Path\nfrom fullgraph import Codemod\n\n\nclass WaitForReader(Codemod):\n"
        "    def find(self, module, project):\n"
        "        while module.path == 'pkg/c.py' and not Path('read').exists():\n            time.sleep(0.05)\n"
        "        yield module.finding(self.name, module.tree.body[0], 'x', left_alone='y')\n"
    )
    given = [str(COMMAND), "check", "--codemod", str(waits), "--format", "jsonl"]
    with subprocess.Popen(given, cwd=project, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["path"] == "pkg/a.py"
        (project / "read").touch()
        assert [json.loads(line)["path"] for line in process.stdout] == ["pkg/b.py", "pkg/c.py"]
