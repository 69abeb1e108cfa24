"""Which expressions are whole numbers: counters of loops, lengths, constants."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.syntax.definitions import Definitions

DEEP = 4


def is_whole(names: Definitions, module: Module, node: ast.AST | None, depth: int = 0) -> bool:
    """Whether an expression surely is an `int`, by the text."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_whole(names, module, node.operand, depth)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)):
        return is_whole(names, module, node.left, depth) and is_whole(names, module, node.right, depth)
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    if isinstance(node, ast.Name) and depth < DEEP:
        return is_whole_variable(names, module, node, depth + 1)
    return node is not None and is_length(module, node)


def is_whole_variable(names: Definitions, module: Module, name: ast.Name, depth: int) -> bool:
    if module.resolve(name):
        found = names.statement(module, name)
        value = found.node.value if found and isinstance(found.node, (ast.Assign, ast.AnnAssign)) else None
        return isinstance(value, ast.Constant) and type(value.value) is int
    bindings = [binding for binding in module.scopes.bindings(name) if not binding.is_bare]
    return bool(bindings) and all(counts(names, module, binding, depth) for binding in bindings)


def counts(names: Definitions, module: Module, binding: Binding, depth: int) -> bool:
    """Whether a binding gives a variable a whole number."""
    if binding.annotation is not None:
        return isinstance(binding.annotation, ast.Name) and binding.annotation.id == "int"
    value = binding.value
    if binding.how == "loop" and isinstance(value, ast.Call):
        is_range = module.scopes.is_builtin(value.func, "range") and not binding.path
        return is_range or (module.scopes.is_builtin(value.func, "enumerate") and binding.path == (0,))
    if binding.path:
        return is_shape(value)
    return binding.how in ("assign", "augment") and is_whole(names, module, value, depth)


def is_length(module: Module, node: ast.AST) -> bool:
    """`len(x)`, `int(x)`, `x.shape[0]`, `x.size(0)`, `x.numel()`, `x.dim()`."""
    if isinstance(node, ast.Subscript):
        return is_shape(node.value) and not isinstance(node.slice, (ast.Slice, ast.Tuple))
    if not isinstance(node, ast.Call):
        return False
    if module.scopes.is_builtin(node.func, "len", "int"):
        return True
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return method in ("numel", "dim", "nelement") or (method == "size" and len(node.args) == 1)


def is_shape(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call) and not node.args:
        return isinstance(node.func, ast.Attribute) and node.func.attr == "size"
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def length_of(module: Module, node: ast.AST, depth: int = 0) -> str:
    """The text of the expression whose first dimension or length this is, through a local name; or nothing."""
    if isinstance(node, ast.Name) and depth < DEEP:
        bindings = module.scopes.bindings(node)
        if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
            return ""
        path, value = bindings[0].path, bindings[0].value
        if path:
            return ast.unparse(shape_owner(value)) if path == (0,) and is_shape(value) else ""
        return length_of(module, value, depth + 1)
    if isinstance(node, ast.Call) and module.scopes.is_builtin(node.func, "len") and len(node.args) == 1:
        return ast.unparse(node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return ast.unparse(node.func.value) if [ast.unparse(argument) for argument in node.args] == ["0"] else ""
    if isinstance(node, ast.Subscript) and is_shape(node.value) and ast.unparse(node.slice) == "0":
        return ast.unparse(shape_owner(node.value))
    return ""


def unpacked_rank(module: Module, name: ast.Name) -> int | None:
    """2 where `h, w = x.shape` stands beside other uses of `x`: it would raise for any other number of dimensions."""
    for mention in module.scopes.names(module.scopes.of(name), name.id):
        shape = module.parent(mention)
        call = module.parent(shape) if isinstance(shape, ast.Attribute) else None
        value = call if isinstance(call, ast.Call) else shape
        kept = module.parent(value) if value and is_shape(value) else None
        target = kept.targets[0] if isinstance(kept, ast.Assign) and kept.value is value else None
        if isinstance(target, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in target.elts):
            return len(target.elts)
    return None


def shape_owner(node: ast.AST) -> ast.expr:
    """`x` of `x.shape` or `x.size()`."""
    attribute = node.func if isinstance(node, ast.Call) else node
    assert isinstance(attribute, ast.Attribute)
    return attribute.value
