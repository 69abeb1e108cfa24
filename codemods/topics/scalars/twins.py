"""Tensors of sizes that were made from a Python list which is still there: which list, and where it is known."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.tensors.counters import is_whole
from fullgraph.codemods.topics.scalars.repair import Look
from fullgraph.codemods.topics.scalars.variables import MUTATING, is_written_in_place, loads, only_binding, value_of

MAKERS = {"torch.tensor", "torch.as_tensor"}
LONG = {"torch.long", "torch.int64"}
DEEP = 3


@dataclass(frozen=True)
class Twin:
    """The variable with the list; `may_be_none`: a parameter that need not be given."""

    name: str
    may_be_none: bool = False
    taken_on_trust: bool = False


def twin_of(look: Look, module: Module, name: ast.Name, depth: int = 0) -> Twin | None:
    """The list of whole numbers that has what the tensor in a variable has, in the same function."""
    value = value_of(module, name)
    if value is not None:
        return list_behind(look, module, name, value)
    binding = only_binding(module, name)
    function = module.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef)
    if binding is None or binding.how != "argument" or function is None or depth > DEEP:
        return None
    if is_written_in_place(module, name):
        return None
    return given_together(look, module, function, name.id, depth)


def list_behind(look: Look, module: Module, name: ast.Name, value: ast.expr) -> Twin | None:
    """The list that `torch.as_tensor(sizes, dtype=torch.long)` is made of, if both stay what they are."""
    if not isinstance(value, ast.Call) or module.resolve(value.func) not in MAKERS or len(value.args) != 1:
        return None
    source = value.args[0]
    told = {keyword.arg: keyword.value for keyword in value.keywords}
    is_plain = told.keys() <= {"dtype", "device"} and ("dtype" not in told or module.resolve(told["dtype"]) in LONG)
    if not isinstance(source, ast.Name) or not is_plain or is_written_in_place(module, name):
        return None
    return Twin(source.id) if holds_rows_of_whole_numbers(look, module, source, module.statement(value)) else None


def holds_rows_of_whole_numbers(look: Look, module: Module, name: ast.Name, used: ast.stmt) -> bool:
    """Whether a list is filled with tuples of whole numbers, and complete before a statement."""
    start = value_of(module, name)
    if not isinstance(start, ast.List) or not all(is_row(look, module, row) for row in start.elts):
        return False
    if any(module.enclosing(used, loop) for loop in (ast.For, ast.While)):
        return False
    for mention in loads(module, name):
        call = method_call(module, mention)
        if call is None:
            if is_changed(module, mention):
                return False
            continue
        is_append = getattr(call.func, "attr", "") == "append" and len(call.args) == 1 and not call.keywords
        if not is_append or call.lineno >= used.lineno or not is_row(look, module, call.args[0]):
            return False
    return not is_changed_anywhere(module, name)


def method_call(module: Module, mention: ast.Name) -> ast.Call | None:
    attribute = module.parent(mention)
    call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    return call if isinstance(call, ast.Call) and call.func is attribute else None


def is_changed(module: Module, mention: ast.Name) -> bool:
    """Whether a mention may give the list to another variable, or stores into it."""
    parent = module.parent(mention)
    is_read = isinstance(parent, (ast.Call, ast.keyword, ast.For, ast.comprehension))
    return not is_read and not (isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load))


def is_changed_anywhere(module: Module, name: ast.Name) -> bool:
    """Whether a function of this file that has a parameter of this name changes it: it may be this list."""
    own = module.scopes.of(name)
    for mention in module.scopes.named.get(name.id, []):
        parent = module.parent(mention)
        if not isinstance(mention, ast.Name) or module.scopes.of(mention) is own:
            continue
        is_method = isinstance(parent, ast.Attribute) and parent.attr in MUTATING
        is_item = isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
        if is_method or is_item or isinstance(parent, ast.AugAssign):
            return True
    return False


def is_row(look: Look, module: Module, node: ast.expr) -> bool:
    """A tuple of at least one whole number, also through a variable."""
    if isinstance(node, ast.Name):
        bindings = [binding for binding in module.scopes.bindings(node) if not binding.is_bare]
        values = [binding.value for binding in bindings if binding.how == "assign" and not binding.path]
        is_plain = bool(values) and len(values) == len(bindings)
        return is_plain and all(isinstance(value, ast.Tuple) and is_row(look, module, value) for value in values)
    if not isinstance(node, ast.Tuple) or not node.elts:
        return False
    return all(is_whole(look.tensors.names, module, element) for element in node.elts)


def given_together(look: Look, module: Module, function: Function, name: str, depth: int) -> Twin | None:
    """The parameter that every call in this file gives the list for, where it gives the tensor for the other."""
    parameters = {arg.arg: default for arg, default in with_defaults(function)}
    for other in parameters:
        if other == name or other == "self":
            continue
        calls = [call for call in module.nodes(ast.Call) if has_both(call, name, other)]
        agreeing = [call for call in calls if are_twins(look, module, call, name, other, depth)]
        if calls and len(agreeing) == len(calls) and only_binding_of(module, function, other):
            return Twin(other, parameters[other] is not None, taken_on_trust=True)
    return None


def with_defaults(function: Function) -> list[tuple[ast.arg, ast.expr | None]]:
    """Every parameter that can be named, with its default."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    return [
        *zip(plain, [*defaults, *given.defaults], strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]


def only_binding_of(module: Module, function: Function, name: str) -> bool:
    return len(module.scopes.within(function, name)) == 1


def has_both(call: ast.Call, name: str, other: str) -> bool:
    return {name, other} <= {keyword.arg for keyword in call.keywords}


def are_twins(look: Look, module: Module, call: ast.Call, name: str, other: str, depth: int) -> bool:
    """Whether a call gives a tensor and the very list that it is made of."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    tensor, listed = given[name], given[other]
    if not isinstance(tensor, ast.Name) or not isinstance(listed, ast.Name):
        return False
    if (
        depth
        and (tensor.id, listed.id) == (name, other)
        and is_parameter(module, tensor)
        and is_parameter(module, listed)
    ):
        return True  # handed on under their own names: whatever holds for them still holds
    twin = twin_of(look, module, tensor, depth + 1)
    return twin is not None and twin.name == listed.id


def is_parameter(module: Module, name: ast.Name) -> bool:
    """Whether a variable is what the function was given."""
    binding = only_binding(module, name)
    return binding is not None and binding.how == "argument"
