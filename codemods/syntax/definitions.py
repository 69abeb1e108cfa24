"""Which statement of the project an expression stands for: by imports, scopes, `self`, annotations and assignments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import DEFINITIONS, Binding, position
from fullgraph.codemods.syntax.assignments import FUNCTIONS, Setting, attribute_settings, own_nodes
from fullgraph.codemods.syntax.loops import element_of
from fullgraph.codemods.syntax.places import Definition, Place, item_of, only_class, only_function, part_of

SAME_INSTANCE = {"to", "cuda", "cpu", "eval", "train", "float", "half", "bfloat16", "double", "requires_grad_"}
DEEP = 12
GETTER = re.compile(rb"property\b[^\n]*\s+(?:[@#][^\n]*\s+)*(?:async\s+)?def\s+(\w+)")


class Definitions:
    """The definitions of one project, met by name. What cannot be followed is None.

    Not followed: callbacks, and items of containers that no annotation describes. Of several bindings of one name the
    first that leads anywhere is taken; with `sure` all must agree, and base classes are not searched.
    """

    def __init__(self, project: Project, *, sure: bool = False) -> None:
        self.project = project
        self.sure = sure
        self._asked: set[ast.AST] = set()

    # Statements by name

    def by_dotted(self, dotted: str, depth: int = 0) -> Definition | None:
        """The statement behind `pkg.mod.NAME` or `pkg.mod.Class.method`, also where a package imports it."""
        parts = dotted.split(".")
        for length in range(len(parts) - 1, 0, -1):
            path = self.project.path_of(".".join(parts[:length]))
            if path is not None and depth < DEEP:
                return self._in_module(path, parts[length:], depth)
        return None

    def _in_module(self, path: str, parts: list[str], depth: int) -> Definition | None:
        try:
            module = self.project.module(path)
        except SourceError:
            return None
        found = self._settled(module, module.scopes.within(module.tree, parts[0]))
        if found is None or isinstance(found.node, (ast.Import, ast.ImportFrom)):
            origin = module.resolve(ast.Name(parts[0]))
            return self.by_dotted(".".join([origin, *parts[1:]]), depth + 1) if origin else None
        for part in parts[1:]:
            found = self.member(found, part)
        return found

    def _settled(self, module: Module, bindings: Sequence[Binding]) -> Definition | None:
        """The statement that binds a variable: the only one, or the last definition."""
        nodes = [binding.node for binding in bindings if not binding.is_bare]
        if self.sure and nodes and is_under_star(module, nodes[0]):
            return None
        definitions = [node for node in nodes if isinstance(node, DEFINITIONS)]
        if definitions and (len(nodes) == 1 or not self.sure):
            return Place(module, definitions[-1])
        statement = module.statement(nodes[0]) if len(nodes) == 1 else None
        return Place(module, statement) if statement and not isinstance(statement, DEFINITIONS) else None

    def member(self, owner: Definition | None, name: str) -> Definition | None:
        """What a class, or the nearest base class in the project that has it, defines under a name."""
        for module, kind in self.lineage(owner):
            if bindings := module.scopes.within(kind, name):
                return self._settled(module, bindings)
        return None

    def lineage(self, owner: Definition | None, depth: int = 0) -> Iterator[Place[ast.ClassDef]]:
        """A class and, depth first, its base classes in the project."""
        if owner is None or not isinstance(owner.node, ast.ClassDef) or depth > DEEP:
            return
        yield Place(owner.module, owner.node)
        for base in [] if self.sure else owner.node.bases:
            yield from self.lineage(self.denoted(owner.module, base), depth + 1)

    def statement(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """The statement that binds what a name or a dotted expression stands for."""
        if depth > DEEP:
            return None
        if (dotted := module.resolve(node)) is not None:
            return self.by_dotted(dotted)
        if isinstance(node, ast.Name):
            return self._settled(module, module.scopes.bindings(node))
        if isinstance(node, ast.Attribute):
            owner = self.denoted(module, node.value, depth + 1) or self.instance(module, node.value, depth + 1)
            return self.member(owner, node.attr)
        return None

    def denoted(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """The function or class that a name or a dotted expression stands for."""
        found = Place(module, node) if isinstance(node, ast.ClassDef) else self.statement(module, node, depth)
        return found if found and isinstance(found.node, DEFINITIONS) else None

    # Instances

    def instance(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """The project's class of which an expression is an instance."""
        return self._class(self.kind(module, node, depth), depth)

    def _class(self, kind: Definition | None, depth: int) -> Definition | None:
        if kind is None:
            return None
        module, node = kind
        if isinstance(node, ast.BinOp):
            sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
            return self._one((self._class(Place(module, side), depth) for side in sides), depth)
        return only_class(self.denoted(module, node, depth + 1))

    def kind(self, module: Module, node: ast.AST, depth: int = 0) -> Definition | None:
        """What the code says an expression is: an annotation, or the class that is called."""
        if depth > DEEP:
            return None
        if isinstance(node, ast.Call):
            return self._made_by(module, node, depth)
        if isinstance(node, ast.Name):
            bindings = [binding for binding in module.scopes.bindings(node) if not binding.is_bare or self.sure]
            return self._one((self._bound_to(module, binding, depth) for binding in bindings), depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, depth)
        if isinstance(node, ast.Subscript):
            return item_of(self.kind(module, node.value, depth + 1))
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            sides = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            return self._one((self.kind(module, side, depth + 1) for side in sides), depth)
        return None

    def _part(self, module: Module, node: ast.expr, path: tuple[int, ...], depth: int) -> Definition | None:
        """The kind of one part of a tuple: written out, returned by a function of the project, or annotated."""
        if not path:
            return self.kind(module, node, depth + 1)
        if isinstance(node, (ast.Tuple, ast.List)) and path[0] < len(node.elts):
            return self._part(module, node.elts[path[0]], path[1:], depth)
        function = only_function(self.denoted(module, node.func, depth + 1)) if isinstance(node, ast.Call) else None
        if function and function.node.returns is None and depth < DEEP and not self.sure:
            values = [inner.value for inner in own_nodes(function.node) if isinstance(inner, ast.Return)]
            parts = (self._part(function.module, value, path, depth + 1) if value else None for value in values)
            return self._one(parts, depth)
        return reduce(part_of, path, self.kind(module, node, depth + 1))

    def _one(self, found: Iterable[Definition | None], depth: int) -> Definition | None:
        """What all agree on, to be sure; else the first that is a class of the project."""
        if self.sure:
            kinds = list(found)
            return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None
        first = None
        for kind in found:
            if self._class(kind, depth):
                return kind
            first = first or kind
        return first

    def _made_by(self, module: Module, call: ast.Call, depth: int) -> Definition | None:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in SAME_INSTANCE:
            return self.kind(module, func.value, depth + 1)
        if module.resolve(func) == "torch.compile" and call.args:
            return self.kind(module, call.args[0], depth + 1)
        if isinstance(func, ast.Name) and func.id == "super":
            owner = module.enclosing(call, ast.ClassDef)
            bases = (self.denoted(module, base, depth + 1) for base in owner.bases) if owner else iter([])
            return next((base for base in bases if base), None)
        found = self.denoted(module, func, depth + 1)
        if found and isinstance(found.node, ast.FunctionDef):
            return Place(found.module, found.node.returns) if found.node.returns else None
        return only_class(found)

    def _bound_to(self, module: Module, binding: Binding, depth: int) -> Definition | None:
        """What one binding says; None where that is being asked already."""
        if binding.node in self._asked:
            return None
        self._asked.add(binding.node)
        try:
            if owner := owner_of_self(module, binding):
                return owner
            if binding.how == "loop":
                source = element_of(module, binding.node)
                return item_of(self.kind(module, source, depth + 1)) if source is not None else None
            if binding.how == "assign" and binding.path and binding.value is not None:
                return self._part(module, binding.value, binding.path, depth)
            value = binding.value if binding.how == "assign" else None
            return self._said(module, value, binding.annotation, depth)
        finally:
            self._asked.discard(binding.node)

    def _said(
        self, module: Module, value: ast.expr | None, annotation: ast.expr | None, depth: int
    ) -> Definition | None:
        said = Place(module, annotation) if annotation else None
        if said and (self.sure or value is None):
            return said
        kinds = [self.kind(module, value, depth + 1) if value else None, said]
        return self._one([kind for kind in kinds if kind], depth)

    def _attribute(self, module: Module, node: ast.Attribute, depth: int) -> Definition | None:
        for home, kind in self.lineage(self.instance(module, node.value, depth + 1)):
            settings = attribute_settings(kind, node.attr)
            if found := self._one((self._set_by(home, item, depth) for item in settings), depth):
                return found
        return None

    def _set_by(self, module: Module, item: Setting, depth: int) -> Definition | None:
        return self._said(module, item.value, item.annotation if isinstance(item, ast.AnnAssign) else None, depth)

    # What runs

    @property
    def getters(self) -> set[str]:
        """The names of all properties of the project."""
        return self.project.worked_out(GETTER, lambda: {found[1].decode() for _, found in self.project.matches(GETTER)})

    def called(self, module: Module, call: ast.Call) -> Place[Function] | None:
        """The function that a call runs: also `__init__` of a class and `forward` of a module's instance."""
        found = self.denoted(module, call.func)
        if found is None:
            kind = self.instance(module, call.func)
            found = self.member(kind, "forward") or self.member(kind, "__call__")
        elif isinstance(found.node, ast.ClassDef):
            found = self.member(found, "__init__")
        return only_function(found)

    def read(self, module: Module, node: ast.AST) -> Place[Function] | None:
        """The getter that reading an attribute runs."""
        if not isinstance(node, ast.Attribute) or node.attr not in self.getters or not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(call := module.parent(node), ast.Call) and call.func is node:
            return None
        found = only_function(self.denoted(module, node))
        is_property = found and any(ast.unparse(item).endswith("property") for item in found.node.decorator_list)
        return found if is_property else None


def is_under_star(module: Module, node: ast.AST) -> bool:
    """Whether a `from ... import *` further down may bind a name of the module's top level again."""
    stars = module.scopes.binders("*")
    behind = any(position(star) > position(node) for star in stars)
    return behind and module.scopes.around(node) is module.tree


def owner_of_self(module: Module, binding: Binding) -> Place[ast.ClassDef] | None:
    """The class around a method, for the method's first parameter."""
    function = module.enclosing(binding.node, *FUNCTIONS) if binding.how == "argument" else None
    owner = module.parent(function) if function else None
    if function is None or not isinstance(owner, ast.ClassDef):
        return None
    is_static = any(getattr(item, "id", "") == "staticmethod" for item in function.decorator_list)
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return Place(module, owner) if first == [binding.node] and not is_static else None
