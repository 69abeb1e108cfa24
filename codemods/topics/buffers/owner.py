"""The tensors that a class makes for itself: by what, where it keeps them, and where it moves them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from fullgraph.codemods.module import Function, Module, children
from fullgraph.codemods.syntax.assignments import targets_of
from fullgraph.codemods.syntax.flow import NOT_VALUES
from fullgraph.codemods.syntax.signatures.constructor import is_dataclass
from fullgraph.codemods.topics.buffers.making import Made, made_by
from fullgraph.codemods.topics.buffers.moving import is_move
from fullgraph.codemods.topics.devices.method import first_argument

MAY_MOVE = {"to", "cpu", "cuda", "_apply", "__getstate__", "__setstate__", "state_dict", "load_state_dict", "save"}
"""Methods whose purpose is to move, or that run once in a while."""

FILLS = {"append", "appendleft", "extend", "insert", "setdefault", "update"}
PASSES_ON = {"items", "values", "enumerate", "zip", "list", "tuple", "reversed", "sorted", "stack", "cat"}
NO_TENSOR = {*NOT_VALUES, "item", "tolist", "numpy"}


@dataclass(frozen=True, slots=True)
class Store:
    """A value that becomes an attribute, or an item of one; without a method as a field's default."""

    attribute: str
    value: ast.expr
    method: Function | None
    made: Made | None
    is_item: bool


@dataclass(frozen=True, slots=True)
class Move:
    """`self.x.to(device)`, also of an item or a view. `keeps`: the result becomes the attribute again."""

    attribute: str
    call: ast.Call
    method: Function
    keeps: bool


class Buffers:
    """One class, seen as an owner of tensors."""

    def __init__(self, module: Module, owner: ast.ClassDef) -> None:
        self.module = module
        self.owner = owner
        found = [node for node in owner.body if isinstance(node, Function)]
        self.methods = {node.name: node for node in found}
        self.is_dataclass = is_dataclass(module, owner) and "__init__" not in self.methods
        self.entry = self.methods.get("__post_init__" if self.is_dataclass else "__init__")

    @cached_property
    def creators(self) -> set[str]:
        """The method that sets the object up, and those of its own that it calls."""
        found: set[str] = set()
        todo = [self.entry.name] if self.entry else []
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.called_by(self.methods[name])
        return found

    def called_by(self, method: Function) -> list[str]:
        """The class's own methods that a method calls on itself."""
        calls = (node for node in inner_nodes(method) if isinstance(node, ast.Call))
        names = (self.own_attribute(method, call.func) for call in calls)
        return [name for name in names if name in self.methods]

    def own_attribute(self, method: Function, node: ast.AST) -> str:
        """`x` of `self.x`."""
        is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return node.attr if is_own and node.value.id == first_argument(method) else ""  # type: ignore[attr-defined]

    # What is kept

    @cached_property
    def stores(self) -> list[Store]:
        found = [store for method in self.methods.values() for store in self._stored_by(method)]
        found += self._defaults() if self.is_dataclass else ()
        return sorted(found, key=lambda store: (store.value.lineno, store.value.col_offset))

    def _stored_by(self, method: Function) -> Iterator[Store]:
        for node in inner_nodes(method):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
                for target in targets_of(node):
                    yield from self._stored(method, target, node.value)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in FILLS:
                attribute = self.own_attribute(method, node.func.value)  # type: ignore[attr-defined]
                for value in node.args if attribute else ():
                    yield Store(attribute, value, method, made_by(self.module, value), True)

    def _stored(self, method: Function, target: ast.expr, value: ast.expr) -> Iterator[Store]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for inner, part in zip(target.elts, value.elts, strict=True):
                yield from self._stored(method, inner, part)
        elif isinstance(target, ast.Subscript) and (attribute := self.own_attribute(method, target.value)):
            yield Store(attribute, value, method, made_by(self.module, value), True)
        elif attribute := self.own_attribute(method, target):
            yield Store(attribute, value, method, made_by(self.module, value), False)

    def _defaults(self) -> Iterator[Store]:
        """What the factories of a dataclass's fields make: they know nothing of the object."""
        for node in self.owner.body:
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and isinstance(node.value, ast.Call)
            ):
                for factory in (item.value for item in node.value.keywords if item.arg == "default_factory"):
                    if made_by(self.module, factory):
                        refused = ((factory, "a `default_factory` knows nothing of the object"),)
                        yield Store(node.target.id, factory, None, Made(refused=refused), False)

    @cached_property
    def containers(self) -> set[str]:
        """The attributes that begin as an empty list or dict, or as one without tensors."""
        return {store.attribute for store in self.stores if not store.is_item and is_container(store.value)}

    @cached_property
    def made(self) -> dict[str, list[Store]]:
        """By attribute: what the class makes for it, anywhere, if it makes some while it is set up.

        A tensor that is put into a tensor is copied, and not kept.
        """
        found: dict[str, list[Store]] = {}
        for store in self.stores:
            if store.made and (not store.is_item or store.attribute in self.containers):
                found.setdefault(store.attribute, []).append(store)
        return {
            name: stores
            for name, stores in found.items()
            if name not in self.registered
            and any(store.method is None or store.method.name in self.creators for store in stores)
        }

    @cached_property
    def registered(self) -> set[str]:
        """Buffers and parameters of a module: these move with it."""
        calls = [node for node in ast.walk(self.owner) if isinstance(node, ast.Call) and node.args]
        names = [node.args[0] for node in calls if getattr(node.func, "attr", "").startswith("register_")]
        return {name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)}

    # What is moved

    @cached_property
    def moves(self) -> list[Move]:
        found = [move for method in self.methods.values() for move in self._moved_by(method)]
        return sorted(found, key=lambda move: (move.call.lineno, move.call.col_offset))

    def _moved_by(self, method: Function) -> Iterator[Move]:
        for node in inner_nodes(method):
            if isinstance(node, ast.Call) and is_move(self.module, node):
                assert isinstance(node.func, ast.Attribute)
                if attribute := self.root(method, node.func.value):
                    keeps = self._is_put_back(method, node, attribute)
                    if keeps or method.name not in self.creators | MAY_MOVE:
                        yield Move(attribute, node, method, keeps)

    def _is_put_back(self, method: Function, call: ast.Call, attribute: str) -> bool:
        statement = self.module.statement(call)
        targets = targets_of(statement) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else []
        places = [target for target in targets if not isinstance(target, ast.Name)]
        return any(self.root(method, target) == attribute for target in places)

    def root(self, method: Function, node: ast.AST, depth: int = 0) -> str:
        """The attribute that an expression is, or is a part or a view of: through local names and loops too."""
        while depth < 20:
            if name := self.own_attribute(method, node):
                return name if name not in self.methods else ""
            if isinstance(node, ast.Attribute) and node.attr in NO_TENSOR:
                return ""
            if isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            elif isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                is_own = isinstance(node.func, ast.Attribute) and not (self.module.resolve(node.func) or "")
                if not is_own and (called not in PASSES_ON or not node.args):
                    return ""
                node = node.func.value if is_own else node.args[0]  # type: ignore[attr-defined]
            elif isinstance(node, ast.Name):
                source = self.source_of(node)
                return self.root(method, source, depth + 1) if source is not None else ""
            else:
                return ""
            depth += 1
        return ""

    def source_of(self, name: ast.Name) -> ast.expr | None:
        """What the only binding of a local name takes it from: a plain view, or an element of a loop."""
        bindings = [binding for binding in self.module.scopes.bindings(name) if binding.how != "augment"]
        if len(bindings) != 1 or bindings[0].how not in ("assign", "loop"):
            return None
        value = bindings[0].value
        if bindings[0].how == "loop" and isinstance(value, ast.Call):
            called = getattr(value.func, "id", "")
            if called == "zip":
                position = bindings[0].path[0] if bindings[0].path else len(value.args)
                return value.args[position] if position < len(value.args) else None
            is_key = bindings[0].path[:1] == (0,) and (
                called == "enumerate" or getattr(value.func, "attr", "") == "items"
            )
            return None if is_key else value
        return value if bindings[0].how == "loop" or not bindings[0].path else None


def inner_nodes(method: Function) -> Iterator[ast.AST]:
    """All that stands in a method, also in functions inside it, but not in classes."""
    todo: list[ast.AST] = [method]
    while todo:
        node = todo.pop()
        yield node
        todo += [inner for inner in children(node) if not isinstance(inner, ast.ClassDef)]


def is_container(value: ast.expr) -> bool:
    """Whether a value is a list or dict, filled or not."""
    if isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
        return True
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Mult) and isinstance(value.left, ast.List)
    called = value.func if isinstance(value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in {"list", "dict", "deque", "defaultdict", "OrderedDict"}
