"""Loops over a tensor of sizes: the sizes are Python numbers in a list from which the tensor was made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.topics.scalars.guard import is_compiling
from fullgraph.codemods.topics.scalars.repair import SETTING, Look, Repair
from fullgraph.codemods.topics.scalars.twins import twin_of
from fullgraph.codemods.topics.scalars.variables import loads, only_binding, parameters

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
SIZED = {"view", "reshape", "expand", "repeat", "narrow", "split", "new_zeros", "new_ones", "new_full", "unflatten"}
MAKES_SIZED = {"linspace", "arange", "zeros", "ones", "full", "empty", "rand", "randn"}


def size_loops(look: Look) -> Iterator[Repair]:
    """Every loop whose rows are unpacked into numbers that are used as sizes."""
    for loop in look.module.nodes(ast.For):
        if look.holds(loop):
            name, target = looped(look.module, loop)
            if name is not None and isinstance(target, ast.Tuple) and uses_sizes(look.module, target):
                yield judge(look, loop, name, target)


def looped(module: Module, loop: ast.For) -> tuple[ast.Name | None, ast.expr]:
    """The variable that a loop goes through, and what each row is unpacked into."""
    iterated, target = loop.iter, loop.target
    if isinstance(iterated, ast.Call) and module.scopes.is_builtin(iterated.func, "enumerate"):
        is_pair = isinstance(target, ast.Tuple) and len(target.elts) == 2 and len(iterated.args) == 1
        if not is_pair or iterated.keywords or not isinstance(target, ast.Tuple):
            return None, target
        iterated, target = iterated.args[0], target.elts[1]
    return (iterated if isinstance(iterated, ast.Name) else None), target


def uses_sizes(module: Module, target: ast.Tuple) -> bool:
    """Whether one of the numbers goes, alone, to a function that takes sizes."""
    names = [name for name in target.elts if isinstance(name, ast.Name)]
    mentions = [mention for name in names for mention in loads(module, name)]
    return any(is_size(module, mention) for mention in mentions)


def is_size(module: Module, node: ast.AST) -> bool:
    call = module.parent(node)
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    dotted = module.resolve(call.func) or ""
    return method in SIZED or (dotted.startswith("torch.") and dotted.rpartition(".")[2] in MAKES_SIZED)


def judge(look: Look, loop: ast.For, name: ast.Name, target: ast.Tuple) -> Repair:
    sizes = ", ".join(ast.unparse(element) for element in target.elts)
    message = f"{sizes} are read from the tensor {name.id}, and are sizes: each breaks the graph"
    try:
        edits, notes = write(look, name, target)
    except Unsure as unsure:
        return Repair(loop.iter, message, left_alone=f"{unsure}; {SETTING}")
    return Repair(loop.iter, message, edits, notes=notes)


def write(look: Look, name: ast.Name, target: ast.Tuple) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """The list in place of the tensor: here, or in the calls of this function."""
    check_numbers(look, target)
    if any(not is_looped(look.module, mention) for mention in loads(look.module, name)):
        raise Unsure(f"{look.where(name)}: {name.id} is used for more than its rows")
    binding = only_binding(look.module, name)
    if binding is None:
        raise Unsure(f"{look.where(name)}: {name.id} is bound more than once")
    if binding.how == "argument":
        return in_calls(look, name.id)
    return in_place(look, look.module, name)


def in_place(look: Look, module: Module, argument: ast.Name) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    twin = twin_of(look, module, argument)
    if twin is None:
        raise Unsure(f"{look.where(argument)}: no list is seen of which {argument.id} is made")
    asks, imports = is_compiling(module)
    test = f"{asks} and {twin.name} is not None" if twin.may_be_none else asks
    text = f"{twin.name} if {test} else {argument.id}"
    line = argument.lineno
    trusted = (
        f"{module.path}:{line}: compiled code takes {twin.name} at its word: every call in this file gives the list "
        f"of which {argument.id} is made"
    )
    return (*imports, module.replace(argument, text)), ((trusted,) if twin.taken_on_trust else ())


def in_calls(look: Look, name: str) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Every call of the function in its own file gives the list when it is compiled."""
    module, function = look.module, look.function
    names: Definitions = look.tensors.names
    calls = [call for call in module.nodes(ast.Call) if last_part(call.func) == function.name]
    found = [call for call in calls if (called := names.called(module, call)) and called.node is function]
    if not found or len(found) != len(calls):
        raise Unsure(f"{look.where(function)}: not every call of {function.name} is seen to be one")
    owner = module.parent(function)
    for home, heir in heirs(look.project, owner) if isinstance(owner, ast.ClassDef) else ():
        if any(getattr(member, "name", "") == function.name for member in heir.body):
            raise Unsure(f"{home.path}:{heir.lineno}: {heir.name} has a {function.name} of its own")
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    for call in found:
        argument = given(look, call, name)
        if not isinstance(argument, ast.Name):
            raise Unsure(f"{look.where(call)}: no variable is given for {name}")
        more, said = in_place(look, module, argument)
        edits, notes = (*edits, *more), (*notes, *said)
    return tuple(dict.fromkeys(edits)), notes


def last_part(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def given(look: Look, call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives for a parameter; None where stars hide it."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(not k.arg for k in call.keywords):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    labels = [argument.arg for argument in parameters(look.function)]
    is_method = isinstance(look.module.parent(look.function), ast.ClassDef)
    is_static = any(last_part(item) == "staticmethod" for item in look.function.decorator_list)
    place = labels.index(name) - (is_method and not is_static)
    return call.args[place] if 0 <= place < len(call.args) else None


def is_looped(module: Module, mention: ast.Name) -> bool:
    """Whether a mention is what a loop with unpacked rows goes through."""
    loop = module.enclosing(mention, ast.For)
    return loop is not None and looped(module, loop)[0] is mention and isinstance(looped(module, loop)[1], ast.Tuple)


def check_numbers(look: Look, target: ast.Tuple) -> None:
    """Unsure where a number is used as only a tensor can be, or leaves as one."""
    todo = [element for element in target.elts if isinstance(element, ast.Name)]
    if len(todo) != len(target.elts):
        raise Unsure(f"{look.where(target)}: rows are unpacked further")
    seen: set[str] = set()
    for name in todo:
        if name.id in seen:
            continue
        seen.add(name.id)
        for mention in loads(look.module, name):
            todo += followed(look, mention)


def followed(look: Look, node: ast.expr) -> list[ast.Name]:
    """The variables that a number goes into; Unsure where it goes anywhere but into sizes and arithmetic."""
    parent = look.module.parent(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ARITHMETIC):
        other = parent.right if parent.left is node else parent.left
        return [] if is_surely_tensor(look, other) else followed(look, parent)
    if isinstance(parent, ast.Slice) or is_size(look.module, node):
        return []
    if isinstance(parent, ast.AugAssign) and isinstance(parent.target, ast.Name) and isinstance(parent.op, ARITHMETIC):
        return [parent.target]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return [parent.targets[0]]
    raise Unsure(f"{look.where(node)}: {ast.unparse(node)} is a tensor there, and may be used as one")


def is_surely_tensor(look: Look, node: ast.expr) -> bool:
    """A tensor by what is known of it, or by an index that only tensors take."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return any(isinstance(part, ast.Slice) for part in node.slice.elts)
    return look.is_tensor(node)
