"""Which variables and attributes an object may be reached by. Attributes count by name, whoever owns them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.syntax.effects.harmless import (
    ATOMIC,
    MAKES_NEW,
    PLAIN_TORCH,
    SAME_ITEMS,
    SHARING,
    VIEW_ATTRIBUTES,
    VIEWS,
)
from fullgraph.codemods.syntax.effects.stored import filled_with, stored_as
from fullgraph.codemods.syntax.effects.tokens import ANYTHING, PARTS, Token, variable
from fullgraph.codemods.syntax.flow import is_in_place, last_name

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
FRESH = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Lambda, ast.Slice)


def tokens_of(module: Module, node: ast.AST | None, seen: frozenset[Token] = frozenset()) -> frozenset[Token]:
    """Everything by which the object that an expression gives, or a part of it, may be known; empty for a new one."""
    if node is None or isinstance(node, FRESH):
        return frozenset()
    if isinstance(node, ast.Name):
        return of_variable(module, node, seen)
    if isinstance(node, ast.Attribute):
        return of_attribute(module, node, seen)
    if isinstance(node, ast.Subscript):
        return tokens_of(module, node.value, seen) | put_into(module, node.value, seen)
    if isinstance(node, (ast.Starred, ast.NamedExpr, ast.Await)):
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


def of_attribute(module: Module, node: ast.Attribute, seen: frozenset[Token]) -> frozenset[Token]:
    """The attribute by its name, and what it is seen to be another name for: `self.active = host.flags`."""
    own: Token = ANYTHING if node.attr == "__dict__" else (None, node.attr)
    if own in seen:
        return frozenset({own})
    values = stored_as(module).get(node.attr, [])
    same = [value for value in values if is_same_object(value) and not is_atomic(module, value)]
    found = frozenset({own}) | of_all(module, same, seen | {own}) | parts_token(module, node)
    return found | tokens_of(module, node.value, seen) if node.attr in VIEW_ATTRIBUTES else found


def parts_token(module: Module, node: ast.Attribute) -> frozenset[Token]:
    """What says that something is a part of an argument, whatever that is where the function is called."""
    owner: ast.expr = node
    while isinstance(owner, (ast.Attribute, ast.Subscript)):
        owner = owner.value
    if not isinstance(owner, ast.Name) or not any(item.how == "argument" for item in module.scopes.bindings(owner)):
        return frozenset()
    scope, name = variable(module, owner)
    return frozenset({(scope, f"{name}{PARTS}")})


def parts_given(module: Module, node: ast.AST | None) -> frozenset[Token]:
    """Everything that may be a part of what an expression gives, but not the object itself: `x` of `Box(x)`."""
    found = tokens_of(module, node)
    if isinstance(node, ast.Name):
        scope, name = variable(module, node)
        return found - {(scope, name)} | {(scope, f"{name}{PARTS}")}
    return found - {(None, node.attr)} if isinstance(node, ast.Attribute) else found


def of_variable(module: Module, name: ast.Name, seen: frozenset[Token]) -> frozenset[Token]:
    own = variable(module, name)
    if own in seen:
        return frozenset()
    dotted = module.resolve(name) or ""
    imported: frozenset[Token] = frozenset({(None, dotted.rpartition(".")[2])} if "." in dotted else ())
    within = seen | {own}
    found = frozenset({own}) | imported
    for binding in module.scopes.bindings(name):
        value = value_of(binding) if binding.how in ("assign", "loop") else given_by(module, binding)
        found |= tokens_of(module, value, within)
        if binding.how == "loop" and value is not None:
            found |= put_into(module, value, within)
    return found


def given_by(module: Module, binding: Binding) -> ast.expr | None:
    """What `with value as name` and `match value: case name` bind a name to, or a part of it."""
    if binding.how != "other":
        return None
    for outer in module.ancestors(binding.node):
        if isinstance(outer, ast.withitem):
            return outer.context_expr
        if isinstance(outer, ast.Match):
            return outer.subject
        if isinstance(outer, ast.stmt):
            return None
    return None


def put_into(module: Module, node: ast.AST, seen: frozenset[Token] = frozenset()) -> frozenset[Token]:
    """By what the items are known that a variable or an attribute gets: `held[key] = x`, `held.append(x)`."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        own: Token = variable(module, node) if isinstance(node, ast.Name) else (None, node.attr)
        marked: Token = (own[0], f"{own[1]}[]")
        if marked in seen:
            return frozenset()
        return of_all(module, filled_with(module).get(own, []), seen | {marked})
    if isinstance(node, ast.Subscript):
        return put_into(module, node.value, seen)
    is_view = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and last_name(node) in VIEWS
    if is_view:
        return put_into(module, node.func.value, seen)  # type: ignore[attr-defined]
    is_same = isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, *SAME_ITEMS)
    return frozenset().union(*(put_into(module, item, seen) for item in node.args)) if is_same else frozenset()  # type: ignore[attr-defined]


def is_same_object(value: ast.expr) -> bool:
    """Whether a value is an object that has another name, or a view of one: nothing is called but views."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return not isinstance(value, FRESH) and all(last_name(call) in VIEWS for call in calls)


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
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if module.scopes.is_builtin(func, *SAME_ITEMS):
        return of_all(module, given, seen)
    if module.scopes.is_builtin(func, "getattr", "vars", "globals", "locals"):
        name = call.args[1].value if len(call.args) > 1 and isinstance(call.args[1], ast.Constant) else ""
        return frozenset({(None, str(name))})
    if isinstance(func, ast.Name) and not module.scopes.bindings(func):
        return frozenset()
    dotted = module.resolve(func) or ""
    if dotted.partition(".")[0] == "torch":
        return of_all(module, given, seen) if keeps_given(call, dotted) else frozenset()
    if isinstance(func, ast.Attribute) and last_name(call) in VIEWS:
        return tokens_of(module, func.value, seen) | put_into(module, func.value, seen)
    if isinstance(func, ast.Attribute) and last_name(call) in MAKES_NEW:
        return frozenset()
    receiver = func.value if isinstance(func, ast.Attribute) and not dotted else None
    return of_all(module, [*given, receiver], seen)


def keeps_given(call: ast.Call, dotted: str) -> bool:
    """Whether what a function or class of torch returns may be, or hold, what it is given."""
    home, _, name = dotted.rpartition(".")
    is_told = any(keyword.arg in ("inplace", "out") for keyword in call.keywords)
    return home not in PLAIN_TORCH or name[:1].isupper() or name in SHARING or is_in_place(call) or is_told


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
    """Whether a mention hands the object on, or a part of it: to other code, or under another name."""
    own = variable(module, mention)
    child: ast.AST = mention
    parent = module.parent(child)
    while isinstance(parent, ast.keyword) or is_part(module, parent, child, own):
        child, parent = parent, module.parent(parent)  # type: ignore[assignment,arg-type]
    if isinstance(parent, ast.Attribute):
        call = module.parent(parent)
        return not (isinstance(call, ast.Call) and call.func is parent) and parent.attr.endswith("_")
    if isinstance(parent, ast.Call):
        return child is not parent.func and not is_known_call(module, parent)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return parent.value is child
    return isinstance(parent, (ast.Yield, ast.YieldFrom, ast.withitem, ast.Match, ast.AugAssign))


def is_part(module: Module, parent: ast.AST | None, child: ast.AST, own: Token) -> bool:
    """Whether an expression gives what its part gives, or something that shares it."""
    if isinstance(parent, ast.Attribute):
        call = module.parent(parent)
        is_method = isinstance(call, ast.Call) and call.func is parent and last_name(call) not in MAKES_NEW
        return parent.attr in VIEW_ATTRIBUTES or is_method
    if isinstance(parent, ast.Call) and child is not parent.func and is_known_call(module, parent):
        return own in tokens_of(module, parent)
    if isinstance(parent, ast.Call):
        return child is parent.func and own in tokens_of(module, parent)
    is_index = isinstance(parent, ast.Subscript) and (parent.value is not child or not isinstance(parent.ctx, ast.Load))
    return isinstance(parent, ast.expr) and not is_index and own in tokens_of(module, parent)


def is_known_call(module: Module, call: ast.Call) -> bool:
    """Whether a call is one of torch or a builtin, and keeps nothing of what it is given."""
    dotted = module.resolve(call.func) or ""
    if dotted.partition(".")[0] == "torch":
        home, _, name = dotted.rpartition(".")
        return home in PLAIN_TORCH and name != "save"
    is_builtin = isinstance(call.func, ast.Name) and not module.scopes.bindings(call.func)
    return dotted.partition(".")[0] == "math" or (is_builtin and call.func.id != "setattr")  # type: ignore[attr-defined]
