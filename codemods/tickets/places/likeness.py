"""How much a piece of code looks like another: names may differ a little, operands may be swapped, holes fit all.

A pattern weighs something, and every difference loses some of that: likeness is what is left, from 0 to 1.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

HOLES = {"___", "__", "_"}
SKIPPED = {"ctx", "type_comment", "kind", "type_params", "conversion", "lineno", "simple", "returns"}
SYMMETRIC = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
COMMUTATIVE = (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd)
SWAPPED = 0.2
EXTRA_STATEMENT, EXTRA_PART = 0.15, 0.4
COMPARISONS = 100_000
"""Pairs of nodes that one likeness may look at; beyond that everything counts as different."""

WEIGHTS = {"attr": 1.2, "name": 2.0, "id": 1.0, "arg": 0.5, "value": 1.0}
LOSSES = {"attr": 1.0, "name": 1.6, "id": 0.45, "arg": 0.3, "value": 0.6}


def is_hole(node: Any) -> bool:
    """Whether this part of a pattern stands for anything."""
    if isinstance(node, ast.Expr):
        return is_hole(node.value)
    if isinstance(node, ast.Starred | ast.keyword) and not getattr(node, "arg", None):
        return is_hole(node.value)
    if isinstance(node, ast.Constant):
        return node.value is ...
    return isinstance(node, ast.Name) and node.id in HOLES


def words_of(name: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)}


def name_loss(kind: str, mine: str, other: str) -> float:
    """What a different name costs; less if the two have a word in common."""
    if mine == other or mine in HOLES:
        return 0.0
    return LOSSES[kind] * (0.5 if words_of(mine) & words_of(other) else 1.0)


class Comparison:
    """Likenesses of one pattern, or of parts of it, to many pieces of code."""

    def __init__(self, names: float = 1.0) -> None:
        self.names = names
        """How much names matter: 0 compares the structure alone."""
        self._weights: dict[int, float] = {}
        self._losses: dict[tuple[int, int], float] = {}
        self._kept: list[ast.AST] = []
        self.left = COMPARISONS

    def likeness(self, pattern: ast.AST, node: ast.AST) -> float:
        """From 0 to 1; code that is nested too deeply to be compared is like nothing."""
        if self.left <= 0:
            return 0.0
        try:
            weight = self.weigh(pattern)
            lost = self.lose(pattern, node)
            if lost >= weight:
                return 0.0
            return 1 - max(0.0, lost - self.names * renaming(pattern, node)) / weight
        except RecursionError:
            return 0.0

    def weigh(self, pattern: Any) -> float:
        """What a pattern could lose at most; a hole loses nothing."""
        if is_hole(pattern):
            return 0.0
        if id(pattern) not in self._weights:
            self._kept.append(pattern)
            self._weights[id(pattern)] = self._weigh(pattern)
        return self._weights[id(pattern)]

    def _weigh(self, pattern: ast.AST) -> float:
        if isinstance(pattern, ast.Name):
            return 0.3 if pattern.id == "self" else WEIGHTS["id"]
        if isinstance(pattern, ast.Constant):
            return WEIGHTS["value"]
        own = sum(WEIGHTS[field] for field in ("attr", "name", "arg") if isinstance(getattr(pattern, field, None), str))
        return (own or 0.5) + sum(self.weigh(child) for child in parts(pattern))

    def lose(self, pattern: Any, node: Any) -> float:
        """What of the pattern's weight is lost when it stands for this code."""
        if is_hole(pattern):
            return 0.0
        key = (id(pattern), id(node))
        if key not in self._losses:
            self.left -= 1
            self._kept.append(node)
            whole = self.weigh(pattern)
            self._losses[key] = min(self._lose(pattern, node), whole) if self.left > 0 else whole
        return self._losses[key]

    def _lose(self, pattern: ast.AST, node: Any) -> float:
        other: Any = node
        if pattern.__class__ is not node.__class__:
            return self._lose_across(pattern, node)
        if isinstance(pattern, ast.Name):
            is_other_self = pattern.id != other.id and "self" in (pattern.id, other.id)
            return WEIGHTS["id"] if is_other_self else self.names * name_loss("id", pattern.id, other.id)
        if isinstance(pattern, ast.Constant):
            return constant_loss(pattern.value, other.value)
        straight = self._lose_fields(pattern, node)
        turned = swapped(pattern)
        return min(straight, self._lose_fields(turned, node) + SWAPPED) if turned and straight else straight

    def _lose_across(self, pattern: ast.AST, node: ast.AST) -> float:
        """Different kinds of nodes: `Tensor` may be `torch.Tensor`, a declared variable may be a plain one."""
        whole = self.weigh(pattern)
        if isinstance(pattern, ast.Name | ast.Attribute) and isinstance(node, ast.Name | ast.Attribute):
            return min(whole, 0.3 if last_name(pattern) == last_name(node) else whole * 0.8)
        if isinstance(pattern, ast.Assign | ast.AnnAssign) and isinstance(node, ast.Assign | ast.AnnAssign):
            target, other = target_of(pattern), target_of(node)
            return 0.3 + self.lose(target, other) + self._lose_optional(pattern.value, node.value)
        return whole

    def _lose_fields(self, pattern: ast.AST, node: Any) -> float:
        total = 0.0
        for field in pattern._fields:
            mine, other = getattr(pattern, field, None), getattr(node, field, None)
            if field in SKIPPED or (field == "decorator_list" and not mine) or is_unnamed(pattern, field):
                continue
            if isinstance(mine, list):
                mine, other = without_docstring(mine, pattern), without_docstring(other or [], node)
                total += self.align(mine, other, extra_cost(pattern, field))
            elif isinstance(mine, ast.AST):
                total += self._lose_optional(mine, other)
            elif isinstance(mine, str) and field in LOSSES:
                total += name_loss(field, mine, other or "") * (1.0 if field == "attr" else self.names)
        return total

    def _lose_optional(self, pattern: ast.AST | None, node: ast.AST | None) -> float:
        if pattern is None:
            return 0.0
        return self.lose(pattern, node) if node is not None else self.weigh(pattern)

    def align(self, patterns: Sequence[Any], nodes: Sequence[Any], extra: float = EXTRA_STATEMENT) -> float:
        """The least that is lost when the patterns stand, in order, for some of the nodes."""
        row = [number * extra for number in range(len(nodes) + 1)]
        for pattern in patterns:
            if is_open(pattern):
                row = [min(row[: number + 1]) for number in range(len(row))]
            else:
                row = self._align_one(pattern, nodes, row, extra)
        return row[-1]

    def _align_one(self, pattern: Any, nodes: Sequence[Any], row: list[float], extra: float) -> list[float]:
        missing = self.weigh(pattern) if isinstance(pattern, ast.AST) else 0.5
        found = [row[0] + missing]
        for number, node in enumerate(nodes):
            taken = row[number] + self.lose_part(pattern, node)
            found.append(min(row[number + 1] + missing, found[-1] + extra, taken))
        return found

    def lose_part(self, pattern: Any, node: Any) -> float:
        if isinstance(pattern, ast.AST) and isinstance(node, ast.AST):
            return self.lose(pattern, node) if not isinstance(pattern, ast.cmpop) else op_loss(pattern, node)
        return 0.0 if pattern == node else 0.5


def renaming(pattern: ast.AST, node: ast.AST) -> float:
    """What was lost too much because a name differs every time in the same way."""
    mine, other = names_in(pattern), names_in(node)
    gone = sorted((count for name, count in mine.items() if name not in other), reverse=True)
    new = sorted((count for name, count in other.items() if name not in mine), reverse=True)
    return sum(0.8 * LOSSES["id"] * (min(pair) - 1) for pair in zip(gone, new, strict=False))


def names_in(node: ast.AST) -> Counter[str]:
    return Counter(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def is_open(pattern: Any) -> bool:
    """Whether it stands for any number of neighbours: all holes but the one for a single name."""
    return pattern is None or (is_hole(pattern) and getattr(pattern, "id", "_") != "___")


def extra_cost(pattern: ast.AST, field: str) -> float:
    """What a part costs that the pattern does not have; nothing where something was left out of a call."""
    if isinstance(pattern, ast.Call) and any(map(is_open, [*pattern.args, *pattern.keywords])):
        return 0.0
    return EXTRA_STATEMENT if field in ("body", "orelse", "finalbody") else EXTRA_PART


def op_loss(mine: ast.AST, other: ast.AST) -> float:
    return 0.0 if type(mine) is type(other) else 0.5


def is_unnamed(pattern: ast.AST, field: str) -> bool:
    """The arguments of a function whose name is a hole are unknown too; so are those behind `*__`."""
    if field == "args" and isinstance(pattern, ast.FunctionDef | ast.AsyncFunctionDef):
        return pattern.name in HOLES or (pattern.args.vararg is not None and pattern.args.vararg.arg in HOLES)
    return False


def without_docstring(body: list[Any], owner: Any) -> list[Any]:
    """The statements of a function or class without the text on top, which nobody quotes."""
    is_scope = isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    if is_scope and body and body is owner.body and ast.get_docstring(owner, clean=False) is not None:
        return body[1:]
    return body


def parts(pattern: ast.AST) -> list[ast.AST]:
    """The nodes right below, without operators' contexts, annotations of results and docstrings."""
    found: list[ast.AST] = []
    for field in pattern._fields:
        value = getattr(pattern, field, None)
        if field in SKIPPED or is_unnamed(pattern, field):
            continue
        values = without_docstring(value, pattern) if isinstance(value, list) else [value]
        found += [each for each in values if isinstance(each, ast.AST)]
    return found


def constant_loss(mine: object, other: object) -> float:
    if mine == other and type(mine) is type(other):
        return 0.0
    return LOSSES["value"] if type(mine) is type(other) else 1.0


def last_name(node: ast.Name | ast.Attribute) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def target_of(node: ast.Assign | ast.AnnAssign) -> ast.expr:
    return node.targets[0] if isinstance(node, ast.Assign) else node.target


def swapped(pattern: ast.AST) -> ast.AST | None:
    """The same with its two operands exchanged, where that means the same."""
    if isinstance(pattern, ast.BinOp) and isinstance(pattern.op, COMMUTATIVE):
        return ast.BinOp(pattern.right, pattern.op, pattern.left)
    if isinstance(pattern, ast.BoolOp) and len(pattern.values) == 2:
        return ast.BoolOp(pattern.op, pattern.values[::-1])
    if isinstance(pattern, ast.Compare) and len(pattern.ops) == 1:
        operator = pattern.ops[0]
        mirrored = type(operator) if isinstance(operator, SYMMETRIC) else MIRRORED.get(type(operator))
        return ast.Compare(pattern.comparators[0], [mirrored()], [pattern.left]) if mirrored else None
    return None
