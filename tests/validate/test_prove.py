"""The proof from end to end, with processes: whatever a side does is told, and nothing of it is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fullgraph.validate.launch import Deadline
from fullgraph.validate.model import Outcome, Ruling, Settings, Sides, Verdict
from fullgraph.validate.pair import Pair
from fullgraph.validate.prove import Proof, prove
from fullgraph.validate.scenario import read_scenario
from tests.validate.in_process import record
from tests.validate.proofs import CACHE, prove_texts

PLAIN = """
import ctypes, multiprocessing, os, signal, subprocess, sys, time

import torch


def f(x):
    y = x + 1
    return y * 2
"""
CALLED = """
import torch
from module import f

def build(device):
    return f

def cases(device, seed):
    return [(torch.arange(6.0),), (torch.ones(3),)]
"""
QUICK: dict[str, Any] = {"backend": "eager", "untimed": True, "time_limit": 300}
TIMED: dict[str, Any] = {**QUICK, "untimed": False, "repeat": 3}
SETTINGS = Settings(device="cpu", python=sys.executable, **QUICK)


def with_line(line: str) -> str:
    return PLAIN.replace("    y = x + 1\n", f"    {line}\n    y = x + 1\n")


def renamed(text: str) -> str:
    return text.replace("y = ", "z = ").replace("return y", "return z")


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where proofs keep what they need; it must be empty again."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def running(word: str) -> list[int]:
    """Processes whose command line or environment has a word, but not this one."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            told = [Path(f"/proc/{name}/{file}").read_bytes() for file in ("cmdline", "environ")]
            is_dead = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if int(name) != os.getpid() and not is_dead and any(word.encode() in one for one in told):
            found.append(int(name))
    return found


def is_gone(word: str) -> bool:
    for _ in range(100):
        if not running(word):
            return True
        time.sleep(0.1)
    return False


# A side that does not come to its end


@pytest.mark.processes
def test_a_death_is_a_difference_and_leaves_nothing_behind(tmp_path: Path, scratch: Path) -> None:
    """A child that a fork has made keeps the pipes of its parent open; another has left the session."""
    seconds = f"3{time.time_ns() % 10**6:06}"
    children = (
        f"subprocess.Popen(['sleep', '{seconds}'], start_new_session=True); "
        f"multiprocessing.get_context('fork').Process(target=time.sleep, args=({seconds},)).start(); "
    )
    verdict = prove_texts(tmp_path, PLAIN, with_line(children + "os.abort()"), CALLED, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.sentence == "after: crash in the stage eager: the process died (SIGABRT)"
    assert verdict.before.outcome.kind == "ok"
    assert is_gone(seconds)
    assert is_gone(str(scratch))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["module.py", "scenario.py"]


def test_two_deaths_decide_nothing(tmp_path: Path) -> None:
    verdict = prove_texts(tmp_path, with_line("os._exit(0)"), with_line("ctypes.string_at(0)"), CALLED, **QUICK)
    assert verdict.ruling is Ruling.UNDECIDED
    assert verdict.before.outcome == Outcome("crash", "eager", "the process died (exit code 0)")
    assert verdict.after.outcome == Outcome("crash", "eager", "the process died (SIGSEGV)")


LOADED = 'getattr(sys, "loaded", 0) or setattr(sys, "loaded", b"x" * 2**26)'


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is forgotten on Linux only")
@pytest.mark.parametrize(("line", "is_worse"), [(LOADED, False), ('big = b"x" * 2**26', True)])
def test_memory_that_is_taken_once_and_for_all_is_not_the_changes_own(
    line: str, is_worse: bool, tmp_path: Path
) -> None:
    """As by `torch.compiler.cudagraph_mark_step_begin()`, which loads inductor when it is first called."""
    verdict = prove_texts(tmp_path, PLAIN, with_line(line), CALLED, **QUICK)
    told = {reason.name: reason.tendency for reason in verdict.reasons}
    assert (told.get("memory") == "worse") == is_worse, verdict.sentence


def test_what_the_system_kills_and_what_has_no_memory_is_told_as_such(tmp_path: Path) -> None:
    before = PLAIN + "\nos.kill(os.getpid(), signal.SIGKILL)\n"
    after = PLAIN + "\nraise MemoryError('no room')\n"
    verdict = prove_texts(tmp_path, before, after, CALLED.replace("from module", "if 1: from module"), **QUICK)
    assert (verdict.before.outcome.kind, verdict.before.outcome.stage) == ("memory", "open")
    assert "SIGKILL" in verdict.before.outcome.text
    assert (verdict.after.outcome.kind, verdict.after.outcome.text) == ("memory", "MemoryError: no room")


def test_a_changed_file_that_does_not_parse_is_a_difference(tmp_path: Path) -> None:
    verdict = prove_texts(tmp_path, PLAIN, PLAIN.replace("def f(x):", "def f(x:"), CALLED, **QUICK)
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.after.outcome.stage == "open"
    assert f"SyntaxError: '(' was never closed ({tmp_path}/module.py:7)" in verdict.sentence


def pair_of(folder: Path, before: str, after: str, scratch: Path) -> Pair:
    (folder / "module.py").write_text(before)
    (folder / "scenario.py").write_text(CALLED)
    sides = Sides(folder, {"module.py": before.encode()}, {"module.py": after.encode()})
    scenario = read_scenario(str(folder / "scenario.py"), folder)
    return Pair(sys.executable, scenario, sides, SETTINGS, scratch, lambda *_: None, Deadline(300))


def test_a_side_that_never_ends_hangs_and_is_ended(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The side that sleeps in C does not let go of Python's lock."""
    flag = tmp_path / "flag"
    after = with_line(f"if os.path.exists({str(flag)!r}): ctypes.PyDLL(None).sleep(1000)")
    with pair_of(tmp_path, PLAIN, after, tmp_path_factory.mktemp("workers")) as pair:
        assert set(pair.open(CACHE)) == {"before", "after"}
        assert set(pair.stage("eager")) == {"before", "after"}
        flag.touch()
        pair.deadline = Deadline(5)
        assert pair.stage("eager") == {}
        assert list(pair.outcomes) == ["after"]
        assert pair.outcomes["after"].kind == "hang"
        assert "(--time-limit)" in pair.outcomes["after"].text
        assert is_gone(pair.workers["after"].token)


@pytest.mark.parametrize(("seconds", "is_hang"), [(1.0, True), (20.0, False), (59.0, False)])
def test_a_side_hangs_only_if_the_other_was_ready_long_before(seconds: float, is_hang: bool, tmp_path: Path) -> None:
    pair = pair_of(tmp_path, PLAIN, PLAIN, tmp_path)
    pair.workers = {"before": SimpleNamespace(took=seconds), "after": SimpleNamespace(took=0.0)}  # type: ignore[dict-item]
    pair.outcomes = {"after": Outcome("hang", "eager", "no end")}
    pair._forgive_lateness("eager", 30.0)
    assert bool(pair.outcomes) is is_hang
    assert pair.late == ("" if is_hang else "eager")


# A controller that ends before its workers

CONTROLLER = """
import sys
from pathlib import Path
from tests.validate.in_process import record
from tests.validate.proofs import prove_texts

folder = Path(sys.argv[1])
prove_texts(folder, {before!r}, {after!r}, {scenario!r}, backend="eager")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_nothing_outlives_the_controller(number: signal.Signals, tmp_path: Path, scratch: Path) -> None:
    ready = tmp_path / "ready"
    line = f"open({str(ready)!r} + str(os.getpid()), 'w'); subprocess.Popen(['sleep', '1000'], start_new_session=True)"
    stuck = with_line(f"{line}; ctypes.PyDLL(None).sleep(1000)")
    program = CONTROLLER.format(before=stuck, after=renamed(stuck), scenario=CALLED)
    command = [sys.executable, "-c", program, str(tmp_path / "tree")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True) as controller:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("ready*"))) < 2:
            assert time.monotonic() < deadline
            assert controller.poll() is None
            time.sleep(0.1)
        assert len(running(str(scratch))) >= 6
        controller.send_signal(number)
    assert is_gone(str(scratch))
    for _ in range(50):
        if not list(scratch.iterdir()):
            break
        time.sleep(0.1)


# Whole proofs: two at once, each asked about by several tests

HOSTILE = """
import asyncio, io, os, random, signal, sys, threading, warnings

import device
import record
import timing
import torch
import torch_utils


def meddle():
    os.chdir("/")
    sys.path.insert(0, "/nowhere")
    sys.stdout = io.StringIO()
    warnings.simplefilter("always")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)


async def double(x):
    await asyncio.sleep(0)
    return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        y = self.lin(x)
        with torch.no_grad():
            self.mean.mul_(0.9).add_(y.mean(0))
        return torch.nn.functional.dropout(y, 0.5) + record.mine + device.mine + timing.mine + torch_utils.mine


class Rude(Net):
    @torch.compiler.disable
    def forward(self, x):
        thread = threading.Thread(target=lambda: found.append(float(x.sum())))
        found = []
        thread.start()
        thread.join()
        y = super().forward(x)
        meddle()
        return asyncio.run(double(y)), found


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.polite, self.rude = Net(), Rude()

    def forward(self, x):
        y = self.polite(x)
        return y, self.rude(x)
"""
BUILT = """
import torch
from module import Both

def build(device):
    return Both().to(device)

def cases(device, seed):
    return [(torch.ones(2, 4, dtype=torch.float32),), (torch.randn(3, 4, dtype=torch.float32),)]

exact = False
"""
BREAKING = """
import torch


def f(x):
    y = x + 1
    torch._dynamo.graph_break()
    return y * len(x)
"""
SHAPES = """
import torch
from module import f

def build(device):
    return f

def cases(device, seed):
    return [(torch.ones(size),) for size in (2, 3, 4)]
"""


def prove_hostile(folder: Path) -> Verdict:
    folder.mkdir()
    for name in ("device", "record", "timing", "torch_utils"):
        (folder / f"{name}.py").write_text("mine = 1\n")
    after = HOSTILE.replace("y = self.polite(x)", "made = y = self.polite(x)").replace(
        "return y, self", "return made, self"
    )
    return prove_texts(folder, HOSTILE, after, BUILT, **TIMED)


def prove_better(folder: Path) -> Verdict:
    after = BREAKING.replace("    torch._dynamo.graph_break()\n", "")
    return prove_texts(folder, BREAKING, after, SHAPES, **QUICK, fullgraph=True)


@pytest.fixture(scope="module")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """Two proofs at once."""
    folder = tmp_path_factory.mktemp("proofs")
    with ThreadPoolExecutor(2) as threads:
        asked = {
            "hostile": threads.submit(prove_hostile, folder / "hostile"),
            "better": threads.submit(prove_better, folder / "better"),
        }
    return {name: one.result() for name, one in asked.items()}


def test_code_that_changes_the_process_it_runs_in_is_proven_all_the_same(proofs: dict[str, Verdict]) -> None:
    """It changes folder, paths, streams, filters, handlers and types, and has modules of the names of the worker's."""
    verdict = proofs["hostile"]
    assert verdict.sentence.startswith("equivalent on 2 cases")
    assert not [notice for notice in verdict.notices if "not measured" in notice]
    assert verdict.before.ran["module.py"]


def test_what_only_compiles_after_the_rewrite_is_proven(proofs: dict[str, Verdict]) -> None:
    verdict = proofs["better"]
    assert verdict.ruling is Ruling.PROVEN, verdict.sentence
    assert "compiles: no > yes" in verdict.sentence
    assert "graph breaks 1 > 0" in verdict.sentence
    assert "fullgraph=True compiles: no > yes" in verdict.sentence
    assert (verdict.before.fullgraph, verdict.after.fullgraph) == (False, True)


def test_recompiles_are_counted_over_the_cases(proofs: dict[str, Verdict]) -> None:
    after = proofs["better"].after
    assert after.recompiles is not None
    assert len(after.recompiles) == 1
    assert "x" in after.recompiles[0].recompile


def test_times_are_taken_and_told_unless_nobody_wants_them(proofs: dict[str, Verdict]) -> None:
    timed, untimed = proofs["hostile"], proofs["better"]
    assert {"eager", "compiled"} <= timed.ratios.keys()
    assert len(timed.before.eager_s) >= 3
    assert {"eager", "compiled", "guards"} <= {reason.name for reason in timed.reasons}
    assert not untimed.ratios
    assert not {"eager", "compiled", "guards"} & {reason.name for reason in untimed.reasons}
    assert "no times were taken: --untimed" in untimed.notices


def test_every_report_says_where_it_ran(proofs: dict[str, Verdict]) -> None:
    for verdict in proofs.values():
        assert verdict.environment["torch"].startswith(version("torch"))
        assert verdict.environment["device"] == "cpu"
        assert verdict.environment["compile"]["backend"] == "eager"


# Trees

PROJECT = {
    "pyproject.toml": "",
    "src/pkg/__init__.py": "from .inner import f\n",
    "src/pkg/inner.py": "from .old import scale\n\n\ndef f(x):\n    return x * scale()\n",
    "src/pkg/old.py": "def scale():\n    return 2.0\n",
    "space/deep/told.py": "def told():\n    return 'namespace'\n",
    "scenarios/step.py": """
        import torch
        from pkg import f
        from space.deep.told import told

        def build(device):
            assert told() == "namespace"
            return f

        def cases(device, seed):
            return [(torch.ones(3),)]
        """,
}
CHANGED = {
    "src/pkg/inner.py": "from .new import scale\n\n\ndef f(x):\n    return x * scale()\n",
    "src/pkg/new.py": "def scale():\n    return 2.0\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text))


def git(folder: Path, *command: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *command], cwd=folder, check=True)


def test_a_file_that_is_new_and_one_that_is_gone_are_on_their_own_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git revision of a tree behind a link, with a src folder; and an older copy of the package is installed."""
    tree, installed = tmp_path / "tree", tmp_path / "installed"
    write(tree, PROJECT)
    write(installed, {"pkg/__init__.py": "def f(x):\n    return x * 9\n"})
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "before")
    write(tree, CHANGED)
    (tree / "src/pkg/old.py").unlink()
    (tmp_path / "link").symlink_to(tree)
    known = sorted(path for path in tree.rglob("*") if ".git" not in path.parts)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    command = [str(Path(sys.executable).with_name("fullgraph")), "prove", "scenarios/step.py", "--before", "HEAD"]
    options = ["--backend", "eager", "--untimed", "--python", sys.executable, "--keep", "neutral"]
    done = subprocess.run(
        [*command, *options, "--format", "json"], cwd=tmp_path / "link", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    told = json.loads(done.stdout)["verdicts"][0]
    assert told["ruling"] == "neutral"
    assert sorted(path for path in tree.rglob("*") if ".git" not in path.parts) == known


# Tests as scenarios

TESTS = """
import warnings

import pytest
import torch
from module import f


@pytest.fixture
def x(tmp_path, size):
    print("made in", tmp_path)
    (tmp_path / "x").write_text("made")
    return torch.ones(size)


@pytest.mark.parametrize("number", [1, 2])
def test_value(x, number):
    warnings.warn("careful")
    assert f(x * number).tolist() == [2.0 * (number + 1)] * len(x)


def test_compiled(x):
    assert torch.equal(torch.compile(f, backend="eager")(x), f(x))


@pytest.mark.skip
def test_later():
    pass
"""


def prove_tests(folder: Path, after: str) -> Verdict:
    text = "import torch\n\n\ndef f(x):\n    y = x + 1\n    return y * 2\n"
    write(folder, {"module.py": text, "tests/test_module.py": TESTS})
    write(folder, {"tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef size():\n    return 3\n"})
    write(folder, {"pytest.ini": "[pytest]\naddopts = -n 2 --no-such-option\n"})
    sides = Sides(folder, {"module.py": text.encode()}, {"module.py": text.replace("y * 2", after).encode()})
    return prove(read_scenario(str(folder / "tests/test_module.py"), folder), sides, SETTINGS, cache=CACHE)


def test_tests_that_pass_on_both_sides_are_cases(tmp_path: Path) -> None:
    verdict = prove_tests(tmp_path, "2 * y")
    assert verdict.ruling is Ruling.NEUTRAL, verdict.sentence
    assert len(verdict.after.cases) == 4
    assert verdict.after.graphs
    assert "is skipped before and after: tests/test_module.py::test_later" in verdict.notices
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [
        "conftest.py",
        "module.py",
        "pytest.ini",
        "test_module.py",
    ]


def test_a_test_that_fails_only_after_the_rewrite_is_a_difference(tmp_path: Path) -> None:
    verdict = prove_tests(tmp_path, "y * 3")
    assert verdict.ruling is Ruling.DIFFERENT
    assert verdict.differences[0].case == "tests/test_module.py::test_value[1]"
    assert "AssertionError" in verdict.sentence


# Compiled and eager

OFF = """
import torch

OFF = 0.0


def f(x):
    y = x + 1
    return y * 2
"""
SLOPPY = """
import module
import torch
from module import f

def build(device):
    return f

def cases(device, seed):
    return [(torch.ones(3),)]

def sloppy(graph, inputs):
    return lambda *args: [one + module.OFF for one in graph.forward(*args)]

compile_options = {"backend": sloppy}
"""


@pytest.mark.parametrize(("before", "is_different"), [("0.0", True), ("0.5", False)])
def test_compiled_code_that_is_off_counts_only_if_the_rewrite_did_it(
    before: str, is_different: bool, tmp_path: Path
) -> None:
    pair = pair_of(tmp_path, PLAIN, PLAIN, tmp_path)
    for side, off in (("before", before), ("after", "0.5")):
        for stage in ("eager", "compiled"):
            told = record(tmp_path / side, OFF.replace("0.0", off), SLOPPY, stage, backend="")
            pair.digests[f"{side}/{stage}"] = told["digest"]
    proof = Proof(pair.scenario, pair.sides, SETTINGS, (), pair.progress, tmp_path, CACHE)
    proof.opened = {"rtol": None, "atol": None}
    pair.again = lambda *_, **__: False  # type: ignore[method-assign]
    with proof.comparing:
        proof.judge_compiled(pair, {})
    inborn = "also without the rewrite: before, compiled and eager differ in case 1: output has another value: 4 / 4.5"
    assert any(notice.startswith(inborn) for notice in proof.evidence.notices) is not is_different
    assert [one.between for one in proof.evidence.differences] == (["after", "compiled"] if is_different else [])
