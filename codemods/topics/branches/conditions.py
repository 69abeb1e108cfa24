"""The test of a branch: its Python part, and the one-element tensor that decides."""

from __future__ import annotations

import ast
import struct
from collections.abc import Hashable
from dataclasses import dataclass

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.topics.branches.operations import COUNTS, REDUCTIONS
from fullgraph.codemods.topics.branches.reading import Reader
from fullgraph.codemods.topics.branches.values import BOOL, Tensor, Unknown, Work

PURE = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List)
ASKING = ("isinstance", "len", "hasattr", "callable")
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
ATOMS = (ast.Call, ast.Name, ast.Attribute)
GLOBAL_QUESTIONS = {"torch.is_grad_enabled", "torch.is_floating_point", "torch.is_tensor", "torch.jit.is_scripting"}


@dataclass(frozen=True)
class Condition:
    """`text` is a bool tensor without dimensions; `static` are the Python tests before it, as written."""

    static: tuple[str, ...]
    text: str
    device: Hashable
    is_atom: bool
    tests: tuple[ast.expr, ...] = ()
    is_either: bool = False
    """Whether the Python tests must fail for the tensor to be asked: `static` then says so."""

    @property
    def operand(self) -> str:
        return self.text if self.is_atom else f"({self.text})"


def may_be_tensor(test: ast.expr) -> bool:
    """Whether a test speaks of a tensor's elements, by its words alone."""
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call))
    return any(getattr(call.func, "attr", "") in REDUCTIONS | {"item"} for call in calls)


def split(reader: Reader, test: ast.expr) -> tuple[list[ast.expr], list[ast.expr]]:
    """The Python tests at the beginning of an `and`, and the rest."""
    parts = list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    first = next((number for number, part in enumerate(parts) if not is_python(reader, part)), len(parts))
    return parts[:first], parts[first:]


def is_python(reader: Reader, node: ast.expr) -> bool:
    """Whether a test asks nothing but names, attributes, types and sizes, and may be asked twice."""
    tensors = reader.tensors | reader.annotated | reader.hinted
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and not is_question(reader, inner):
            return False
        is_fact = isinstance(reader.module.parent(inner), ast.Attribute | ast.Call) or is_identity(reader, inner)
        if isinstance(inner, ast.Name) and isinstance(reader.env.get(inner.id), Tensor) and not is_fact:
            return False
        named = isinstance(inner, ast.Name) and reader.env.get(inner.id)
        if isinstance(named, Unknown) and named.key in tensors and not is_fact:
            return False
        is_shape = isinstance(inner, ast.Subscript) and getattr(inner.value, "attr", "") == "shape"
        if isinstance(inner, ast.expr) and not is_shape and not isinstance(inner, (*PURE, ast.Call)):
            return False
    return True


def is_question(reader: Reader, call: ast.Call) -> bool:
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    is_builtin = reader.module.scopes.is_builtin(call.func, *ASKING)
    return is_builtin or method in COUNTS or reader.module.resolve(call.func) in GLOBAL_QUESTIONS


def is_identity(reader: Reader, node: ast.AST) -> bool:
    parent = reader.module.parent(node)
    return isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)


def read_condition(reader: Reader, test: ast.expr, work: Work, *, is_first: bool) -> Condition:
    """The test as a tensor. All of it but the first atom was not always computed, so that it must not raise."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and is_first and is_python(reader, test.values[0]):
        return read_either(reader, test, work)
    static, rest = split(reader, test)
    if not rest:
        inside = "" if is_first else "inside the branch "
        raise Unsure(f"line {test.lineno}: the test {inside}asks nothing of a tensor")
    if late := next((part for part in rest if is_python(reader, part)), None):
        raise Unsure(f"line {late.lineno}: `{reader.short(late)}` is asked after the tensor")
    if static and not is_first:
        raise Unsure(f"line {test.lineno}: an `elif` with a Python test before the tensor's")
    parts = [read_part(reader, part, work, is_first=is_first and number == 0) for number, part in enumerate(rest)]
    texts = tuple(reader.text(part) if is_tight(part) else f"({reader.text(part)})" for part in static)
    joined = together(parts, "&", work)
    return Condition(texts, joined.text, joined.device, joined.is_atom, tuple(static))


def read_either(reader: Reader, test: ast.BoolOp, work: Work) -> Condition:
    """`flag or x.sum() > 0`: where Python tests decide the tensor is not asked, and the old code runs."""
    first = next((number for number, part in enumerate(test.values) if not is_python(reader, part)), None)
    if first is None:
        raise Unsure(f"line {test.lineno}: the test asks nothing of a tensor")
    static, rest = test.values[:first], test.values[first:]
    parts = [read_part(reader, part, work, is_first=number == 0) for number, part in enumerate(rest)]
    joined = together(parts, "|", work)
    texts = tuple(f"not {reader.text(part) if is_tight(part) else f'({reader.text(part)})'}" for part in static)
    return Condition(texts, joined.text, joined.device, joined.is_atom, is_either=True)


def together(parts: list[Condition], sign: str, work: Work) -> Condition:
    if len(parts) == 1:
        return parts[0]
    for part in parts[1:]:
        if part.device != parts[0].device:
            work.same["device", parts[0].device, part.device] = None
    return Condition((), f" {sign} ".join(part.operand for part in parts), parts[0].device, False)


def read_part(reader: Reader, node: ast.expr, work: Work, *, is_first: bool) -> Condition:
    if isinstance(node, ast.BoolOp):
        parts = [read_part(reader, part, work, is_first=is_first and part is node.values[0]) for part in node.values]
        return together(parts, "&" if isinstance(node.op, ast.And) else "|", work)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = read_part(reader, node.operand, work, is_first=is_first)
        return Condition((), f"~{inner.operand}", inner.device, False)
    if isinstance(node, ast.Call) and reader.module.scopes.is_builtin(node.func, "bool") and len(node.args) == 1:
        return read_part(reader, node.args[0], work, is_first=is_first)
    if isinstance(node, ast.Compare) and len(node.ops) == 2:
        return read_between(reader, node, work, is_first=is_first)
    return read_atom(reader, node, work, is_first=is_first)


def read_between(reader: Reader, node: ast.Compare, work: Work, *, is_first: bool) -> Condition:
    """`0 < x.mean() < 1` as the `and` of two comparisons: the middle is computed again, which only costs."""
    low, (middle, high) = node.left, node.comparators
    if not all(isinstance(end, ast.Constant) and type(end.value) in (int, float) for end in (low, high)):
        raise Unsure(f"line {node.lineno}: a comparison with two ends that are not both written numbers")
    if without_item(reader, middle):
        raise Unsure(f"line {node.lineno}: a Python number is compared with two ends")
    halves = ((low, node.ops[0], middle), (middle, node.ops[1], high))
    parts = [read_half(reader, node, half, work, is_first=is_first) for half in halves]
    return together(parts, "&", work)


def read_half(
    reader: Reader, node: ast.Compare, half: tuple[ast.expr, ast.cmpop, ast.expr], work: Work, *, is_first: bool
) -> Condition:
    (left, sign, right), own = half, Work()
    reader.sure = is_first
    try:
        value = reader.read(ast.copy_location(ast.Compare(left, [sign], [right]), node), own)
    finally:
        reader.sure = False
    value = reader.settled(value, node, own)
    settle(reader, value, own, work, is_first=is_first)
    texts = [reader.text(side) if isinstance(side, ast.Constant) else operand(reader, side) for side in (left, right)]
    return finished(value, f"{texts[0]} {SIGNS[type(sign)]} {texts[1]}", is_atom=False)


def read_atom(reader: Reader, node: ast.expr, work: Work, *, is_first: bool) -> Condition:
    own = Work()
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and (bare := without_item(reader, node.left)):
        check_exact(node.comparators[0])
        reader.sure = is_first
        try:
            value = reader.read(ast.copy_location(ast.Compare(bare, node.ops, node.comparators), node), own)
        finally:
            reader.sure = False
        sign = reader.module.text[reader.module.span(node.left).end : reader.module.span(node.comparators[0]).start]
        text = f"{operand(reader, bare)} {sign.strip()} {reader.text(node.comparators[0])}"
    else:
        node = without_item(reader, node) or node
        reader.sure = is_first
        try:
            value, text = reader.read(node, own), reader.text(node)
        finally:
            reader.sure = False
    value = reader.settled(value, node, own)
    settle(reader, value, own, work, is_first=is_first)
    return finished(value, text, isinstance(node, ATOMS))


def settle(reader: Reader, value: Tensor, own: Work, work: Work, *, is_first: bool) -> None:
    """What a part of a test takes: of the first only what it is, as it ran always and has raised where it must."""
    if is_first:
        reader.filled |= set(own.filled)
        reader.real |= set(own.real)
        work.add(Work(own.tensors, own.numbers))
        return
    if own.may_raise:
        raise Unsure(own.may_raise)
    own.full, own.bent = {}, False
    own.single |= {} if value.shape == "()" else {value.shape: None}
    work.add(own)


def operand(reader: Reader, node: ast.expr) -> str:
    return reader.text(node) if isinstance(node, ATOMS) else f"({reader.text(node)})"


def is_tight(node: ast.expr) -> bool:
    """Whether a test can stand between two `and` as it is."""
    return not isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr)


def finished(value: Tensor, text: str, is_atom: bool) -> Condition:
    """A bool without dimensions; a tensor of one element has such a form, and what has more raised before."""
    operand = text if is_atom else f"({text})"
    if value.shape != "()":
        text, operand, is_atom = (f"{operand}.reshape(())",) * 2 + (True,)
    if value.dtype != BOOL:
        text, is_atom = f"{operand}.bool()", True
    return Condition((), text, value.device, is_atom)


def without_item(reader: Reader, node: ast.expr) -> ast.expr | None:
    """The `x` of `x.item()` and `float(x)`."""
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return node.func.value
    return node.args[0] if reader.module.scopes.is_builtin(node.func, "float") and len(node.args) == 1 else None


def check_exact(node: ast.expr) -> None:
    """A number that every dtype holds exactly: a tensor compares in its own, Python as it is.

    A written whole number wraps around in a small whole dtype; a fraction does not.
    """
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    number = inner.value if isinstance(inner, ast.Constant) else None
    is_small = type(number) is float or (type(number) is int and number < 128 and inner is node)
    if not is_small or not (number == 0 or 2**-14 <= abs(number) <= 256):  # type: ignore[arg-type]
        raise Unsure(f"line {node.lineno}: a Python number is compared with what is no small number")
    if struct.pack(">f", number)[2:] != b"\0\0" or struct.unpack(">f", struct.pack(">f", number))[0] != number:
        raise Unsure(f"line {node.lineno}: `.item()` compares in double precision, a tensor in its own")
