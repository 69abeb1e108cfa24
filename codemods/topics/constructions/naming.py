"""Names for what had none: after the variable that holds it, the argument it is given as, or what is done with it."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name

BY_FACTORY = {"arange": "positions", "eye": "identity", "linspace": "grid", "zeros": "zeros", "ones": "ones"}
BY_OPERATOR: dict[type[ast.AST], str] = {
    ast.Mult: "factor",
    ast.Div: "divisor",
    ast.Add: "offset",
    ast.Sub: "offset",
    ast.Pow: "exponent",
    ast.MatMult: "matrix",
}
BY_CALL = {"minimum": "upper_limit", "maximum": "lower_limit", "gather": "index", "index_select": "index"}
BY_VALUE = {"0": "zero", "0.0": "zero", "1": "one", "1.0": "one"}
MODULE_NAMES = {
    *("training", "forward", "float", "double", "half", "bfloat16", "type", "to", "cpu", "cuda", "apply", "buffers"),
    *("parameters", "modules", "children", "eval", "train", "compile", "extra_repr", "state_dict", "zero_grad", "xpu"),
    *("share_memory", "add_module", "to_empty", "requires_grad_", "dump_patches", "call_super_init", "device", "dtype"),
}


def name_for(module: Module, node: ast.expr, factory: str) -> str:
    """What to call the value of an expression."""
    made = last_name(node) if isinstance(node, ast.Call) else ""
    while (call := method_call(module, node)) is not None:
        node = call
    if (variable := variable_of(module, node)) is not None:
        return variable.id
    parent = module.parent(node)
    if isinstance(parent, ast.keyword) and parent.arg:
        return parent.arg
    if made == factory and factory in BY_FACTORY:
        return BY_FACTORY[factory]
    if isinstance(node, ast.Call) and node.args and isinstance(parent, ast.Call):
        number = ast.unparse(node.args[0])
        if factory == "tensor" and number in BY_VALUE:
            return BY_VALUE[number]
    name = by_use(module, node, parent)
    return name if not makes_many(node) else "indices" if name == "index" else f"{name}s"


def method_call(module: Module, node: ast.expr) -> ast.Call | None:
    """`node.method(...)`, if that is what a node is for."""
    method = module.parent(node)
    call = module.parent(method) if isinstance(method, ast.Attribute) else None
    return call if isinstance(call, ast.Call) and call.func is method else None


def variable_of(module: Module, node: ast.expr) -> ast.Name | None:
    """The variable that a statement gives the value to, and nothing but that."""
    parent = module.parent(node)
    if isinstance(parent, ast.AnnAssign):
        return parent.target if isinstance(parent.target, ast.Name) else None
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target = parent.targets[0]
        return target if isinstance(target, ast.Name) else None
    return None


def by_use(module: Module, node: ast.expr, parent: ast.AST | None) -> str:
    if isinstance(parent, (ast.BinOp, ast.AugAssign)):
        is_left = isinstance(parent, ast.BinOp) and parent.left is node
        return "constant" if is_left and not is_commutative(parent) else BY_OPERATOR.get(type(parent.op), "constant")
    if isinstance(parent, ast.Compare):
        return "reference" if isinstance(parent.ops[0], (ast.Eq, ast.NotEq)) else "limit"
    if isinstance(parent, ast.Call):
        return BY_CALL.get(last_name(parent), "constant")
    inner = parent if isinstance(parent, ast.Tuple) else node
    outer = module.parent(inner)
    if isinstance(outer, ast.Subscript) and outer.slice is inner:
        return "index"
    return "constant"


def is_commutative(node: ast.AST) -> bool:
    return isinstance(getattr(node, "op", None), (ast.Mult, ast.Add))


def makes_many(node: ast.AST) -> bool:
    """Whether a list of values is written out."""
    return any(isinstance(part, (ast.List, ast.Tuple)) for part in ast.walk(node))


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or the nearest that is not taken."""
    candidates = [wanted, *([f"constant_{wanted}"] if wanted != "constant" else [])]
    candidates += [f"{wanted}_{number}" for number in range(2, 100)]
    return next(name for name in candidates if name not in taken)
