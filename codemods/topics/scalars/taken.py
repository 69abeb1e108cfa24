"""Numbers that are read from a tensor which was just made of Python numbers: these are there already."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.tensors.counters import is_whole
from fullgraph.codemods.topics.scalars.reads import Read
from fullgraph.codemods.topics.scalars.repair import Look
from fullgraph.codemods.topics.scalars.twins import LONG, MAKERS
from fullgraph.codemods.topics.scalars.variables import is_steady, is_written_in_place, value_of

REDUCED = {"max", "min", "sum"}


def taken_from(look: Look, read: Read) -> tuple[Edit, ...]:
    """The Python number itself in place of the read; nothing where it is not seen."""
    text = number_behind(look, read.tensor) if read.how in ("item", "int") else ""
    if text.startswith("(") and isinstance(look.module.parent(read.node), ast.Assign):
        text = text[1:-1]
    return (look.module.replace(read.node, text),) if text else ()


def number_behind(look: Look, node: ast.expr) -> str:
    """The text of the whole number that a tensor holds: `n` of `torch.tensor(n)`, `x.shape[0]`, `max([a, b])`."""
    module = look.module
    if isinstance(node, ast.Subscript) and is_place(node.slice):
        source = made_of(look, node.value)
        return f"{module.code(source)}[{module.code(node.slice)}]" if source and is_row(look, source) else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REDUCED:
        source = made_of(look, node.func.value) if not node.args and not node.keywords else None
        is_builtin = not module.scopes.binders(node.func.attr)
        is_enough = isinstance(source, (ast.List, ast.Tuple)) and len(source.elts) > 0
        is_known = is_builtin and is_enough and source is not None and is_row(look, source)
        return f"{node.func.attr}({in_brackets(module, source)})" if is_known and source else ""
    source = made_of(look, node)
    return in_brackets(module, source) if source is not None and is_number(look, source) else ""


def in_brackets(module: Module, node: ast.expr) -> str:
    is_bare = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple))
    return module.code(node) if is_bare and not isinstance(node, ast.Tuple) else f"({module.code(node)})"


def is_place(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def made_of(look: Look, node: ast.expr) -> ast.expr | None:
    """What `torch.tensor` was given, also through a variable; None where it may have changed since."""
    module = look.module
    if isinstance(node, ast.Name):
        value = value_of(module, node)
        if value is None or is_written_in_place(module, node) or not isinstance(value, ast.Call):
            return None
        source = made_of(look, value)
        names = [name for name in ast.walk(source) if isinstance(name, ast.Name)] if source else []
        is_same = all(is_steady(module, name) and not is_written_in_place(module, name) for name in names)
        return source if is_same else None
    if not isinstance(node, ast.Call) or module.resolve(node.func) not in MAKERS or len(node.args) != 1:
        return None
    told = {keyword.arg: keyword.value for keyword in node.keywords}
    is_plain = told.keys() <= {"dtype", "device"} and ("dtype" not in told or module.resolve(told["dtype"]) in LONG)
    return node.args[0] if is_plain else None


def is_number(look: Look, node: ast.expr) -> bool:
    """A whole number that nothing but Python has counted."""
    is_read = any(
        isinstance(inner, ast.Call) and look.module.scopes.is_builtin(inner.func, "int") for inner in ast.walk(node)
    )
    return not is_read and is_whole(look.tensors.names, look.module, node)


def is_row(look: Look, node: ast.expr) -> bool:
    """`x.shape`, or whole numbers that are written out."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(is_number(look, element) for element in node.elts)
    return isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name)
