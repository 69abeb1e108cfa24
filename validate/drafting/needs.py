"""What a function needs beside its arguments to be run as a whole: gradients, two devices, a compiled caller."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from fullgraph.validate.drafting.library import Definition
from fullgraph.validate.drafting.makers import Value
from fullgraph.validate.drafting.parameters import Parameter

WITH_GRADIENTS = '''def with_gradients(module):
    """As after a backward: each parameter has a gradient."""
    generator = torch.Generator().manual_seed(0)
    for parameter in module.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(parameter.device)
    return module'''
WEIGHTS = "list(with_gradients(torch.nn.Linear(8, 8).to(device)).parameters())"
DISABLED = ("torch.compiler.disable", "torch._dynamo.disable")
ON_HOST = ".to(device)"


def reads_gradients(function: ast.AST) -> bool:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Attribute))
    return any(node.attr == "grad" and isinstance(node.ctx, ast.Load) for node in nodes)


def takes_weights(one: Parameter) -> bool:
    """`params: Iterable[Tensor]` and `weights: list[nn.Parameter]`; a single tensor is none."""
    is_many = re.match(r"(typing\.)?(list|List|Iterable|Iterator|Sequence|Collection)\b", one.written) is not None
    named = re.fullmatch(r"(.*_)?param(eter)?s", one.name) is not None
    return (is_many or not one.annotation) and (named or "Parameter" in one.written)


def is_disabled(found: Definition) -> bool:
    """Whether torch.compile leaves it alone: compiled by itself it would show nothing."""
    decorators = [one.func if isinstance(one, ast.Call) else one for one in getattr(found.node, "decorator_list", [])]
    return any(found.module.dotted(one) in DISABLED for one in decorators)


def moved(function: ast.AST) -> list[ast.expr]:
    """What the function moves to a device: `x` of `x.to(y.device)` and `x.cuda()`."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [call.func.value for call in calls if isinstance(call.func, ast.Attribute) and is_move(call.func.attr, call)]


def is_move(name: str, call: ast.Call) -> bool:
    given = [ast.unparse(one) for one in (*call.args, *(word.value for word in call.keywords))]
    return name == "cuda" or (name == "to" and any("device" in text or "cuda" in text for text in given))


def left_on_host(value: Value) -> Value:
    """The same, where the function is to move it."""
    return replace(value, text=value.text.removesuffix(ON_HOST))


def given_gradients(text: str) -> str:
    return f"with_gradients({text})"
