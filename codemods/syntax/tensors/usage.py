"""What the use of a variable says about it."""

from __future__ import annotations

import ast

from codemods.module import Module
from codemods.syntax.tensors.tables import LOSSES, REDUCTIONS

FLOAT_ONLY = {"mean", "std", "var", "backward", "softmax", "log_softmax"}
TENSOR_ONLY = {
    *("backward", "detach", "softmax", "log_softmax", "sigmoid", "unsqueeze", "masked_fill", "requires_grad_", "topk"),
    *("exp", "log", "sqrt", "gather", "scatter", "unbind", "chunk", "contiguous", "tanh", "amin", "amax", "log1p"),
}
"""Methods that neither arrays nor lists have."""

KEEPING = {"to", "cpu", "cuda", "detach", "clone", "contiguous"}


def is_used_as_float(module: Module, name: ast.Name) -> bool:
    """Whether something is called on a variable, bound once, that only works on floats."""
    return any(method in FLOAT_ONLY and not call.keywords for method, call in methods(module, name))


def is_used_as_tensor(module: Module, name: ast.Name) -> bool:
    """Whether something is done with a variable, bound once, that only works on tensors."""
    is_called = any(method in TENSOR_ONLY for method, _ in methods(module, name))
    return is_called or any(is_given_to_torch(module, mention) for mention in mentions(module, name))


def is_given_to_torch(module: Module, mention: ast.Name) -> bool:
    call = module.parent(mention)
    if not isinstance(call, ast.Call) or mention not in call.args[:2]:
        return False
    dotted = module.resolve(call.func) or ""
    name = dotted.rpartition(".")[2]
    is_loss = dotted.startswith("torch.nn.functional.") and name in LOSSES
    return is_loss or (dotted == f"torch.{name}" and name in REDUCTIONS and mention is call.args[0])


def methods(module: Module, name: ast.Name) -> list[tuple[str, ast.Call]]:
    """Every method that is called on a variable."""
    found = []
    for mention in mentions(module, name):
        attribute = module.parent(mention)
        call = module.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if isinstance(attribute, ast.Attribute) and isinstance(call, ast.Call) and call.func is attribute:
            found.append((attribute.attr, call))
    return found


def mentions(module: Module, name: ast.Name) -> list[ast.Name]:
    """Every mention of a variable that is bound once; of others nothing follows for one place."""
    scope = module.scopes.of(name)
    return module.scopes.names(scope, name.id) if len(module.scopes.within(scope, name.id)) == 1 else []


def keeps(value: ast.AST | None, target: ast.Name | ast.Attribute) -> bool:
    """Whether `target = target.to(device)` keeps what is known about it."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    owner = value.func.value
    is_same = last_part(owner) == last_part(target) and type(owner) is type(target)
    told = " ".join(ast.unparse(argument) for argument in (*value.args, *value.keywords)).replace("torch.device", "")
    return is_same and value.func.attr in KEEPING and "dtype" not in told and "torch." not in told


def last_part(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
