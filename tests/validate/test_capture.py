"""`fullgraph capture`: the program runs as ever, and its calls are stored whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fullgraph.validate.capture_problems import explain, runs_on_import
from fullgraph.validate.capture_session import Session, file_for, read_index, session_beside
from tests.validate.capturing import FULLGRAPH, PATIENCE, capture, environment, load

pytestmark = pytest.mark.everything

TRAIN = """\
import sys
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    x: torch.Tensor


@torch.compile
def step(net, batch, *, scale=1.0):
    batch.x.mul_(2)
    return net(batch.x).sum() * scale


def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 1)
    for n in range(1, 5):
        print("loss", round(float(step(net, Batch(torch.full((n, 2), float(n))))), 4))
    print(sys.argv[1:], [entry for entry in sys.path if "capture_site" in entry], file=sys.stderr)


if __name__ == "__main__":
    main()
"""

SMALL = "import torch\n\n\ndef f(x):\n    return x\n\n\n"
"""A module in front of a program that calls `f`."""


def write(folder: Path, **files: str) -> Path:
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        file = folder / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def calls_in(folder: Path, target: str) -> int:
    index = read_index(file_for(folder, target))
    return len(index["calls"]) if index else 0


# A program with its own function


def test_a_program_is_captured_without_being_disturbed(tmp_path: Path) -> None:
    write(tmp_path, train=TRAIN)
    done = capture(tmp_path, "train:step", ["python", "train.py", "--lr", "1"])
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["loss"] * 4
    assert "['--lr', '1'] []" in done.stderr
    assert "stored 3 calls of train:step in .fullgraph/captures/train.step.pt" in done.stderr
    assert "the program ended with exit code 0" in done.stderr
    assert not list((tmp_path / ".fullgraph/captures").glob(".*"))
    shown = load(
        tmp_path,
        "train:step",
        "print(type(calls[0].args[1]).__module__, [call.args[1].x[0, 0].item() for call in calls])\n"
        "print(function(*calls[1].args, **calls[1].kwargs).item())",
    ).splitlines()
    assert shown[0] == "train [1.0, 2.0, 3.0]"
    assert float(shown[1]) == pytest.approx(float(done.stdout.splitlines()[1].split()[1]), abs=1e-4)


def test_a_module_that_runs_as_main_program_is_known_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, **{"pkg/__init__": "", "pkg/train": TRAIN})
    done = capture(tmp_path, "pkg.train:step", ["python", "-m", "pkg.train"], "-n", "1")
    assert done.returncode == 0, done.stderr
    assert load(tmp_path, "pkg.train:step", "print(type(calls[0].args[1]).__module__)") == "pkg.train\n"


def test_names_need_not_be_ascii(tmp_path: Path) -> None:
    write(
        tmp_path, modül="import torch\ndef größe(x): return x\nif __name__ == '__main__':\n    größe(torch.ones(1))\n"
    )
    assert capture(tmp_path, "modül:größe", ["python", "modül.py"]).returncode == 0
    assert calls_in(tmp_path, "modül:größe") == 1


# Processes


def test_workers_that_are_forked_are_watched(tmp_path: Path) -> None:
    run = (
        "from torch.utils.data import DataLoader\nimport lib\n"
        "list(DataLoader(range(8), 2, num_workers=2, collate_fn=lib.f))\n"
    )
    write(tmp_path, lib=SMALL, run=run)
    done = capture(tmp_path, "lib:f", ["python", "run.py"], "-n", "2")
    assert done.returncode == 0, done.stderr
    assert calls_in(tmp_path, "lib:f") == 2


def test_workers_that_are_spawned_run_the_main_program_again_and_are_watched(tmp_path: Path) -> None:
    run = (
        "import multiprocessing, torch\ndef f(x): return x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print(pool.map(f, [1, 2, 3]))\n"
    )
    write(tmp_path, run=run)
    done = capture(tmp_path, "run:f", ["python", "run.py"])
    assert (done.returncode, done.stdout) == (0, "[1, 2, 3]\n"), done.stderr
    assert calls_in(tmp_path, "run:f") == 3


def test_a_program_that_replaces_itself_and_leaves_at_once_is_followed(tmp_path: Path) -> None:
    run = (
        "import os, sys, lib\n"
        "if len(sys.argv) == 1:\n    os.execv(sys.executable, [sys.executable, 'run.py', 'again'])\n"
        "lib.f(1)\nos._exit(7)\n"
    )
    write(tmp_path, lib=SMALL, run=run)
    done = capture(tmp_path, "lib:f", ["sh", "-c", f"exec {sys.executable} run.py"])
    assert done.returncode == 0, done.stderr
    assert "ended with exit code 7" in done.stderr
    assert "3 calls were asked for; the program made no more than 1" in done.stderr


def test_what_a_killed_program_had_called_is_kept(tmp_path: Path) -> None:
    run = "import os, lib, torch\nlib.f(torch.ones(1))\nlib.f(torch.ones(2))\nos.kill(os.getpid(), 9)\n"
    write(tmp_path, lib=SMALL, run=run)
    done = capture(tmp_path, "lib:f", ["python", "run.py"])
    assert done.returncode == 0, done.stderr
    assert "was killed by SIGKILL" in done.stderr
    assert load(tmp_path, "lib:f", "print([len(call.args[0]) for call in calls])") == "[1, 2]\n"


def test_after_ctrl_c_the_calls_are_there(tmp_path: Path) -> None:
    run = "import time, lib\nlib.f(1)\nprint('ready', flush=True)\ntime.sleep(60)\n"
    write(tmp_path, lib=SMALL, run=run)
    process = subprocess.Popen(
        [FULLGRAPH, "capture", "lib:f", "-n", "1", "--", sys.executable, "run.py"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, told
    assert "was killed by SIGINT" in told
    assert calls_in(tmp_path, "lib:f") == 1


def test_two_captures_at_once_leave_one_that_is_whole(tmp_path: Path) -> None:
    write(tmp_path, lib=SMALL, run="import lib, torch\nfor n in range(3): lib.f(torch.full((1000,), float(n)))\n")
    command = [str(FULLGRAPH), "capture", "lib:f", "--", sys.executable, "run.py"]
    both = [subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    assert load(tmp_path, "lib:f", "print([call.args[0][0].item() for call in calls])") == "[0.0, 1.0, 2.0]\n"
    assert not list((tmp_path / ".fullgraph/captures").glob(".*"))


# The hook


def test_the_users_own_sitecustomize_is_loaded_in_its_place(tmp_path: Path) -> None:
    run = "import sitecustomize\ndef f(): pass\nprint(sitecustomize.MARK)\n"
    write(tmp_path, **{"own/sitecustomize": "MARK = 'own'\n", "run": run})
    done = capture(tmp_path, "run:f", ["python", "run.py"], PYTHONPATH=str(tmp_path / "own"))
    assert done.stdout == "own\n"


def test_without_a_sitecustomize_there_is_none(tmp_path: Path) -> None:
    write(tmp_path, run="import sys\ndef f(): pass\nprint('sitecustomize' in sys.modules)\n")
    assert capture(tmp_path, "run:f", ["python", "run.py"]).stdout == "False\n"


def test_tracebacks_of_the_program_are_its_own(tmp_path: Path) -> None:
    write(tmp_path, run="import torch\ndef f(x): raise ValueError(x)\nf(1)\n")
    done = capture(tmp_path, "run:f", ["python", "run.py"])
    assert done.returncode == 0
    assert done.stderr.count('File "') == 2
    assert "ended with exit code 1" in done.stderr


def test_a_profiler_in_the_program_keeps_working(tmp_path: Path) -> None:
    write(tmp_path, lib=SMALL, run="import lib\nlib.f(1)\n")
    done = capture(tmp_path, "lib:f", ["python", "-m", "cProfile", "run.py"])
    assert done.returncode == 0, done.stderr
    assert "function calls" in done.stdout
    assert "lib.py:4(f)" in done.stdout


# What is told


@pytest.mark.parametrize(
    ("target", "program", "says"),
    [
        ("lib:g", "import lib\n", "there is no 'g' in module 'lib'"),
        ("lib:f", "import lib\n", "the program ended with exit code 0, and lib:f was never called"),
        ("lib:f", "print(1)\n", "imported the module 'lib'"),
        (
            "lib:f",
            "import lib, sys\nsys.exit(3)\n",
            "the program ended with exit code 3 before the first call of lib:f",
        ),
        ("lib:made", "import lib\n", "lib:made is an object of the class partial"),
        ("lib:late", "import lib\n", "there is no 'late' in module 'lib'"),
        ("pkg.inner:g", "import sys\nsys.path.insert(0, 'pkg')\nimport inner\n", "capture inner:g"),
    ],
)
def test_why_nothing_was_stored_is_one_line(tmp_path: Path, target: str, program: str, says: str) -> None:
    lib = "from functools import partial\ndef f(x): return x\nmade = partial(f, 1)\nif f is None: late = 1\n"
    write(tmp_path, **{"lib": lib, "pkg/inner": "def g(): pass\n", "run": program})
    done = capture(tmp_path, target, ["python", "run.py"])
    assert done.returncode == 4
    assert says in done.stderr.splitlines()[-1]
    assert not (tmp_path / ".fullgraph/captures").is_dir() or not os.listdir(tmp_path / ".fullgraph/captures")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("lib:g", "there is no 'g' in module 'lib'"),
        ("lib:Thing", "is a class; name one of its methods, like lib:Thing.run"),
        ("lib:counting", "is a generator function"),
        ("lib", "names no function: write module:function"),
        ("lib:a b", "names no function"),
        ("__main__:f", "write train:function for train.py"),
        ("nope.py:f", "nope.py: no such file"),
    ],
)
def test_what_the_text_shows_to_be_wrong_is_told_before_the_program_runs(
    tmp_path: Path, target: str, says: str
) -> None:
    write(tmp_path, lib="def f(): pass\ndef counting(): yield 1\nclass Thing:\n    def run(self): pass\n")
    done = capture(tmp_path, target, ["python", "-c", "print('ran')"])
    assert (done.returncode, done.stdout) == (4, "")
    assert says in done.stderr


@pytest.mark.parametrize("command", [["python", "-I", "run.py"], ["python", "-E", "run.py"], ["true"]])
def test_a_python_that_cannot_be_watched_is_told(tmp_path: Path, command: list[str]) -> None:
    write(tmp_path, run="def f(): pass\nf()\n")
    done = capture(tmp_path, "run:f", command)
    assert done.returncode == 4
    assert "no Python could be watched: python -I, -E and -S shut fullgraph out" in done.stderr


def test_a_command_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = capture(write(tmp_path), "run:f", ["no-such-command"])
    assert (done.returncode, done.stderr) == (
        4,
        "fullgraph: no-such-command cannot be run: No such file or directory\n",
    )


@pytest.mark.parametrize(
    ("torch", "says"),
    [
        ("raise ImportError('none here')\n", "has no torch (ImportError: none here)"),
        ("__version__ = '2.4.1'\n", "2.6 or newer"),
    ],
)
def test_a_python_without_a_torch_that_will_do_is_told(tmp_path: Path, torch: str, says: str) -> None:
    write(tmp_path, torch=torch, run="def f(): pass\nf()\n")
    done = capture(tmp_path, "run:f", ["python", "run.py"])
    assert done.returncode == 4
    assert says in done.stderr


def test_a_python_that_is_too_old_is_told(tmp_path: Path) -> None:
    (tmp_path / "12.old").write_text("/usr/bin/python\n3.6.15")
    assert explain("run:f", Session(tmp_path), 0) == "/usr/bin/python is Python 3.6.15; 3.9 or newer is needed"


def test_arguments_that_cannot_be_stored_are_named_and_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path, lib=SMALL, run="import lib\nlib.f({'loader': (n for n in [1])})\n")
    done = capture(tmp_path, "lib:f", ["python", "run.py"])
    assert done.returncode == 4
    assert "argument x['loader']: generator" in done.stderr
    assert "fullgraph scenario new lib:f" in done.stderr
    assert calls_in(tmp_path, "lib:f") == 0


# Sessions


def test_a_line_that_was_cut_off_is_no_call(tmp_path: Path) -> None:
    (tmp_path / "1-1.events").write_text('{"event": "module", "file": "x"}\n{"event": "call", "ind')
    assert [event["event"] for process in Session(tmp_path).processes() for event in process.events] == ["module"]


def test_what_a_killed_capture_left_is_removed_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left, used = tmp_path / f".session-{dead.pid}-x", tmp_path / f".session-{os.getpid()}-y"
    left.mkdir()
    used.mkdir()
    with session_beside(tmp_path / "a.pt"):
        assert not left.exists()
        assert used.exists()


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("def main(): pass\nmain()\n", True),
        ("for n in range(3): print(n)\n", True),
        ("def main(): pass\nif __name__ == '__main__':\n    main()\n", False),
        ("import torch\ntorch.manual_seed(0)\nX = list(range(3))\n", False),
    ],
)
def test_a_program_that_runs_when_it_is_imported_is_recognized(tmp_path: Path, text: str, runs: bool) -> None:
    (tmp_path / "x.py").write_text(text)
    assert runs_on_import(tmp_path / "x.py") is runs
