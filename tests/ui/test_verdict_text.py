"""A verdict on a terminal, and the line that shows what a proof is doing."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fullgraph.codemods.ui.stage_line import StageLine
from fullgraph.codemods.ui.verdict.as_text import verdict_text
from fullgraph.codemods.ui.verdict.diff import read_diff
from fullgraph.codemods.ui.verdict.places import breaks_by_fate, count_lines
from fullgraph.codemods.ui.verdict.rows import rows
from fullgraph.validate.model import Ratio, Sync, Verdict
from tests.ui.running import ANSI
from tests.ui.sample_verdicts import BRANCH, ITEM, PRINT, SAMPLES, diff_of

ROOT = Path(__file__).parent.parent.parent
EVERY = pytest.mark.parametrize("name", SAMPLES)


def text_of(*names: str, width: int = 80) -> str:
    return verdict_text([SAMPLES[name]() for name in names], False, width)


def flat(text: str) -> str:
    return " ".join(text.split())


@EVERY
@pytest.mark.parametrize("width", [80, 40, 24])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(map(len, text_of(name, width=width).splitlines())) <= width


@EVERY
def test_colours_change_nothing_but_colours(name: str) -> None:
    verdict = SAMPLES[name]()
    painted = verdict_text([verdict], True, 80)
    assert ANSI.sub("", painted) == verdict_text([verdict], False, 80)
    assert painted != verdict_text([verdict], False, 80)


def test_the_first_line_says_where_it_ran_and_what_cannot_be_seen_there() -> None:
    first = flat(text_of("proven").partition("\n\n")[0])
    assert first == (
        "Ran on cpu (AMD EPYC 7B13, 2 threads), torch 2.13.0+cpu, Python 3.11.2. "
        "It cannot show: what a host read costs on an accelerator, device memory."
    )


def test_what_a_device_cannot_show_may_be_one_sentence() -> None:
    verdict = SAMPLES["proven"]()
    told = replace(verdict, environment={**verdict.environment, "cannot_show": "device memory."})
    assert "It cannot show: device memory. PROVEN" in flat(verdict_text([told], False, 80))


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [
        ("proven", 32, "PROVEN"),
        ("neutral", 34, "NEUTRAL"),
        ("worse", 33, "WORSE"),
        ("different", 31, "DIFFERENT"),
        ("hang", 35, "UNDECIDED"),
    ],
)
def test_every_ruling_has_its_colour(name: str, code: int, word: str) -> None:
    assert f"\x1b[{code}m\x1b[1m{word}: " in verdict_text([SAMPLES[name]()], True, 80)


@pytest.mark.parametrize("name", ["proven", "neutral", "worse", "different", "big", "pytest_scenario", "fake_cuda"])
def test_the_sentence_is_the_verdicts_own(name: str) -> None:
    assert flat(SAMPLES[name]().sentence) in flat(text_of(name))


def test_the_table_has_every_number_with_what_follows() -> None:
    lines = [re.split(r"  +", line) for line in text_of("proven").splitlines()]
    for row in (
        ["number", "before", "after", "what follows"],
        ["cases", "4", "4", "equivalent"],
        ["graphs", "7", "2", "5 fewer"],
        ["graph breaks", "3", "0", "3 fewer"],
        ["fullgraph=True", "no", "yes", "compiles now"],
        ["recompiles", "4", "1", "3 fewer"],
        ["guards", "98", "44", "54 fewer"],
        ["guard time", "79.8 us", "33.2 us", "-58 %"],
        ["host reads", "8", "0", "8 fewer"],
        ["operators", "22", "18", "4 fewer"],
        ["compiled pass", "1.83 ms", "1.41 ms", "1.30x faster [1.28, 1.32]"],
        ["peak memory", "46.1 MiB", "44.1 MiB", "same (-4 %)"],
    ):
        assert row in lines


def test_a_narrow_terminal_gets_each_number_in_lines_of_its_own() -> None:
    text = text_of("worse", width=30)
    assert "\ngraph breaks: 0 > 1\n  1 more\n" in text
    assert "what follows" not in text


def test_what_was_not_measured_is_named_once_and_claims_nothing() -> None:
    text = flat(text_of("pytest_scenario"))
    assert "Not measured: graphs, graph breaks, fullgraph=True, recompiles" in text
    assert "graph breaks 0" not in text


def test_a_ratio_within_the_judges_margin_is_called_the_same() -> None:
    verdict = replace(SAMPLES["neutral"](), ratios={"compiled": Ratio(1.01, 1.005, 1.015, 40)})
    assert "the same [1.00, 1.01]" in next(row.follows for row in rows(verdict) if row.name == "compiled pass")


def test_a_slower_pass_is_told_with_a_number_above_one() -> None:
    follows = {row.name: row.follows for row in rows(SAMPLES["worse"]())}
    assert re.fullmatch(r"1\.1\dx slower \[1\.1\d, 1\.[12]\d\]", follows["compiled pass"])


def test_the_first_difference_is_shown_with_path_values_and_error_before_the_numbers() -> None:
    text = flat(text_of("different"))
    assert (
        "First difference: eager, before against after, in batch of 8 output['loss'] differs: value "
        "before: tensor(0.693147, dtype=torch.float64) after: tensor(0.693359, dtype=torch.float64) "
        "error: largest absolute error 2.1e-04, relative 3.1e-04, at ()"
    ) in text
    assert text.index("First difference") < text.index("what follows")
    assert "exception differs: type (after, eager against compiled, in batch of 24)" in text


def test_a_crash_is_told_with_its_stage_and_the_ends_of_its_text() -> None:
    text = text_of("crash")
    assert "\nafter: crash in the stage compiled\n  killed by SIGSEGV\n  Fatal Python error" in text
    assert "... 20 lines left out ..." in text
    assert "block_39.py" in text
    assert "block_20.py" not in text


def test_a_hang_of_both_sides_is_told_twice() -> None:
    assert text_of("hang").count("hang in the stage graphs\n  over the time limit of 300 s") == 2


def test_breaks_that_went_have_place_id_and_reason() -> None:
    text = flat(text_of("proven"))
    for one in (BRANCH, ITEM, PRINT):
        assert f"{one.file}:{one.line} in {one.function} ({one.id}) {one.reason}" in text


def test_a_break_that_came_is_told_as_such() -> None:
    text = flat(text_of("worse"))
    assert "Graph breaks that came (1) scaler.py:7 in Scaler.scale (GB0007)" in text
    assert "hint: " in text


def test_a_function_that_was_not_compiled_is_told_as_such() -> None:
    skipped = [one for one in SAMPLES["big"]().before.breaks or () if one.kind == "skipped"]
    base = SAMPLES["proven"]()
    verdict = replace(base, before=replace(base.before, breaks=tuple(skipped)))
    assert "metrics.py:12 in update_0 (GB0149, not compiled at all)" in flat(verdict_text([verdict], False, 80))


def shifted(lines: dict[int, int]) -> Verdict:
    """Three breaks of one kind in one function; a line is new above all, and the second break is gone."""
    before = "".join(f"line {number}\n" for number in range(30))
    after = "new\n" + before.replace("line 22\n", "")
    base = SAMPLES["proven"]()
    old = tuple(replace(ITEM, line=line) for line in lines)
    new = tuple(replace(ITEM, line=line) for line in lines.values() if line)
    return replace(
        base,
        before=replace(base.before, breaks=old),
        after=replace(base.after, breaks=new),
        diff=diff_of({"detector.py": before}, {"detector.py": after}),
    )


def test_of_three_alike_breaks_the_one_whose_line_went_is_the_one_that_went() -> None:
    fates = breaks_by_fate(shifted({20: 21, 23: 0, 26: 26}))
    assert fates
    assert [one.line for one in fates.went] == [23]
    assert [(one.line, two.line) for one, two in fates.stayed] == [(20, 21), (26, 26)]
    assert not fates.came


def test_a_break_that_moved_to_a_new_line_of_its_function_stayed() -> None:
    verdict = shifted({23: 5})
    text = verdict_text([verdict], False, 80)
    assert "Graph breaks that stayed (1)\n  detector.py:23 > 5 in PairDetector.forward (GB0124)" in text


def test_breaks_of_files_with_whole_paths_are_matched_too() -> None:
    verdict = shifted({20: 21})
    whole = "/srv/train/detector.py"
    sides = [
        replace(side, breaks=tuple(replace(one, file=whole) for one in side.breaks or ()))
        for side in (verdict.before, verdict.after)
    ]
    fates = breaks_by_fate(replace(verdict, before=sides[0], after=sides[1]))
    assert fates
    assert [(one.line, two.line) for one, two in fates.stayed] == [(20, 21)]


def test_host_reads_are_counted_by_line_across_the_change() -> None:
    verdict = shifted({})
    counts = count_lines(
        verdict,
        [Sync("detector.py", 20, "item", 3), Sync("detector.py", 23, "bool", 1), Sync("other.py", 4, "item", 1)],
        [Sync("detector.py", 21, "item", 1), Sync("other.py", 4, "item", 2), Sync("new.py", 1, "cpu", 1)],
    )
    assert [(one.place, one.call, one.before, one.after) for one in counts] == [
        ("detector.py:20 > 21", "item", 3, 1),
        ("other.py:4", "item", 1, 2),
        ("detector.py:23", "bool", 1, 0),
        ("new.py:1", "cpu", 0, 1),
    ]


def test_recompiles_are_listed_by_the_guard_that_failed() -> None:
    text = flat(text_of("proven"))
    assert "Recompiles before, by the guard that failed (4)" in text
    assert "PairDetector.forward (detector.py:18): step == 3 # logger.warning(..., step)" in text


def test_a_guard_that_failed_often_is_one_entry() -> None:
    base = SAMPLES["neutral"]()
    graphs = tuple(replace(graph, recompile="n == 3") for graph in (base.before.graphs or ()) * 5)
    text = verdict_text([replace(base, before=replace(base.before, graphs=graphs))], False, 80)
    assert "by the guard that failed (1)\n  pair_loss (pairs.py:1), 5 times: n == 3\n" in text


def test_a_long_list_is_cut_and_says_so() -> None:
    text = text_of("big")
    assert "Graph breaks that went (52)" in text
    assert "... and 40 more; --report FILE.html shows all" in text


def test_several_verdicts_are_counted_at_the_end_and_the_device_is_told_once() -> None:
    text = text_of("proven", "neutral", "worse")
    assert text.count("Ran on cpu") == 1
    assert text.count("Ran on cuda:0") == 1
    assert text.endswith("\n3 scenarios: 1 proven, 1 neutral, 1 worse; together worse.\n")


def test_nothing_that_a_terminal_would_act_on_gets_through() -> None:
    text = text_of("hostile")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u2066\udc80]", text)
    assert r"\x1b[2J\udc80" in text


def test_text_is_ascii_where_standard_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = replace(SAMPLES["proven"](), notices=("größer \N{SNOWMAN}",))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert r"gr\xf6\xdfer \u2603" in verdict_text([verdict], False, 80).encode("ascii").decode()


def test_a_diff_is_read_back_with_odd_names_and_missing_newlines() -> None:
    before, after = "-- a\n--- b\nlast", "-- a\n+++ c\nlast\n"
    (file,) = read_diff(diff_of({'odd "näme".py': before}, {'odd "näme".py': after}))
    assert file.path == 'odd "näme".py'
    assert file.counts == (2, 2)
    assert [line.text for line in file.hunks[0].lines] == ["-- a", "--- b", "last", "+++ c", "last"]
    assert [line.lacks_newline for line in file.hunks[0].lines] == [False, False, True, False, False]


def test_new_and_removed_files_are_read_from_a_diff() -> None:
    text = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+a\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert [(file.before, file.after, file.counts) for file in read_diff(text)] == [
        ("", "new.py", (1, 0)),
        ("old.py", "", (0, 1)),
    ]


def test_lines_are_found_again_below_and_above_every_hunk() -> None:
    before = [f"{number}\n" for number in range(1, 41)]
    after = [*before[:9], "x\n", *before[9:19], *before[20:]]
    (file,) = read_diff(diff_of({"a.py": "".join(before)}, {"a.py": "".join(after)}))
    for number, line in enumerate(before, 1):
        expected = after.index(line) + 1 if line in after else None
        assert file.line_after(number) == expected


# The progress line

SCRIPT = """
import sys, time
from fullgraph.codemods.ui.stage_line import StageLine
line = StageLine(quiet="quiet" in sys.argv)
line("eager", "before and after")
time.sleep(1.2)
line.stage("compiled", "before")
line.finish()
line("late", "")
print("done", file=sys.stderr)
"""


def run_stages(*arguments: str) -> str:
    """What a terminal gets to see."""
    ours, theirs = pty.openpty()
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], cwd=ROOT, stderr=theirs, timeout=120)
    os.close(theirs)
    assert done.returncode == 0
    with os.fdopen(ours, "rb") as screen:
        return screen.read1(65536).decode()


def test_the_stage_line_ticks_on_a_terminal_and_leaves_nothing_behind() -> None:
    screen = run_stages()
    assert "\reager: before and after  0 s" in screen
    assert "\reager: before and after  1 s" in screen
    assert "\rcompiled: before  0 s" in screen
    assert screen.endswith("\r" + " " * len("compiled: before  0 s") + "\rdone\r\n")
    assert "late" not in screen


def test_the_stage_line_is_silent_when_asked_or_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_stages("quiet") == "done\r\n"
    line = StageLine()
    line("eager", "before")
    line.finish()
    assert capfd.readouterr().err == ""
