"""Where code runs over and over: in `forward`, in the steps of a training, in compiled code and in loops."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import regions
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.topics.constructions.screen import compiles

STEP = re.compile(r"(?:\w+_)?step")
MODULES = re.compile(
    r"torch\.nn\.(?:[\w.]+\.)?[A-Z]\w*$|(?:pytorch_lightning|lightning(?:\.pytorch)?)\.LightningModule$"
)
NOT_MODULES = {"torch.nn.Parameter", "torch.nn.UninitializedParameter", "torch.nn.Buffer"}
CONDITIONS = (ast.If, ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.match_case, ast.Raise, ast.Assert)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Hot:
    """Tells the functions of one module that run in every step, as their names or the compiler say."""

    def __init__(self, project: Project, module: Module) -> None:
        self.module = module
        self.names = Definitions(project)

    def is_hot(self, function: Function) -> bool:
        """Whether a function is a step, compiled, or what a `forward` or a step of its class calls."""
        kind = self.module.parent(function)
        if isinstance(kind, ast.ClassDef):
            is_own = function.name in hot_methods(kind) and self.is_module(kind)
            return is_own or (STEP.fullmatch(function.name) is not None and function.name != "step")
        return STEP.fullmatch(function.name) is not None or function.name in self.compiled

    def runs_often(self, node: ast.AST) -> bool:
        """Whether a statement of a function runs over and over, and not only under some condition."""
        function = self.module.enclosing(node, *FUNCTIONS, ast.Lambda)
        around = self.module.enclosing(node, *CONDITIONS, *LOOPS, *FUNCTIONS, ast.ClassDef)
        if not isinstance(function, Function) or isinstance(around, CONDITIONS):
            return False
        return isinstance(around, LOOPS) or self.is_hot(function)

    def is_module(self, kind: ast.ClassDef) -> bool:
        """Whether a class inherits `torch.nn.Module`, as far as names tell."""
        for home, owner in self.names.lineage(Place(self.module, kind)):
            bases = [home.resolve(base) or "" for base in owner.bases]
            if any(MODULES.match(base) and base not in NOT_MODULES for base in bases):
                return True
        return False

    @cached_property
    def compiled(self) -> set[str]:
        """The functions of the module that it compiles, and those that they call."""
        if not compiles(self.module.text.replace("\r", "\n").encode(errors="replace")):
            return set()
        functions = {node.name: node for node in self.module.tree.body if isinstance(node, Function)}
        todo = [getattr(target, "name", getattr(target, "id", "")) for _, target in regions(self.module)]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name in functions and name not in found:
                found.add(name)
                todo += [node.id for node in ast.walk(functions[name]) if isinstance(node, ast.Name)]
        return found


def hot_methods(kind: ast.ClassDef) -> set[str]:
    """`forward`, the steps of a training, and the methods that these call on the same object."""
    methods = {node.name: node for node in kind.body if isinstance(node, Function)}
    found: set[str] = set()
    todo = [name for name in methods if name == "forward" or STEP.fullmatch(name)]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            called = (own_call(node) for node in ast.walk(methods[name]))
            todo += [other for other in called if other in methods and not other.startswith("__")]
    return found


def own_call(node: ast.AST) -> str:
    """`name` of `self.name(...)`."""
    func = node.func if isinstance(node, ast.Call) else None
    is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    return func.attr if isinstance(func, ast.Attribute) and is_own else ""
