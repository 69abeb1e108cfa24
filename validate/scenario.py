"""From what the user wrote to a scenario: a Python file, a captured function, or a test."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from fullgraph.validate.capture_session import read_index
from fullgraph.validate.model import Scenario, ValidateError

CAPTURES = Path(".fullgraph") / "captures"
TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")


def read_scenario(text: str, root: Path, folders: Iterable[Path] = ()) -> Scenario:
    """`scenarios/step.py`, `package.module:function` or `tests/test_step.py::test_loss`.

    `folders` are those that the project imports its modules from, where that is known.
    """
    imports = tuple(dict.fromkeys(str(path) for path in (*folders, root / "src", root) if path.is_dir()))
    file, _, rest = text.partition("::")
    if rest or TEST_FILE.fullmatch(Path(text).name):
        path = existing(file)
        return Scenario("pytest", text, f"{path}::{rest}" if rest else str(path), imports=imports)
    if text.endswith(".py"):
        return Scenario("file", text, str(existing(text)), imports=imports)
    if re.fullmatch(r"[\w.]+:[\w.]+", text):
        calls = captured_calls(text, root)
        seen = (read_index(calls) or {}).get("imports", ())
        return Scenario("capture", text, text, str(calls), tuple(dict.fromkeys((*imports, *seen))))
    raise ValidateError(
        f"{text!r} is no scenario: give a Python file, module:function, or a test as tests/test_x.py::test_y"
    )


def existing(text: str) -> Path:
    path = Path(os.path.abspath(text))
    if not path.is_file():
        raise ValidateError(f"{text}: no such file; `fullgraph scenario new module:function` writes a scenario")
    return path


def captured_calls(target: str, root: Path) -> Path:
    """Where the calls of a function are stored."""
    path = root / CAPTURES / f"{target.replace(':', '.')}.pt"
    if not path.is_file():
        raise ValidateError(
            f"no calls of {target} are stored; `fullgraph capture {target} -- python ...` stores some from a real run"
        )
    return path
