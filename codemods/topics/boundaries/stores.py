"""Where outputs go: into names that other functions see, into objects, into containers."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import attribute_settings
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.flow import root
from fullgraph.codemods.syntax.places import only_class
from fullgraph.codemods.topics.boundaries.expressions import Expressions
from fullgraph.codemods.topics.boundaries.outputs import inner, is_container
from fullgraph.codemods.topics.boundaries.values import COMPREHENSIONS, Output, Outputs, Site


@dataclass(frozen=True)
class Keeping:
    """A place that keeps an output beyond its step."""

    site: Site
    module: Module
    node: ast.AST
    how: str

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0) or getattr(getattr(self.node, "target", None), "lineno", 0)


@dataclass
class Stores:
    """Everything that is seen of some sites, over all walks. `unsure`: sites whose output goes where nobody sees."""

    names: Definitions
    sites: dict[ast.Call, Site]
    keepings: dict[tuple[ast.Call, ast.AST], Keeping] = field(default_factory=dict)
    unsure: dict[ast.Call, str] = field(default_factory=dict)
    walked: set[ast.Call] = field(default_factory=set)

    # What is seen

    def keep(self, walk: Expressions, outputs: Outputs, node: ast.AST, how: str) -> None:
        for output in outputs:
            keeping = Keeping(output.site, walk.module, node, how)
            if output.may_be_new:
                self.doubt(frozenset([output]), f"{walk.module.path}:{keeping.line}")
            else:
                self.keepings.setdefault((output.site.call, node), keeping)

    def read_late(self, walk: Expressions, output: Output, node: ast.AST) -> None:
        """An output is read after the call that ended its step: what held it meanwhile is the place."""
        assert output.ended_by is not None
        ended, line = output.ended_by, getattr(node, "lineno", 0)
        held = output.held or output.site.call
        begins = (
            f"line {ended.line} calls it again"
            if is_again(ended, output)
            else f"line {ended.line} calls `{ended.compiled}`"
        )
        is_shown = not isinstance(held, COMPREHENSIONS) and held is not node
        how = f"keeps it for line {line}, which reads it after {begins}" if is_shown else f"keeps it while {begins}"
        self.keep(walk, frozenset([output]), held, how)

    def overtake(self, walk: Expressions, outputs: Outputs, node: ast.AST) -> None:
        """Outputs that an expression holds while a part of it begins the next step."""
        for output in outputs:
            if not output.is_awaited:
                self.read_late(walk, replace(output, ended_by=walk.ended_by), node)

    def doubt(self, outputs: Outputs, why: str) -> None:
        for output in outputs:
            self.unsure.setdefault(output.site.call, why)

    # Stores

    def store(self, walk: Expressions, target: ast.expr, outputs: Outputs, node: ast.AST) -> None:
        """A store that no local name takes: an attribute, an item, a global."""
        if isinstance(target, ast.Name):
            self.keep(walk, outputs, node, f"keeps it in `{target.id}`, which other functions see")
        elif self.is_fresh(walk, target) and self.may_hold(walk, target):
            walk.add(root(target), outputs, node)
        elif isinstance(target, ast.Attribute):
            self.keep(walk, outputs, node, f"keeps it in `{walk.module.code(target)}`")
        elif isinstance(target, ast.Subscript):
            self.store_item(walk, target, outputs, node)

    def may_hold(self, walk: Expressions, target: ast.expr) -> bool:
        """Whether what is stored into is no element of a container, which may be a tensor, but a container itself."""
        is_element = isinstance(target, ast.Subscript) and isinstance(target.value, ast.Subscript)
        return not is_element or self.is_known(walk, target.value)  # type: ignore[attr-defined]

    def store_item(self, walk: Expressions, target: ast.Subscript, outputs: Outputs, node: ast.AST) -> None:
        """`x[key] = output` keeps it if `x` is a dict or a list; a tensor copies what is written into it."""
        is_text = isinstance(target.slice, ast.JoinedStr) or isinstance(getattr(target.slice, "value", None), str)
        if isinstance(target.slice, (ast.Slice, ast.Tuple)) and not self.is_known(walk, target.value):
            return
        if is_text or self.is_known(walk, target.value):
            self.keep(walk, outputs, node, f"keeps it in `{walk.module.code(target.value)}`")
        else:
            self.doubt(outputs, f"{walk.module.path}:{target.lineno}")

    def collect(self, walk: Expressions, target: ast.expr, outputs: Outputs, node: ast.AST) -> None:
        """A container gets hold of outputs: a local one hands them on, any other keeps them."""
        if not outputs:
            return
        if self.is_fresh(walk, target) or (isinstance(target, ast.Name) and self.is_local(walk, target)):
            walk.add(root(target), outputs, node)
        else:
            self.keep(walk, outputs, node, f"keeps it in `{walk.module.code(target)}`")

    def is_local(self, walk: Expressions, target: ast.Name) -> bool:
        module = walk.module
        is_here = module.scopes.of(target) is walk.function
        return is_here and all(binding.how not in ("argument", "other") for binding in module.scopes.bindings(target))

    def is_fresh(self, walk: Expressions, target: ast.expr) -> bool:
        """Whether a store goes into an object that this function has made itself."""
        name = target
        while isinstance(name, (ast.Attribute, ast.Subscript)):
            name = name.value
        if not isinstance(name, ast.Name) or not self.is_local(walk, name):
            return False
        values = [binding.value for binding in walk.module.scopes.bindings(name)]
        return all(self.makes_object(walk.module, value) for value in values)

    def makes_object(self, module: Module, value: ast.expr | None) -> bool:
        if is_container(value, None):
            return True
        return isinstance(value, ast.Call) and only_class(self.names.denoted(module, value.func)) is not None

    def is_known(self, walk: Expressions, node: ast.expr) -> bool:
        """Whether an expression is a list, a dict or the like, by what is assigned to it or its annotation."""
        module = walk.module
        if isinstance(node, ast.Call):
            return module.scopes.is_builtin(node.func, "vars", "globals")
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return True
        deep = 0
        while isinstance(node, ast.Subscript):
            node, deep = node.value, deep + 1
        return any(is_container(*inner(deep, value, said)) for value, said in self.assigned(module, node))

    def assigned(self, module: Module, node: ast.expr) -> list[tuple[ast.expr | None, ast.expr | None]]:
        """What is assigned to a name or an attribute, each with its annotation."""
        if isinstance(node, ast.Name):
            return [(item.value, item.annotation) for item in module.scopes.bindings(node)]
        if not isinstance(node, ast.Attribute):
            return []
        lineage = self.names.lineage(self.names.instance(module, node.value))
        settings = [item for _, kind in lineage for item in attribute_settings(kind, node.attr)]
        return [(item.value, getattr(item, "annotation", None)) for item in settings]


def is_again(ended: Site, output: Output) -> bool:
    return ended.compiled == output.site.compiled
