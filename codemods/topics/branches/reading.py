"""Reads expressions without running them: what each makes of the symbols of its tensors."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.functions import read_function
from fullgraph.codemods.topics.branches.known import Known
from fullgraph.codemods.topics.branches.layers import layer_called
from fullgraph.codemods.topics.branches.operations import (
    ACTIVATIONS,
    BOTH,
    CASTS,
    COUNTS,
    FACTS,
    FILLS,
    TENSORS_ONLY,
    VIEWS,
    WHOLE,
    applied,
    plain_name,
)
from fullgraph.codemods.topics.branches.values import (
    BOOL,
    FLOATS,
    NOBODY,
    Number,
    Other,
    Tensor,
    Unknown,
    Value,
    Work,
    bases,
    combined,
)

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
INFINITIES = {"float('inf')": "inf", "float('-inf')": "-inf"}
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


class Reader(Known):
    """Reads expressions by what is known of the names in them."""

    def read(self, node: ast.AST, work: Work) -> Value:
        """What an expression is; Unsure, with the line, where that is not understood."""
        if isinstance(node, ast.Constant):
            is_number = type(node.value) in (int, float)
            return Number(node.value) if is_number else Other()  # type: ignore[arg-type]
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call) and ast.unparse(node) in INFINITIES and is_builtin_float(self, node):
            return Number(float(INFINITIES[ast.unparse(node)]))
        if isinstance(node, ast.Attribute):
            return self._attribute(node, work)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node, work)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
            return self._arithmetic(node, work)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ORDER):
            return self._compared(node, work)
        if isinstance(node, ast.Call):
            return self._call(node, work)
        raise self.unsure(node)

    def _name(self, node: ast.Name) -> Value:
        if node.id in self.env:
            return self.env[node.id]
        bindings = self.module.scopes.bindings(node)
        is_global = self.module.scopes.of(node) is self.module.tree and self.module.resolve(node) is None
        if is_global and len(bindings) == 1 and bindings[0].how == "assign":
            return Unknown(f"{node.id}#{self.age}")
        raise self.unsure(node)

    def _attribute(self, node: ast.Attribute, work: Work) -> Value:
        dotted = self.module.resolve(node)
        if dotted and dotted.startswith("torch."):
            if dotted in FLOATS or dotted.startswith(("torch.int", "torch.uint", "torch.bool")):
                return Other()
            raise self.unsure(node)
        if isinstance(node.value, ast.Call) and self.module.resolve(node.value.func) == "torch.finfo":
            return self._finfo(node.value, work)
        if is_dotted(node) and not isinstance(self.env.get(bottom(node)), Tensor) and node.attr not in FACTS:
            return Unknown(f"{ast.unparse(node)}#{self.age}")
        self.tensor(node.value, work)
        if node.attr in FACTS:
            return Other()
        raise self.unsure(node)

    def _finfo(self, call: ast.Call, work: Work) -> Number:
        """`torch.finfo(x.dtype).max`: a number, but an error for a dtype that is not floating."""
        given, dtype = (call.args[0] if len(call.args) == 1 else call), None
        if isinstance(given, ast.Attribute) and given.attr == "dtype" and self.module.resolve(given) is None:
            dtype = self.tensor(given.value, work).dtype
            work.floats[dtype] = None
        elif self.module.resolve(given) not in FLOATS:
            raise self.unsure(call)
        return Number(within=dtype)

    def tensor(self, node: ast.AST, work: Work, *, proves: bool = False) -> Tensor:
        """The expression as a tensor. What may be something else must be one: `work` notes that."""
        return self.settled(self.read(node, work), node, work, proves=proves)

    # Operators

    def _unary(self, node: ast.UnaryOp, work: Work) -> Value:
        value = self.read(node.operand, work)
        if isinstance(value, Number) and isinstance(node.op, ast.USub):
            return Number(None if value.value is None else -value.value, value.within)
        given = self.settled(value, node.operand, work)
        if isinstance(node.op, ast.USub):
            work.signed[given.dtype] = None
            return given.made()
        if isinstance(node.op, ast.Invert) and given.dtype == BOOL:
            return given.made()
        raise self.unsure(node)

    def _arithmetic(self, node: ast.BinOp, work: Work) -> Value:
        left, right = self.read(node.left, work), self.read(node.right, work)
        if isinstance(left, Number) and isinstance(right, Number) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
            return Number()
        if self.is_settled(left, work) and self.is_settled(right, work):
            return self._two(node, self.settled(left, node, work), self.settled(right, node, work), work)
        is_left = self.is_settled(left, work) or isinstance(right, Number)
        if not is_left and not self.is_settled(right, work) and not isinstance(left, Number):
            raise Unsure(f"line {node.lineno}: which side of `{self.short(node)}` is a tensor cannot be told")
        given = self.settled(left if is_left else right, node, work)
        number = self.number(right if is_left else left, work)
        if number is None:
            raise self.unsure(node)
        return self._with_number(node, given, number, work, turned=not is_left)

    def _with_number(self, node: ast.BinOp, given: Tensor, number: Number, work: Work, *, turned: bool) -> Tensor:
        is_small = isinstance(number.value, int) and abs(number.value) < 128
        keeps = is_small and isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
        (work.signed if keeps else work.floats)[given.dtype] = None
        is_inverse = isinstance(node.op, ast.Pow) or (turned and isinstance(node.op, ast.Div))
        if is_inverse:
            work.full[given.dtype] = None
        scales = isinstance(node.op, ast.Mult | ast.Div)
        is_odd = number.value is None or not abs(number.value) < 1e4 or (number.value == 0 and scales)
        work.bent |= is_inverse or (scales and is_odd)
        return given.made()

    def _two(self, node: ast.BinOp, left: Tensor, right: Tensor, work: Work) -> Tensor:
        is_sum = isinstance(node.op, ast.Add | ast.Sub)
        if isinstance(node.op, ast.Pow):
            raise self.unsure(node)
        needed = work.floats if isinstance(node.op, ast.Div) else work.signed
        every = bases(left.dtype) | bases(right.dtype)
        if not self.sure or not every <= {BOOL, WHOLE}:  # what is known to be whole, or bool, needs no test
            needed |= {left.dtype: None, right.dtype: None}
        work.bent |= not is_sum
        return combined(left, right if self.sure else self.fitting(left, right, work))

    def fitting(self, left: Tensor, right: Tensor, work: Work) -> Tensor:
        """What does not run for certain must not raise: two tensors must be of one shape, dtype and device."""
        is_single = "()" in (left.shape, right.shape)
        for kind in ("dtype", "device", *(() if is_single else ("shape",))):
            one, other = getattr(left, kind), getattr(right, kind)
            if one != other:
                work.same[kind, one, other] = None
        shape = right.shape if is_single else left.shape
        return right.but(shape=shape, dtype=left.dtype, device=left.device)

    def _compared(self, node: ast.Compare, work: Work) -> Tensor:
        left, right = self.read(node.left, work), self.read(node.comparators[0], work)
        is_order = not isinstance(node.ops[0], ast.Eq | ast.NotEq)
        if self.is_settled(left, work) and self.is_settled(right, work):
            one, two = self.settled(left, node, work), self.settled(right, node, work)
            work.real |= {one.dtype: None, two.dtype: None} if is_order else {}
            two = two if self.sure else self.fitting(one, two, work)
            return combined(one, two).made(BOOL).but(sources=NOBODY)
        is_left = self.is_settled(left, work) or isinstance(right, Number)
        given = self.settled(left if is_left else right, node, work)
        if self.number(right if is_left else left, work) is None:
            raise self.unsure(node)
        work.real |= {given.dtype: None} if is_order else {}
        return given.made(BOOL).but(sources=NOBODY)

    # Calls

    def _call(self, call: ast.Call, work: Work) -> Value:
        if any(isinstance(argument, ast.Starred) for argument in call.args) or any(not w.arg for w in call.keywords):
            raise self.unsure(call)
        dotted = self.module.resolve(call.func)
        if dotted and (made := read_function(self, dotted, call, work)):
            return made
        if dotted and (name := plain_name(dotted)) and call.args:
            given = self.tensor(call.args[0], work, proves=True)
            return applied(name, given, call, self._others(call, call.args[1:], work), work)
        if layer := layer_called(self.module, self.function, call):
            return self._layer(layer, call, work)
        if dotted is None and isinstance(call.func, ast.Attribute):
            return self._method(call, call.func, work)
        raise self.unsure(call)

    def _others(self, call: ast.Call, rest: list[ast.expr], work: Work) -> list[Value]:
        found = [self.read(item, work) for item in (*rest, *(word.value for word in call.keywords))]
        name = getattr(call.func, "attr", "")
        if name in FILLS:  # its first is the mask
            found[:1] = [self.settled(item, call, work) for item in found[:1]]
        return [self.number(item, work) or item if isinstance(item, Unknown) else item for item in found]

    def _method(self, call: ast.Call, func: ast.Attribute, work: Work) -> Value:
        name = func.attr
        if name not in BOTH | COUNTS | VIEWS | CASTS.keys() | {"detach"}:
            raise self.unsure(call)
        given = self.tensor(func.value, work, proves=name in TENSORS_ONLY)
        if name in BOTH:
            return applied(name, given, call, self._others(call, call.args, work), work)
        if name in COUNTS:
            return Number() if name in ("numel", "nelement", "dim", "ndimension") else Other()
        if name == "detach":
            return given.but(sources=NOBODY)
        if name in CASTS and not call.args and not call.keywords:
            return given.but(dtype=CASTS[name])
        work.may_raise = work.may_raise or f"line {call.lineno}: `{self.short(call)}` may raise"
        key = f"{name}@{call.lineno}:{call.col_offset}"
        work.heavy |= name in ("contiguous", "to")
        fresh = Unknown(key).as_tensor()
        dtype, device = (fresh.dtype, fresh.device) if name == "to" else (given.dtype, given.device)
        return fresh.but(dtype=dtype, device=device, sources=given.sources, owners=given.owners)

    def _layer(self, layer: str, call: ast.Call, work: Work) -> Tensor:
        """What a module of torch.nn makes; two calls of one module on tensors of one shape make tensors of one."""
        given = self.tensor(call.args[0], work, proves=True)
        if layer in ACTIVATIONS:
            return applied(ACTIVATIONS[layer], given, call, [], work)
        work.heavy = work.bent = True
        name = ast.unparse(call.func)
        dtype = ("layer", name, given.dtype)
        self.floats.add(dtype)
        shape = given.shape if layer == "LayerNorm" else ("layer", name, given.shape)
        return Tensor(shape, dtype, given.device, ("layer", given.layout), given.sources | {name})


def is_builtin_float(reader: Reader, call: ast.Call) -> bool:
    return reader.module.scopes.is_builtin(call.func, "float")


def is_dotted(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def bottom(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
