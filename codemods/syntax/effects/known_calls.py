"""What calls do that are not the project's own, as far as their names tell."""

from __future__ import annotations

import ast

from codemods.module import Module
from codemods.syntax.assignments import attribute_settings
from codemods.syntax.definitions import Definitions
from codemods.syntax.effects.aliases import tokens_of
from codemods.syntax.effects.doubts import Effect, change
from codemods.syntax.effects.harmless import (
    ALSO_TENSOR,
    CHANGES_ARGUMENT,
    LOG_METHODS,
    MUTATORS,
    OUTPUT_MODULES,
    OUTPUTS,
    PURE_BUILTINS,
    PURE_MODULES,
    READERS,
    REFLECTION,
    RUNS_ARGUMENT,
    UNSETTLED,
    WRITES_GIVEN,
)
from codemods.syntax.flow import is_in_place, last_name
from codemods.syntax.places import where


def known_effects(names: Definitions, module: Module, call: ast.Call, said: str) -> list[Effect] | None:
    """The effects of a call of something that is not the project's; None if nothing is known about it."""
    func, place = call.func, where(module, call)
    output = [Effect(place, f"calls {said}, which counts each time", is_output=True)]
    if isinstance(func, ast.Name) and not module.scopes.bindings(func):
        if func.id in REFLECTION:
            return [Effect(place, f"calls {said}, which may change anything", is_unknown=True)]
        is_error = func.id.endswith(("Error", "Exception", "Warning"))
        return output if func.id in OUTPUTS else [] if func.id in PURE_BUILTINS or is_error else None
    if dotted := module.resolve(func):
        return imported(module, call, dotted, said, output)
    if is_torch_module(module, func):
        return [change(module, call, f"runs {said}, which may change its own buffers", tokens_of(module, func))]
    if names.denoted(module, func):
        return []  # a class of the project without an `__init__`
    return method(module, call, func, said) if isinstance(func, ast.Attribute) else None


def is_torch_module(module: Module, func: ast.AST) -> bool:
    """Whether what is called is seen to be made by torch.nn, wherever it is set."""
    values: list[ast.expr | None] = []
    if isinstance(func, ast.Name):
        values = [binding.value for binding in module.scopes.bindings(func)]
    elif isinstance(func, ast.Attribute) and (owner := module.enclosing(func, ast.ClassDef)):
        values = [setting.value for setting in attribute_settings(owner, func.attr)]
    made = [module.resolve(value.func) or "" if isinstance(value, ast.Call) else "" for value in values]
    return bool(made) and all(dotted.startswith("torch.nn.") for dotted in made)


def imported(module: Module, call: ast.Call, dotted: str, said: str, output: list[Effect]) -> list[Effect] | None:
    package = dotted.partition(".")[0]
    targets = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    is_told = any(item.arg == "inplace" and getattr(item.value, "value", True) for item in call.keywords)
    if dotted in CHANGES_ARGUMENT or (package == "torch" and (is_in_place(call) or is_told)):
        targets += call.args[:1]
    if dotted.startswith(("torch.distributed.", "torch.nn.utils.")) and last_name(call) in WRITES_GIVEN:
        targets += [*call.args, *(keyword.value for keyword in call.keywords)]
    if targets:
        changed = frozenset().union(*(tokens_of(module, target) for target in targets))
        return [change(module, call, f"changes `{ast.unparse(targets[0])}` by {said}", changed)]
    if package in OUTPUT_MODULES or dotted.startswith("numpy.random."):
        return output
    if dotted.startswith("torch.ops."):
        return None
    if package not in PURE_MODULES or (package == "torch" and last_name(call) in RUNS_ARGUMENT):
        return None
    return output if package == "torch" and last_name(call) in UNSETTLED else []


def method(module: Module, call: ast.Call, func: ast.Attribute, said: str) -> list[Effect] | None:
    receiver = ast.unparse(func.value)
    is_used = not isinstance(module.parent(call), ast.Expr)
    mutates = func.attr in MUTATORS and not (func.attr in ALSO_TENSOR and is_used)
    if mutates or is_in_place(call):
        return [change(module, call, f"changes `{receiver}` by {said}", tokens_of(module, func.value))]
    if func.attr in LOG_METHODS:
        return [Effect(where(module, call), f"calls {said}, which counts each time", is_output=True)]
    return [] if func.attr in READERS or func.attr in ALSO_TENSOR else None
