"""What the worker knows of its own process: whose code ran, and the way back to how it began."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch

from fullgraph.validate.worker.process.initial import Initial
from fullgraph.validate.worker.process.ran import Watch
from fullgraph.validate.worker.process.strays import VARIABLE, end_strays, find_strays, read_environment

DISK = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
LAID = "def f(x):\n    return x + 2\n\n\ndef g(x):\n    return x\n"


def watch_run(file: Path, source: str, name: str) -> Watch:
    """Runs a text under the name of a file that is laid over."""
    watch = Watch([str(file)], {str(file): LAID.encode()})
    space: dict[str, object] = {}
    with watch.on():
        exec(compile(source, file, "exec"), space)
        space[name](1)  # type: ignore[operator]
    return watch


def test_code_of_the_disk_is_noticed(tmp_path: Path) -> None:
    file = tmp_path.resolve() / "m.py"
    file.write_text(DISK)
    assert watch_run(file, DISK, "f").stale == {str(file)}
    assert watch_run(file, LAID, "f").stale == set()


def test_code_that_is_neither_is_somebodys_own_way_to_compile(tmp_path: Path) -> None:
    """As that of tools that rewrite what is imported."""
    file = tmp_path.resolve() / "m.py"
    file.write_text(DISK)
    assert watch_run(file, LAID.replace("return x + 2", "assert x\n    return x + 2"), "f").stale == set()


def test_lines_are_kept_by_where_they_stand(tmp_path: Path) -> None:
    file = tmp_path.resolve() / "m.py"
    file.write_text(LAID)
    lines = watch_run(file, LAID, "g").as_json()["ran"][str(file)]
    assert [line for line in lines if line > 0] == [6]
    assert {-1, -5} <= set(lines)


def test_every_stage_begins_as_the_first_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    initial = Initial()
    path, stdout, handler = list(sys.path), sys.stdout, signal.getsignal(signal.SIGTERM)
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    os.chdir("/")
    sys.path.insert(0, "/nowhere")
    sys.stdout = io.StringIO()
    warnings.simplefilter("error")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_num_threads(threads + 1)
    torch.set_grad_enabled(False)
    initial.restore()
    assert Path.cwd() == tmp_path.resolve()
    assert (sys.path, sys.stdout) == (path, stdout)
    assert ("error", Warning) not in [(action, category) for action, _, category, *_ in warnings.filters]
    assert signal.getsignal(signal.SIGTERM) is handler
    assert (torch.get_default_dtype(), torch.get_num_threads()) == (dtype, threads)
    assert torch.get_default_device() == torch.device("cpu")
    assert torch.is_grad_enabled()


def test_strays_are_found_by_what_they_inherit() -> None:
    with subprocess.Popen(["sleep", "100"], env={VARIABLE: "mine"}, start_new_session=True) as stray:
        while not any(read_environment(stray.pid)):  # it has begun to run, and its environment is not laid out yet
            time.sleep(0.01)
        assert find_strays("mine") == [stray.pid]
        assert find_strays("min") == []
        end_strays("mine")
        assert stray.wait() == -signal.SIGKILL
