"""Who could add, remove or reorder the keys of a dict that a variable holds?"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.loops import element_of
from fullgraph.codemods.syntax.places import Place, only_function, where
from fullgraph.codemods.topics.keys.answers import Keys
from fullgraph.codemods.topics.keys.functions import is_plain, is_unbound, override_of, parameter_for
from fullgraph.codemods.topics.keys.loops import keys_source, loop_target
from fullgraph.codemods.topics.keys.variables import Variable, function_around, variable_in, variable_of

READING_METHODS = frozenset({"keys", "values", "items", "get", "copy"})
READING_BUILTINS = (
    *("len", "bool", "list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "enumerate", "zip", "dict"),
    *("any", "all", "min", "max", "isinstance", "type", "id", "print", "repr", "str"),
)
READERS = frozenset({"copy.copy", "copy.deepcopy", "json.dumps", "pprint.pprint", "torch.save"})
SPOILED = "{code} at {where} may change its keys"


@dataclass
class Changes:
    """Looks at every use of a variable that holds a dict with these keys, or (`listing`) a list of such dicts.

    `own`: whether the variable's function is the one in which the keys are wanted: there a `return` ends the story,
    and what is appended to a list has been looked at.
    """

    definitions: Definitions
    names: tuple[str, ...]
    iterated: Callable[[Module, ast.expr], Keys | None]
    seen: set[tuple[Variable, bool]] = field(default_factory=set)

    def of(self, variable: Variable, listing: bool, own: bool) -> Iterator[tuple[ast.AST, str]]:
        """The uses that could change the keys, each with the reason."""
        if (variable, listing) in self.seen:
            return
        self.seen.add((variable, listing))
        for use in variable.uses():
            yield from self.by(variable.module, use, listing, own and is_direct(variable, use))

    def by(self, module: Module, node: ast.expr, listing: bool, own: bool) -> Iterator[tuple[ast.AST, str]]:
        """The same for one expression that gives the dict or the list to what stands around it."""
        parent = module.parent(node)
        if parent is None or reads_only(node, parent) or (isinstance(parent, ast.Starred) and not listing):
            return
        if isinstance(parent, ast.Return) or (
            isinstance(parent, ast.Tuple) and isinstance(module.parent(parent), ast.Return)
        ):
            if not own:
                yield self._spoiled(module, parent)
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            yield from self._by_subscript(module, parent, listing, own)
        elif isinstance(parent, ast.Attribute):
            yield from self._by_method(module, parent, listing, own)
        elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            if listing:
                yield from self._by_element(module, parent.target, own)
        elif isinstance(parent, (ast.Call, ast.keyword)):
            yield from self._by_call(module, node, parent, listing, own)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            yield from self._by_alias(module, parent, listing)
        else:
            yield self._spoiled(module, parent)

    def _spoiled(self, module: Module, node: ast.AST) -> tuple[ast.AST, str]:
        shown = node if hasattr(node, "lineno") else module.statement(node)
        code = " ".join(module.code(shown).split())
        short = code if len(code) <= 50 else code[:47] + "..."
        return shown, SPOILED.format(code=f"`{short}`", where=where(module, shown))

    def _by_subscript(
        self, module: Module, node: ast.Subscript, listing: bool, own: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        if isinstance(node.ctx, ast.Load):
            if listing:
                yield from self.by(module, node, isinstance(node.slice, ast.Slice), own)
        elif isinstance(node.ctx, ast.Del) or listing or not self._is_held(module, node):
            yield self._spoiled(module, module.statement(node))

    def _is_held(self, module: Module, node: ast.Subscript) -> bool:
        """Whether `d[key] = ...` only replaces: the key is one of ours, or runs over the dict or a constant of it."""
        if isinstance(module.parent(node), ast.AugAssign):
            return True
        if isinstance(node.slice, ast.Constant):
            return node.slice.value in self.names
        target = loop_target(module, node.slice) if isinstance(node.slice, ast.Name) else None
        source = keys_source(module, target) if target else None
        if source is None:
            return False
        if isinstance(source, ast.Name) and isinstance(node.value, ast.Name) and source.id == node.value.id:
            return True
        keys = self.iterated(module, source)
        return keys is not None and not keys.doubt and set(keys.names) <= set(self.names)

    def _by_method(
        self, module: Module, node: ast.Attribute, listing: bool, own: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        call = module.parent(node)
        called = isinstance(call, ast.Call) and call.func is node
        if called and listing and node.attr in ("append", "extend") and own:
            return
        if called and listing and node.attr in ("clear", "reverse", "count", "index"):
            return
        if called and not listing and node.attr in READING_METHODS:
            return
        yield self._spoiled(module, call if called and call else node)

    def _by_element(self, module: Module, target: ast.AST, own: bool) -> Iterator[tuple[ast.AST, str]]:
        variable = variable_at(module, target)
        if variable is None:
            yield self._spoiled(module, target)
        else:
            yield from self.of(variable, False, own)

    def _by_call(
        self, module: Module, node: ast.expr, parent: ast.Call | ast.keyword, listing: bool, own: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        call = parent if isinstance(parent, ast.Call) else module.parent(parent)
        assert isinstance(call, ast.Call)
        if listing and isinstance(module.parent(call), (ast.For, ast.comprehension)):
            targets = ast.walk(module.parent(call).target)  # type: ignore[union-attr]
            mine = [target for target in targets if element_of(module, target) is node]
            yield from self._by_element(module, mine[0], own) if mine else [self._spoiled(module, call)]
        elif only_reads(module, call.func, listing):
            return
        elif (held_in := appended_to(module, call)) is not None and not listing:
            yield from self.of(held_in, True, own)
        else:
            yield from self._by_function(module, node, parent, call, listing)

    def _by_function(
        self, module: Module, node: ast.expr, parent: ast.AST, call: ast.Call, listing: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        """A function of the project is followed; of any other nothing is known."""
        function = only_function(self.definitions.denoted(module, call.func))
        parameter = parameter_for(function, call, node, parent) if function else None
        variable = variable_in(function.module, function.node, parameter.arg) if function and parameter else None
        if function is None or variable is None or not self._runs(module, call, function):
            yield self._spoiled(module, call)
            return
        for _, reason in self.of(variable, listing, own=False):
            yield call, reason

    def _runs(self, module: Module, call: ast.Call, function: Place[Function]) -> bool:
        """Whether the call simply runs this function's body, with the arguments where they seem to go."""
        if is_unbound(self.definitions, module, call, function) or override_of(self.definitions.project, function):
            return False
        return is_plain(function.module, function.node)

    def _by_alias(
        self, module: Module, parent: ast.Assign | ast.AnnAssign, listing: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        variables = [variable_at(module, target) for target in targets]
        for variable in variables:
            if variable is None:
                yield self._spoiled(module, parent)
            else:
                yield from self.of(variable, listing, own=False)


def reads_only(node: ast.AST, parent: ast.AST) -> bool:
    """Whether the place around an expression can only look at it, or makes a copy of it."""
    if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return parent.test is node
    if isinstance(parent, ast.keyword):
        return parent.arg is None
    if isinstance(parent, ast.Dict):
        return any(key is None and value is node for key, value in zip(parent.keys, parent.values, strict=True))
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, (ast.Compare, ast.FormattedValue, ast.Expr, ast.Delete))


def only_reads(module: Module, function: ast.expr, listing: bool) -> bool:
    """Whether a known function leaves its argument as it is, and does not hand out the dicts of a list."""
    builtins = ("len", "bool", "print") if listing else READING_BUILTINS
    return module.scopes.is_builtin(function, *builtins) or module.resolve(function) in READERS


def variable_at(module: Module, target: ast.AST) -> Variable | None:
    """The variable that a plain name on the left binds."""
    if not isinstance(target, ast.Name):
        return None
    return variable_of(module, target)


def is_direct(variable: Variable, use: ast.AST) -> bool:
    """Whether the use stands in the variable's own function, not in one inside it."""
    around = function_around(variable.module, use)
    return around is variable.scope or around is function_around(variable.module, variable.scope)


def appended_to(module: Module, call: ast.Call) -> Variable | None:
    """The list of `xs.append(...)`, if it is made in sight: one that came from elsewhere is known there too."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and isinstance(call.func.value, ast.Name):
        bindings = module.scopes.bindings(call.func.value)
        made = all(item.how == "assign" and isinstance(item.value, (ast.List, ast.ListComp)) for item in bindings)
        return variable_of(module, call.func.value) if made else None
    return None
