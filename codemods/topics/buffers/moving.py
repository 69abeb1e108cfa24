"""Which calls move a tensor to a device."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.topics.devices.method import MOVES

IS_DEVICE = ("device", "dev", "gpu")


def is_move(module: Module, call: ast.Call) -> bool:
    """Whether a call is `.to(a device)` or `.cuda()`. A dtype alone, and the CPU, are no such device."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in MOVES - {"cpu"}:
        return False
    if call.func.attr != "to":
        return True
    target = target_of(call)
    return target is not None and is_device(module, target)


def target_of(call: ast.Call) -> ast.expr | None:
    """The device of `x.to(device)`."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    return next(iter([*named, *call.args]), None)


def is_device(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and module.resolve(node.func) == "torch.device":
        return not node.args or is_device(module, node.args[0])
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and not node.value.startswith("cpu")
    if isinstance(node, ast.Name) and any(
        binding.annotation is not None and module.resolve(binding.annotation) == "torch.device"
        for binding in module.scopes.bindings(node)
    ):
        return True
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name.lower().split("_")[-1] in IS_DEVICE and not (module.resolve(node) or "").startswith("torch.")
