"""How big an image must be: shapes are carried through the layers of a network, and what does not fit is dropped."""

from __future__ import annotations

import ast
from collections.abc import Callable
from math import prod
from typing import Any

from fullgraph.validate.drafting.calls import ELEMENTWISE, called_name, first, is_method
from fullgraph.validate.drafting.evaluate import Layer, Scope, Thing, evaluate
from fullgraph.validate.drafting.layers import IMAGE, KEEPING
from fullgraph.validate.drafting.library import Functions

EXTENTS = (IMAGE, 28, 64, 84, 96, 128, 224, 16)
Shape = list[int]


class Mismatch(Exception):  # noqa: N818 - an answer
    """A layer cannot take this shape."""


def fitting_extent(node: ast.AST, scope: Scope, name: str, shape: Callable[[int], Shape]) -> int:
    """The first usual extent with which the function's layers fit together; the usual one if nothing can be said."""
    for extent in EXTENTS:
        try:
            Flow(scope.inside(scope.module, scope.names), {name: shape(extent)}).run(getattr(node, "body", []))
        except Mismatch:
            continue
        return extent
    return IMAGE


class Flow:
    """Shapes of local names while a function's statements are walked through."""

    def __init__(self, scope: Scope, shapes: dict[str, Shape]) -> None:
        self.scope = scope
        self.shapes: dict[str, Shape | None] = dict(shapes)

    def run(self, body: list[ast.stmt]) -> Shape | None:
        for node in body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.shapes[node.targets[0].id] = self.shape(node.value)
            elif isinstance(node, ast.Return):
                return self.shape(node.value)
            elif isinstance(node, ast.For):
                self.run_loop(node)
        return None

    def run_loop(self, node: ast.For) -> None:
        items = evaluate(node.iter, self.scope)
        layers = items.args if isinstance(items, Layer) else items if isinstance(items, list) else []
        for layer in layers:
            if isinstance(node.target, ast.Name):
                self.scope.names[node.target.id] = layer
                self.run(node.body)

    def shape(self, node: ast.AST | None) -> Shape | None:
        """The shape of an expression; None where nobody knows."""
        if isinstance(node, ast.Name):
            return self.shapes.get(node.id)
        if isinstance(node, ast.Attribute):
            return self.shapes.get(ast.unparse(node))
        if isinstance(node, ast.BinOp):
            left, right = self.shape(node.left), self.shape(node.right)
            return left if right is None or left == right else None
        if not isinstance(node, ast.Call):
            return None
        callee = evaluate(node.func, self.scope)
        if isinstance(callee, Layer):
            return through(callee, self.shape(first(node.args)))
        if isinstance(callee, Thing):
            return self.inside(callee, node)
        return self.function(node)

    def inside(self, thing: Thing, node: ast.Call) -> Shape | None:
        method = self.scope.library.member(thing.definition, "forward")
        shape = self.shape(first(node.args))
        if method is None or shape is None or self.scope.depth > 8 or not isinstance(method.node, Functions):
            return None
        names = [one.arg for one in method.node.args.args]
        flow = Flow(self.scope.inside(method.module, {"self": thing}), {names[1]: shape} if len(names) > 1 else {})
        return flow.run(method.node.body)

    def function(self, node: ast.Call) -> Shape | None:
        name = called_name(node)
        holder = node.func.value if isinstance(node.func, ast.Attribute) and is_method(node, self.scope) else None
        args = [holder, *node.args] if holder is not None else list(node.args)
        shape = self.shape(args[0]) if args else None
        values = [evaluate(arg, self.scope) for arg in args[1:]]
        if shape is None:
            return None
        if name in ELEMENTWISE:
            return shape
        if name in ("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"):
            kwargs = {word.arg: evaluate(word.value, self.scope) for word in node.keywords if word.arg}
            return through(Layer("MaxPool2d", values, kwargs), shape)
        if name == "flatten":
            start = next((value for value in values if isinstance(value, int)), 0)
            return [*shape[:start], prod(shape[start:])]
        return self.view(shape, args[1:]) if name in ("view", "reshape") else None

    def view(self, shape: Shape, args: list[ast.expr]) -> Shape | None:
        """`x.view(-1, n)` and `x.view(x.size(0), -1)`: a batch that would change its size is a mismatch."""
        if len(args) != 2:
            return None
        size = evaluate(args[1], self.scope)
        if not isinstance(size, int):
            return None
        rest = prod(shape[1:])
        if size == -1:
            return [shape[0], rest]
        if rest != size:
            raise Mismatch
        return [shape[0], size]


def through(layer: Layer, shape: Shape | None) -> Shape | None:
    """The shape after a layer."""
    if shape is None or layer.kind == "Flatten":
        return None if shape is None else [shape[0], prod(shape[1:])]
    if layer.kind in KEEPING or layer.kind.startswith(("BatchNorm", "InstanceNorm", "GroupNorm")):
        return shape
    if layer.kind == "Sequential":
        for inner in layer.args:
            shape = through(inner, shape) if isinstance(inner, Layer) else None
        return shape
    if layer.kind == "Linear":
        return through_linear(layer, shape)
    if layer.kind.startswith(("Conv1", "Conv2", "Conv3", "MaxPool", "AvgPool")):
        return through_window(layer, shape)
    if layer.kind.startswith(("AdaptiveAvgPool", "AdaptiveMaxPool")):
        wanted = layer.value(0, "output_size")
        inner_sizes = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted] * (len(shape) - 2)
        return [*shape[:2], *inner_sizes] if all(isinstance(one, int) for one in inner_sizes) else None
    return None


def through_linear(layer: Layer, shape: Shape) -> Shape | None:
    wanted, given = layer.value(0, "in_features"), layer.value(1, "out_features")
    if isinstance(wanted, int) and shape[-1] != wanted:
        raise Mismatch
    return [*shape[:-1], given] if isinstance(given, int) else None


def through_window(layer: Layer, shape: Shape) -> Shape | None:
    """Convolutions and pools."""
    is_pool = "Pool" in layer.kind
    offset = 0 if is_pool else 2
    kernel = layer.value(offset, "kernel_size")
    stride = layer.value(offset + 1, "stride", kernel if is_pool else 1)
    padding = layer.value(offset + 2, "padding", 0)
    if padding == "same":
        kernel, stride, padding = 1, 1, 0
    stride = kernel if stride is None else stride
    count = len(shape) - 2
    windows = [spread(value, count) for value in (kernel, stride, padding)]
    channels = shape[1] if is_pool else layer.value(1, "out_channels")
    if None in windows or not isinstance(channels, int) or count < 1:
        return None
    sizes = [(size + 2 * pad - window) // step + 1 for size, window, step, pad in zip(shape[2:], *windows, strict=True)]
    if min(sizes) < 1:
        raise Mismatch
    return [shape[0], channels, *sizes]


def spread(value: Any, count: int) -> Any:
    """One number for every dimension, or several."""
    if isinstance(value, int):
        return [value] * count
    numbers = isinstance(value, (tuple, list)) and len(value) == count and all(isinstance(one, int) for one in value)
    return list(value) if numbers else None
