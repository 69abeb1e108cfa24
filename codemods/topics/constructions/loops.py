"""A constant tensor that a loop makes anew in each round is made once, right before the loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import statement_start
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import COMPREHENSIONS, names_within
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.aliases import running_scope
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.effects.tokens import Token
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.autocast.constant import default_of, is_built, settings, speaks_of_none
from fullgraph.codemods.topics.constructions.naming import free_name, name_for, variable_of
from fullgraph.codemods.topics.constructions.tensors import ConstantTensor, is_device
from fullgraph.codemods.topics.constructions.writing import can_go, indented_like, joined, remove_line, text_without

STATEMENTS = (ast.For, ast.AsyncFor, ast.While)
QUIET = {"torch.no_grad", "torch.enable_grad", "torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast"}
QUIET |= {"torch.profiler.record_function", "torch.autograd.profiler.record_function"}
"""What a `with` may do around a tensor without making another one of it."""

TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.If, ast.IfExp, ast.While, ast.Assert, ast.comprehension)
DEFAULTS = {"torch.set_default_dtype", "torch.set_default_device", "torch.set_default_tensor_type"}
SETTING = re.compile(rb"\bset_default_(?:dtype|device|tensor_type)\b")
MOVES = {"to", "cuda", "cpu", "to_empty", "data"}
Loop = ast.AST


def loop_around(project: Project, module: Module, tensor: ConstantTensor) -> Loop | None:
    """The outermost loop that makes the same tensor in every round, whatever else it does; None if there is none."""
    found = None
    if isinstance(running_scope(module, tensor.node), ast.ClassDef):
        return None
    for loop, is_certain in loops_around(project, module, tensor.node):
        if not is_certain or not all(is_settled(project, module, device.node, loop) for device in tensor.devices):
            break
        found = loop
    return found


def loops_around(project: Project, module: Module, node: ast.AST) -> Iterator[tuple[Loop, bool]]:
    """The loops of the same function around a node, innermost first, and whether each round comes by it."""
    child, is_certain = node, True
    for outer in module.ancestors(node):
        if isinstance(outer, (*STATEMENTS, *COMPREHENSIONS)):
            if runs_each_round(outer, child):
                yield outer, is_certain and not sets_defaults(project, module, outer)
            is_certain = is_certain and child not in getattr(outer, "orelse", [])
        elif isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return
        elif not always_runs(module, outer, child):
            is_certain = False
        child = outer


def runs_each_round(loop: ast.AST, child: ast.AST) -> bool:
    """Whether a part of a loop is evaluated in every round: not the iterable, nor what follows the last one."""
    if isinstance(loop, ast.While):
        return child is loop.test or child in loop.body
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        return child in loop.body
    generators = getattr(loop, "generators", [])
    return child not in generators


def always_runs(module: Module, outer: ast.AST, child: ast.AST) -> bool:
    """Whether a part of a node is evaluated whenever the node is, and makes the same tensor as outside."""
    if isinstance(outer, (ast.With, ast.AsyncWith)):
        calls = [getattr(item.context_expr, "func", item.context_expr) for item in outer.items]
        return all(module.resolve(call) in QUIET for call in calls)
    if isinstance(outer, ast.If):
        return child is outer.test
    if isinstance(outer, ast.IfExp):
        return child is outer.test
    if isinstance(outer, ast.BoolOp):
        return child is outer.values[0]
    if isinstance(outer, ast.Try):
        return child in outer.finalbody or (child in outer.body and not outer.handlers)
    return not isinstance(outer, (ast.ExceptHandler, ast.match_case)) and type(outer).__name__ != "TryStar"


def sets_defaults(project: Project, module: Module, loop: ast.AST) -> bool:
    """Whether a round may change the dtype or the device that new tensors get, also in a function of the project."""
    calls = [node for node in ast.walk(loop) if isinstance(node, ast.Call)]
    if any(module.resolve(call.func) in DEFAULTS for call in calls):
        return True
    if not project.worked_out(SETTING, lambda: bool(project.matches(SETTING))):
        return False
    names = Definitions(project)
    leaves = any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in ast.walk(loop))
    return leaves or any(names.called(module, call) is not None for call in calls)


def is_settled(project: Project, module: Module, device: ast.expr, loop: Loop) -> bool:
    """Whether a device can be named before the loop, and stays what it is."""
    names = [node for node in ast.walk(device) if isinstance(node, ast.Name)]
    if not is_device(device) and getattr(device, "value", None) != "cpu":
        return False
    if not all(is_bound_before(module, name, loop) and not moves(loop, name) for name in names):
        return False
    if isinstance(device, ast.Attribute) and any(may_be_none(module, name, loop) for name in names):
        return False
    is_plain = isinstance(device, (ast.Name, ast.Constant)) or isinstance(getattr(device, "value", None), ast.Name)
    is_tensors = is_plain and not (names and names[0].id == "self") and is_never_set(project, device)
    return is_tensors or what_changes(project, module, device, [loop]) is None


def is_never_set(project: Project, device: ast.expr) -> bool:
    """Whether nothing but constructors sets an attribute of this name, so that it stays what it is."""
    name = device.attr if isinstance(device, ast.Attribute) else ""
    if not name:
        return True
    return project.worked_out((settings, name), lambda: all(is_built(place) for place in settings(project, name)))


def may_be_none(module: Module, name: ast.Name, loop: Loop) -> bool:
    """Whether a variable may be None where the loop makes no tensor: it is tested there, or may be given None."""
    mentions = (node for node in ast.walk(module.statement(loop)) if isinstance(node, ast.Name) and node.id == name.id)
    if any(isinstance(module.parent(node), TESTS) for node in mentions):
        return True
    for binding in module.scopes.bindings(name):
        given = [binding.value, binding.annotation, default_of(module, binding.node)]
        if any(item is not None and speaks_of_none(item) for item in given):
            return True
    return False


def moves(loop: Loop, name: ast.Name) -> bool:
    """Whether a loop may move what a name stands for: a module goes elsewhere without being bound again."""
    found = (node for node in ast.walk(loop) if isinstance(node, ast.Attribute) and node.attr in MOVES)
    return any(isinstance(node.value, ast.Name) and node.value.id == name.id for node in found)


def is_bound_before(module: Module, name: ast.Name, loop: Loop) -> bool:
    """Whether a variable has its only values before a statement, and has one for sure."""
    scope = module.scopes.of(name)
    if module.resolve(name) or (scope is not running_scope(module, loop) and isinstance(scope, ast.Module)):
        return len(module.scopes.bindings(name)) == 1
    bindings = module.scopes.bindings(name)
    statement = module.statement(loop)
    start = module.span(statement).start
    if not bindings or any(module.span(binding.node).start >= start for binding in bindings):
        return False
    blocks = [statement, *module.ancestors(statement)]
    return any(
        binding.how == "argument" or (binding.how == "assign" and is_before(module, binding.node, blocks))
        for binding in bindings
    )


def is_before(module: Module, node: ast.AST, blocks: list[ast.AST]) -> bool:
    """Whether a simple statement stands in one of the blocks around the place."""
    statement = module.statement(node)
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and any(
        item in module.block(statement) for item in blocks if isinstance(item, ast.stmt)
    )


def hoist_before(module: Module, tensor: ConstantTensor, loop: Loop, taken: set[Token]) -> tuple[Edit, ...]:
    """The edits that make the tensor before the loop; Unsure where there is no room. New names are put in `taken`."""
    statement = module.statement(loop)
    if not module.begins_line(statement) or module.text[module.span(statement).start :].startswith("elif"):
        raise Unsure(f"{where(module, statement)}: no room before the statement")
    scope = running_scope(module, loop)
    variable = variable_of(module, tensor.node)
    text = indented_like(module, tensor.node, joined(text_without(module, tensor.node)), module.indent(statement))
    own = module.statement(tensor.node)
    loads = [name for name in module.scopes.names(scope, variable.id) if name is not variable] if variable else []
    if variable is not None and own is not statement and can_go(module, own, loads):
        head = f"{variable.id} = "
        if isinstance(own, ast.AnnAssign):
            head = f"{variable.id}: {module.code(own.annotation)} = "
        return new_line(module, statement, head + text), remove_line(module, own)
    wanted = name_for(module, tensor.node, tensor.factory)
    name = free_name(wanted, {*names_within(scope), *(name for home, name in taken if home is scope)})
    taken.add((scope, name))
    return (new_line(module, statement, f"{name} = {text}"), module.replace(tensor.node, name))


def new_line(module: Module, statement: ast.stmt, text: str) -> Edit:
    start = statement_start(module, statement)
    return module.replace(Span(start, start), f"{text}\n{module.indent(statement)}")
