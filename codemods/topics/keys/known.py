"""The keys of a dict, in order, followed from where it is used to where it is built."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.scopes import FUNCTIONS
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.loops import element_of, unwrap
from fullgraph.codemods.syntax.places import Definition, Place, only_function, where
from fullgraph.codemods.topics.keys.answers import Keys, agreed
from fullgraph.codemods.topics.keys.callers import arguments_for
from fullgraph.codemods.topics.keys.changes import Changes
from fullgraph.codemods.topics.keys.constants import constant_behind, strings_in
from fullgraph.codemods.topics.keys.filling import filled_from, is_empty_dict
from fullgraph.codemods.topics.keys.functions import is_plain, override_of
from fullgraph.codemods.topics.keys.loops import is_index, is_method_call, keys_source, loop_target, mapping_of
from fullgraph.codemods.topics.keys.variables import Variable, variable_of

DEPTH = 12


class KnownKeys:
    """Answers for one project. None means that nothing is known; a doubt is something that is known to spoil it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.definitions = Definitions(project, sure=True)
        self.active: set[tuple[ast.AST, str, bool]] = set()
        self.passed: dict[tuple[ast.arg, bool], Keys | None] = {}

    def iterated(self, module: Module, node: ast.expr) -> Keys | None:
        """The strings that a loop over this expression sees: a constant, a literal, a dict or its keys."""
        node = mapping_of(unwrap(node))
        if constant := constant_behind(self.definitions, module, node):
            built = f"{constant.path}:{constant.line}"
            return Keys(constant.names, built, constant, constant.flaw)
        if names := strings_in(node):
            return Keys(names, where(module, node))
        return self.of(module, node, node)

    def of(self, module: Module, node: ast.AST, place: ast.AST) -> Keys | None:
        """The keys of a dict as it is when `place` runs."""
        if isinstance(node, ast.Dict):
            return literal_keys(module, node)
        if isinstance(node, ast.DictComp):
            return self._of_comprehension(module, node)
        if isinstance(node, ast.Call):
            return self._of_call(module, node)
        if isinstance(node, ast.Name):
            return self._of_variable(module, node, place, listing=False)
        if isinstance(node, ast.Subscript) and is_index(node.slice):
            return self.of_elements(module, node.value, place)
        if isinstance(node, ast.IfExp):
            return agreed((Place(module, side), self.of(module, side, place)) for side in (node.body, node.orelse))
        return None

    def of_elements(self, module: Module, node: ast.AST, place: ast.AST) -> Keys | None:
        """The keys that every dict in a list has."""
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.of(module, node.elt, place)
        if isinstance(node, (ast.List, ast.Tuple)):
            return agreed((Place(module, item), self.of(module, item, place)) for item in node.elts)
        if isinstance(node, ast.Name):
            return self._of_variable(module, node, place, listing=True)
        if isinstance(node, ast.Call):
            inner = unwrap(node)
            return self.of_elements(module, inner, place) if inner is not node else self._returned(module, node, True)
        return None

    # How a dict is built

    def _of_comprehension(self, module: Module, node: ast.DictComp) -> Keys | None:
        loop = node.generators[0]
        target = loop_target(module, node.key) if isinstance(node.key, ast.Name) else None
        source = keys_source(module, target) if target else None
        if source is None or len(node.generators) > 1:
            return None
        keys = self.iterated(module, source)
        if keys and loop.ifs:
            return keys.doubted(f"the condition at {where(module, loop.ifs[0])} may leave keys out")
        return keys and replace(keys, built=where(module, node))

    def _of_call(self, module: Module, node: ast.Call) -> Keys | None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "fromkeys":
            plain = module.scopes.is_builtin(function.value, "dict") and node.args
            return self.iterated(module, node.args[0]) if plain else None
        if is_method_call(node, "copy") and isinstance(function, ast.Attribute):
            return self.of(module, function.value, function.value)
        if module.scopes.is_builtin(function, "dict"):
            if not node.args and all(keyword.arg for keyword in node.keywords):
                names = tuple(keyword.arg or "" for keyword in node.keywords)
                return Keys(names, where(module, node)) if names else None
            return self.of(module, node.args[0], node.args[0]) if len(node.args) == 1 and not node.keywords else None
        return self._returned(module, node, False)

    def _returned(self, module: Module, call: ast.Call, listing: bool) -> Keys | None:
        """What a function of the project returns, if all its returns agree."""
        found = only_function(self.definitions.denoted(module, call.func))
        if found is None or not isinstance(found.node, ast.FunctionDef) or not is_plain(found.module, found.node):
            return None
        read = self.of_elements if listing else self.of
        with self._entering(found.node, "return", listing) as entered:
            if not entered:
                return None
            values = [node.value for node in own_returns(found.module, found.node)]
            keys = agreed((Place(found.module, value), read(found.module, value, value)) for value in values if value)
        if keys and not keys.doubt and (override := override_of(self.project, found)):
            return keys.doubted(f"the call at {where(module, call)} may be answered by {override}")
        return keys

    @contextmanager
    def _entering(self, node: ast.AST, name: str, listing: bool) -> Iterator[bool]:
        """Whether this question is new: not one that is being answered further up, nor too far down."""
        question = (node, name, listing)
        is_new = question not in self.active and len(self.active) < DEPTH
        if is_new:
            self.active.add(question)
        yield is_new
        if is_new:
            self.active.discard(question)

    # What a variable holds

    def _of_variable(self, module: Module, name: ast.Name, place: ast.AST, listing: bool) -> Keys | None:
        variable = variable_of(module, name)
        if variable is None:
            return None
        with self._entering(variable.scope, variable.name, listing) as entered:
            keys = self._bound(variable, place, listing) if entered else None
        if keys is None or keys.doubt:
            return keys
        if len(variable.bindings) > 1:
            again = where(module, variable.bindings[1])
            return keys.doubted(f"{variable.name} is bound again at {again}")
        changes = Changes(self.definitions, keys.names, self.iterated).of(variable, listing, own=True)
        doubts = (reason for use, reason in changes if variable.may_precede(use, place))
        return keys.doubted(next(doubts, ""))

    def _bound(self, variable: Variable, place: ast.AST, listing: bool) -> Keys | None:
        module, binding = variable.module, variable.bindings[0]
        if isinstance(binding, ast.arg):
            return self._passed(module, binding, listing)
        value = assigned_value(module, binding)
        if listing and value is not None:
            return self._collected(variable, value, place)
        if value is not None and is_empty_dict(module, value):
            source = filled_from(variable, place)
            return self.iterated(module, source) if source is not None else None
        if value is not None:
            return self.of(module, value, place)
        source = element_of(module, binding)
        return self.of_elements(module, source, place) if source is not None and not listing else None

    def _passed(self, module: Module, parameter: ast.arg, listing: bool) -> Keys | None:
        """What every caller gives for a parameter. Callers of a public function outside the project are not seen."""
        question = (parameter, listing)
        if question not in self.passed:
            self.passed[question] = self._ask_callers(module, parameter, listing)
        keys = self.passed[question]
        name = getattr(module.enclosing(parameter, *FUNCTIONS), "name", "")
        if keys is None or name.startswith("_"):
            return keys
        caveat = f"a caller of {name} outside this project may pass a dict with other keys"
        return replace(keys, caveat=keys.caveat or caveat)

    def _ask_callers(self, module: Module, parameter: ast.arg, listing: bool) -> Keys | None:
        """The first caller that passes something unknown, before any that does not, ends the search."""
        read = self.of_elements if listing else self.of
        answers: list[tuple[Definition, Keys | None]] = []
        for place, value in arguments_for(self.definitions, module, parameter):
            keys = read(place.module, value, place.node) if value is not None else None
            if keys is None and not answers:
                return None
            answers.append((place, keys))
        return agreed(answers)

    def _collected(self, variable: Variable, value: ast.expr, place: ast.AST) -> Keys | None:
        """The keys of all dicts in a list: those that it begins with, and those that are appended."""
        module = variable.module
        parts: list[tuple[Definition, Keys | None]] = []
        if not (isinstance(value, ast.List) and not value.elts):
            parts.append((Place(module, value), self.of_elements(module, value, place)))
        for use in variable.uses():
            method = module.parent(use)
            call = module.parent(method) if isinstance(method, ast.Attribute) else None
            if isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and len(call.args) == 1:
                if method.attr == "append":
                    parts.append((Place(module, call), self.of(module, call.args[0], place)))
                elif method.attr == "extend":
                    parts.append((Place(module, call), self.of_elements(module, call.args[0], place)))
        return agreed(parts)


def literal_keys(module: Module, node: ast.Dict) -> Keys | None:
    names = tuple(key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
    if not names or len(names) != len(node.keys) or len(set(names)) != len(names):
        return None
    return Keys(names, where(module, node))


def own_returns(module: Module, function: ast.FunctionDef) -> list[ast.Return]:
    """The returns that give a value; `return None` gives nothing to loop over."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    return [
        node
        for node in found
        if module.enclosing(node, *FUNCTIONS) is function
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
    ]


def assigned_value(module: Module, binding: ast.AST) -> ast.expr | None:
    """What a name alone is given: `d = e = {}` gives the dict two names."""
    parent = module.parent(binding)
    if isinstance(parent, ast.Assign):
        return parent.value if parent.targets == [binding] else None
    return parent.value if isinstance(parent, ast.AnnAssign) else None
