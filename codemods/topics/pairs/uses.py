"""Every use of one dict, sorted by what it does with the keys; whatever lets them out of sight is an escape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import FUNCTIONS
from fullgraph.codemods.topics.pairs.annotations import meaning

Kind = Literal["define", "key", "loop", "harmless", "alias", "escape"]
EMPTY = {"dict", "collections.OrderedDict", "collections.defaultdict"}
BY_KEY = {"get": (True, False), "pop": (True, False), "setdefault": (True, True)}
SAME_ORDER = {"list", "tuple", "sorted", "reversed", "enumerate", "iter"}
EQUALITY = (ast.Eq, ast.NotEq)
TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over the dict's keys: `target` receives the key, which may stand beside the value."""

    owner: ast.For | ast.comprehension
    target: ast.expr
    is_sorted: bool


@dataclass(frozen=True, slots=True)
class Use:
    """One mention of the dict. `keys` are the key expressions there; an escape says why in `reason`."""

    module: Module
    node: ast.expr
    kind: Kind
    keys: tuple[ast.expr, ...] = ()
    values: tuple[ast.expr, ...] = ()
    reads: bool = False
    writes: bool = False
    loop: Loop | None = None
    annotation: ast.expr | None = None
    reason: str = ""

    @property
    def place(self) -> str:
        return f"{self.module.path}:{self.node.lineno}"


def classify(module: Module, node: ast.expr) -> Use:
    """What one mention of a dict does with it."""
    parent = module.parent(node)
    if not isinstance(getattr(node, "ctx", None), ast.Load):
        return classify_binding(module, node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return classify_subscript(module, node, parent)
    if isinstance(parent, ast.Attribute):
        return classify_method(module, node, parent)
    if isinstance(parent, ast.Compare):
        return classify_comparison(module, node, node, parent)
    if second_name(module, node):
        annotation = parent.annotation if isinstance(parent, ast.AnnAssign) else None
        return Use(module, node, "alias", annotation=annotation)
    if is_only_tested(module, node):
        return Use(module, node, "harmless", reads=True)
    return classify_iteration(module, node, node, has_values=False)


def escape(module: Module, node: ast.expr, reason: str) -> Use:
    return Use(module, node, "escape", reads=True, reason=reason)


def placed(node: ast.Name, where: ast.AST) -> ast.Name:
    """The node as if it stood there: what has no expression of its own is named by its line."""
    return ast.copy_location(node, where)


def classify_binding(module: Module, node: ast.expr) -> Use:
    """`d = {...}`, plain, annotated, or as one of several targets."""
    statement = module.parent(node)
    if isinstance(statement, ast.AnnAssign):
        return define(module, node, statement.value, statement.annotation)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return define(module, node, statement.value)
    outer = module.parent(statement) if statement else None
    if isinstance(statement, ast.Tuple) and isinstance(outer, ast.Assign) and len(outer.targets) == 1:
        several = outer.value.elts if isinstance(outer.value, ast.Tuple) else []
        if len(several) == len(statement.elts):
            return define(module, node, several[statement.elts.index(node)])
    return escape(module, node, "it is rebound")


def define(module: Module, node: ast.expr, value: ast.expr | None, annotation: ast.expr | None = None) -> Use:
    built = contents(module, value) if value else ([], [])
    if built is None:
        return escape(module, node, "it comes from elsewhere")
    keys, values = built
    return Use(module, node, "define", tuple(keys), tuple(values), writes=bool(keys), annotation=annotation)


def contents(module: Module, value: ast.expr) -> tuple[list[ast.expr], list[ast.expr]] | None:
    """The key and value expressions of a new dict; None for anything but a new dict."""
    if isinstance(value, ast.Dict) and all(value.keys):
        return [key for key in value.keys if key], value.values
    if isinstance(value, ast.DictComp) and not any(generator.is_async for generator in value.generators):
        return [value.key], [value.value]
    if not isinstance(value, ast.Call):
        return None
    name = meaning(module, value.func)
    if name == "dataclasses.field" and not value.args:
        factory = next((word.value for word in value.keywords if word.arg == "default_factory"), None)
        return made_by(module, factory)
    has_factory = name == "collections.defaultdict" and len(value.args) == 1
    if name in EMPTY and not value.keywords and (has_factory or not value.args):
        return [], list(value.args)
    return None


def made_by(module: Module, factory: ast.expr | None) -> tuple[list[ast.expr], list[ast.expr]] | None:
    if isinstance(factory, ast.Lambda):
        return contents(module, factory.body)
    return ([], []) if factory and meaning(module, factory) in EMPTY else None


def classify_subscript(module: Module, node: ast.expr, subscript: ast.Subscript) -> Use:
    statement = module.parent(subscript)
    reads = isinstance(subscript.ctx, ast.Load)
    stored = isinstance(subscript.ctx, ast.Store)
    values = (statement.value,) if stored and isinstance(statement, (ast.Assign, ast.AugAssign)) else ()
    return Use(module, node, "key", (subscript.slice,), values, reads=reads, writes=stored)


def classify_method(module: Module, node: ast.expr, method: ast.Attribute) -> Use:
    call = module.parent(method)
    if not (isinstance(call, ast.Call) and call.func is method):
        return escape(module, node, f"`.{method.attr}` is taken from it")
    if method.attr in BY_KEY and 1 <= len(call.args) <= 2 and not call.keywords:
        reads, writes = BY_KEY[method.attr]
        if not any(isinstance(argument, ast.Starred) for argument in call.args):
            values = tuple(call.args[1:]) if writes else ()
            return Use(module, node, "key", (call.args[0],), values, reads=reads, writes=writes)
    if method.attr in ("values", "clear") and not call.args:
        return Use(module, node, "harmless", reads=method.attr == "values")
    if method.attr in ("keys", "items") and not call.args:
        outer = module.parent(call)
        if isinstance(outer, ast.Compare) and method.attr == "keys":
            return classify_comparison(module, node, call, outer)
        return classify_iteration(module, node, call, has_values=method.attr == "items")
    return escape(module, node, f"`.{method.attr}()` hands its keys on")


def classify_comparison(module: Module, node: ast.expr, view: ast.expr, compare: ast.Compare) -> Use:
    alone = len(compare.ops) == 1 and compare.comparators[0] is view
    if alone and isinstance(compare.ops[0], (ast.In, ast.NotIn)):
        return Use(module, node, "key", (compare.left,), reads=True)
    if len(compare.ops) == 1 and isinstance(compare.ops[0], (ast.Is, ast.IsNot)):
        return Use(module, node, "harmless", reads=True)
    pairs = written_pairs(compare, view) if view is not node else None
    return escape(module, node, "it is compared") if pairs is None else Use(module, node, "key", pairs, reads=True)


def written_pairs(compare: ast.AST | None, keys: ast.expr) -> tuple[ast.expr, ...] | None:
    """The pairs of a written-out collection with which all keys are compared: `sorted(d) == [(0, 1), (0, 2)]`."""
    if not isinstance(compare, ast.Compare) or len(compare.ops) != 1 or not isinstance(compare.ops[0], EQUALITY):
        return None
    other = compare.comparators[0] if compare.left is keys else compare.left
    if not isinstance(other, (ast.List, ast.Tuple, ast.Set)):
        return None
    is_paired = all(isinstance(pair, ast.Tuple) and len(pair.elts) == 2 for pair in other.elts)
    return tuple(other.elts) if is_paired else None


def classify_iteration(module: Module, node: ast.expr, view: ast.expr, has_values: bool) -> Use:
    """A loop over the keys or items, possibly through `list`, `sorted` or `enumerate`; else an escape."""
    wrappers: list[str] = []
    outer = module.parent(view)
    while isinstance(outer, ast.Call) and (wrapper := wraps(module, outer, view)):
        wrappers.append(wrapper)
        view, outer = outer, module.parent(outer)
    if wrappers and wrappers[-1] in ("len", "bool", "isinstance"):
        is_size = len(wrappers) == 1
        return Use(module, node, "harmless", reads=True) if is_size else escape(module, node, "its keys are copied")
    if not has_values and (pairs := keys_compared(module, view, outer, wrappers)) is not None:
        return Use(module, node, "key", pairs, reads=True)
    if isinstance(outer, (ast.For, ast.comprehension)) and outer.iter is view and not getattr(outer, "is_async", 0):
        target = key_target(outer.target, wrappers, has_values)
        if target:
            return Use(module, node, "loop", reads=True, loop=Loop(outer, target, "sorted" in wrappers))
    return escape(module, node, escape_reason(module, node, outer, bool(wrappers)))


def keys_compared(
    module: Module, view: ast.expr, outer: ast.AST | None, wrappers: list[str]
) -> tuple[ast.expr, ...] | None:
    """The pairs with which a copy of all keys is compared: a list, a tuple or a set of them."""
    if isinstance(outer, ast.Call) and meaning(module, outer.func) in ("set", "frozenset") and outer.args == [view]:
        return written_pairs(module.parent(outer), outer)
    is_list = bool(wrappers) and wrappers[-1] in ("list", "tuple", "sorted") and "enumerate" not in wrappers
    return written_pairs(outer, view) if is_list else None


def wraps(module: Module, call: ast.Call, view: ast.expr) -> str:
    """The builtin that is called on the view and keeps its order, or only counts it."""
    name = meaning(module, call.func) or ""
    if not call.args or call.args[0] is not view:
        return ""
    plain = len(call.args) == 1 and not call.keywords
    if name == "sorted" and all(word.arg == "reverse" for word in call.keywords):
        return name
    if name == "enumerate" and not any(isinstance(argument, ast.Starred) for argument in call.args):
        return name
    if name == "isinstance":
        return name
    return name if plain and name in {*SAME_ORDER, "len", "bool"} else ""


def key_target(target: ast.expr, wrappers: list[str], has_values: bool) -> ast.expr | None:
    """The part of a loop's target that receives the key: a name, or two names in a tuple."""
    levels = [1] * wrappers.count("enumerate") + ([0] if has_values else [])
    if "enumerate" in wrappers and wrappers[-1] != "enumerate":
        return None
    for level in levels:
        if not (isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2):
            return None
        target = target.elts[level]
    if isinstance(target, (ast.Tuple, ast.List)):
        two_names = len(target.elts) == 2 and all(isinstance(part, ast.Name) for part in target.elts)
        return target if two_names else None
    return target if isinstance(target, ast.Name) else None


def second_name(module: Module, node: ast.expr) -> ast.Name | None:
    """The local name that the dict is given here, if nothing else binds that name."""
    parent = module.parent(node)
    target: ast.expr | None = None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is node:
        target = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign) and parent.value is node:
        target = parent.target
    if not isinstance(target, ast.Name) or len(module.scopes.bindings(target)) != 1:
        return None
    return target if isinstance(module.scopes.of(target), FUNCTIONS) else None


def is_only_tested(module: Module, node: ast.expr) -> bool:
    """Whether only its truth is asked for."""
    child: ast.AST = node
    for outer in module.ancestors(node):
        if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not):
            return True
        if isinstance(outer, TESTS):
            return outer.test is child
        if isinstance(outer, ast.comprehension):
            return child in outer.ifs
        if not isinstance(outer, ast.BoolOp):
            return isinstance(outer, ast.Expr) and not module.path.endswith(".ipynb")
        child = outer
    return False


def escape_reason(module: Module, node: ast.expr, outer: ast.AST | None, is_copied: bool) -> str:
    if is_copied:
        return "its keys are copied"
    while isinstance(outer, (ast.IfExp, ast.BoolOp)):
        outer = module.parent(outer)
    if isinstance(outer, (ast.Call, ast.keyword)):
        return "it is passed on whole"
    if isinstance(outer, (ast.Return, ast.Yield, ast.YieldFrom)):
        return "it is handed to the caller"
    if isinstance(outer, (ast.FormattedValue, ast.Expr)):
        return "it is printed"
    if isinstance(outer, (ast.Starred, ast.Dict)):
        return "it is unpacked or stored"
    return "it is used as a value"


def with_aliases(uses: list[Use]) -> Iterator[Use]:
    """The uses, and those of every local name that the dict is given."""
    todo = list(uses)
    seen: set[ast.AST] = set()
    for use in todo:
        yield use
        if use.node in seen:
            continue
        seen.add(use.node)
        if use.kind == "alias" and (target := second_name(use.module, use.node)):
            names = use.module.scopes.names(use.module.scopes.of(target), target.id)
            todo += [classify(use.module, name) for name in names if name is not target]


def settled(uses: list[Use]) -> list[Use]:
    """The uses as they are for a `defaultdict`, where reading a key writes it."""
    if not any(use.kind == "define" and use.values and not use.keys for use in uses):
        return uses
    return [replace(use, writes=True) if use.kind == "key" and use.reads else use for use in uses]
