"""Expressions that make the same tensor whenever they are evaluated, apart from the device that they make it on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.topics.constructions.values import (
    NotConstantError,
    constant_value,
    is_empty,
    is_number,
    is_whole,
)

DATA = {"tensor", "as_tensor"}
SIZES = {"zeros", "ones"}
NUMERIC = {"arange", "eye", "linspace", "full"}
TYPED = {"FloatTensor": True, "DoubleTensor": True, "LongTensor": False, "IntTensor": False, "BoolTensor": False}
FACTORIES = {*DATA, *SIZES, *NUMERIC, *TYPED}
KEYWORDS = {"dtype", "device", "fill_value", "start", "end", "step", "steps", "n", "m", "size", "data"}
FLOATS = {"float", "float16", "float32", "float64", "half", "double", "bfloat16"}
WHOLES = {"int", "int8", "int16", "int32", "int64", "uint8", "short", "long", "bool"}
CASTS = {
    **dict.fromkeys(("float", "double", "half", "bfloat16"), True),
    **dict.fromkeys(("long", "int", "bool"), False),
}
SHAPING = {"view", "reshape", "unsqueeze", "squeeze", "flatten", "t", "transpose", "permute", "repeat", "expand"}
SHAPING |= {"flip", "tril", "triu", "neg", "abs", "contiguous", "diag", "outer", "square"}
EXACT = {"mul", "add", "sub", "div"}
ROUNDING = {"exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "reciprocal", "softmax", "pow", "mean"}
ROUNDING |= {"norm", "sum", "prod", "cumsum"}
"""What they give may differ in the last digit from device to device."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Device:
    """Where a tensor is asked to be made: the expression, and the characters that ask."""

    node: ast.expr
    span: Span


@dataclass(frozen=True)
class ConstantTensor:
    """The whole of a constant expression. `is_float`: it may hold floats, which a module casts."""

    node: ast.expr
    factory: str
    is_float: bool
    devices: tuple[Device, ...]

    @property
    def is_rounded(self) -> bool:
        """Whether its numbers are computed, and not only written down."""
        return self.factory == "linspace"


def constant_tensors(project: Project, module: Module) -> Iterator[ConstantTensor]:
    """Every constant tensor of a module, each as big as it can be taken, in the order of the text."""
    reader = Reader(project, module)
    seen: set[ast.AST] = set()
    for call in module.nodes(ast.Call):
        factory = reader.factory(call)
        found = reader.read(call) if factory and not module.enclosing(call, ast.JoinedStr) else None
        if found is None:
            continue
        node, found = reader.widest(call, found)
        if node not in seen:
            seen.add(node)
            yield ConstantTensor(node, factory, *found)


Read = tuple[bool, tuple[Device, ...]]
"""Whether there may be floats, and the devices that were asked for."""


class Reader:
    """Tells constant tensors in one module."""

    def __init__(self, project: Project, module: Module) -> None:
        self.names = Definitions(project, sure=True)
        self.module = module

    def widest(self, node: ast.expr, found: Read) -> tuple[ast.expr, Read]:
        """The biggest constant expression around a constant."""
        while True:
            outer = self.module.parent(node)
            if isinstance(outer, ast.Attribute) and isinstance(call := self.module.parent(outer), ast.Call):
                outer = call if call.func is outer else outer
            if isinstance(outer, (ast.List, ast.Tuple)):
                outer = self.module.parent(outer)
            wider = self.read(outer) if isinstance(outer, ast.expr) else None
            if wider is None or not isinstance(outer, ast.expr):
                return node, found
            node, found = outer, wider

    def read(self, node: ast.expr) -> Read | None:
        """What is known of a constant tensor; None for everything else."""
        try:
            if isinstance(node, ast.Call):
                return self.made(node) if self.factory(node) else self.method(node) or self.function(node)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
                return self.both(node)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Invert)):
                return self.read(node.operand)
            if isinstance(node, ast.Subscript):
                return self.read(node.value) if is_fixed_index(node.slice) else None
            if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
                return self.read(node.value)
        except NotConstantError:
            return None
        return None

    def value(self, node: ast.AST) -> Any:
        return constant_value(self.names, self.module, node)

    # Calls that make a tensor

    def factory(self, call: ast.Call) -> str:
        package, _, name = (self.module.resolve(call.func) or "").rpartition(".")
        return name if package == "torch" and name in FACTORIES else ""

    def made(self, call: ast.Call) -> Read | None:
        name = self.factory(call)
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if not given.keys() <= KEYWORDS or any(isinstance(item, ast.Starred) for item in call.args):
            return None
        numbers = [item for key, item in given.items() if key not in ("dtype", "device")]
        values = [self.value(item) for item in (*call.args, *numbers)]
        if not values or not all(map(is_number, values)) or (name in TYPED and not isinstance(values[0], list)):
            return None
        is_float = self.dtype(given["dtype"]) if "dtype" in given else self.is_float(name, values)
        device = given.get("device")
        return is_float, () if device is None else (Device(device, self.around(call, device)),)

    def is_float(self, name: str, values: list[Any]) -> bool:
        if name in TYPED:
            return TYPED[name]
        if name in DATA and is_empty(values[0]):
            return True
        return not is_whole(values) if name in (*DATA, "arange", "full") else True

    def dtype(self, node: ast.expr) -> bool:
        """Whether a dtype that is written out is one of floats."""
        package, _, name = (self.module.resolve(node) or "").rpartition(".")
        if package != "torch" or name not in FLOATS | WHOLES:
            raise NotConstantError
        return name in FLOATS

    def around(self, call: ast.Call, device: ast.expr) -> Span:
        """The characters of `, device=...`."""
        keyword = next(item for item in call.keywords if item.value is device)
        start, end = self.module.span(keyword).start, self.module.span(keyword).end
        others = [self.module.span(item).end for item in (*call.args, *call.keywords) if item is not keyword]
        before = max((other for other in others if other <= start), default=start)
        gap = self.module.text[before:start]
        if "," not in gap or "#" in gap:
            raise NotConstantError
        return Span(before + gap.index(","), end)

    # What is made of them

    def both(self, node: ast.BinOp) -> Read | None:
        sides = [self.read(side) or self.plain(side) for side in (node.left, node.right)]
        return self.join(sides, isinstance(node.op, ast.Div))

    def plain(self, node: ast.expr) -> Read:
        value = self.value(node)
        if not isinstance(value, (int, float)):
            raise NotConstantError
        return isinstance(value, float), ()

    def join(self, sides: list[Read], is_float: bool = False) -> Read:
        devices = tuple(device for _, found in sides for device in found)
        return is_float or any(side[0] for side in sides), devices

    def method(self, call: ast.Call) -> Read | None:
        """`tensor.view(1, 3)`, `tensor.float()`, `tensor.to(device)`."""
        if not isinstance(call.func, ast.Attribute) or self.module.resolve(call.func):
            return None
        name, found = call.func.attr, self.read(call.func.value)
        if found is None:
            return None
        if name in ("to", "cuda"):
            return self.moved(call, call.func.value, found)
        if name in CASTS and not call.args and not call.keywords:
            return CASTS[name], found[1]
        if name not in SHAPING | EXACT | (ROUNDING if not found[1] else set()):
            return None
        if not self.is_fixed(call.args, call.keywords):
            return None
        return found[0] or self.gives_floats(name, call.args), found[1]

    def gives_floats(self, name: str, numbers: list[ast.expr]) -> bool:
        """Whether a function of whole numbers may give floats: `mul(0.5)` does."""
        is_whole_math = name not in EXACT or all(is_whole(self.value(number)) for number in numbers)
        return name in ROUNDING or name == "div" or not is_whole_math

    def is_fixed(self, arguments: list[ast.expr], keywords: list[ast.keyword]) -> bool:
        named = [keyword.value for keyword in keywords if keyword.arg in ("dim", "diagonal", "dims", "keepdim")]
        return len(named) == len(keywords) and all(is_number(self.value(item)) for item in (*arguments, *named))

    def moved(self, call: ast.Call, tensor: ast.expr, found: Read) -> Read | None:
        """`.to(device)`: a place. `.to(torch.long)`: another dtype. `.to(x)` is neither: nothing is known of it."""
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
        if len(given) != 1 or len(call.args) + len(call.keywords) != 1 or call.func.attr == "cuda":  # type: ignore[attr-defined]
            return None
        if (self.module.resolve(given[0]) or "").startswith("torch."):
            return self.dtype(given[0]), found[1]
        if not is_device(given[0]):
            return None
        start, end = self.module.span(tensor).end, self.module.span(call).end
        gap = self.module.text[start : self.module.span(given[0]).start]
        if "#" in gap or ")" in gap:
            return None
        return found[0], (*found[1], Device(given[0], Span(start, end)))

    def function(self, call: ast.Call) -> Read | None:
        """`torch.triu(tensor, diagonal=1)`, `torch.stack([tensor, tensor])`."""
        package, _, name = (self.module.resolve(call.func) or "").rpartition(".")
        if package != "torch" or not call.args:
            return None
        if name in ("stack", "cat") and isinstance(call.args[0], (ast.List, ast.Tuple)):
            found = [self.read(item) for item in call.args[0].elts]
            sides = [item for item in found if item]
            is_all = bool(sides) and len(sides) == len(found) and self.is_fixed(call.args[1:], call.keywords)
            return self.join(sides) if is_all else None
        if name not in SHAPING | EXACT | ROUNDING:
            return None
        tensors = [self.read(item) for item in call.args]
        rest = [item for item, tensor in zip(call.args, tensors, strict=True) if tensor is None]
        if tensors[0] is None or not self.is_fixed(rest, call.keywords):
            return None
        joined = self.join([item for item in tensors if item], self.gives_floats(name, rest))
        return joined if name not in ROUNDING or not joined[1] else None


def is_device(node: ast.expr) -> bool:
    """Whether an expression is named like a device."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name == "device" or name.endswith("_device")


def is_fixed_index(node: ast.expr) -> bool:
    """`[None, :, 0]`: nothing but numbers, colons and None."""
    allowed = (ast.Tuple, ast.Slice, ast.Constant, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(part, allowed) for part in ast.walk(node))
