"""How a boundary begins a step: plainly where nothing trains, else only while no backward pass is awaited."""

from __future__ import annotations

import re
from os.path import commonpath
from pathlib import PurePosixPath

from fullgraph.codemods.project import Project

FILE = "compiled_steps.py"
TRAINS = (
    re.compile(rb"\.backward\b"),
    re.compile(rb"autograd\.grad\b"),
    re.compile(rb"from torch\.autograd import[^\n]*\bgrad\b|from torch\.autograd import \("),
    re.compile(rb"torch\.func\b"),
    re.compile(rb"def training_step\("),
    re.compile(rb"Trainer\("),
)
"""Words of projects that train, some of them by way of a library."""
TEXT = '''\
"""Steps of compiled code whose outputs live in the buffers of CUDA graphs.

A new step may overwrite every output of the step before, and with it what a forward
pass has saved for its backward pass.
"""

from __future__ import annotations

import copy
import dataclasses
import weakref
from collections.abc import Iterator
from typing import Any, TypeVar

import torch

Tree = TypeVar("Tree")


class _AwaitedBackward:
    """A hook on an autograd node: gone when the node has run, or never can any more."""

    def __call__(self, *gradients: Any) -> None:
        _awaited.discard(self)


_awaited: weakref.WeakSet[_AwaitedBackward] = weakref.WeakSet()


def begin_step() -> None:
    """Let the next compiled call reuse buffers, unless a backward may need them."""
    if not torch.compiler.is_compiling() and not _awaited:
        torch.compiler.cudagraph_mark_step_begin()


def expect_backward(outputs: Tree) -> Tree:
    """Return the outputs; as long as their graph is alive, a backward may follow."""
    if not torch.compiler.is_compiling():
        for node in {tensor.grad_fn for tensor in _tensors(outputs)} - {None}:
            awaited = _AwaitedBackward()
            node.register_hook(awaited)
            _awaited.add(awaited)
    return outputs


def clone_tensors(tree: Any) -> Any:
    """Copy every tensor in tuples, lists, dicts and dataclasses."""
    if isinstance(tree, torch.Tensor):
        return tree.clone()
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(clone_tensors, tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(map(clone_tensors, tree))
    if not isinstance(tree, dict) and not _is_record(tree):
        return tree
    copied = copy.copy(tree)
    for name, value in _parts(tree).items():
        if isinstance(copied, dict):
            copied[name] = clone_tensors(value)
        else:
            object.__setattr__(copied, name, clone_tensors(value))
    return copied


def _tensors(tree: Any) -> Iterator[torch.Tensor]:
    """Find every tensor that `clone_tensors` would copy."""
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, (tuple, list, dict)) or _is_record(tree):
        for part in tree if isinstance(tree, (tuple, list)) else _parts(tree).values():
            yield from _tensors(part)


def _parts(tree: Any) -> dict[Any, Any]:
    if isinstance(tree, dict):
        return dict(tree)
    return {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
'''


def trains(project: Project) -> bool:
    """Whether anything in the project runs a backward pass."""
    return project.worked_out(TRAINS, lambda: any(project.matches(pattern) for pattern in TRAINS))


def place_of_steps(project: Project, homes: list[str]) -> str:
    """Where the file is, or goes, that all boundaries of a project share: next to all who compile, inside a package."""
    there = [path for path in project.files if PurePosixPath(path).name == FILE]
    if there:
        return there[0]
    folder = commonpath([str(PurePosixPath(home).parent) for home in homes])
    packaged = sorted(home for home in homes if "." in project.module_name(home))
    path = FILE if folder in (".", "") else f"{folder}/{FILE}"
    if packaged and "." not in project.module_name(path):
        return str(PurePosixPath(packaged[0]).with_name(FILE))
    return path
