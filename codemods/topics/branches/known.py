"""What has been seen of a function's names at one point of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Self

from fullgraph.codemods.model import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.topics.branches.values import BOOL, FLOATS, Number, Tensor, Unknown, Value, Work, bases


@dataclass
class Known:
    """What the local names hold at one point of a function, and what has been seen to be true there.

    `tensors`: keys of what is a tensor for certain; `annotated`: of what is said to be one, and may yet be None.
    `private`: keys of tensors that this function made and has shown to nobody. `hinted`: of what is a tensor if that
    is one from which it was made: no Python test; `derived`: which tensor, and what must be one for that. `filled`:
    shapes that have elements; `real`: dtypes that are not complex. `age` counts the statements that may have changed
    attributes: what is read of them before and after need not be the same.
    """

    module: Module
    function: Function
    env: dict[str, Value] = field(default_factory=dict)
    tensors: set[str] = field(default_factory=set)
    annotated: set[str] = field(default_factory=set)
    floats: set[Hashable] = field(default_factory=lambda: set(FLOATS))
    full: set[Hashable] = field(default_factory=lambda: {"torch.float32"})
    filled: set[Hashable] = field(default_factory=lambda: {"()"})
    real: set[Hashable] = field(default_factory=lambda: {BOOL})
    derived: dict[str, tuple[Tensor, tuple[str, ...]]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    hinted: set[str] = field(default_factory=set)
    no_grad: bool = False
    age: int = 0
    sure: bool = False
    """Whether what is read now runs for certain: what it takes for granted is then a fact."""

    def spell(self, key: str) -> str:
        """How to write what a key stands for, here; empty where nothing holds it any more."""
        for name, value in self.env.items():
            if isinstance(value, Unknown) and value.key == key:
                return name
        text, _, age = key.partition("#")
        return text if age == str(self.age) else ""

    def is_float(self, dtype: Hashable) -> bool:
        return dtype in self.floats or bases(dtype) <= self.floats

    def copy(self) -> Self:
        return type(self)(
            *(self.module, self.function, dict(self.env), set(self.tensors), self.annotated, set(self.floats)),
            *(set(self.full), set(self.filled), set(self.real), self.derived),
            *(set(self.private), self.hinted, self.no_grad, self.age),
        )

    def unsure(self, node: ast.AST) -> Unsure:
        return Unsure(f"line {getattr(node, 'lineno', 0)}: what `{self.short(node)}` is cannot be told")

    def text(self, node: ast.AST) -> str:
        """The code on one line; Unsure where that would lose a comment or change a string."""
        text = self.module.code(node)
        if "\n" not in text and "\r" not in text:
            return text
        if any(mark in text for mark in "#'\"\\"):
            raise Unsure(f"line {getattr(node, 'lineno', 0)}: a comment or a string stands in what would be copied")
        return " ".join(text.split()).replace("( ", "(").replace(" )", ")")

    def short(self, node: ast.AST) -> str:
        text = " ".join(self.module.code(node).split())
        return text if len(text) < 50 else text[:47] + "..."

    # Tensors and numbers for sure

    def settled(self, value: Value, node: ast.AST, work: Work, *, proves: bool = False) -> Tensor:
        if isinstance(value, Unknown):
            if (proves or value.key in self.annotated) and self.sure:
                self.tensors.add(value.key)
            elif value.key not in self.tensors:
                if value.key in self.derived:
                    return self.derive(value.key, work)
                work.tensors[value.key] = None
            return value.as_tensor()
        if isinstance(value, Tensor):
            return value
        raise Unsure(f"line {getattr(node, 'lineno', 0)}: `{self.short(node)}` is not a tensor")

    def derive(self, key: str, work: Work) -> Tensor:
        """What was made from things that must be tensors is one, if they are."""
        made, needed = self.derived[key]
        work.tensors |= {one: None for one in needed if one not in self.tensors}
        return made

    def is_settled(self, value: Value, work: Work) -> bool:
        """Whether a value is a tensor, or is taken for one already."""
        known = self.tensors | self.annotated | work.tensors.keys() | self.derived.keys()
        return isinstance(value, Tensor) or (isinstance(value, Unknown) and value.key in known)

    def number(self, value: Value, work: Work) -> Number | None:
        if isinstance(value, Unknown) and not self.is_settled(value, work):
            work.numbers[value.key] = None
            return Number()
        return value if isinstance(value, Number) else None
