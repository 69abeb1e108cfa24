"""What a test that was true says about tensors: that something is one, and of which dtype."""

from __future__ import annotations

import ast

from fullgraph.codemods.syntax.tensors.tables import TENSOR_NAMES
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import FLOATS, Tensor, Unknown


def learn(reader: Reader, test: ast.expr) -> None:
    """What holds where a test was true: that something is a tensor, or floating, or float32."""
    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        learn_one(reader, part)


def learn_one(reader: Reader, part: ast.expr) -> None:
    if isinstance(part, ast.Call):
        learn_call(reader, part)
    if not isinstance(part, ast.Compare) or len(part.ops) != 1 or not isinstance(part.left, ast.Attribute):
        return
    right = part.comparators[0]
    options = right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]
    dtypes = {reader.module.resolve(option) for option in options}
    fits = isinstance(part.ops[0], ast.In if options != [right] else ast.Eq)
    if fits and part.left.attr == "dtype" and dtypes and dtypes <= FLOATS:
        learn_floating(reader, part.left.value, full=dtypes == {"torch.float32"})


def learn_call(reader: Reader, call: ast.Call) -> None:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    dotted = reader.module.resolve(call.func)
    if dotted == "torch.is_floating_point" and call.args:
        learn_floating(reader, call.args[0])
    elif dotted is None and method == "is_floating_point" and isinstance(call.func, ast.Attribute):
        learn_floating(reader, call.func.value)
    elif reader.module.scopes.is_builtin(call.func, "isinstance") and len(call.args) == 2:
        value = reader.env.get(call.args[0].id) if isinstance(call.args[0], ast.Name) else None
        if isinstance(value, Unknown) and reader.module.resolve(call.args[1]) in TENSOR_NAMES:
            reader.tensors.add(value.key)


def learn_floating(reader: Reader, node: ast.expr, *, full: bool = False) -> None:
    value = reader.env.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(value, Unknown):
        reader.tensors.add(value.key)
        value = value.as_tensor()
    if isinstance(value, Tensor):
        reader.floats.add(value.dtype)
        if full:
            reader.full.add(value.dtype)
