"""Objects of torch's own classes, by what is assigned to a name or an attribute."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.syntax.definitions import SAME_INSTANCE, Definitions

GIVE_TENSORS = ("Linear", "Bilinear", "Conv", "BatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "Embedding", "Softmax")


def torch_class(names: Definitions, module: Module, node: ast.expr) -> str:
    """The dotted name of the class of torch that everything assigned to an expression is made of; else nothing."""
    found = {made_of(home, value) for home, value in assigned(names, module, node)}
    return found.pop() if len(found) == 1 else ""


def assigned(names: Definitions, module: Module, node: ast.expr) -> list[tuple[Module, ast.expr | None]]:
    if isinstance(node, ast.Name):
        return [(module, binding.value) for binding in module.scopes.bindings(node)]
    if isinstance(node, ast.Attribute):
        for home, kind in names.lineage(names.instance(module, node.value)):
            if settings := attribute_settings(kind, node.attr):
                return [(home, item.value) for item in settings]
        return []
    return [(module, node)]


def made_of(module: Module, value: ast.expr | None) -> str:
    """`torch.nn.Linear` of `nn.Linear(...).to(device)`."""
    while isinstance(value, ast.Call):
        if (dotted := module.resolve(value.func)) is not None:
            return dotted if dotted.startswith("torch.") and dotted.rpartition(".")[2][:1].isupper() else ""
        func = value.func
        value = func.value if isinstance(func, ast.Attribute) and func.attr in SAME_INSTANCE else None
    return ""


def gives_tensor(dotted: str) -> bool:
    return dotted.startswith("torch.nn.") and dotted.rpartition(".")[2].startswith(GIVE_TENSORS)
