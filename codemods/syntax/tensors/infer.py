"""Finds out what is known about a value: by annotations, by what made it, and by what is called on it."""

from __future__ import annotations

import ast

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import Binding
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import Definition, Place
from fullgraph.codemods.syntax.tensors.annotated import said_by
from fullgraph.codemods.syntax.tensors.attributes import given_values, stores
from fullgraph.codemods.syntax.tensors.calls import made_by, method_of, torch_call
from fullgraph.codemods.syntax.tensors.counters import is_whole, unpacked_rank
from fullgraph.codemods.syntax.tensors.known import (
    NUMBER,
    OTHER,
    UNKNOWN,
    Known,
    agreed,
    believed,
    is_foreign,
    refined,
    tensor,
)
from fullgraph.codemods.syntax.tensors.pieces import Ask, element, one_of_several, operated, part, unpacked
from fullgraph.codemods.syntax.tensors.usage import is_in_sight, is_used_as_float, is_used_as_tensor, keeps, put_into

DEEP = 5
LONG = 400
"""Steps after which a value is not followed any further."""
TENSORS_OF = {"grad", "T", "mT", "real", "imag"}
DRAWN = {"sample", "rsample", "log_prob", "entropy", "cdf", "icdf", "perplexity", "enumerate_support"}
MOMENTS = {"mean", "mode", "variance", "stddev"}
"""What distributions give as tensors: by a call, and as an attribute."""
COMPLEX = ("complex", "fft", "polar", "cfloat", "cdouble")


class Tensors:
    """What is known about the values of one project. Asked while it is being worked out, a value is unknown."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.names = Definitions(project)
        self._asked: set[ast.AST] = set()
        self._followed: set[tuple[ast.AST, str]] = set()
        self._steps = 0
        self._found: dict[ast.AST, Known] = {}
        self._settings: dict[tuple[ast.AST, str], list[Definition]] = {}

    def known(self, module: Module, node: ast.AST, depth: int = 0) -> Known:
        """What the text says about an expression; `depth` counts the names that were followed to it."""
        if not self._asked:
            if node not in self._found:
                self._steps = 0
                self._found[node] = self._work_out(module, node, depth)
            return self._found[node]
        self._steps += 1
        is_enough = node in self._asked or depth > DEEP or self._steps > LONG
        return UNKNOWN if is_enough else self._work_out(module, node, depth)

    def _work_out(self, module: Module, node: ast.AST, depth: int) -> Known:
        self._asked.add(node)
        try:
            found = self._by_class(module, node, depth)
        finally:
            self._asked.discard(node)
        return found.but(kind="") if found.kind == "float" and has_complex(module) else found

    def _by_class(self, module: Module, node: ast.AST, depth: int) -> Known:
        if isinstance(node, ast.Constant):
            return NUMBER if isinstance(node.value, (int, float)) else OTHER
        if isinstance(node, ast.Name):
            return self._name(module, node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(module, node, depth)
        if isinstance(node, ast.Subscript):
            return self._item(module, node, depth)
        if isinstance(node, ast.Call):
            return self._call(module, node, depth)
        if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            return operated(self._asking(module, depth), node)
        if isinstance(node, ast.IfExp):
            return agreed(self.known(module, side, depth) for side in (node.body, node.orelse))
        return self._container(module, node, depth)

    def _asking(self, module: Module, depth: int) -> Ask:
        return lambda node: self.known(module, node, depth)

    # Names

    def _name(self, module: Module, name: ast.Name, depth: int) -> Known:
        bindings = module.scopes.bindings(name)
        if not bindings or module.resolve(name):
            return UNKNOWN
        token = (module.scopes.of(name), name.id)
        if token in self._followed:
            return Known("tensor")  # if the other bindings are tensors, so is what is made from it
        self._followed.add(token)
        changing = (binding for binding in bindings if not binding.is_bare and binding.how != "augment")
        own_values = [binding for binding in changing if not keeps(binding.value, name)]
        found = agreed([self._bound(module, binding, depth) for binding in own_values])
        self._followed.discard(token)
        if found.what == "" and any(binding.annotation for binding in bindings):
            found = agreed(self._annotated(module, binding.annotation) for binding in bindings if binding.annotation)
        if found.what in ("list", "dict"):
            found = self._grown(module, name, found, depth)
        if found.what == "" and is_used_as_tensor(module, name):
            found = found.but(what="tensor")
        if found.is_tensor and found.kind == "" and is_used_as_float(module, name):
            found = found.but(kind="float")
        if found.what in ("", "tensor") and found.ndim is None and len(bindings) == 1:
            found = found.but(ndim=unpacked_rank(module, name))
        is_one = len(bindings) == 1 or depth == 0
        own = {(module.scopes.of(name), name.id)} if is_one and found.what in ("", "tensor") else set()
        shape = found.shape or (name.id if is_one else "")
        return found.but(devices=found.devices | own, shape=shape)

    def _bound(self, module: Module, binding: Binding, depth: int) -> Known:
        annotated = self._annotated(module, binding.annotation)
        if binding.how == "assign" and binding.value is not None:
            return refined(unpacked(self._asking(module, depth + 1), binding.value, binding.path), annotated)
        if binding.how == "loop" and binding.value is not None and not binding.path:
            return element(self.known(module, binding.value, depth + 1))
        if binding.how == "loop" and isinstance(binding.value, ast.Call) and len(binding.path) == 1:
            return one_of_several(module, self._asking(module, depth + 1), binding.value, binding.path[0])
        arguments = module.parent(binding.node)
        if isinstance(arguments, ast.arguments) and binding.node in (arguments.vararg, arguments.kwarg):
            said = self._annotated(module, getattr(binding.node, "annotation", None))
            return Known("list" if binding.node is arguments.vararg else "dict", item=said)
        return annotated

    def _annotated(self, module: Module, annotation: ast.expr | None) -> Known:
        return said_by(self.names, Place(module, annotation)) if annotation else UNKNOWN

    def _grown(self, module: Module, name: ast.Name, found: Known, depth: int) -> Known:
        """A list or dict with what is put into it. Nothing is known about where that lives."""
        is_seen, added = is_in_sight(module, name), put_into(module, name)
        if is_seen and not added:
            return found
        items = [self.known(module, value, depth + 1) if value else UNKNOWN for value in added]
        if found.item or (found.what == "dict" and not is_seen):
            items.append(found.item or UNKNOWN)
        said = [self._annotated(module, binding.annotation).item for binding in module.scopes.bindings(name)]
        grown = believed(items, next(filter(None, said), UNKNOWN))
        return found.but(item=grown.but(devices=frozenset()) if items else None)

    # Attributes

    def _attribute(self, module: Module, node: ast.Attribute, depth: int) -> Known:
        owner = self.known(module, node.value, depth) if isinstance(node.value, (ast.Name, ast.Subscript)) else UNKNOWN
        if owner.is_tensor:
            return owner if node.attr == "data" else Known("tensor") if node.attr in TENSORS_OF else OTHER
        if owner.what == "other":
            return OTHER
        if owner.what == "distribution":
            return tensor() if node.attr in MOMENTS else UNKNOWN
        said = said_by(self.names, self.names.kind(module, node))
        values = [self.known(place.module, place.node, depth + 1) for place in self._set_to(module, node)]
        found = agreed(values) if values else UNKNOWN
        text = ast.unparse(node)
        devices = frozenset({(None, text)} if depth == 0 else ())
        return refined(found, said).but(devices=devices, shape="()" if found.ndim == 0 else text)

    def _set_to(self, module: Module, node: ast.Attribute) -> list[Definition]:
        """Every value that the attribute is seen to get, or nothing if some cannot be seen."""
        owner = self.names.instance(module, node.value)
        if owner is None or not isinstance(owner.node, ast.ClassDef):
            return []
        key = (owner.node, node.attr)
        if key not in self._settings:
            self._settings[key] = self._all_set(Place(owner.module, owner.node), node.attr)
        return [place for place in self._settings[key] if not keeps(place.node, node)]

    def _all_set(self, owner: Place[ast.ClassDef], name: str) -> list[Definition]:
        try:
            set_here = stores(self.project, self.names, owner, name)
            given = given_values(self.project, self.names, owner, name) if set_here is not None else None
        except SourceError:
            return []
        return [] if set_here is None or given is None else [*set_here, *given]

    # Items and containers

    def _item(self, module: Module, node: ast.Subscript, depth: int) -> Known:
        owner = self.known(module, node.value, depth)
        if owner.is_tensor:
            return self._row(module, owner, node.slice)
        if owner.what == "other":
            return OTHER
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        found = part(owner, index) if type(index) is int and owner.parts else owner.item or UNKNOWN
        text = ast.unparse(node)
        return found.but(devices=found.devices | {(None, text)} if depth == 0 else found.devices, shape=text)

    def _row(self, module: Module, owner: Known, index: ast.expr) -> Known:
        """A part of a tensor: whole numbers take a dimension away, slices do not, anything else is not followed."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        taken = [part for part in parts if is_whole(self.names, module, part)]
        is_plain = all(isinstance(part, ast.Slice) or part in taken for part in parts)
        ndim = owner.ndim - len(taken) if owner.ndim is not None and is_plain else None
        return owner.but(ndim=ndim if ndim is not None and ndim >= 0 else None, shape="()" if ndim == 0 else "")

    def _container(self, module: Module, node: ast.AST, depth: int) -> Known:
        if isinstance(node, (ast.List, ast.Tuple)):
            items = [self.known(module, item, depth) for item in node.elts]
            is_fixed = isinstance(node, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts)
            return Known("list", item=agreed(items) if items else None, parts=tuple(items) if is_fixed else ())
        if isinstance(node, ast.ListComp):
            item = self.known(module, node.elt, depth + 1)
            kept = frozenset(device for device in item.devices if device[0] is not None and device[0] is not node)
            return Known("list", item=item.but(devices=kept))
        if isinstance(node, ast.DictComp):
            return Known("dict", item=self.known(module, node.value, depth + 1).but(devices=frozenset()))
        if isinstance(node, ast.Dict) and all(node.keys):
            items = [self.known(module, value, depth) for value in node.values]
            return Known("dict", item=agreed(items) if items else None)
        return UNKNOWN

    # Calls and operators

    def _call(self, module: Module, call: ast.Call, depth: int) -> Known:
        if (dotted := module.resolve(call.func)) and dotted.startswith("torch."):
            whole = {argument for argument in call.args if is_whole(self.names, module, argument)}
            return torch_call(dotted, call, [self.known(module, argument, depth) for argument in call.args], whole)
        if is_foreign(dotted):
            return OTHER
        if isinstance(call.func, ast.Attribute):
            owner = self.known(module, call.func.value, depth)
            if owner.what == "other":
                return OTHER
            if owner.is_tensor:
                return method_of(owner, call.func.attr, call)
            if owner.what == "distribution":
                return tensor() if call.func.attr in DRAWN else UNKNOWN
            if call.func.attr == "values" and owner.what == "dict":
                return Known("list", item=owner.item)
        return self._returned(module, call, depth) or made_by(module, call)

    def _returned(self, module: Module, call: ast.Call, depth: int) -> Known | None:
        """What a function of the project returns."""
        called = self.names.called(module, call)
        if called is None or called.node.name == "__init__" or isinstance(called.node, ast.AsyncFunctionDef):
            return None
        returns = [node.value for node in own_nodes(called.node) if isinstance(node, ast.Return)]
        values = [self.known(called.module, value, depth + 1) if value else OTHER for value in returns]
        return believed(values, self._annotated(called.module, called.node.returns)).seen_outside()


def has_complex(module: Module) -> bool:
    """Whether a file may hold complex numbers, which look like floats to everything here."""
    return any(word in module.text for word in COMPLEX)
