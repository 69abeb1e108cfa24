"""What a class does with its tensors besides moving them, and who may still hold what a move returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from fullgraph.codemods.module import Function
from fullgraph.codemods.syntax.flow import NOT_VALUES
from fullgraph.codemods.topics.buffers.making import FACTORIES, RANDOM
from fullgraph.codemods.topics.buffers.moving import is_move
from fullgraph.codemods.topics.buffers.owner import PASSES_ON, Buffers, inner_nodes

Kind = Literal["direct", "written", "read", "refused", "seen", "passed on", "moved"]
REFUSED = {"numpy", "pin_memory", "share_memory_", "data_ptr", "__array__", "storage", "untyped_storage"}
READERS = {"float", "int", "bool", "print", "str", "repr", "sum", "min", "max", "any", "all"}
LOOKS = {"len", "isinstance", "type", "id", "hasattr"}
TAKES_INDEX = {"index_select", "gather", "take", "take_along_dim", "masked_select", "where"}


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a tensor that the class made; `node` is the whole expression that begins with it."""

    attribute: str
    node: ast.AST
    method: Function
    kind: Kind


class Uses:
    """Every use of the made tensors in the class's own methods."""

    def __init__(self, buffers: Buffers) -> None:
        self.buffers = buffers
        self.module = buffers.module

    @cached_property
    def all(self) -> list[Use]:
        found = [use for method in self.buffers.methods.values() for use in self._in(method)]
        return sorted(found, key=lambda use: (getattr(use.node, "lineno", 0), getattr(use.node, "col_offset", 0)))

    def _in(self, method: Function) -> Iterator[Use]:
        for node in inner_nodes(method):
            if isinstance(node, ast.AugAssign) and self.buffers.root(method, node.target) in self.buffers.made:
                yield Use(self.buffers.root(method, node.target), node.target, method, "written")
            if not isinstance(getattr(node, "ctx", None), ast.Load):
                continue
            name = self.buffers.own_attribute(method, node)
            if isinstance(node, ast.Name) and self.buffers.source_of(node) is not None:
                name = self.buffers.root(method, node)
            if name in self.buffers.made:
                whole, kind = self.classify(node)
                yield Use(name, whole, method, kind)

    def classify(self, node: ast.AST) -> tuple[ast.AST, Kind]:
        """The expression that is made of a tensor by attributes, items and methods, and what that comes to."""
        is_copied = False
        while (parent := self.module.parent(node)) is not None and node in (getattr(parent, "value", None),):
            if isinstance(parent, ast.Subscript):
                if not isinstance(parent.ctx, ast.Load):
                    return parent, "written"
                node = parent
            elif isinstance(parent, ast.Attribute):
                call = self.module.parent(parent)
                if parent.attr in NOT_VALUES:
                    return parent, "seen"
                if isinstance(call, ast.Call) and call.func is parent:
                    if kind := self._by_method(call, parent.attr, is_copied):
                        return call, kind
                    is_copied = is_copied or parent.attr == "cpu"
                    node = call
                else:
                    node = parent
            else:
                break
        return node, self._by_parent(node)

    def _by_method(self, call: ast.Call, name: str, is_copied: bool) -> Kind | None:
        if is_move(self.module, call):
            return "moved"
        if name in REFUSED:
            return "read" if is_copied else "refused"
        if name in ("item", "tolist"):
            return "read"
        if name.endswith("_") and not name.endswith("__"):
            return "written"
        return "direct" if name in TAKES_INDEX else None

    def _by_parent(self, node: ast.AST) -> Kind:
        parent = self.module.parent(node)
        if isinstance(parent, ast.keyword):
            if parent.arg == "out":
                return "written"
            parent = self.module.parent(parent)
        if isinstance(parent, ast.Call):
            return self._as_argument(parent)
        if isinstance(parent, (ast.FormattedValue, ast.If, ast.While, ast.IfExp, ast.Assert)):
            is_test = isinstance(parent, ast.FormattedValue) or parent.test is node
            return "read" if is_test else "direct"
        if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return "seen"
        if isinstance(parent, (ast.For, ast.comprehension)):
            return "passed on"
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return "passed on" if self.buffers.source_of(parent.targets[0]) is not None else "direct"
        return "direct"

    def _as_argument(self, call: ast.Call) -> Kind:
        name = self.module.resolve(call.func) or ""
        plain = getattr(call.func, "id", "")
        if name.partition(".")[0] == "numpy":
            return "refused"
        if plain in LOOKS:
            return "seen"
        if plain in READERS:
            return "read"
        return "passed on" if (plain or name.rpartition(".")[2]) in PASSES_ON else "direct"

    # What goes together

    def together(self, names: set[str]) -> set[str]:
        """These attributes and all that meet them, or what meets them, in a method."""
        found, size = set(names), -1
        while size != len(found):
            size = len(found)
            for method in self.buffers.methods.values():
                met = self.direct_in(method)
                found |= met if met & found else set()
        return found

    def direct_in(self, method: Function) -> set[str]:
        return {use.attribute for use in self.all if use.method is method and use.kind == "direct"}

    def fresh_tensors(self, names: set[str]) -> Iterator[ast.Call]:
        """Tensors that a method makes on the default device, where it computes with these attributes."""
        stored = {
            call for stores in self.buffers.made.values() for store in stores if store.made for call in store.made.calls
        }
        for method in self.buffers.methods.values():
            if self.direct_in(method) & names:
                for node in inner_nodes(method):
                    if isinstance(node, ast.Call) and node not in stored and self._is_fresh(node):
                        yield node

    def _is_fresh(self, call: ast.Call) -> bool:
        """Not what is only put into a tensor, or picks from one: both may be on the CPU."""
        is_made = self.module.resolve(call.func) in FACTORIES | RANDOM
        if not is_made or any(keyword.arg in ("device", None) for keyword in call.keywords):
            return False
        parent = self.module.parent(call)
        is_put = isinstance(parent, ast.Assign) and all(isinstance(item, ast.Subscript) for item in parent.targets)
        is_index = isinstance(parent, ast.Subscript) and parent.slice is call
        return not is_put and not is_index
