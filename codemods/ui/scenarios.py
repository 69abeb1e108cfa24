"""Which functions have a scenario: a file in scenarios/ that builds or calls them, or stored calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.model import SourceError, Span
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.validate.capture_session import read_index
from fullgraph.validate.scenario import CAPTURES

FOLDER = "scenarios/"
CALLED = ("forward", "__call__")


@dataclass(frozen=True)
class Proof:
    """A function and a scenario that runs it. `span` is the function's name."""

    path: str
    symbol: str
    span: Span
    scenario: str
    """As `fullgraph prove` takes it: a file, or `module:function`."""


def proofs_in(project: Project, path: str) -> list[Proof]:
    """The functions of one file that have a scenario, in the order of the text; a file that is no Python has none."""
    try:
        module = project.module(path)
    except SourceError:
        return []
    found = {*from_files(project, module), *from_captures(project, module)}
    return sorted(found, key=lambda proof: (proof.span, proof.scenario))


def from_files(project: Project, module: Module) -> Iterator[Proof]:
    for file in project.files:
        if file.startswith(FOLDER) and file.endswith(".py") and file != module.path:
            try:
                scenario = project.module(file)
            except SourceError:
                continue
            yield from proofs_of(scenario, module)


def proofs_of(scenario: Module, module: Module) -> Iterator[Proof]:
    """What a scenario file names of a module: its functions, and of its classes what is called or mentioned."""
    nodes = scenario.unordered(ast.Name, ast.Attribute)
    names = {dotted.removeprefix(module.name + ".") for node in nodes if (dotted := scenario.resolve(node))}
    words = {node.attr for node in scenario.unordered(ast.Attribute)}
    if not any(isinstance(node, ast.FunctionDef) and node.name == "build" for node in scenario.tree.body):
        return
    for node in module.tree.body:
        if isinstance(node, Function) and node.name in names:
            yield proof_at(module, node, scenario.path)
        elif isinstance(node, ast.ClassDef) and node.name in names:
            inner = [one for one in node.body if isinstance(one, Function) and one.name in (*CALLED, *words)]
            yield from (proof_at(module, one, scenario.path) for one in inner)


def from_captures(project: Project, module: Module) -> Iterator[Proof]:
    folder = project.root / CAPTURES
    for file in sorted(folder.glob(f"{module.name}.*.pt")) if folder.is_dir() else []:
        target = str((read_index(file) or {}).get("target", ""))
        name, _, symbol = target.partition(":")
        for node in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            if name == module.name and module.symbol(node) == symbol:
                yield proof_at(module, node, target)


def proof_at(module: Module, node: Function, scenario: str) -> Proof:
    head = re.compile(rf"\bdef[\s\\]+({node.name})\b").search(module.text, module.span(node).start)
    start = head.start(1) if head else module.span(node).start
    return Proof(module.path, module.symbol(node), Span(start, start + len(node.name)), scenario)


def symbol_span(project: Project, path: str, symbol: str) -> Span | None:
    """Where the name of a function stands by now."""
    try:
        module = project.module(path)
    except SourceError:
        return None
    functions = module.nodes(ast.FunctionDef, ast.AsyncFunctionDef)
    return next((proof_at(module, node, "").span for node in functions if module.symbol(node) == symbol), None)
