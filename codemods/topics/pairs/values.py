"""Follow a value to where it comes from: is it a pair of ints, not negative, below which constant?"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.topics.pairs.annotations import global_value, is_none_by_default, shape_said
from fullgraph.codemods.topics.pairs.growth import grown
from fullgraph.codemods.topics.pairs.shapes import (
    LIMIT,
    OWN_KEY,
    Many,
    Pair,
    Shape,
    Table,
    Whole,
    element,
    join,
    join_two,
    part,
    without_bounds,
)

TOO_MANY = 60
KEEPS_INTS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)


class Values:
    """The shapes of a project's expressions. `own` are mentions of the dict in question: their keys are its own."""

    def __init__(self, project: Project, own: set[ast.AST], own_key: Pair = OWN_KEY) -> None:
        self.project = project
        self.own = own
        self.own_key = own_key
        self._open: set[ast.AST] = set()
        self._attributes: dict[str, Shape | None] = {}

    def shape(self, module: Module, node: ast.AST) -> Shape | None:
        """What is certain about an expression's value; None when nothing is, or when it feeds itself."""
        if node in self.own:
            return Table(self.own_key)
        if node in self._open:
            return None
        self._open.add(node)
        try:
            follow = FOLLOW.get(type(node))
            return follow(self, module, node) if follow else None
        finally:
            self._open.discard(node)

    def whole(self, module: Module, node: ast.AST) -> Whole | None:
        shape = self.shape(module, node)
        return shape if isinstance(shape, Whole) else None

    # Names

    def name(self, module: Module, node: ast.Name) -> Shape | None:
        scope = module.scopes.of(node)
        bindings = module.scopes.bindings(node)
        if scope is module.tree and (constant := self._constant(module, node)):
            return constant
        if scope is module.tree and self._is_set_elsewhere(node.id):
            return None
        shape = join([self._bound(module, binding) for binding in bindings]) if bindings else None
        if not isinstance(shape, Many):
            return shape
        own = [(module, name) for name in module.scopes.names(scope, node.id)]
        mentions = self._mentions(node.id) if scope is module.tree else own
        return grown(self, shape, mentions) if mentions else None

    def _constant(self, module: Module, node: ast.AST) -> Shape | None:
        """A global that is assigned once in the whole project; what is put into it later counts too."""
        constant = global_value(module, node, self.project)
        if constant is None or self._is_set_elsewhere(constant[1]):
            return None
        shape = self.shape(constant[0], constant[2])
        return grown(self, shape, self._mentions(constant[1]) or []) if isinstance(shape, Many) else shape

    def _is_set_elsewhere(self, name: str) -> bool:
        """Whether some file sets an attribute of this name, which may be the global of a module."""
        mentions = self._mentions(name)
        return mentions is None or any(
            isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) for _, node in mentions
        )

    def _mentions(self, name: str) -> list[tuple[Module, ast.expr]] | None:
        """Every name and attribute in the project that is written so; None if some file cannot be read.

        A name that is all over the project is not followed: it would cost more than it tells.
        """
        try:
            if len(self.project.mentions(name)) > TOO_MANY:
                return None
            modules = self.project.modules_mentioning(name)
        except SourceError:
            return None
        nodes = [(module, node) for module in modules for node in module.nodes(ast.Name, ast.Attribute)]
        return [(module, node) for module, node in nodes if name == getattr(node, "id", getattr(node, "attr", ""))]

    def _bound(self, module: Module, binding: Binding) -> Shape | None:
        said = shape_said(module, binding.annotation, self.project)
        if binding.how == "other" or is_none_by_default(module, binding.node):
            return None
        if binding.value is None:
            return said
        shape = self.shape(module, binding.value)
        if binding.how == "loop":
            shape = element(shape)
        elif binding.how == "augment":
            operator = getattr(module.parent(binding.node), "op", None)
            if not (isinstance(shape, Whole) and isinstance(operator, KEEPS_INTS)):
                return None
            return Whole(isinstance(operator, ast.Add) and shape.natural)
        return part(shape, binding.path) or (said if not binding.path else None)

    def attribute(self, module: Module, node: ast.Attribute) -> Shape | None:
        if module.resolve(node):
            return self._constant(module, node)
        if node.attr not in self._attributes:
            self._attributes[node.attr] = None  # while it is worked out, it says nothing of itself
            self._attributes[node.attr] = self._attribute(node.attr)
        found = self._attributes[node.attr]
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self" and is_set_by_class(module, node)
        return found if is_own else without_bounds(found)

    def _attribute(self, name: str) -> Shape | None:
        """An attribute of the project's classes: what all its definitions agree on."""
        mentions = self._mentions(name)
        if mentions is None:
            return None
        modules = {module.path: module for module, _ in mentions}.values()
        classes = [(module, node) for module in modules for node in module.nodes(ast.ClassDef)]
        fields = [(m, binding) for m, node in classes for binding in m.scopes.bound.get(node, {}).get(name, [])]
        said = [shape_said(m, binding.annotation, self.project) for m, binding in fields if binding.annotation]
        shapes: list[Shape | None] = list(said)
        shapes += [self._bound(m, binding) for m, binding in fields if not binding.annotation]
        for module, target in mentions:
            if isinstance(target, ast.Attribute) and not isinstance(target.ctx, ast.Load):
                shapes.append(self._stored(module, target) or (said[0] if said else None))
        found = join(shapes) if shapes else None
        attributes = [(module, node) for module, node in mentions if isinstance(node, ast.Attribute)]
        return grown(self, found, attributes) if isinstance(found, Many) else found

    def _stored(self, module: Module, target: ast.AST) -> Shape | None:
        statement = module.parent(target)
        if isinstance(statement, ast.Assign):
            return self.shape(module, statement.value)
        if isinstance(statement, ast.AnnAssign):
            value = self.shape(module, statement.value) if statement.value else None
            return value or shape_said(module, statement.annotation, self.project)
        return None

    # Numbers

    def number(self, module: Module, node: ast.Constant) -> Shape | None:
        if isinstance(node.value, bool) or not isinstance(node.value, int):
            return None
        return Whole(0 <= node.value < LIMIT, str(node.value + 1))

    def arithmetic(self, module: Module, node: ast.BinOp) -> Shape | None:
        left, right = self.shape(module, node.left), self.shape(module, node.right)
        if isinstance(left, Many) and isinstance(node.op, ast.Add):
            return join_two(left, right)
        if not (isinstance(left, Whole) and isinstance(right, Whole)):
            return None
        if isinstance(node.op, ast.Mod):
            return Whole(right.natural, self.bound(module, node.right) if right.natural else "")
        if isinstance(node.op, (ast.Add, ast.FloorDiv)):
            return Whole(left.natural and right.natural)
        return Whole() if isinstance(node.op, (ast.Sub, ast.Mult, ast.LShift)) else None

    def negated(self, module: Module, node: ast.UnaryOp) -> Shape | None:
        inner = self.whole(module, node.operand) if isinstance(node.op, ast.USub) else None
        return Whole(negative=inner.natural) if inner else None

    def choice(self, module: Module, node: ast.IfExp) -> Shape | None:
        return join_two(self.shape(module, node.body), self.shape(module, node.orelse))

    def named(self, module: Module, node: ast.NamedExpr) -> Shape | None:
        return self.shape(module, node.value)

    def bound(self, module: Module, node: ast.AST) -> str:
        """An upper bound that means the same everywhere: a number, or a constant of the project."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return str(node.value)
        constant = global_value(module, node, self.project)
        is_number = constant is not None and isinstance(self._constant(module, node), Whole)
        return f"{constant[0].path}:{constant[1]}" if constant and is_number else ""

    # Collections

    def display(self, module: Module, node: ast.Tuple | ast.List | ast.Set) -> Shape | None:
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return None
        shapes = [self.shape(module, part) for part in node.elts]
        if isinstance(node, ast.Tuple) and len(shapes) == 2:
            return Pair(shapes[0], shapes[1])
        return Many(join(shapes))

    def comprehension(self, module: Module, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Shape | None:
        return Many(self.shape(module, node.elt))

    def table(self, module: Module, node: ast.DictComp | ast.Dict) -> Shape | None:
        keys = [node.key] if isinstance(node, ast.DictComp) else node.keys
        return Table(join([self.shape(module, key) if key else None for key in keys]))

    def item(self, module: Module, node: ast.Subscript) -> Shape | None:
        shape = self.shape(module, node.value)
        if isinstance(node.slice, ast.Slice):
            return shape if isinstance(shape, Many) else None
        number = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(shape, Pair) and isinstance(number, int):
            return part(shape, (number,))
        return element(shape) if isinstance(shape, Many) else None

    def call(self, module: Module, node: ast.Call) -> Shape | None:
        from fullgraph.codemods.topics.pairs.calls import shape_of_call

        return shape_of_call(self, module, node)


def is_set_by_class(module: Module, node: ast.Attribute) -> bool:
    """Whether the class around sets this attribute itself: what a base from elsewhere sets is not seen."""
    owner = module.enclosing(node, ast.ClassDef)
    if owner is None or node.attr in module.scopes.bound.get(owner, {}):
        return owner is not None
    inside = (inner for inner in ast.walk(owner) if isinstance(inner, ast.Attribute))
    return any(inner.attr == node.attr and isinstance(inner.ctx, ast.Store) for inner in inside)


FOLLOW: dict[type[ast.AST], Callable[[Values, Module, Any], Shape | None]] = {
    ast.Name: Values.name,
    ast.Attribute: Values.attribute,
    ast.Constant: Values.number,
    ast.BinOp: Values.arithmetic,
    ast.UnaryOp: Values.negated,
    ast.IfExp: Values.choice,
    ast.NamedExpr: Values.named,
    ast.Tuple: Values.display,
    ast.List: Values.display,
    ast.Set: Values.display,
    ast.ListComp: Values.comprehension,
    ast.SetComp: Values.comprehension,
    ast.GeneratorExp: Values.comprehension,
    ast.DictComp: Values.table,
    ast.Dict: Values.table,
    ast.Subscript: Values.item,
    ast.Call: Values.call,
}
