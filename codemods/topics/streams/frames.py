"""Expressions of several functions in the words of one: parameters stand for what the caller gave."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.syntax.loops import call_name, element_of

AMBIENT = {"default_stream": "the default stream", "current_stream": "the current stream"}
LOOPS = (ast.For, ast.While, ast.AsyncFor)
DEEP = 8


@dataclass(frozen=True, eq=False)
class Frame:
    """A function as one call runs it. `given`: for each parameter the caller's frame and what stands there."""

    module: Module
    function: Function
    given: Mapping[str, tuple[Frame, ast.expr]] = field(default_factory=dict)

    def only_binding(self, name: ast.Name) -> Binding | None:
        """What gives a variable its value here: its only binding, or the loop around it that alone sets it inside."""
        bindings = self.module.scopes.bindings(name)
        if len(bindings) == 1:
            return bindings[0]
        for loop in self.module.ancestors(name):
            if isinstance(loop, ast.For):
                inside = [binding for binding in bindings if any(node is binding.node for node in ast.walk(loop))]
                by_target = [item for item in inside if any(node is item.node for node in ast.walk(loop.target))]
                if by_target:
                    return by_target[0] if len(inside) == 1 else None
        return None


def called_with(caller: Frame, call: ast.Call, module: Module, function: Function) -> Frame:
    """The frame that a call makes; a parameter without an argument stands for itself."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    given: dict[str, tuple[Frame, ast.expr]] = {}
    is_method = isinstance(module.parent(function), ast.ClassDef) and not is_static(function)
    if is_method and names and isinstance(call.func, ast.Attribute):
        given[names.pop(0)] = (caller, call.func.value)
    elif is_method:
        names = names[1:]
    for name, value in zip(names, call.args, strict=False):
        if isinstance(value, ast.Starred):
            break
        given[name] = (caller, value)
    given |= {keyword.arg: (caller, keyword.value) for keyword in call.keywords if keyword.arg}
    return Frame(module, function, given)


def is_static(function: Function) -> bool:
    return any(getattr(item, "id", "") == "staticmethod" for item in function.decorator_list)


def same_words(frame: Frame, node: ast.AST, inside: frozenset[ast.AST] = frozenset(), depth: int = 0) -> str | None:
    """A text that two expressions share if they mean the same object, or the same element of the same collection.

    The elements that a loop goes through are all alike, except for the loops of `inside`, which are still running: of
    these each variable stands for itself. The default stream is one, whatever device it is asked for.
    """
    if depth > DEEP:
        return None
    if isinstance(node, ast.Call):
        name = (frame.module.resolve(node.func) or "").rpartition(".")[2]
        return f"<{name}>" if name in AMBIENT else None
    if isinstance(node, ast.Attribute):
        owner = same_words(frame, node.value, inside, depth + 1)
        return owner and f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript):
        owner = same_words(frame, node.value, inside, depth + 1)
        part = words_of_index(frame, node.slice, inside)
        return owner and part and f"{owner}{part}"
    return words_of_name(frame, node, inside, depth) if isinstance(node, ast.Name) else None


def words_of_index(frame: Frame, node: ast.expr, inside: frozenset[ast.AST]) -> str | None:
    """`[each]` for the counter of a loop that is through; the constant or the name otherwise."""
    if isinstance(node, ast.Constant):
        return f"[{node.value!r}]"
    binding = frame.only_binding(node) if isinstance(node, ast.Name) else None
    if binding is None or binding.how != "loop":
        return None
    loop = frame.module.enclosing(binding.node, *LOOPS, ast.comprehension)
    counts = binding.value is not None and call_name(binding.value) in ("range", "enumerate")
    return f"[{ast.unparse(node)}]" if loop in inside else "[each]" if counts else None


def words_of_name(frame: Frame, node: ast.Name, inside: frozenset[ast.AST], depth: int) -> str | None:
    if node.id in frame.given:
        caller, value = frame.given[node.id]
        return same_words(caller, value, inside, depth + 1) if is_unbound_again(frame, node) else None
    binding = frame.only_binding(node)
    if binding is None or binding.how in ("argument", "other"):
        return node.id if binding is not None else None
    if binding.how == "loop":
        return words_of_element(frame, binding, node, inside, depth)
    if binding.how != "assign" or binding.path or binding.value is None:
        return node.id
    is_alias = isinstance(binding.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    return (same_words(frame, binding.value, inside, depth + 1) if is_alias else None) or node.id


def words_of_element(
    frame: Frame, binding: Binding, node: ast.Name, inside: frozenset[ast.AST], depth: int
) -> str | None:
    loop = frame.module.enclosing(binding.node, *LOOPS, ast.comprehension)
    if loop in inside:
        return node.id
    source = element_of(frame.module, binding.node)
    owner = same_words(frame, source, inside, depth + 1) if source is not None else None
    return owner and f"{owner}[each]"


def is_unbound_again(frame: Frame, node: ast.Name) -> bool:
    return len(frame.module.scopes.bindings(node)) == 1


def spelled(frame: Frame, node: ast.AST, target: Frame, depth: int = 0) -> str | None:
    """How an expression of names and attributes is written where `target` runs; None if it cannot be."""
    if depth > DEEP:
        return None
    if isinstance(node, ast.Attribute):
        owner = spelled(frame, node.value, target, depth + 1)
        return owner and f"{owner}.{node.attr}"
    if not isinstance(node, ast.Name) or len(frame.module.scopes.bindings(node)) != 1:
        return None
    if frame is target or (frame.function is target.function and not frame.given):
        return node.id
    if isinstance(frame.module.scopes.of(node), ast.Module):
        return node.id if frame.module is target.module else None
    if backwards := given_on(frame, node, target):
        return backwards
    if node.id in frame.given:
        caller, value = frame.given[node.id]
        return spelled(caller, value, target, depth + 1)
    binding = frame.only_binding(node)
    is_alias = binding and binding.how == "assign" and isinstance(binding.value, (ast.Name, ast.Attribute))
    value_node = binding.value if binding and is_alias and not binding.path else None
    return spelled(frame, value_node, target, depth + 1) if value_node is not None else None


def given_on(frame: Frame, node: ast.Name, target: Frame) -> str | None:
    """The parameter of the target that was given this very name."""
    for name, (caller, value) in target.given.items():
        if caller is frame and isinstance(value, ast.Name) and value.id == node.id:
            return name
    return None
