"""How far a scan is: a bar on a terminal and nowhere else, and what Ctrl-C and slow files leave."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fullgraph.codemods.ui.progress import ProgressBar
from tests.ui.running import COMMAND, Terminal, environment

WAITS = '''
import ast
import time
from pathlib import Path

from fullgraph import Codemod


class TakeYourTime(Codemod):
    """Find every call of `slow`, after a while; at `wait()`, say so and wait.

    Left alone: nothing.
    """

    needles = (b"(",)

    def find(self, module, project):
        time.sleep(0.1)
        for call in module.nodes(ast.Call):
            if module.code(call.func) == "wait":
                Path("waiting").touch()
                time.sleep(60)
            yield module.finding(self.name, call, "slow")
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Twenty files that take two seconds."""
    (tmp_path / "waits.py").write_text(WAITS)
    (tmp_path / "project").mkdir()
    (tmp_path / "project/pyproject.toml").touch()
    for number in range(20):
        (tmp_path / f"project/m{number:02}.py").write_text("slow()\n")
    return tmp_path / "project"


def bar(done: int, size: int, *, known: int = 0) -> ProgressBar:
    """Of a hundred files with a thousand bytes, so many are done."""
    shown = ProgressBar(100, 1000, quiet=False)
    shown(known, known * 10)
    shown(done - known, size - known * 10)
    return shown


def test_it_tells_files_their_speed_and_the_time_that_is_left() -> None:
    assert bar(50, 500).text(10, 60).endswith("] 50/100 files  5/s  0:10 left")
    assert bar(50, 500).text(10, 200).count("#") == 20
    assert bar(50, 500).text(10, 200).count("-") == 20


def test_the_time_that_is_left_is_told_by_bytes() -> None:
    """The biggest files come first: ten files with half of the bytes are half of the work."""
    assert bar(10, 500).text(30, 100).endswith("10/100 files  0/s  0:30 left")
    assert bar(10, 1).text(10, 100).endswith("2:46:30 left")


def test_what_was_known_before_says_nothing_about_the_speed() -> None:
    assert bar(60, 600, known=50).text(10, 100).endswith("60/100 files  1/s  0:40 left")
    assert bar(50, 500, known=50).text(10, 100).endswith("50/100 files  0/s")


def test_it_fits_the_terminal() -> None:
    assert all(len(bar(50, 500).text(10, width)) <= width for width in range(1, 100))


def test_empty_files_are_no_division_by_zero() -> None:
    shown = ProgressBar(2, 0, quiet=False)
    shown(0, 0)
    shown(1, 0)
    assert "1/2 files" in shown.text(0, 100)


def test_a_terminal_sees_it_and_it_is_gone_at_the_end(project: Path) -> None:
    terminal = Terminal(project, "check", "--codemod", "../waits.py", "--select", "take_your_time", "--all")
    terminal.expect("/20 files")
    terminal.expect(" left")
    assert terminal.end() == 1
    before_report = terminal.screen.partition("m00.py  1 finding")[0]
    assert before_report.endswith("\r"), "the line is empty again"
    assert before_report.rstrip("\r").endswith(" ")


def test_a_pipe_and_quiet_see_none(project: Path) -> None:
    given = [str(COMMAND), "check", "--codemod", "../waits.py"]
    done = subprocess.run(given, cwd=project, env=environment(), capture_output=True, text=True, timeout=60)
    assert "/20 files" not in done.stderr
    terminal = Terminal(project, "check", "--codemod", "../waits.py", "--select", "take_your_time", "--quiet")
    assert terminal.end() == 1
    assert "/20 files" not in terminal.screen


@pytest.mark.parametrize("form", ["concise", "json"])
def test_ctrl_c_leaves_a_report_of_what_was_found(project: Path, form: str) -> None:
    (project / "m10.py").write_text("wait()\n")
    process = subprocess.Popen(
        [COMMAND, "check", "--codemod", "../waits.py", "--all", "--format", form],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (project / "waiting").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    if form == "json":
        told = json.loads(out)
        assert (told["complete"], told["exit_code"], len(told["findings"])) == (False, 130, 10)
        assert told["notices"] == ["stopped: 10 of 20 files were not looked at"]
    else:
        assert out.count("take_your_time") == 10
        assert "fullgraph: stopped: 10 of 20 files were not looked at" in err


def test_a_file_that_takes_too_long_is_named_by_the_command(project: Path) -> None:
    (project / "m10.py").write_text("wait()\n")
    given = [
        str(COMMAND),
        "check",
        "--codemod",
        "../waits.py",
        "--all",
        "--format",
        "concise",
        "--time-limit-per-file",
        "1",
    ]
    done = subprocess.run(given, cwd=project, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "m10.py: error: took longer than 1 s (--time-limit-per-file); left" in done.stderr
    assert done.stdout.count("take_your_time") == 19


def test_there_is_no_limit_of_nothing(project: Path) -> None:
    given = [str(COMMAND), "check", "--time-limit-per-file", "0"]
    done = subprocess.run(given, cwd=project, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "0.1" in done.stderr


def test_drawing_imports_nothing_slow() -> None:
    code = "import sys, fullgraph.codemods.ui.progress; print({'rich', 'tqdm'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
