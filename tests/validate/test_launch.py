"""Workers: whatever they do, it is told, and none is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fullgraph.validate.launch import Died, Refused, Worker, environment, python_of
from fullgraph.validate.model import ValidateError

pytestmark = pytest.mark.processes


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Worker]:
    with Worker(sys.executable, "before", tmp_path, tmp_path) as started:
        yield started


def inner(worker: Worker) -> int:
    """The process that does the work; the one that was started guards it."""
    pid = worker.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def is_gone(pid: int) -> bool:
    for _ in range(100):
        if not is_alive(pid):
            return True
        time.sleep(0.1)
    return False


def test_a_worker_says_who_it_is(worker: Worker) -> None:
    import torch

    assert worker.ask("hello", limit=60)["torch"] == torch.__version__


def test_a_request_that_fails_is_an_answer_and_the_worker_goes_on(worker: Worker) -> None:
    with pytest.raises(Refused, match="AttributeError"):
        worker.ask("no_such_request", limit=60)
    assert worker.ask("hello", limit=60)


def test_a_worker_that_is_killed_is_told_as_such(worker: Worker) -> None:
    worker.ask("hello", limit=60)
    os.kill(inner(worker), signal.SIGSEGV)
    with pytest.raises(Died) as died:
        worker.ask("hello", limit=60)
    assert died.value.outcome.kind == "crash"
    assert "SIGSEGV" in died.value.outcome.text


def test_a_worker_that_the_system_kills_ran_out_of_memory(worker: Worker) -> None:
    worker.ask("hello", limit=60)
    os.kill(inner(worker), signal.SIGKILL)
    with pytest.raises(Died) as died:
        worker.ask("hello", limit=60)
    assert died.value.outcome.kind == "memory"


def test_no_answer_in_time_is_a_hang_and_the_end_of_the_worker(worker: Worker) -> None:
    worker.ask("hello", limit=60)
    pid = inner(worker)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(Died) as died:
        worker.ask("hello", limit=0.3)
    assert died.value.outcome.kind == "hang"
    assert is_gone(pid)
    assert is_gone(worker.process.pid)


def test_a_python_that_is_not_there_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(ValidateError, match="--python names another one"):
        Worker("/nowhere/python", "before", tmp_path, tmp_path)


def test_a_python_without_torch_says_so(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    python.chmod(0o755)
    with Worker(str(python), "before", tmp_path, tmp_path) as worker, pytest.raises(Refused, match="has no torch"):
        worker.ask("hello", limit=60)


def test_workers_end_when_their_controller_is_killed(tmp_path: Path) -> None:
    program = f"""
        import sys, time
        from pathlib import Path
        from fullgraph.validate.launch import Worker
        worker = Worker(sys.executable, "before", Path({str(tmp_path)!r}), Path({str(tmp_path)!r}))
        print(worker.process.pid, flush=True)
        time.sleep(60)
    """
    started = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    pid = int(started.stdout.readline())
    assert is_alive(pid)
    started.kill()
    started.wait()
    started.stdout.close()
    assert is_gone(pid)


def test_the_worker_hides_none_of_the_users_modules(tmp_path: Path) -> None:
    """`record`, `timing` and the like are names of the worker's own files, and of many users' too."""
    (tmp_path / "record.py").write_text("mine = True\n")
    (tmp_path / "scenario.py").write_text(
        "import record\nassert record.mine\n\n"
        "def build(device):\n    return abs\n\n"
        "def cases(device, seed):\n    return [(-1,)]\n"
    )
    scenario = {"kind": "file", "target": str(tmp_path / "scenario.py"), "capture": "", "imports": [str(tmp_path)]}
    settings = {"device": "cpu", "roots": [str(tmp_path)]}
    with Worker(sys.executable, "before", tmp_path, tmp_path) as worker:
        opened = worker.ask(
            "open", limit=60, scenario=scenario, files={}, watched=[], settings=settings, scratch=str(tmp_path),
            shared_cache=str(tmp_path),
        )  # fmt: skip
    assert opened["cases"] == ["case 1"]


def test_settings_of_the_shell_that_would_change_the_measurement_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_LOGS", "+all")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    assert not {"TORCH_LOGS", "TORCHDYNAMO_DISABLE"} & environment().keys()


def test_the_python_of_the_active_environment_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    own = tmp_path / "project" / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert python_of("", tmp_path / "project") == str(own)
    active = tmp_path / "active" / "bin" / "python"
    active.parent.mkdir(parents=True)
    active.touch()
    assert python_of("", tmp_path / "project") == str(active)
    assert python_of("/other/python", tmp_path) == "/other/python"
