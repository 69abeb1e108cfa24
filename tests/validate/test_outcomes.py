"""A side that does not come to its end is a measurement; what neither side can run is one clear message."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from fullgraph.validate.model import Declared, Ruling, Settings, Sides, ValidateError
from fullgraph.validate.prove import prove
from fullgraph.validate.scenario import read_scenario
from tests.validate.proofs import prove_texts

pytestmark = pytest.mark.everything

MODULE = """
    import os
    import sys
    import warnings

    import torch

    CALLS = []


    def step(x):
        y = x * 2
        return y.relu()
"""
SCENARIO = """
    import torch
    from module import step


    def build(device):
        return step


    def cases(device, seed):
        return [(torch.arange(4.0, device=device) - 2,), (torch.arange(6.0, device=device) - 3,)]
"""
QUICK: dict[str, Any] = {"backend": "eager", "untimed": True}


def after(line: str) -> str:
    """The module with a line before the first of `step`."""
    return MODULE.replace("y = x * 2", f"{line}; y = x * 2")


ENDS = {
    "abort": ("os.abort()", "crash", "SIGABRT"),
    "exit": ("os._exit(3)", "crash", "exit code 3"),
    "kill": ("os.kill(os.getpid(), 9)", "memory", "out of memory"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_side_that_dies_is_told_as_such(name: str, tmp_path: Path) -> None:
    line, kind, text = ENDS[name]
    verdict = prove_texts(tmp_path, MODULE, after(line), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert (verdict.before.outcome.kind, verdict.after.outcome.kind) == ("ok", kind)
    assert verdict.after.outcome.stage == "eager"
    assert text in verdict.after.outcome.text


def test_a_side_that_hangs_is_told_and_nothing_is_left_running(tmp_path: Path) -> None:
    lasting = "import subprocess, time; subprocess.Popen(['sleep', '4711']); time.sleep(4711)"
    verdict = prove_texts(tmp_path, MODULE, after(lasting), SCENARIO, time_limit=12, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.after.outcome.kind == "hang"
    assert not subprocess.run(["pgrep", "-f", "sleep 4711"], capture_output=True, check=False).stdout


def test_an_import_error_on_one_side_is_different(tmp_path: Path) -> None:
    verdict = prove_texts(tmp_path, MODULE, MODULE.replace("import sys", "import no_such_module"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert "No module named 'no_such_module'" in verdict.after.outcome.text


def test_a_syntax_error_on_one_side_is_different(tmp_path: Path) -> None:
    verdict = prove_texts(tmp_path, MODULE, MODULE.replace("def step(x):", "def step(x:"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert "SyntaxError" in verdict.after.outcome.text


def test_exiting_is_an_exception_of_the_case(tmp_path: Path) -> None:
    verdict = prove_texts(tmp_path, MODULE, after("sys.exit(2)"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.differences[0].path == "exception"


def test_code_that_only_raises_proves_nothing(tmp_path: Path) -> None:
    raising = MODULE.replace("y = x * 2", "raise ValueError('no'); y = x * 2")
    verdict = prove_texts(tmp_path, raising, raising.replace("x * 2", "2 * x"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.UNDECIDED
    assert "every case raises" in verdict.sentence


def test_a_scenario_that_never_runs_the_change_is_undecided(tmp_path: Path) -> None:
    idle = MODULE + "\n\n    def other(x):\n        return x\n"
    verdict = prove_texts(tmp_path, idle, idle.replace("return x\n", "return -x\n"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.UNDECIDED
    assert "never runs what was changed: module.py:17" in verdict.sentence


def test_code_that_differs_from_itself_decides_nothing(tmp_path: Path) -> None:
    unsteady = MODULE.replace("return y.relu()", "return y.relu() + int.from_bytes(os.urandom(2))")
    verdict = prove_texts(tmp_path, unsteady, unsteady.replace("x * 2", "2 * x"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.UNDECIDED
    assert "each time that the same code runs" in verdict.sentence


def test_what_cannot_be_compared_is_named_with_the_way_out(tmp_path: Path) -> None:
    opaque = MODULE.replace("return y.relu()", "return __import__('_thread').allocate_lock()")
    verdict = prove_texts(tmp_path, opaque, opaque.replace("x * 2", "2 * x"), SCENARIO, **QUICK)
    assert verdict.ruling is Ruling.UNDECIDED
    assert "_thread.lock" in verdict.sentence
    assert "state(obj, output)" in verdict.sentence


def test_state_may_stand_for_an_output_that_cannot_be_compared(tmp_path: Path) -> None:
    opaque = MODULE.replace("return y.relu()", "return (part for part in y)")
    reading = SCENARIO + "\n\n    def state(obj, output):\n        return list(output)\n"
    verdict = prove_texts(tmp_path, opaque, opaque.replace("x * 2", "x * 3"), reading, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.differences[0].path.startswith("state")


def test_exactly_the_declared_warning_may_be_new(tmp_path: Path) -> None:
    declared = (Declared("warning", "slow .*", "it is told"),)
    told = prove_texts(tmp_path, MODULE, after("warnings.warn('slow path')"), SCENARIO, declared=declared, **QUICK)
    assert told.ruling is not Ruling.DIFFERENT
    assert any("slow path" in notice for notice in told.notices)
    other = prove_texts(tmp_path, MODULE, after("warnings.warn('quick path')"), SCENARIO, declared=declared, **QUICK)
    assert other.ruling is Ruling.DIFFERENT


BAD = {
    "import nowhere_at_all\n": "does not import: ModuleNotFoundError: No module named 'nowhere_at_all'",
    "def build(device):\n    return abs\n": "has no function `cases`",
    "def build(device):\n    return 3\n\ndef cases(device, seed):\n    return [(1,)]\n": "build() gave int",
    "def build(device):\n    return abs\n\ndef cases(device, seed):\n    return []\n": "cases() gave no case",
    "def build(device):\n    return abs\n\ndef cases(device, seed):\n    return [3]\n": "case 1 is int; a case is",
    "def build(device):\n    1 / 0\n\ndef cases(device, seed):\n    return [(1,)]\n": "build() failed: ZeroDiv",
}


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_scenario_that_cannot_be_used_is_one_message(number: int, tmp_path: Path) -> None:
    text, said = list(BAD.items())[number]
    with pytest.raises(ValidateError) as refused:
        prove_texts(tmp_path, MODULE, MODULE.replace("x * 2", "2 * x"), text, **QUICK)
    assert said in str(refused.value)


def test_two_equal_sides_are_nothing_to_prove(tmp_path: Path) -> None:
    with pytest.raises(ValidateError, match="nothing to prove"):
        prove_texts(tmp_path, MODULE, MODULE, SCENARIO, **QUICK)


def test_a_torch_that_is_too_old_is_told(tmp_path: Path) -> None:
    (tmp_path / "stub" / "torch").mkdir(parents=True)
    (tmp_path / "stub" / "torch" / "__init__.py").write_text("__version__ = '2.1.0'\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path / "stub"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with pytest.raises(ValidateError, match=r"has torch 2\.1\.0; 2\.6 or newer is needed"):
        prove_texts(tmp_path / "p", MODULE, MODULE.replace("x * 2", "2 * x"), SCENARIO, python=str(python))


def test_inductor_without_a_compiler_gives_way_to_aot_eager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    monkeypatch.setattr("tests.validate.proofs.CACHE", tmp_path / "cache")
    verdict = prove_texts(tmp_path / "p", MODULE, MODULE.replace("x * 2", "2 * x"), SCENARIO, backend="inductor")
    assert verdict.ruling is not Ruling.UNDECIDED
    assert any("aot_eager instead" in notice for notice in verdict.notices)


TEST = """
    import pytest
    import torch
    from module import step


    @pytest.mark.parametrize("size", [2, 3])
    def test_step(size, capsys):
        print("size", size)
        assert step(torch.ones(size)).sum() == 2 * size
"""


def prove_test(folder: Path, before: str, after: str) -> tuple[Ruling, str]:
    (folder / "module.py").write_text(textwrap.dedent(before))
    (folder / "test_step.py").write_text(textwrap.dedent(TEST))
    sides = Sides(
        folder, {"module.py": textwrap.dedent(before).encode()}, {"module.py": textwrap.dedent(after).encode()}
    )
    scenario = read_scenario(f"{folder / 'test_step.py'}::test_step", folder)
    verdict = prove(scenario, sides, Settings(python=sys.executable, untimed=True))
    return verdict.ruling, verdict.sentence


def test_a_test_of_the_users_runs_on_both_sides(tmp_path: Path) -> None:
    ruling, sentence = prove_test(tmp_path, MODULE, MODULE.replace("x * 2", "2 * x"))
    assert ruling is Ruling.NEUTRAL
    assert "equivalent on 2 cases" in sentence


def test_a_test_that_fails_only_after_is_different(tmp_path: Path) -> None:
    ruling, sentence = prove_test(tmp_path, MODULE, MODULE.replace("x * 2", "x * 3"))
    assert ruling is Ruling.DIFFERENT
    assert "test_step[2]" in sentence


def test_a_test_that_fails_on_both_sides_proves_nothing(tmp_path: Path) -> None:
    wrong = MODULE.replace("x * 2", "x * 3")
    assert prove_test(tmp_path, wrong, wrong.replace("x * 3", "3 * x"))[0] is Ruling.UNDECIDED
