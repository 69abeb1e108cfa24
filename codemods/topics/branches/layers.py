"""Modules of torch.nn that a class keeps as attributes, where nothing else can stand there."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.topics.branches.operations import ACTIVATIONS

LAYERS = {"Linear", "LayerNorm"}
"""Their result is a new tensor, always."""


def layer_called(module: Module, function: Function, call: ast.Call) -> str:
    """The class in torch.nn of what `self.name(x)` calls; empty where that is not seen.

    The class sets the attribute once, in its constructor. An activation must be made without arguments: with
    `inplace=True` it would write into what it is given.
    """
    func, owner = call.func, module.parent(function)
    is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == first(function)
    if not is_own or not isinstance(owner, ast.ClassDef) or len(call.args) != 1 or call.keywords:
        return ""
    assert isinstance(func, ast.Attribute)
    settings = attribute_settings(owner, func.attr)
    made = settings[0].value if len(settings) == 1 else None
    if not isinstance(made, ast.Call) or not is_in_constructor(module, owner, settings[0]):
        return ""
    home, _, name = (module.resolve(made.func) or "").rpartition(".")
    bare = name in ACTIVATIONS and not made.args and not made.keywords
    return name if home in ("torch.nn", "torch.nn.modules") and (bare or name in LAYERS) else ""


def is_in_constructor(module: Module, owner: ast.ClassDef, setting: ast.AST) -> bool:
    around = module.enclosing(setting, ast.FunctionDef)
    return around is not None and around.name == "__init__" and module.parent(around) is owner


def first(function: Function) -> str:
    given = [*function.args.posonlyargs, *function.args.args]
    return given[0].arg if given else ""
