"""The type of an expression, where its shape tells: for annotations that a person would write without thinking."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Function, Module

TENSOR = "torch.Tensor"
PLAIN = (bool, int, float, str)
METHODS = {"abs", "relu", "sigmoid", "tanh", "exp", "log", "sqrt", "square", "pow", "neg", "mean", "sum", "std", "var"}
METHODS |= {"norm", "amax", "amin", "float", "double", "half", "long", "detach", "clone", "cpu", "flatten", "reshape"}
METHODS |= {"view", "squeeze", "unsqueeze", "softmax", "log_softmax", "clamp", "transpose", "permute", "expand", "flip"}
FUNCTIONS = METHODS | {
    "stack",
    "cat",
    "where",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "randn",
    "tensor",
    "isfinite",
}
FUNCTIONS |= {"full", "full_like", "arange", "matmul", "einsum", "minimum", "maximum", "sin", "cos"}
DEEP = 6


def guess(module: Module, function: Function, node: ast.expr) -> str:
    """What a function with annotations would call the type of a value: a constant's, or a tensor's; or nothing."""
    notes = [part.annotation for part in ast.walk(function.args) if isinstance(part, ast.arg) and part.annotation]
    if isinstance(node, ast.Constant) and type(node.value) in PLAIN and (notes or function.returns):
        return type(node.value).__name__
    words = [module.code(note) for note in notes if module.resolve(note) == TENSOR]
    if not words and (notes or function.returns) and (spelling := module.imports.spelling(TENSOR)):
        words = [spelling]
    return words[0] if words and is_tensor(module, node) else ""


def is_tensor(module: Module, node: ast.AST | None, depth: int = 0) -> bool:
    """Whether an expression is a tensor for sure, as far as annotations and the names of methods are true."""
    if node is None or depth > DEEP:
        return False
    if isinstance(node, ast.Name):
        bindings = module.scopes.bindings(node)
        notes = [module.resolve(binding.annotation) == TENSOR for binding in bindings if binding.annotation]
        values = [
            binding.how in ("assign", "augment") and not binding.path and is_tensor(module, binding.value, depth + 1)
            for binding in bindings
            if not binding.annotation
        ]
        return bool(bindings) and all([*notes, *values])
    if isinstance(node, ast.Call):
        dotted = module.resolve(node.func) or ""
        if dotted.startswith("torch.") or not isinstance(node.func, ast.Attribute):
            return dotted.removeprefix("torch.") in FUNCTIONS and not has_several(node)
        return node.func.attr in METHODS and not has_several(node) and is_tensor(module, node.func.value, depth + 1)
    if isinstance(node, ast.Compare):
        ordered = all(isinstance(op, (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
        return ordered and len(node.ops) == 1 and is_tensor(module, node.left, depth + 1)
    operands = [getattr(node, name, None) for name in ("left", "right")] if isinstance(node, ast.BinOp) else []
    operands += [node.value] if isinstance(node, ast.Subscript) else []
    return any(is_tensor(module, operand, depth + 1) for operand in operands)


def has_several(call: ast.Call) -> bool:
    """Whether a call may return more than one tensor, as `where` of one argument does."""
    return getattr(call.func, "attr", getattr(call.func, "id", "")) == "where" and len(call.args) < 2
