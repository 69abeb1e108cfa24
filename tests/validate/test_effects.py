"""What a call does to the world and to its process is a part of what it does."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from fullgraph.validate.worker.recording.effects import KINDS
from tests.validate.recording import places, record

COMPILED = {"between": "compiled", "exact": False}
CONTENTS = ["contents", "contents_masked"]


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working folder of its own, and a process that is put back."""
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGUSR1), list(sys.path), dict(os.environ), sys.getrecursionlimit()
    yield
    logging.getLogger("mine").setLevel("NOTSET")
    gc.enable()
    signal.signal(signal.SIGUSR1, before[0])
    sys.path[:] = before[1]
    os.environ.clear()
    os.environ.update(before[2])
    sys.setrecursionlimit(before[3])


def write(name: str, text: str = "a", mode: str = "w") -> None:
    with open(name, mode) as file:
        file.write(text)


def write_below(folder: str) -> None:
    os.mkdir(folder)
    write(f"{folder}/../log.txt")


def handle(number: int, frame: Any) -> None: ...


def found(call: Callable[[], Any]) -> dict[str, list[str]]:
    made = record(call)
    return {kind: made[kind] for kind in KINDS if made[kind] and not kind.startswith("contents")}


def wait() -> None:
    threading.Thread(target=threading.Event().wait, daemon=True, name="waiter-7").start()


LASTING: dict[str, tuple[Callable[[], Any], dict[str, list[str]]]] = {
    "a file": (lambda: write_below("out"),
               {"files": ["log.txt: there", "out: there"]}),
    "a file by its descriptor": (lambda: os.close(os.open("raw", os.O_CREAT | os.O_WRONLY)), {"files": ["raw: there"]}),
    "a path object": (lambda: Path("p.bin").write_bytes(b"1") and None, {"files": ["p.bin: there"]}),
    "a checkpoint": (lambda: torch.save({"a": 1}, "model.pt"), {"files": ["model.pt: there"]}),
    "a file removed": (lambda: os.remove("old.txt"), {"files": ["old.txt: removed"]}),
    "a file moved": (lambda: shutil.move("old.txt", "new.txt") and None,
                     {"files": ["new.txt: there", "old.txt: removed"]}),
    "a name with a time": (lambda: write("run-20261118-4.log"), {"files": ["run-#-4.log: there"]}),
    "a child": (lambda: subprocess.run(["true", "a"], check=True) and None,
                {"processes": ["subprocess.Popen: ['true', 'a']"]}),
    "a shell": (lambda: os.system("true") and None, {"processes": ["os.system: b'true'"]}),
    "a variable": (lambda: os.environ.update(MINE="1"), {"environment": ["MINE: 1"]}),
    "a variable removed": (lambda: os.environ.pop("HOME") and None, {"environment": ["HOME: removed"]}),
    "a thread": (wait, {"threads": ["waiter-# (daemon)"]}),
    "a path to import from": (lambda: sys.path.append("mine"), {"settings": [f"sys.path: {[*sys.path, 'mine']}"]}),
    "a handler": (lambda: signal.signal(signal.SIGUSR1, handle) and None,
                  {"settings": [f"signal {int(signal.SIGUSR1)}: handle"]}),
    "a limit": (lambda: sys.setrecursionlimit(4321), {"settings": ["sys.getrecursionlimit(): 4321"]}),
    "a logger": (lambda: logging.getLogger("mine").setLevel("INFO"),
                 {"settings": ["logger mine: 20 [] False True"]}),
    "the collector": (gc.disable, {"settings": ["gc.isenabled(): False"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", LASTING)
def test_what_a_call_leaves_behind_is_recorded_and_its_loss_is_a_difference(name: str) -> None:
    write("old.txt")
    call, effects = LASTING[name]
    made = record(call)
    assert {kind: made[kind] for kind in effects} == effects
    (kind,) = effects
    quiet = {**made, kind: []}
    for pair in ({}, COMPILED):
        expected = [] if pair and (kind == "threads" or name == "a limit") else [(kind, "effect")]
        assert places(made, quiet, **pair) == places(quiet, made, **pair) == expected


def passing() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(f"{folder}/a")
    with tempfile.NamedTemporaryFile(delete=False):
        write("lock")
    os.remove("lock")
    Path("old.txt").read_text()
    os.makedirs(".cache/mine")
    with open(os.devnull, "w"):
        pass
    os.environ["MINE"] = "1"
    del os.environ["MINE"]
    threading.Thread(target=len, args=("",)).start()
    os.chdir("/")
    os.chdir(Path(__file__).parent)


def test_what_is_gone_when_the_call_ends_is_no_effect(tmp_path: Path) -> None:
    write("old.txt")

    def back() -> None:
        passing()
        os.chdir(tmp_path)

    assert found(back) == {}


def test_a_connection_is_an_effect() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        address = server.getsockname()
        told = found(lambda: socket.create_connection(address).close())
    assert told == {"connections": [f"socket.connect: {address}"]}


class Writing:
    """Writes what the module has been told to, so that the two subjects hold the same."""

    told: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, name: str, text: str) -> None:
        Writing.told = {name: text}

    def run(self) -> None:
        for name, text in self.told.items():
            write(name, text)


def test_of_two_files_with_other_contents_one_is_wrong() -> None:
    first, second, third = (record(Writing("a.txt", text).run) for text in ("loss 1", "loss 2", "lost 2"))
    assert places(first, second) == []
    assert places(first, second, channels=CONTENTS) == [("contents", "effect")]
    assert [path for path, _ in places(first, third, channels=CONTENTS)] == CONTENTS


def test_of_a_file_that_is_added_to_only_what_is_added_counts() -> None:
    first, second = (record(lambda: write("log.txt", "line\n", "a")) for _ in range(2))
    assert places(first, second, channels=CONTENTS) == []
    assert places(first, record(lambda: write("log.txt", "lime\n", "a")), channels=CONTENTS)


def test_compiled_code_writes_what_plain_code_writes_and_the_compiler_is_not_heard() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        write("step.txt")
        logging.getLogger("mine").warning("step")
        print("step", file=sys.stderr)
        warnings.warn("step", stacklevel=1)
        return y * 2

    def hushed(x: torch.Tensor) -> torch.Tensor:
        return (x + 1) * 2 if torch.compiler.is_compiling() else step(x)

    compiled = record(step, torch.ones(2), run=torch.compile(step, backend="aot_eager"))
    assert compiled["files"] == ["step.txt: there"]
    assert (compiled["processes"], compiled["environment"], compiled["settings"]) == ([], [], [])
    assert compiled["stderr"].count("step\n") >= 1
    silent = record(hushed, torch.ones(2), run=torch.compile(hushed, backend="aot_eager"))
    lost = [path for path, _ in places(compiled, silent, **COMPILED)]
    assert lost == ["warnings[0]", "stderr[0]", "stderr_masked[0]", "logs[0]", "files"]
    assert places(compiled, record(step, torch.ones(2), run=torch.compile(step, backend="aot_eager")), **COMPILED) == []


def test_a_working_folder_that_is_gone_does_not_hurt(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    os.chdir(tmp_path / "inner")
    (tmp_path / "inner").rmdir()
    assert record(lambda: write("a.txt"))["exception"][0] == "FileNotFoundError"
