"""Where outputs of compiled calls outlive their step: followed through the functions of the project."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import Definition, Place, only_class
from fullgraph.codemods.topics.boundaries.expressions import Expressions
from fullgraph.codemods.topics.boundaries.layers import torch_class
from fullgraph.codemods.topics.boundaries.lifetimes import Walk
from fullgraph.codemods.topics.boundaries.outputs import (
    COLLECTS,
    COLLECTS_IF_KNOWN,
    HOLDERS,
    MAYBE,
    MAYBE_MODULES,
    REPORTS,
    SAME_MODULES,
    VIEWS,
    last_part,
)
from fullgraph.codemods.topics.boundaries.stores import Stores
from fullgraph.codemods.topics.boundaries.uses import is_boundary
from fullgraph.codemods.topics.boundaries.values import NONE, Output, Outputs, Site, State, perhaps

DEEP = 4
BACKWARD = {"torch.autograd.grad", "torch.autograd.backward"}


class Passed(NamedTuple):
    """What a call of the project's function gives back, the last step that it began, and whether a backward is due."""

    returned: Outputs
    ended_by: Site | None
    awaits: bool


@dataclass
class Watch(Stores):
    """Everything that is seen of some sites, over all walks; each function is walked once for what it is given."""

    giving: dict[str, list[Definition]] = field(default_factory=dict)
    """The methods that give outputs back, by their names."""
    _passing: dict[object, Passed] = field(default_factory=dict)

    def call(self, walk: Expressions, node: ast.Call) -> Outputs:
        if site := self.sites.get(node):
            return self.call_site(walk, site)
        func = node.func
        if isinstance(func, ast.Attribute) and self.collects(walk, node, func):
            found = walk.arguments(node)
            self.collect(walk, func.value, found, node)
            return found if func.attr == "setdefault" else NONE
        on_output = walk.called_on(node)
        if on_output is not None:
            return on_output
        return self.call_other(walk, node)

    def collects(self, walk: Expressions, node: ast.Call, func: ast.Attribute) -> bool:
        """Whether a method of a container takes hold of its arguments; a method of the project's own is walked."""
        is_named = func.attr in COLLECTS or (func.attr in COLLECTS_IF_KNOWN and self.is_known(walk, func.value))
        return is_named and self.names.called(walk.module, node) is None

    def call_site(self, walk: Expressions, site: Site) -> Outputs:
        self.walked.add(site.call)
        given = walk.arguments(site.call)
        if not (site.has_backward and walk.awaits):
            for output in given:
                if not output.is_awaited:
                    self.hand_over(walk, output, site)
            walk.end_step(site)
        walk.awaits = walk.awaits or site.has_backward
        return frozenset([Output(site, is_awaited=site.has_backward)])

    def hand_over(self, walk: Expressions, output: Output, site: Site) -> None:
        """An output is an argument of the call that ends its step: it is gone before it is read."""
        how = f"hands it to `{site.compiled}`, which begins the next step"
        self.keep(walk, frozenset([output]), site.call, how)

    def call_other(self, walk: Expressions, node: ast.Call) -> Outputs:
        given = walk.arguments(node)
        module = walk.module
        dotted = module.resolve(node.func) or ""
        if dotted in BACKWARD or last_part(node.func) == "backward":
            walk.end_wait()
            return NONE
        if walk.gathers(node) or last_part(node.func) == "get" or dotted.startswith(HOLDERS):
            return given
        if dotted.startswith("torch."):
            return given_back(given, dotted.rpartition(".")[2])
        if given and (module.scopes.is_builtin(node.func, "setattr") or last_part(node.func) == "__setattr__"):
            self.keep(walk, given, node, f"keeps it in `{module.code(node.args[0])}`")
            return NONE
        if only_class(self.names.denoted(module, node.func)):
            return given
        callee = self.names.called(module, node)
        if callee is not None:
            found = [self.pass_through(walk, node, one) for one in (callee, *self.overriding(callee))]
            return NONE.union(*found)
        made_of = torch_class(self.names, module, node.func) if given else ""
        if made_of in SAME_MODULES or made_of in MAYBE_MODULES:
            return given if made_of in SAME_MODULES else perhaps(given)
        if given and not made_of and not self.is_harmless(module, node, dotted):
            self.doubt(given, f"{module.path}:{node.lineno}")
        return NONE

    def overriding(self, callee: Definition) -> list[Definition]:
        """The methods that give outputs back, and that a call may run in place of the one that it names."""
        owner = callee.module.parent(callee.node)
        found = []
        for one in self.giving.get(getattr(callee.node, "name", ""), []) if isinstance(owner, ast.ClassDef) else []:
            heir = one.module.parent(one.node)
            if heir is not None and heir is not owner:
                found += [one] if any(kind is owner for _, kind in self.names.lineage(Place(one.module, heir))) else []
        return found

    def is_harmless(self, module: Module, node: ast.Call, dotted: str) -> bool:
        """Whether a function that is not the project's own surely keeps nothing."""
        func = node.func
        if isinstance(func, ast.Name) and not module.scopes.bindings(func):
            return True
        if dotted.partition(".")[0] in ("math", "numpy", "logging", "warnings"):
            return True
        return isinstance(func, ast.Attribute) and (func.attr in REPORTS or isinstance(func.value, ast.Constant))

    def pass_through(self, walk: Expressions, node: ast.Call, callee: Definition) -> Outputs:
        """The project's own function is walked with what it is given."""
        function = callee.node
        assert isinstance(function, FUNCTIONS)
        if walk.depth >= DEEP:
            self.doubt(walk.arguments(node), f"{walk.module.path}:{node.lineno}")
            return NONE
        return self.enter(walk, node, callee, bind(walk, node, callee))

    def read_property(self, walk: Expressions, node: ast.Attribute) -> Outputs:
        """What a getter of the project's own gives."""
        callee = self.names.read(walk.module, node) if walk.depth < DEEP else None
        return self.enter(walk, node, callee, {}) if callee else NONE

    def enter(self, walk: Expressions, node: ast.AST, callee: Definition, given: State) -> Outputs:
        passed = self.passing(callee.module, callee.node, given, walk.depth + 1, walk.awaits)
        if passed.ended_by is not None:
            walk.end_step(passed.ended_by)
        if walk.awaits and not passed.awaits:
            walk.end_wait()
        walk.awaits = passed.awaits
        return frozenset(replace(one, held=node, ended_by=None) for one in passed.returned)

    def passing(self, module: Module, function: ast.AST, given: State, depth: int, awaits: bool = False) -> Passed:
        sites = frozenset(
            (name, frozenset((one.site.call, one.may_be_new) for one in found)) for name, found in given.items()
        )
        key = (function, sites, awaits)
        if key not in self._passing:
            self._passing[key] = Passed(NONE, None, awaits)
            walk = Walk(self, module, function, given, depth, awaits)
            walk.run(getattr(function, "body", []))
            copies = isinstance(function, FUNCTIONS) and is_boundary(module, function)
            self._passing[key] = Passed(NONE if copies else walk.returned, walk.ended_by, walk.awaits)
        return self._passing[key]


def given_back(given: Outputs, function: str) -> Outputs:
    """What a function of torch hands on of what it is given: views, and what it has changed in place."""
    is_same = function in VIEWS or (function.endswith("_") and not function.endswith("__"))
    return given if is_same else perhaps(given) if function in MAYBE else NONE


def bind(walk: Expressions, node: ast.Call, callee: Definition) -> State:
    """The outputs that each parameter of a function is given by a call."""
    function = callee.node
    assert isinstance(function, FUNCTIONS)
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    is_static = any(getattr(item, "id", "") == "staticmethod" for item in function.decorator_list)
    if isinstance(callee.module.parent(function), ast.ClassDef) and not is_static:
        names = names[1:]
    found = {name: walk.value(item) for name, item in zip(names, node.args, strict=False)}
    found |= {keyword.arg: walk.value(keyword.value) for keyword in node.keywords if keyword.arg}
    return {name: outputs for name, outputs in found.items() if outputs}
