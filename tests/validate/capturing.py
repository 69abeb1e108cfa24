"""Captures for the tests: in this process, where torch is loaded already, or of a program as a user runs it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fullgraph.validate.capture_session import Session, file_for
from fullgraph.validate.worker.capturing import capture as watcher
from fullgraph.validate.worker.capturing import captured, watching

FULLGRAPH = Path(sys.executable).with_name("fullgraph")
PATIENCE = 120


def load_module(folder: Path, text: str, name: str = "target_module") -> ModuleType:
    """A module that can be imported by its name from now on."""
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Recorder:
    """Stores calls of functions of this process, as the hook does it in a program."""

    folder: Path

    def record(self, target: str, run: Callable[[], Any], limit: int = 3) -> Session:
        session = Path(tempfile.mkdtemp(dir=self.folder))
        watch = watcher.Watch(watcher.Request("\n".join([str(session), target, str(limit), ""])), watching.choose())
        module = sys.modules[target.partition(":")[0]]
        watch.look(vars(module), is_final=True)
        watch.watcher.arm()
        try:
            run()
        finally:
            watch.watcher.disarm()
        return Session(session)

    def store(self, target: str, run: Callable[[], Any], limit: int = 3) -> str:
        """The path of a capture of what `run` calls."""
        file = file_for(self.folder, target)
        file.parent.mkdir(parents=True, exist_ok=True)
        session = self.record(target, run, limit)
        assert session.store(file, target, ["python"]) is not None, session.events("problem")
        return str(file)

    def calls(self, target: str, run: Callable[[], Any], limit: int = 3) -> list[captured.Call]:
        return captured.load_calls(self.store(target, run, limit), "cpu")

    def problem(self, target: str, run: Callable[[], Any]) -> str:
        return str(self.record(target, run).events("problem")[0]["text"])


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, **changes}


def fullgraph(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it."""
    return subprocess.run(
        [FULLGRAPH, *arguments],
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def capture(
    folder: Path, target: str, command: Sequence[str], *options: str, **changes: str
) -> subprocess.CompletedProcess[str]:
    """`fullgraph capture`, with this Python where the command says python."""
    words = [sys.executable if word == "python" else word for word in command]
    return fullgraph(folder, "capture", target, *options, "--", *words, **changes)


def load(folder: Path, target: str, code: str) -> str:
    """What a fresh process prints that has loaded a capture as `calls`, with the function as `function`."""
    setup = (
        "import sys; sys.path[:0] = [ROOT, FOLDER]\n"
        "from fullgraph.validate.worker.capturing import captured\n"
        "function, is_method = captured.resolve(TARGET)\n"
        "calls = captured.load_calls(FILE, 'cpu')\n"
    )
    values = {
        "ROOT": str(Path(__file__).parents[2]),
        "FOLDER": str(folder),
        "TARGET": target,
        "FILE": str(file_for(folder, target)),
    }
    for name, value in values.items():
        setup = setup.replace(name, repr(value))
    done = subprocess.run(
        [sys.executable, "-c", setup + code], capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
