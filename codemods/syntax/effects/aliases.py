"""Which variables and attributes an object may be reached by. Attributes count by name, whoever owns them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.module import Module
from codemods.scopes import Binding
from codemods.syntax.effects.harmless import ATOMIC, MAKES_NEW, SAME_ITEMS, VIEW_ATTRIBUTES, VIEWS
from codemods.syntax.flow import last_name

Token = tuple[ast.AST | None, str]
"""A variable as (scope, name); an attribute of whatever object as (None, name)."""

ANYTHING: Token = (None, "")
"""Something that has no name here: an attribute chosen at run time, or whatever unknown code reads."""

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
FRESH = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Lambda, ast.Slice)


def variable(module: Module, name: ast.Name) -> Token:
    return module.scopes.of(name), name.id


def tokens_of(module: Module, node: ast.AST | None, seen: frozenset[Token] = frozenset()) -> frozenset[Token]:
    """Everything by which the object that an expression gives, or a part of it, may be known; empty for a new one."""
    if node is None or isinstance(node, FRESH):
        return frozenset()
    if isinstance(node, ast.Name):
        return of_variable(module, node, seen)
    if isinstance(node, ast.Attribute):
        own: frozenset[Token] = frozenset({ANYTHING if node.attr == "__dict__" else (None, node.attr)})
        return own | tokens_of(module, node.value, seen) if node.attr in VIEW_ATTRIBUTES else own
    if isinstance(node, (ast.Subscript, ast.Starred, ast.NamedExpr, ast.Await)):
        return tokens_of(module, node.value, seen)
    if isinstance(node, ast.Call):
        return of_call(module, node, seen)
    return of_all(module, parts_of(node), seen)


def parts_of(node: ast.AST) -> list[ast.expr | None]:
    """The expressions that a display, a choice or a comprehension hands on."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [*node.elts]
    if isinstance(node, ast.Dict):
        return [*node.values]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return [*node.values]
    if isinstance(node, ast.DictComp):
        return [node.value]
    return [node.elt] if isinstance(node, COMPREHENSIONS) else []


def of_all(module: Module, nodes: Iterable[ast.AST | None], seen: frozenset[Token]) -> frozenset[Token]:
    return frozenset().union(*(tokens_of(module, node, seen) for node in nodes))


def of_variable(module: Module, name: ast.Name, seen: frozenset[Token]) -> frozenset[Token]:
    own = variable(module, name)
    if own in seen:
        return frozenset()
    bindings = module.scopes.bindings(name)
    values = (value_of(binding) for binding in bindings if binding.how in ("assign", "loop"))
    return frozenset({own}) | of_all(module, values, seen | {own})


def value_of(binding: Binding) -> ast.expr | None:
    """What a variable is bound to, through `a, b = x, y`; the whole where it cannot be told apart."""
    value = binding.value
    for index in binding.path if binding.how == "assign" else ():
        is_apart = isinstance(value, (ast.Tuple, ast.List)) and not any(map(is_starred, value.elts))
        value = value.elts[index] if is_apart and index < len(value.elts) else value  # type: ignore[union-attr]
        if not is_apart:
            return value
    return value


def is_starred(node: ast.AST) -> bool:
    return isinstance(node, ast.Starred)


def of_call(module: Module, call: ast.Call, seen: frozenset[Token]) -> frozenset[Token]:
    """A view of its receiver, an item of its arguments, or, from code that is not known, a part of either."""
    func = call.func
    if module.scopes.is_builtin(func, *SAME_ITEMS):
        return of_all(module, call.args, seen)
    if module.scopes.is_builtin(func, "getattr", "vars", "globals", "locals"):
        name = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else ""
        return frozenset({(None, str(name))})
    if isinstance(func, ast.Name) and not module.scopes.bindings(func):
        return frozenset()
    dotted = module.resolve(func) or ""
    if dotted.partition(".")[0] == "torch":
        return of_all(module, call.args[:1], seen) if last_name(call) in VIEWS else frozenset()
    if isinstance(func, ast.Attribute) and last_name(call) in VIEWS:
        return tokens_of(module, func.value, seen)
    if isinstance(func, ast.Attribute) and last_name(call) in MAKES_NEW:
        return frozenset()
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    receiver = func.value if isinstance(func, ast.Attribute) and not dotted else None
    return of_all(module, [*given, receiver], seen)


def is_atomic(module: Module, node: ast.AST) -> bool:
    """Whether a variable holds a value that nothing can change: a number, a string, an index of a loop."""
    if not isinstance(node, ast.Name):
        return isinstance(node, ast.Constant)
    bindings = module.scopes.bindings(node)
    return bool(bindings) and all(holds_atom(module, binding) for binding in bindings)


def holds_atom(module: Module, binding: Binding) -> bool:
    if binding.annotation is not None:
        kinds = {part.strip().strip("'\"") for part in ast.unparse(binding.annotation).split("|")}
        return kinds <= ATOMIC
    value = binding.value
    if binding.how == "loop" and isinstance(value, ast.Call):
        counts = module.scopes.is_builtin(value.func, "enumerate") and binding.path == (0,)
        return counts or module.scopes.is_builtin(value.func, "range")
    if isinstance(value, ast.Call) and not binding.path:
        return module.scopes.is_builtin(value.func, "len", "int", "float", "bool", "str", "isinstance")
    return isinstance(value, (ast.Constant, ast.JoinedStr, ast.Compare)) and not binding.path


def is_private(module: Module, name: ast.Name) -> bool:
    """Whether a local variable holds a new object that no other code has been given."""
    bindings = module.scopes.bindings(name)
    if isinstance(module.scopes.of(name), (ast.Module, ast.ClassDef)) or not bindings:
        return False
    is_new = all(binding.how == "assign" and not tokens_of(module, value_of(binding)) for binding in bindings)
    return is_new and all(is_new_value(module, binding) for binding in bindings) and not is_handed_on(module, name)


def is_new_value(module: Module, binding: Binding) -> bool:
    """Whether what is assigned is made here, and not by code that may keep it."""
    value = value_of(binding)
    if not isinstance(value, ast.Call):
        return value is not None and (not binding.path or value is not binding.value)
    is_torch = (module.resolve(value.func) or "").partition(".")[0] == "torch"
    is_builtin = isinstance(value.func, ast.Name) and not module.scopes.bindings(value.func)
    return is_torch or is_builtin


def is_handed_on(module: Module, name: ast.Name) -> bool:
    """Whether some mention of the variable gives the object itself to something else."""
    home = module.scopes.of(name)
    for mention in module.scopes.names(home, name.id):
        is_local = running_scope(module, mention) is home
        if isinstance(mention.ctx, ast.Load) and (not is_local or leaves(module, mention)):
            return True
    return False


def running_scope(module: Module, node: ast.AST) -> ast.AST:
    """The function or module in which a node runs; a comprehension runs where it stands."""
    scope = module.scopes.around(node)
    while isinstance(scope, (*COMPREHENSIONS, ast.DictComp)):
        scope = module.scopes.around(scope)
    return scope


def leaves(module: Module, mention: ast.Name) -> bool:
    child: ast.AST = mention
    parent = module.parent(child)
    while isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.keyword, ast.IfExp, ast.NamedExpr)):
        child, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Call):
        dotted = (module.resolve(parent.func) or "").partition(".")[0]
        known = dotted in ("torch", "math") or (
            isinstance(parent.func, ast.Name) and not module.scopes.bindings(parent.func)
        )
        return child is not parent.func and not known
    return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Yield, ast.YieldFrom))
