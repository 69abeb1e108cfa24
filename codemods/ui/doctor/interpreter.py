"""The interpreter that proofs would run under: which it is, found how, and what it has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from fullgraph.codemods.model import FullgraphError
from fullgraph.codemods.ui.ci.git import Repository
from fullgraph.codemods.ui.doctor.model import FINE, NOTE, PROBLEM, Fact
from fullgraph.validate.launch import environment, python_of

OLDEST = (2, 6)
"""The oldest torch that proofs run under."""

CLONED = "it came with the repository"
PATIENCE_S = 120.0
"""Seconds for importing torch, on a machine that is busy."""

PROBE = """
import json, os, sys, sysconfig
told = {"python": sys.version.split()[0], "executable": sys.executable, "torch": "", "devices": [], "error": ""}
told["headers"] = os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
try:
    import torch
    told["torch"] = str(torch.__version__)
    told["devices"].append("cpu")
    if torch.cuda.is_available():
        told["devices"].append("cuda (%s)" % torch.cuda.get_device_name(0))
    for name in ("mps", "xpu"):
        module = getattr(torch.backends, name, None) if name == "mps" else getattr(torch, name, None)
        if module is not None and module.is_available():
            told["devices"].append(name)
except Exception as error:
    told["error"] = "%s: %s" % (type(error).__name__, error)
print()
print(json.dumps(told))
"""


def ask(python: str) -> dict[str, Any]:
    """What an interpreter says of itself. It stands in a folder of ours, so that no file of the project is imported."""
    try:
        done = subprocess.run(
            [python, "-c", PROBE],
            cwd=Path(__file__).parent,
            env=environment(),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
        )
        told: dict[str, Any] = json.loads(done.stdout.rstrip().rpartition("\n")[2])
    except OSError as error:
        return {"error": f"cannot be run: {error.strerror}"}
    except subprocess.TimeoutExpired:
        return {"error": f"did not answer within {PATIENCE_S:.0f} seconds"}
    except ValueError:
        return {"error": "said nothing that can be read"}
    return told


def is_cloned(root: Path, python: str) -> bool:
    """Whether git tracks the interpreter: whoever made the repository would have their program run."""
    if not Path(python).is_relative_to(root):
        return False
    try:
        repository = Repository.around(root)
    except FullgraphError:
        return False
    return repository.does("ls-files", "--error-unmatch", "--", python)


def how_found(given: str, root: Path, python: str) -> str:
    """In the words of the rule that `python_of` went by."""
    if given:
        return "--python"
    folders = {
        os.environ.get("VIRTUAL_ENV"): "the active environment",
        os.environ.get("CONDA_PREFIX"): "the active conda environment",
        str(root / ".venv"): "the project's .venv",
        str(root / "venv"): "the project's venv",
    }
    for folder, told in folders.items():
        if folder and Path(python).is_relative_to(folder):
            return told
    return "fullgraph's own" if python == sys.executable else "the first on PATH"


def look_at(given: str, root: Path) -> list[Fact]:
    """The interpreter, its torch, the devices and the headers that it has."""
    python = python_of(given, root)
    told = {"error": f"{CLONED}; it is not run"} if not given and is_cloned(root, python) else ask(python)
    found = how_found(given, root, python)
    data = {"executable": python, "found": found, "version": told.get("python", "")}
    if "python" not in told:
        fix = "fullgraph doctor --python PATH"
        return [Fact("python", PROBLEM, f"{python} ({found}): {told['error']}", fix, data)]
    interpreter = Fact("python", FINE, f"{told['python']}, {python} ({found})", "", data)
    return [interpreter, torch_of(told, python), *([device_of(told)] if told["torch"] else []), compiler(told)]


def torch_of(told: dict[str, Any], python: str) -> Fact:
    version = told["torch"]
    data = {"version": version}
    if not version:
        said = f"{told['error']}; proofs and observing need it, checking does not"
        return Fact("torch", PROBLEM, said, f"{python} -m pip install torch", data)
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        fix = f"{python} -m pip install --upgrade torch"
        return Fact("torch", PROBLEM, f"{version}: proofs need {'.'.join(map(str, OLDEST))} or newer", fix, data)
    return Fact("torch", FINE, version, "", data)


def device_of(told: dict[str, Any]) -> Fact:
    devices = told["devices"]
    used = devices[-1] if len(devices) > 1 else "cpu, no accelerator: what only a GPU shows is not measured"
    return Fact("device", FINE if len(devices) > 1 else NOTE, used, "", {"devices": devices})


def compiler(told: dict[str, Any]) -> Fact:
    """What torch.compile's default backend builds its kernels for the CPU with."""
    wanted = os.environ.get("CXX") or {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")
    found = shutil.which(wanted)
    data = {"executable": found or "", "headers": told["headers"]}
    if not found:
        ways = {"darwin": "xcode-select --install", "win32": "winget install Microsoft.VisualStudio.2022.BuildTools"}
        said = f"there is no {wanted}: the backend inductor cannot compile for the CPU"
        way = "unset CXX" if "CXX" in os.environ else ways.get(sys.platform, "apt-get install g++")
        return Fact("compiler", PROBLEM, said, way, data)
    if not told["headers"] and sys.platform.startswith("linux"):
        fix = f"apt-get install python{'.'.join(told['python'].split('.')[:2])}-dev"
        return Fact("compiler", PROBLEM, f"{found}, but Python.h of {told['python']} is not installed", fix, data)
    return Fact("compiler", FINE, found, "", data)
