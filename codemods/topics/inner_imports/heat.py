"""Why a statement runs often: a loop around it, a function that runs at every step, or a caller that does."""

from __future__ import annotations

import ast
import re

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import where

LOOPS = (ast.For, ast.AsyncFor, ast.While)
STEP = re.compile(r"forward|(?:\w+_)?step")
STEPS_UP = 2
MANY = 12
"""Files with calls of one name beyond which nothing is looked up: it is a common word."""


def loop_around(module: Module, node: ast.AST) -> ast.stmt | None:
    """The loop of the same function that runs the node in every pass, not only under a condition."""
    child = node
    for outer in module.ancestors(node):
        if isinstance(outer, (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.If, ast.ExceptHandler, ast.match_case)):
            return None
        if isinstance(outer, (*LOOPS, ast.Try)) and child in outer.orelse:
            return None
        if isinstance(outer, LOOPS) and child in outer.body:
            return outer
        child = outer
    return None


def outer_loop(module: Module, node: ast.AST) -> ast.stmt | None:
    """The outermost of the loops that run the node in every pass."""
    found = loop_around(module, node)
    while found and (outer := loop_around(module, found)):
        found = outer
    return found


def why_hot(project: Project, module: Module, node: ast.AST) -> str:
    """Why the node runs often, in words; empty where nothing says so."""
    if loop := loop_around(module, node):
        return f"the loop in line {loop.lineno} runs it in every pass"
    function = module.enclosing(node, *FUNCTIONS)
    if function is None:
        return ""
    return why_function(project, module, function, 0)


def why_function(project: Project, module: Module, function: Function, depth: int) -> str:
    name = function.name
    if STEP.fullmatch(name):
        return f"{name} runs at every step"
    if depth >= STEPS_UP or name.startswith("__"):
        return ""
    callers = calls_of(project, module, function)
    for other, call in callers:
        if loop_around(other, call):
            return f"{name} is called in a loop at {where(other, call)}"
    for other, call in callers:
        caller = other.enclosing(call, *FUNCTIONS)
        if caller is not None and caller.name != name and why_function(project, other, caller, depth + 1):
            return f"{name} is called from {caller.name} at {where(other, call)}, which runs often"
    return ""


def calls_of(project: Project, module: Module, function: Function) -> list[tuple[Module, ast.Call]]:
    """The calls of a function in the project, as far as names tell."""
    names = Definitions(project)
    called = re.compile(rb"(?<!def )\b" + re.escape(function.name.encode()) + rb"\(")
    paths = [path for path in project.mentions(function.name) if called.search(project.read(path))]
    found: list[tuple[Module, ast.Call]] = []
    for path in paths if len(paths) <= MANY else {*paths} & {module.path}:
        try:
            other = project.module(path)
        except SourceError:
            continue
        for call in other.nodes(ast.Call):
            named = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if named == function.name and is_call_of(names, other, call, module, function):
                found.append((other, call))
    return found


def is_call_of(names: Definitions, other: Module, call: ast.Call, module: Module, function: Function) -> bool:
    """Compared by path and symbol: the function may have been read from a part of its file."""
    callee = names.called(other, call)
    if callee is None:
        return False
    there, here = callee.module.symbol(callee.node), module.symbol(function)
    return callee.module.path == module.path and there == here
