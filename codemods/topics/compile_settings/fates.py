"""Where a number goes that was read from a tensor, and where a tensor goes whose shape depends on values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.tensors.infer import Tensors

Kind = Literal["size", "kept", "plain", "branch", "worse", "unknown"]
DEEP = 4

SIZED = {"zeros", "ones", "empty", "full", "arange", "rand", "randn", "split"}
SIZED_METHODS = {
    "view",
    "reshape",
    "expand",
    "narrow",
    "topk",
    "split",
    "new_zeros",
    "new_ones",
    "new_empty",
    "new_full",
}
WORSE = {
    "range": "a range() over it makes torch skip the whole function",
    "repeat": "`repeat` of so many copies fails in the backward, where there was a break",
    "linspace": "`linspace` compiles again for each number",
    "one_hot": "`one_hot` compiles again for each number",
}
LIST_INDEX = "as the index of a list it is an error (GuardOnDataDependentSymNode), where there was a break"
ROW_INDEX = "as one of several indices it is an error (IndexError), where there was a break"


@dataclass(frozen=True)
class Fate:
    """One use. `why` says what the setting would make worse there, or what is not known.

    `bound`: where a slice begins or ends, if that is what the number is for.
    """

    kind: Kind
    node: ast.AST
    why: str = ""
    bound: ast.expr | None = None


def fates_of(tensors: Tensors, module: Module, node: ast.AST, depth: int = 0) -> Iterator[Fate]:
    """Every use of a number that was read from a tensor, through one name after the other and through arithmetic."""
    parent = module.parent(node)
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        yield from calculated(tensors, module, parent, depth) if is_number(module, other) else [Fate("plain", parent)]
    elif isinstance(parent, ast.UnaryOp):
        yield from calculated(tensors, module, parent, depth)
    elif is_kept(module, node):
        yield Fate("kept", parent or node)
    elif isinstance(parent, ast.Slice) and isinstance(node, ast.expr) and node is not parent.step:
        yield from (replace(fate, bound=node) for fate in fates_of(tensors, module, parent, depth))
    elif is_one_of_several(module, node):
        yield Fate("worse", parent or node, ROW_INDEX)
    elif isinstance(parent, (ast.Slice, ast.Tuple, ast.List)) and not is_returned(module, parent):
        yield from fates_of(tensors, module, parent, depth)
    elif isinstance(parent, ast.Subscript) and parent.slice is node:
        yield indexed(tensors, module, parent)
    elif isinstance(parent, ast.Call) and node in parent.args:
        yield from passed(tensors, module, parent, depth)
    elif isinstance(parent, (ast.Compare, ast.BoolOp, ast.If, ast.While, ast.IfExp, ast.Assert)):
        yield Fate("branch", parent)
    elif (name := assigned_name(module, parent, node)) is not None and depth < DEEP:
        for mention in module.scopes.names(module.scopes.of(name), name.id):
            if isinstance(mention.ctx, ast.Load):
                yield from fates_of(tensors, module, mention, depth + 1)
    elif isinstance(parent, (ast.FormattedValue, ast.Attribute)):
        yield Fate("plain", parent)
    else:
        yield Fate("unknown", parent or node, "it cannot be seen where the number goes")


def calculated(tensors: Tensors, module: Module, node: ast.expr, depth: int) -> Iterator[Fate]:
    """The uses of what is calculated with a number. As a result it is no more than that: of bools it may fail."""
    for fate in fates_of(tensors, module, node, depth):
        yield replace(fate, kind="plain") if fate.kind == "kept" else fate


def is_kept(module: Module, node: ast.AST) -> bool:
    """Whether a number goes to others as it is: returned, also in a row or a dict, stored, or appended to a list."""
    outer = module.parent(node)
    while isinstance(outer, (ast.Tuple, ast.List, ast.Dict)) and node not in getattr(outer, "keys", ()):
        node, outer = outer, module.parent(outer)
    if isinstance(outer, ast.Assign) and outer.value is node:
        return all(isinstance(target, ast.Attribute) for target in outer.targets)
    if isinstance(outer, ast.Call) and isinstance(module.parent(outer), ast.Expr):
        return isinstance(outer.func, ast.Attribute) and outer.func.attr == "append"
    return isinstance(outer, ast.Return)


def is_returned(module: Module, node: ast.AST) -> bool:
    return isinstance(module.parent(node), ast.Return)


def is_one_of_several(module: Module, node: ast.AST) -> bool:
    """Whether it is `k` of `x[:, k]`: torch 2.13 takes a captured number as the only index alone, or in a slice."""
    row = module.parent(node)
    item = module.parent(row) if isinstance(row, ast.Tuple) and not isinstance(node, ast.Slice) else None
    return isinstance(item, ast.Subscript) and item.slice is row


def is_number(module: Module, node: ast.AST) -> bool:
    """Whether the other side of arithmetic surely is a number, so that the result is one."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return all(is_number(module, side) for side in ast.iter_child_nodes(node) if isinstance(side, ast.expr))
    if isinstance(node, ast.Call):
        return module.scopes.is_builtin(node.func, "len", "int") or getattr(node.func, "attr", "") in ("size", "item")
    is_shape = isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"
    return is_shape or (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)))


def indexed(tensors: Tensors, module: Module, item: ast.Subscript) -> Fate:
    """A slice or an item of a tensor keeps the number in the graph; of a list it must be known."""
    known = tensors.known(module, item.value)
    is_row = isinstance(item.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in item.slice.elts)
    if known.is_tensor or (is_row and not known.what):  # no list takes such an index
        return Fate("size", item)
    if known.what == "list" or isinstance(item.value, (ast.List, ast.Tuple)):
        return Fate("worse", item, LIST_INDEX)
    return Fate("unknown", item, f"`{module.code(item.value)}` is not known to be a tensor; {LIST_INDEX}")


def passed(tensors: Tensors, module: Module, call: ast.Call, depth: int) -> Iterator[Fate]:
    """What a call does with a number."""
    dotted = module.resolve(call.func) or ""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if module.scopes.is_builtin(call.func, "int", "float", "min", "max"):
        yield from fates_of(tensors, module, call, depth)
    elif name in WORSE:
        yield Fate("worse", call, WORSE[name])
    elif name in (SIZED if dotted == f"torch.{name}" else () if dotted else SIZED_METHODS):
        yield Fate("size", call)
    elif dotted.startswith("math."):
        yield Fate("plain", call)
    else:
        yield Fate("unknown", call, f"it is not known what `{module.code(call.func)}` does with the number")


def assigned_name(module: Module, statement: ast.AST | None, value: ast.AST) -> ast.Name | None:
    """The name that a plain assignment gives a value, if nothing else binds it."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is not value:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    name = targets[0]
    if len(targets) != 1 or not isinstance(name, ast.Name):
        return None
    return name if len(module.scopes.within(module.scopes.of(name), name.id)) == 1 else None


def fates_of_shape(module: Module, node: ast.AST, depth: int = 0) -> Iterator[Fate]:
    """What the setting makes worse of the uses of a tensor whose shape depends on values, or leaves a break."""
    parent = module.parent(node)
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        yield Fate("worse", parent, "a loop over it makes torch skip the whole function")
    elif isinstance(parent, ast.Attribute) and parent.attr in ("view", "tolist", "item", "numpy"):
        yield Fate("worse", parent, f"`{parent.attr}` of it may fail in the backend, where there was a break")
    elif isinstance(parent, (ast.Attribute, ast.Call)) and asks_size(module, parent):
        yield Fate("branch" if decides(module, parent) else "plain", parent)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("squeeze", "unsqueeze", "flatten", "t"):
        yield from fates_of_shape(module, module.parent(parent) or parent, depth)
    elif (name := assigned_name(module, parent, node)) is not None and depth < DEEP:
        for mention in module.scopes.names(module.scopes.of(name), name.id):
            if isinstance(mention.ctx, ast.Load):
                yield from fates_of_shape(module, mention, depth + 1)


def asks_size(module: Module, node: ast.Attribute | ast.Call) -> bool:
    """`x.shape`, `x.numel`, `x.size` and `len(x)`."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("numel", "shape", "size")
    return module.scopes.is_builtin(node.func, "len")


def decides(module: Module, node: ast.AST) -> bool:
    """Whether an `if`, a `while` or a condition is about this."""
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.Compare, ast.BoolOp, ast.If, ast.While, ast.IfExp, ast.Assert)):
            return True
        if isinstance(outer, ast.stmt):
            return False
    return False
