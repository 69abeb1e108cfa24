"""Faults by rule: every condition dropped, every order reversed, every limit moved, one at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.BitOr: "&", ast.BitAnd: "|"}


@dataclass(frozen=True)
class Mutation:
    """Bytes `start` to `end` of a file become `new`; `what` names the rule."""

    start: int
    end: int
    new: str
    what: str
    line: int

    def put_into(self, raw: bytes) -> bytes:
        return raw[: self.start] + self.new.encode() + raw[self.end :]


def mutations(text: str) -> Iterator[Mutation]:
    """Every fault that the rules make of a file. Annotations do nothing, and are left as they are."""
    tree, lines = ast.parse(text), Lines(text)
    idle = {id(inner) for node in ast.walk(tree) for inner in annotated(node)}
    for node in ast.walk(tree):
        if id(node) not in idle:
            yield from (one for one in mutate(node, lines) if one.new.encode() != lines.raw[one.start : one.end])


def annotated(node: ast.AST) -> Iterator[ast.AST]:
    for name in ("annotation", "returns"):
        if isinstance(inner := getattr(node, name, None), ast.AST):
            yield from ast.walk(inner)


class Lines:
    """Where nodes stand in the bytes of a file."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def replaced(self, node: ast.expr | ast.stmt, new: str, what: str) -> Mutation:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        return Mutation(start, self.starts[node.end_lineno - 1] + node.end_col_offset, new, what, node.lineno)


def mutate(node: ast.AST, lines: Lines) -> Iterator[Mutation]:
    """The faults of one node."""
    match node:
        case ast.BoolOp(op, values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield lines.replaced(node, f"({word.join(map(shown, values))})", "swapped and/or")
            for left_out in range(len(values)):
                kept = [value for number, value in enumerate(values) if number != left_out]
                joined = (" and " if isinstance(op, ast.And) else " or ").join(map(shown, kept))
                yield lines.replaced(node, f"({joined})", "dropped condition")
        case ast.Compare(left, [op], [right]) if type(op) in COMPARED:
            yield lines.replaced(node, f"({shown(left)} {COMPARED[type(op)]} {shown(right)})", "other comparison")
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield lines.replaced(node, f"({shown(left)} {ARITHMETIC[type(op)]} {shown(right)})", "other operator")
        case ast.UnaryOp(ast.Not(), operand):
            yield lines.replaced(node, shown(operand), "dropped not")
        case ast.If(test) | ast.IfExp(test) | ast.While(test):
            yield lines.replaced(test, f"(not {shown(test)})", "negated test")
        case ast.comprehension(ifs=[test, *_]):
            yield lines.replaced(test, "True", "dropped filter")
        case ast.Call(ast.Name("sorted" | "reversed"), [argument, *_]):
            yield lines.replaced(node, f"list({shown(argument)})", "dropped order")
        case ast.Tuple(elts, ast.Load()) if len(elts) > 1:
            yield lines.replaced(node, f"({', '.join(map(shown, elts[:-1]))},)", "shortened key")
        case ast.Constant(int() as value) if not isinstance(value, bool):
            yield lines.replaced(node, str(value + 1), "off by one")
        case ast.Constant(bool() as value):
            yield lines.replaced(node, str(not value), "other constant")
        case ast.Return(ast.expr() as value):
            yield lines.replaced(value, "None", "lost result")
        case ast.Expr(ast.Call()):
            yield lines.replaced(node, "pass", "dropped call")


def shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Call) else f"({text})"
