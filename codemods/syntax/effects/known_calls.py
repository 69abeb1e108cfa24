"""What calls do that are not the project's own, as far as their names tell."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.aliases import tokens_of
from fullgraph.codemods.syntax.effects.doubts import Effect, change
from fullgraph.codemods.syntax.effects.harmless import (
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
    RUNS_GIVEN,
    UNSETTLED,
    WRITES_GIVEN,
)
from fullgraph.codemods.syntax.flow import is_in_place, last_name
from fullgraph.codemods.syntax.places import Place, only_class, where

NEW_ITERATORS = {"parameters", "buffers", "modules", "children"}


def known_effects(names: Definitions, module: Module, call: ast.Call, said: str) -> list[Effect] | None:
    """The effects of a call of something that is not the project's; None if nothing is known about it."""
    func, place = call.func, where(module, call)
    output = [Effect(place, f"calls {said}, which counts each time", is_output=True)]
    if isinstance(func, ast.Name) and not module.scopes.bindings(func):
        if func.id in REFLECTION:
            return [Effect(place, f"calls {said}, which may change anything", is_unknown=True)]
        is_error = func.id.endswith(("Error", "Exception", "Warning"))
        is_quiet = func.id in PURE_BUILTINS or is_error or (func.id == "next" and is_new_iterator(call.args[:1]))
        return output if func.id in OUTPUTS else [] if is_quiet else None
    if kind := only_class(names.denoted(module, func)):
        return [] if is_plain_class(names, kind) else None
    if dotted := module.resolve(func):
        return imported(module, call, dotted, said, output)
    if is_torch_module(module, func):
        return [change(module, call, f"runs {said}, which may change its own buffers", tokens_of(module, func))]
    return method(module, call, func, said) if isinstance(func, ast.Attribute) else None


def is_plain_class(names: Definitions, kind: Place[ast.ClassDef]) -> bool:
    """Whether a class of the project without an `__init__` has none from elsewhere either that may do anything."""
    bases = [(home, base) for home, owner in names.lineage(kind) for base in owner.bases]
    foreign = [(home, base) for home, base in bases if names.denoted(home, base) is None]
    return all(is_plain_base(home, base) for home, base in foreign)


def is_plain_base(module: Module, base: ast.expr) -> bool:
    base = base.value if isinstance(base, ast.Subscript) else base
    package = (module.resolve(base) or "").partition(".")[0]
    return package in PURE_MODULES or (isinstance(base, ast.Name) and not module.scopes.bindings(base))


def is_new_iterator(arguments: list[ast.expr]) -> bool:
    """Whether an iterator is made where it is asked, and asks no code of the project: `model.parameters()`."""
    node = arguments[0] if arguments else None
    is_view = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in NEW_ITERATORS
    return is_view or isinstance(node, ast.GeneratorExp)


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
    if package == "pytest" and (runs_given(call) or last_name(call) == "main"):
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
    is_check = func.attr.startswith("assert") and not runs_given(call)
    return [] if func.attr in READERS or func.attr in ALSO_TENSOR or is_check else None


def runs_given(call: ast.Call) -> bool:
    """Whether a check is given a function that it runs: `assertRaises(ValueError, f)`."""
    return last_name(call) in RUNS_GIVEN and len(call.args) > 1
