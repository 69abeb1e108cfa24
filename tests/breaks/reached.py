"""Which statements of a program its calls come by."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from fullgraph.validate.worker.recording.record import silenced
from tests.breaks.programs import MAIN, PLAIN, Program, opened


def unreached(program: Program, folder: Path) -> list[str]:
    """The statements in functions that no call comes by."""
    ran: set[int] = set()

    def follow(frame: FrameType, event: str, argument: Any) -> Any:
        if Path(frame.f_code.co_filename).name != MAIN:
            return None
        ran.add(frame.f_lineno)
        return follow

    before = sys.gettrace()
    with silenced(), opened(program, folder, PLAIN) as subject:
        sys.settrace(follow)
        try:
            for case in subject.cases:
                call_quietly(subject.call, case)
        finally:
            sys.settrace(before)
    lines = program.text.splitlines()
    return [lines[line - 1].strip() for line in sorted(set(statements(program.text)) - ran)]


def call_quietly(call: Any, case: Any) -> None:
    try:
        call(*case.args, **case.kwargs)
    except Exception:
        return


def statements(text: str) -> Iterator[int]:
    """The lines on which the statements of functions begin, without constructors and what has no code of its own."""
    tree = ast.parse(text)
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        if function.name != "__init__":
            inside = (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function)
            yield from (node.lineno for node in inside if not isinstance(node, ast.Try | ast.Pass | ast.Global))
