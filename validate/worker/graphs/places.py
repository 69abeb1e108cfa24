"""Whose line it was: the user's, torch's, Python's or our own; and in which function it stands."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TORCH = os.path.dirname(os.path.realpath(torch.__file__))
PYTHON = sorted({os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")})
INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+$")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
INNER = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


class Line(NamedTuple):
    """One line of a stack."""

    file: str
    line: int
    function: str


def read_stack(frame: FrameType | None) -> list[Line]:
    """The stack that ends in this frame, outermost first."""
    lines = []
    while frame is not None:
        lines.append(Line(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name))
        frame = frame.f_back
    return lines[::-1]


@functools.cache
def is_users(file: str) -> bool:
    """Whether the file is neither torch's nor the standard library's nor ours, and a file at all."""
    if file.startswith("<"):
        return False
    return not (is_ours(file) or is_torchs(file) or is_pythons(file))


def is_ours(file: str) -> bool:
    return is_below(real_path(file), OWN)


def is_torchs(file: str) -> bool:
    return is_below(real_path(file), TORCH)


def is_pythons(file: str) -> bool:
    path = real_path(file)
    return any(is_below(path, folder) for folder in PYTHON) and not INSTALLED.search(path)


def is_machinery(file: str) -> bool:
    """Whether the file only leads from a compiled callable to what was compiled."""
    path = real_path(file)
    return is_below(path, os.path.join(TORCH, "_dynamo")) or path == os.path.join(TORCH, "nn", "modules", "module.py")


def is_below(path: str, folder: str) -> bool:
    return path.startswith(folder + os.sep)


def find_deepest(stack: Sequence[Line]) -> Line | None:
    """The user's line that leads deepest; without one, the deepest that is not ours."""
    users = [line for line in stack if is_users(line.file)]
    others = [line for line in stack if not is_ours(line.file)]
    return (users or others)[-1] if users or others else None


@functools.cache
def real_path(file: str) -> str:
    """The absolute path; what has none, `<string>`, stays as it is."""
    return os.path.realpath(file) if file and not file.startswith("<") else file


def name_function(line: Line) -> str:
    """The function with the classes and functions around it, as in `Net.forward`.

    A comprehension belongs to its function; what Dynamo made to resume a function is that function.
    """
    name = RESUMED.sub(r"\1", line.function)
    around = enclosing(line.file, line.line)
    if name in INNER:
        return ".".join(around) or "<module>"
    if name == "<lambda>":
        return ".".join([*around, name])
    return ".".join(around) if around and around[-1] == name else name


def enclosing(file: str, line: int) -> list[str]:
    """The names of the definitions around a line, outermost first; none where the source cannot be read."""
    names: list[str] = []
    node: ast.AST | None = parse(file)
    while node is not None:
        node = find_around(node, line)
        names += [node.name] if node is not None else []
    return names


def find_around(node: ast.AST, line: int) -> Definition | None:
    """The outermost definition inside a node that spans a line."""
    return next((one for one in definitions(node) if first_line(one) <= line <= (one.end_lineno or 0)), None)


def definitions(node: ast.AST) -> list[Definition]:
    """The definitions inside a node, down to the first on every way."""
    found: list[Definition] = []
    for child in ast.iter_child_nodes(node):
        found += [child] if isinstance(child, DEFINITIONS) else definitions(child)
    return found


def first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def start_of(line: Line) -> Line:
    """The line with `def` for a code object, which begins with the decorators. A resumed function begins inside."""
    node: ast.AST | None = None if RESUMED.match(line.function) else parse(line.file)
    while node is not None:
        node = find_around(node, line.line)
        if node is not None and first_line(node) == line.line and node.name == line.function:
            return line._replace(line=node.lineno)
    return line


def find_original(call: Any) -> Any:
    """What was given to torch.compile, of what came back; anything else as it is."""
    for name in ("_torchdynamo_orig_callable", "_orig_mod"):
        call = getattr(call, name, call)
    return call


def find_definition(call: Any) -> Line:
    """Where a callable is written; a file without a name if it is not written in Python."""
    call = written = find_original(call)
    for name in ("func", "forward", "__call__"):
        written = written if hasattr(written, "__code__") else getattr(written, name, written)
    code = getattr(inspect.unwrap(written), "__code__", None)
    if code is None:
        return Line("", 0, getattr(call, "__qualname__", type(call).__name__))
    return Line(code.co_filename, code.co_firstlineno, code.co_name)


@functools.lru_cache(maxsize=64)
def parse(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None


def current_stack() -> list[Line]:
    """The stack up to the last line that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return read_stack(frame)
