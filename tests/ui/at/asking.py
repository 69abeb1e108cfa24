"""`fullgraph at` as an editor calls it: a process with the place as an argument and the buffer on standard input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from fullgraph.codemods.ui.at.as_json import SCHEMA
from tests.ui.running import COMMAND, PATIENCE, environment

VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text()))

TEXT = """\
import torch


@torch._dynamo.disable
def one(x):
    return x, "🔥", torch._dynamo.is_compiling()


def two(x):
    return x
"""
"""Findings on line 4, which begins at column 2, and on line 6, behind an emoji, at column 20."""

FIXED = TEXT.replace("_dynamo.is_compiling", "compiler.is_compiling")


def write_files(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, text in {"pyproject.toml": "[project]\nname = 'sample'\n", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def at(root: Path, place: str, *options: str, buffer: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    given = ["--stdin"] if buffer is not None else []
    command = [str(COMMAND), "at", place, *given, *options]
    done = subprocess.run(
        command, cwd=root, env=environment(), input=buffer or b"", capture_output=True, timeout=PATIENCE
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def ask(root: Path, place: str, *options: str, buffer: bytes | None = None, code: int | None = None) -> dict[str, Any]:
    """The JSON answer, held against the schema."""
    done = at(root, place, "--json", *options, buffer=buffer)
    assert done.stderr == b""
    if code is not None:
        assert done.returncode == code, done.stdout.decode()
    answer: dict[str, Any] = json.loads(done.stdout)
    VALIDATOR.validate(answer)
    return answer


def lines(answer: dict[str, Any]) -> list[int]:
    return [finding["start"]["line"] for finding in answer["findings"]]
