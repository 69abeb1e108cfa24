"""The full screen of `fix --tui`, in process and on a terminal."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from fullgraph.codemods.foreign.load import load_codemods
from fullgraph.codemods.model import Finding
from fullgraph.codemods.project import Project
from fullgraph.codemods.rewrite.find import find
from fullgraph.codemods.rewrite.walk import plant_trees
from fullgraph.codemods.ui.proof import Proofs, without_scenarios
from fullgraph.codemods.ui.review.app import ReviewApp
from fullgraph.codemods.ui.review.desk import Desk
from fullgraph.codemods.ui.review.full_screen import MISSING
from fullgraph.codemods.ui.review.proving_now import ProveNow
from fullgraph.codemods.ui.review.widgets import Page
from fullgraph.validate.model import Measurement, Reason, Ruling, Settings, Verdict
from fullgraph.validate.scenario import read_scenario
from tests.ui.running import SAMPLE, Terminal, run, texts, write_project
from tests.ui.test_review import BEFORE, editor

ALTERNATIVES = Path(__file__).parent / "sample_alternatives.py"


def app_for(root: Path, codemod_file: Path = SAMPLE, **proving: Any) -> ReviewApp:
    codemods = [kind() for kind in load_codemods(codemod_file)]
    (tree,), _ = plant_trees([root])
    project = Project(root, tree.entries)
    findings = [one for path in sorted(tree.entries) if path.endswith(".py") for one in found(project, path, codemods)]
    proofs = Proofs(without_scenarios(True, "never", "local"), codemods, **proving).with_scenarios("scenario.py")
    desk = Desk(codemods, proving=ProveNow(proofs), codemod_files=(codemod_file,))
    desk.lay_out(findings, project)
    return ReviewApp(desk)


def found(project: Project, path: str, codemods: Sequence[Any]) -> Sequence[Finding]:
    return find(project, path, codemods).findings


def text_of(app: ReviewApp, name: str) -> str:
    return str(app.query_one(f"#{name}", Static).content)


def lines_of(app: ReviewApp) -> list[str]:
    return [str(option.prompt) for option in app.query_one(OptionList).options]


async def press(pilot: Pilot[bool], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def test_findings_stand_below_their_files_with_badge_and_answer(project: Path) -> None:
    app = app_for(project)
    async with app.run_test(size=(120, 40)) as pilot:
        assert lines_of(app)[:3] == ["pkg/a.py", "     2 call_fast  safe", "     9 call_fast  unsafe"]
        await press(pilot, "y", "n")
        assert lines_of(app)[1:4] == ["y    2 call_fast  safe", "n    9 call_fast  unsafe", "    11 call_fast  safe"]
        assert text_of(app, "progress") == "6 findings: 4 left, 1 accepted, 1 declined"
        assert "pkg/a.py:11:16" in text_of(app, "told")


async def test_the_finding_is_shown_with_reason_caveat_and_diff(project: Path) -> None:
    app = app_for(project)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "down")
        told = text_of(app, "told")
        assert "unsafe: fast() may read its argument twice" in told
        assert "why: slow() waits a second" in told
        assert "9 +             fast(item)" in text_of(app, "diff")


async def test_q_ends_with_what_was_accepted_and_ctrl_c_with_nothing(project: Path) -> None:
    for key, expected in (("q", True), ("ctrl+c", False)):
        app = app_for(project)
        async with app.run_test() as pilot:
            await press(pilot, "y", key)
        assert app.return_value is expected
        assert [one.line for one in app.desk.chosen()] == [2]


async def test_sweeps_decide_what_is_undecided_above_and_below(project: Path) -> None:
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, "n", "down", "a")
        assert [one.line for one in app.desk.chosen()] == [11, 6, 2]
        await press(pilot, "u")
        assert app.desk.chosen() == []
        assert text_of(app, "progress") == "6 findings: 5 left, 1 declined"


async def test_d_declines_the_file_and_goes_on_in_the_next(project: Path) -> None:
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, "d")
        assert app.finding
        assert app.finding.path == "pkg/b.py"


async def test_i_accepts_a_comment_in_place_of_the_rewrite(project: Path) -> None:
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, "i")
        (comment,) = app.desk.chosen()
        assert comment.edits[0].new_text == "  # fullgraph: ignore[call_fast]"
        assert lines_of(app)[1].startswith("i ")


async def test_a_number_goes_to_the_alternative_and_accepting_it_declines_the_others(project: Path) -> None:
    write_project(project, {"pkg/a.py": "loud(1)\nloud(2)\n", "pkg/b.py": "", "pkg/c.py": ""})
    app = app_for(project, ALTERNATIVES)
    async with app.run_test(size=(120, 40)) as pilot:
        assert "alternatives: 1 mend_loud:1, 2 keep_loud_out:1" in text_of(app, "told")
        await press(pilot, "2", "y")
        assert [one.codemod for one in app.desk.chosen()] == ["keep_loud_out"]
        assert text_of(app, "progress") == "3 findings: 1 accepted, 2 declined"
        assert "All are decided" in text_of(app, "said")


async def test_the_filter_shows_what_holds_the_text_and_escape_shows_all(project: Path) -> None:
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, "slash", *"rename", "enter")
        assert lines_of(app) == ["pkg/c.py", "     1 rename_shared  safe"]
        await press(pilot, "y", "escape")
        assert len(lines_of(app)) == 9
        assert [one.codemod for one in app.desk.chosen()] == ["rename_shared"]
        await press(pilot, "slash", *"nothing at all")
        assert "Nothing holds that text" in text_of(app, "told")
        await press(pilot, "enter", "y", "p", "i", "x", "1")
        assert len(app.desk.ledger.given) == 1


@pytest.mark.parametrize(
    ("key", "piece"),
    [("x", "Call `fast()` where"), ("s", "call_fast         5         0"), ("question_mark", "y  apply this finding")],
)
async def test_a_page_opens_over_the_screen_and_closes(project: Path, key: str, piece: str) -> None:
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, key)
        assert isinstance(app.screen, Page)
        assert piece in app.screen.text.plain
        await press(pilot, "y", "escape")
        assert not isinstance(app.screen, Page)
        assert app.desk.ledger.given == []


# Proofs


class Runner:
    """Proves when it is let, and counts how often it is asked."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked = 0

    def __call__(self, request: Any, sides: Any, *_: object) -> list[Verdict]:
        self.asked += 1
        assert self.go.wait(60)
        before, after = (Measurement(side, ran=dict.fromkeys(sides.before, (1,))) for side in ("before", "after"))
        scenario, reasons = read_scenario("scenario.py", sides.root), (Reason("breaks", "2 breaks less", "better"),)
        return [Verdict(Ruling.PROVEN, reasons, before, after, scenario, Settings())]


async def test_a_proof_runs_in_the_background_and_its_verdict_stands_in_the_list(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "scenario.py").touch()
    runner = Runner()
    app = app_for(project, run=runner)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "p", "p", "n")
        assert lines_of(app)[1] == "n    2 call_fast  safe  proving"
        runner.go.set()
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert lines_of(app)[1] == "n    2 call_fast  safe  proven"
        await press(pilot, "up")
        assert "proof: proven: 2 breaks less (scenario.py)" in text_of(app, "told")
        assert runner.asked == 1


async def test_a_verdict_may_come_while_a_page_is_open(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "scenario.py").touch()
    runner = Runner()
    app = app_for(project, run=runner)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "p", "s")
        runner.go.set()
        await app.workers.wait_for_complete()
        await pilot.resize_terminal(70, 30)
        await press(pilot, "escape")
        assert lines_of(app)[1] == "     2 call_fast  safe  proven"


async def test_a_proof_that_fails_leaves_the_review_as_it_was(project: Path) -> None:
    def broken(*_: object) -> list[Verdict]:
        raise RuntimeError("no luck")

    app = app_for(project, run=broken)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(pilot, "y", "up", "p")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "undecided: RuntimeError: no luck" in text_of(app, "said")
        assert len(app.desk.chosen()) == 1


def test_what_was_proven_in_the_review_is_known_to_the_prover(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "scenario.py").touch()
    runner = Runner()
    runner.go.set()
    desk = app_for(project, run=runner).desk
    first = desk.ledger.queue[0]
    assert desk.prove(first) == desk.prove(first)
    assert runner.asked == 1
    desk.prove(desk.ledger.queue[2])
    assert runner.asked == 2


# Sizes


def many(root: Path, number: int) -> Path:
    lines = [f"def f{one}():\n    slow()\n\n\n" for one in range(number // 10)]
    return write_project(root, {f"pkg/m{file}.py": "".join(lines) for file in range(10)})


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (200, 60)])
async def test_nothing_is_cut_off_at_any_size_and_after_a_resize(project: Path, size: tuple[int, int]) -> None:
    app = app_for(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.resize_terminal(*size)
        await pilot.pause()
        room = app.query_one("#detail").scrollable_content_region
        assert room.height >= 1
        assert all(len(line) <= max(room.width, 20) for line in text_of(app, "diff").splitlines())
        await press(pilot, "y")
        assert len(app.desk.chosen()) == 1


async def test_five_hundred_findings_are_a_list_like_any_other(tmp_path: Path) -> None:
    app = app_for(many(tmp_path / "many", 500))
    async with app.run_test(size=(120, 40)) as pilot:
        assert text_of(app, "progress") == "500 findings: 500 left"
        await press(pilot, "end", "y", "home", "n", "a")
        assert text_of(app, "progress") == "500 findings: 499 accepted, 1 declined"
        await press(pilot, "u", "u", "u")
        assert text_of(app, "progress") == "500 findings: 500 left"


async def test_one_finding_is_decided_with_one_key(project: Path) -> None:
    write_project(project, {"pkg/a.py": "slow()\n", "pkg/b.py": "", "pkg/c.py": ""})
    app = app_for(project)
    async with app.run_test() as pilot:
        await press(pilot, "y", "y", "q")
    assert len(app.desk.chosen()) == 1


# On a terminal


def test_what_is_accepted_is_journaled_and_undone_as_in_the_other_review(project: Path) -> None:
    terminal = Terminal(project, "fix", "--tui")
    terminal.expect("6 findings")
    terminal.press("yiq")
    assert terminal.end() == 1
    assert "1 fixed; 1 ignored from now on; 4 not asked about." in terminal.screen
    assert "fast()" in texts(project)["pkg/a.py"]
    assert "slow(item)  # fullgraph: ignore[call_fast]" in texts(project)["pkg/a.py"]
    run(project, "undo", "1")
    assert texts(project) == BEFORE


def test_ctrl_c_writes_nothing(project: Path) -> None:
    terminal = Terminal(project, "fix", "--tui")
    terminal.expect("6 findings")
    terminal.press("yy\x03")
    assert terminal.end() == 130
    assert "stopped; nothing was written" in terminal.screen
    assert texts(project) == BEFORE


def test_the_diff_can_be_edited_and_the_place_opened(project: Path, tmp_path: Path) -> None:
    script = "sed -i 's/^+    fast()/+    faster(2)/' $1; echo $1 >> " + str(tmp_path / "opened")
    terminal = Terminal(project, "fix", "--tui", EDITOR=editor(tmp_path, script))
    terminal.expect("6 findings")
    terminal.press("e")
    terminal.expect("1 accepted")
    terminal.press("q")
    terminal.end()
    assert texts(project)["pkg/a.py"] == BEFORE["pkg/a.py"].replace("slow()", "faster(2)", 1)


def test_without_a_terminal_or_with_yes_it_is_refused(project: Path) -> None:
    assert "--tui needs a terminal to draw on" in run(project, "fix", "--tui").err
    asked = run(project, "fix", "--tui", "--yes")
    assert asked.code == 2
    assert "--tui asks about each finding, --yes asks about none" in asked.err


def test_a_terminal_that_cannot_move_its_cursor_is_told_what_works(project: Path) -> None:
    terminal = Terminal(project, "fix", "--tui", TERM="dumb")
    assert terminal.end() == 2
    assert "fullgraph: --tui needs a terminal that can move its cursor" in terminal.screen
    assert b"\x1b" not in terminal.raw


def test_no_color_is_plain_on_the_full_screen(project: Path) -> None:
    terminal = Terminal(project, "fix", "--tui", "--color", "never")
    terminal.expect("6 findings")
    terminal.press("q")
    terminal.end()
    codes = {code for found in re.findall(rb"\x1b\[([0-9;]+)m", terminal.raw) for code in found.split(b";")}
    grey = {b"30", b"37", b"40", b"47", b"90", b"97", b"100", b"107"}
    assert {code for code in codes if len(code) > 1} <= grey


def test_without_textual_one_line_says_how_to_get_it(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "hiding"
    (folder / "textual").mkdir(parents=True)
    (folder / "textual" / "__init__.py").write_text("raise ImportError('hidden')\n")
    terminal = Terminal(project, "fix", "--tui", PYTHONPATH=str(folder))
    assert terminal.end() == 2
    assert f"fullgraph: {MISSING}" in terminal.screen
    assert texts(project) == BEFORE
