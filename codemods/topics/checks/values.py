"""Values that are tensors and can be nothing else: neither None, nor a number or a tuple that a call gives."""

from __future__ import annotations

import ast

from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.syntax.tensors.annotated import said_by
from fullgraph.codemods.syntax.tensors.calls import PAIRS
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.syntax.tensors.known import Known
from fullgraph.codemods.syntax.tensors.tables import (
    BOOL_ELEMENTWISE,
    CASTS,
    FACTORIES,
    FLATTENERS,
    FLOAT_ELEMENTWISE,
    LIKE,
    LOSSES,
    MOVES,
    REDUCTIONS,
    RESHAPERS,
    SAME_ELEMENTWISE,
)
from fullgraph.codemods.topics.checks.questions import looks_at_values
from fullgraph.codemods.topics.checks.statics import is_number, is_size

COMPARED = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
MAKES = REDUCTIONS | FLOAT_ELEMENTWISE | SAME_ELEMENTWISE | BOOL_ELEMENTWISE | FLATTENERS | RESHAPERS
MAKES |= {"diff", "bitwise_and", "bitwise_or", "std", "add", "sub", "mul", "div", "remainder", "fmod", "matmul"}
METHODS = MAKES | set(CASTS) | MOVES - {"type"}
DEEP = 4
FUNCTIONS = MAKES | FACTORIES | LIKE | {"tensor", "stack", "cat", "concat"}
"""What makes a tensor, and nothing but a tensor."""


class Supposing(Tensors):
    """What the text says, and of variables of which it says nothing that they are tensors: `asked` are these.

    What something is is known while a graph is traced, so `isinstance` can be asked there for nothing.
    """

    def __init__(self, tensors: Tensors) -> None:
        super().__init__(tensors.project)
        self.names = tensors.names
        self.tensors = tensors
        self.asked: list[ast.expr] = []

    def known(self, module: Module, node: ast.AST, depth: int = 0) -> Known:
        return self.tensors.known(module, node, depth)

    def supposes(self, module: Module, node: ast.expr, depth: int = 0) -> bool:
        is_known = self.known(module, node).what not in ("", "tensor")
        if is_known or not is_variable(module, node) or is_bound_otherwise(module, "isinstance"):
            return False
        if isinstance(node, ast.Name) and is_given_number(module, Supposing(self.tensors), node, depth):
            return False
        self.asked.append(node)
        return True


def is_variable(module: Module, node: ast.expr) -> bool:
    """Whether it is a variable of its function, or one entry of that by a number or a key that is written out."""
    if isinstance(node, ast.Subscript):
        is_entry = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, (int, str))
        return is_entry and isinstance(node.value, ast.Name) and is_variable(module, node.value)
    if not isinstance(node, ast.Name) or not isinstance(module.scopes.of(node), ast.FunctionDef):
        return False
    return all(one.how != "other" for one in module.scopes.bindings(node))


def is_tensor(module: Module, tensors: Tensors, node: ast.expr) -> bool:
    """Whether an expression that is used as a condition is a tensor whenever it does not fail."""
    if isinstance(node, ast.Name):
        is_supposed = isinstance(tensors, Supposing) and tensors.supposes(module, node)
        return is_supposed or (is_made_here(module, node) and holds_tensor(module, tensors, node))
    return not isinstance(node, ast.Attribute) and holds_tensor(module, tensors, node)


def holds_tensor(module: Module, tensors: Tensors, node: ast.expr, depth: int = 0) -> bool:
    """The same of a part of it: a part that is None makes the whole fail, today as then."""
    if isinstance(tensors, Supposing) and tensors.supposes(module, node, depth):
        return True
    if isinstance(node, (ast.Name, ast.Attribute)):
        is_said = tensors.known(module, node).is_tensor or is_optional(module, tensors, node)
        return is_said and not (isinstance(node, ast.Name) and is_given_number(module, tensors, node, depth))
    if isinstance(node, ast.Subscript):
        return holds_tensor(module, tensors, node.value, depth)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and holds_tensor(module, tensors, node.operand, depth)
    if isinstance(node, ast.BinOp):
        return any(holds_tensor(module, tensors, side, depth) for side in likely(tensors, node.left, node.right))
    if isinstance(node, ast.Compare):
        return is_comparison(module, tensors, node, depth)
    return isinstance(node, ast.Call) and makes_tensor(module, tensors, node, depth)


def is_optional(module: Module, tensors: Tensors, node: ast.expr) -> bool:
    """Whether a parameter is said to be a tensor or None: where it is a part, None fails."""
    bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    said = bindings[0].annotation if len(bindings) == 1 and bindings[0].how == "argument" else None
    if isinstance(said, ast.Subscript) and module.resolve(said.value) == "typing.Optional":
        said = said.slice
    elif isinstance(said, ast.BinOp) and isinstance(said.op, ast.BitOr):
        sides = [side for side in (said.left, said.right) if not is_none(side)]
        said = sides[0] if len(sides) == 1 else None
    return said is not None and said_by(tensors.names, Place(module, said)).is_tensor


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_comparison(module: Module, tensors: Tensors, node: ast.Compare, depth: int) -> bool:
    """`==` with None is False and not a tensor, so both sides must be known where equality is asked."""
    if len(node.ops) != 1 or type(node.ops[0]) not in COMPARED:
        return False
    sides = (node.left, node.comparators[0])
    if not any(holds_tensor(module, tensors, side, depth) for side in likely(tensors, *sides)):
        return False
    is_order = not isinstance(node.ops[0], (ast.Eq, ast.NotEq))
    return is_order or all(is_value(module, tensors, side) for side in sides)


def likely(tensors: Tensors, *sides: ast.expr) -> list[ast.expr]:
    """The sides by which a whole may be a tensor: of `limit < x.max()` nothing is supposed of the limit."""
    asking = [side for side in sides if looks_at_values(side)] if isinstance(tensors, Supposing) else []
    return asking or list(sides)


def is_value(module: Module, tensors: Tensors, node: ast.expr) -> bool:
    """A number or a tensor, and never None."""
    if isinstance(node, (ast.Name, ast.Subscript)) and isinstance(tensors, Supposing):
        tensors = tensors.tensors  # a number is as likely
    if is_number(node) or is_size(module, node) or tensors.known(module, node).is_number:
        return True
    return is_tensor(module, tensors, node)


def makes_tensor(module: Module, tensors: Tensors, call: ast.Call, depth: int) -> bool:
    """Whether a call gives a tensor: by torch's own functions and methods, or by what the project's are said to."""
    name, dotted = last_name(call), module.resolve(call.func) or ""
    if dotted.startswith("torch.") and any(keyword.arg == "out" for keyword in call.keywords):
        return False
    if dotted == f"torch.{name}":
        return name in FUNCTIONS and not (name in PAIRS and (len(call.args) != 1 or call.keywords))
    if dotted.startswith("torch.nn.functional."):
        return name in LOSSES | FLOAT_ELEMENTWISE | {"relu", "gelu", "linear", "dropout", "normalize"}
    if dotted.startswith("torch."):
        return False
    if isinstance(call.func, ast.Attribute) and holds_tensor(module, tensors, call.func.value, depth):
        return name in METHODS and not (name in PAIRS and bool(call.args or call.keywords))
    return name not in METHODS and tensors.known(module, call).is_tensor


def is_given_number(module: Module, tensors: Tensors, name: ast.Name, depth: int) -> bool:
    """Whether a name is given what is read from a tensor, or worked out from that: a number of Python's."""
    values = [one.value for one in module.scopes.bindings(name) if one.how == "assign" and not one.path]
    return depth < DEEP and any(value is not None and may_be_number(module, tensors, value, depth) for value in values)


def may_be_number(module: Module, tensors: Tensors, node: ast.expr, depth: int) -> bool:
    if isinstance(node, (ast.Compare, ast.BinOp, ast.UnaryOp)):
        return not holds_tensor(module, tensors, node, depth + 1)
    if isinstance(node, (ast.BoolOp, ast.Constant, ast.IfExp)):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and holds_tensor(module, tensors, node.func.value, depth + 1):
        return last_name(node) not in METHODS
    is_torch = (module.resolve(node.func) or "").startswith("torch.")
    return is_torch and not makes_tensor(module, tensors, node, depth + 1)


def is_made_here(module: Module, name: ast.Name) -> bool:
    """Whether a name is only ever given values by assignments of its own function: a parameter may be None."""
    bindings = module.scopes.bindings(name)
    return bool(bindings) and all(binding.how == "assign" and binding.value is not None for binding in bindings)
