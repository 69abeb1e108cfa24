"""The keys of one pair dict: are they pairs, can one stride hold them all, and what is not certain?"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.project import Project
from fullgraph.codemods.topics.pairs.shapes import ANY, OWN_KEY, OWN_SIGNED_KEY, Pair, Whole
from fullgraph.codemods.topics.pairs.uses import Use
from fullgraph.codemods.topics.pairs.values import Values


@dataclass(frozen=True)
class Key:
    """One key expression and what is certain of its parts."""

    use: Use
    node: ast.expr
    first: Whole | None
    second: Whole | None

    @property
    def place(self) -> str:
        return f"{self.use.module.path}:{self.node.lineno}"

    @property
    def text(self) -> str:
        """The key as it is written, on one line."""
        return " ".join(self.use.module.code(self.node).split())

    @property
    def is_natural(self) -> bool:
        return self.second is not None and self.second.natural and self.first is not None

    @property
    def is_wholly_natural(self) -> bool:
        return self.is_natural and self.first is not None and self.first.natural


@dataclass(frozen=True)
class Keys:
    """All key expressions of a dict, in every file."""

    all: list[Key] = field(default_factory=list)

    def doubtful(self) -> list[Key]:
        """Keys whose second part may be negative, where that could make two keys one.

        A read with such a key finds nothing, as before, if all that is written is natural in both parts.
        """
        written = [key for key in self.all if key.use.writes]
        if written and all(key.is_wholly_natural for key in written):
            return [key for key in self.all if not is_number(key)]
        return [key for key in self.all if not key.is_natural]

    def bound(self) -> str:
        """The one constant (`path:NAME`) that every second part stays below, or nothing."""
        named = {key.second.below for key in self.all if key.second} - {ANY}
        constants = {name for name in named if ":" in name}
        if not constants or not all(key.is_natural for key in self.all):
            return ""
        return constants.pop() if len(named) == 1 else ""

    def fit(self, number: int) -> bool:
        """Whether every second part is seen to lie in 0 .. number - 1."""
        bounds = [key.second.below for key in self.all if key.second and key.is_natural]
        return len(bounds) == len(self.all) and all(b == ANY or (b.isdigit() and int(b) <= number) for b in bounds)


def is_number(key: Key) -> bool:
    return key.first is not None and key.second is not None


def keys_of(project: Project, uses: list[Use]) -> Keys:
    """The keys of all uses; Unsure where one is not seen to be a pair.

    That the dict's own keys have natural first parts is taken for granted, and dropped if one that is written has not.
    """
    own: set[ast.AST] = {use.node for use in uses}
    for own_key in (OWN_KEY, OWN_SIGNED_KEY):
        values = Values(project, own, own_key)
        keys = Keys([judge(use, node, values) for use in uses for node in use.keys])
        if all(key.first and key.first.natural for key in keys.all if key.use.writes):
            break
    return keys


def judge(use: Use, node: ast.expr, values: Values) -> Key:
    shape = values.shape(use.module, node)
    if not isinstance(shape, Pair):
        raise Unsure(f"{use.module.path}:{node.lineno}: `{use.module.code(node)}` is not seen to be a pair of ints")
    if isinstance(node, ast.Tuple):
        for part in node.elts:
            if isinstance(part, (ast.Slice, ast.JoinedStr)) or is_other_constant(part):
                raise Unsure(f"{use.module.path}:{node.lineno}: `{use.module.code(part)}` is not an int")
    elif not (isinstance(shape.first, Whole) and isinstance(shape.second, Whole)):
        raise Unsure(f"{use.module.path}:{node.lineno}: `{use.module.code(node)}` is not seen to be a pair of ints")
    first = shape.first if isinstance(shape.first, Whole) else None
    second = shape.second if isinstance(shape.second, Whole) else None
    if second and second.negative:
        raise Unsure(f"{use.module.path}:{node.lineno}: the second part of `{use.module.code(node)}` can be negative")
    return Key(use, node, first, second)


def is_other_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is not int
