"""Questions about calls and methods, as the walks over a function ask them."""

from __future__ import annotations

import ast

from fullgraph.validate.drafting.evaluate import Scope
from fullgraph.validate.drafting.library import Definition

TENSOR_METHODS = {
    *("shape", "size", "dim", "ndim", "view", "reshape", "permute", "transpose", "unsqueeze", "squeeze", "flatten"),
    *("mean", "sum", "std", "var", "norm", "abs", "exp", "log", "sqrt", "square", "clamp", "softmax", "log_softmax"),
    *(
        "detach",
        "requires_grad",
        "device",
        "dtype",
        "float",
        "half",
        "long",
        "contiguous",
        "numel",
        "item",
        "masked_fill",
    ),
    *(
        "argmax",
        "topk",
        "gather",
        "scatter",
        "expand",
        "repeat",
        "chunk",
        "split",
        "backward",
        "cumsum",
        "matmul",
        "new_zeros",
    ),
}
ELEMENTWISE = {
    *(
        "relu",
        "gelu",
        "tanh",
        "sigmoid",
        "silu",
        "elu",
        "leaky_relu",
        "dropout",
        "exp",
        "abs",
        "clamp",
        "softplus",
        "float",
    ),
    *(
        "contiguous",
        "detach",
        "clone",
        "to",
        "sqrt",
        "square",
        "log",
        "neg",
        "sin",
        "cos",
        "double",
        "type",
        "cuda",
        "cpu",
        "type_as",
    ),
}
"""Functions and methods whose result has the shape of their first argument."""


def first(items: list[ast.expr]) -> ast.expr | None:
    return items[0] if items else None


def called_name(node: ast.Call) -> str:
    function = node.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def is_method(node: ast.Call, scope: Scope) -> bool:
    """`x.view(...)`, not `torch.relu(...)` or `F.relu(...)`."""
    return isinstance(node.func, ast.Attribute) and not scope.module.dotted(node.func).startswith("torch.")


def receiver(node: ast.Call, scope: Scope) -> ast.expr | None:
    """What a method is called on."""
    return node.func.value if isinstance(node.func, ast.Attribute) and is_method(node, scope) else None


def measured_by(node: ast.expr) -> ast.expr | None:
    """What `x.shape` or `x.size()` measures."""
    if isinstance(node, ast.Call) and not node.args:
        node = node.func
    return node.value if isinstance(node, ast.Attribute) and node.attr in ("shape", "size") else None


def is_torch(found: Definition) -> bool:
    return found.module.name.partition(".")[0] == "torch"


def is_new_axis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
