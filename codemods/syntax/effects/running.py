"""Which functions of the project a node runs: those it calls, and those that run without being named there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.effects.aliases import parts_given, tokens_of
from fullgraph.codemods.syntax.effects.harmless import PURE_BUILTINS
from fullgraph.codemods.syntax.effects.tokens import PARTS, Token
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.heirs import Heir, heirs
from fullgraph.codemods.syntax.places import Place, only_function

DEEP = 8
SETTER = re.compile(rb"@(\w+)\.(?:setter|deleter)\b")
SPECIAL = re.compile(rb"def (__\w+__)\s*\(")
ASKED_BY = {"len": ("__len__",), "bool": ("__bool__", "__len__"), "str": ("__str__", "__repr__"), "hash": ("__hash__",)}
ASKED_BY |= dict.fromkeys(
    ("list", "tuple", "set", "iter", "sum", "any", "all", "sorted", "next"), ("__iter__", "__next__")
)
FIRST_CALLED = {"map", "filter", "reduce", "starmap", "takewhile", "dropwhile", "filterfalse"}
CALLING = {"map", "filter", "sorted", "max", "min", "functools.reduce", "itertools.groupby", "itertools.starmap"}
CALLING |= {"itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse"}
CALLING |= {"heapq.merge", "heapq.nlargest", "heapq.nsmallest"}
OPERATORS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
OPERATORS |= {ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul"}
OPERATORS |= {ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor"}
PLAIN_DECORATORS = {"staticmethod", "classmethod", "property"}
PLAIN_PACKAGES = {"torch", "functools", "typing", "typing_extensions", "abc", "contextlib", "pytest"}


class Running:
    """What runs in one project, by names. What cannot be followed runs nothing here."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.names = Definitions(project)
        self._heirs: dict[ast.ClassDef, list[Heir]] = {}

    def by(self, module: Module, node: ast.AST) -> list[Place[Function]]:
        """The project's functions that evaluating a node itself may run; its parts are not looked at."""
        if isinstance(node, ast.Call):
            return self.called(module, node)
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                return self._getters(module, node) if node.attr in self.names.getters else []
            setters = self._setters(node.attr) if node.attr in self._set_names else []
            return [*setters, *self._special(module, node.value, ("__setattr__",))]
        receiver, names = implied(node)
        return self._special(module, receiver, names)

    def called(self, module: Module, call: ast.Call) -> list[Place[Function]]:
        """What is called, and what subclasses have in its place."""
        if module.scopes.is_builtin(call.func, *ASKED_BY):
            asked = ASKED_BY[call.func.id]  # type: ignore[attr-defined]
            return self._special(module, call.args[0] if call.args else None, asked)
        if (found := self.names.called(module, call)) is None:
            found = only_function(self.names.member(self.names.denoted(module, call.func), "__post_init__"))
        if found is None:
            return []
        owner = found.module.parent(found.node)
        if not isinstance(owner, ast.ClassDef) or is_super(call.func):
            return [found]
        names = {found.node.name}
        if found.node.name == "__init__":
            names.add("__new__")
        others = methods([(found.module, owner), *self.below(owner)], names)
        return [found, *(place for place in others if place.node is not found.node)]

    def below(self, owner: ast.ClassDef) -> list[Heir]:
        """The classes that inherit this one, looked for once."""
        if owner not in self._heirs:
            self._heirs[owner] = heirs(self.project, owner)
        return self._heirs[owner]

    # What runs without being called by name

    @cached_property
    def _set_names(self) -> dict[str, set[str]]:
        """The names that some class sets through a function, each with the files that do."""
        found: dict[str, set[str]] = {}
        for path, match in self.project.matches(SETTER):
            found.setdefault(match[1].decode(), set()).add(path)
        return found

    @cached_property
    def _specials(self) -> set[str]:
        return {match[1].decode() for _, match in self.project.matches(SPECIAL)}

    def _getters(self, module: Module, node: ast.Attribute) -> list[Place[Function]]:
        functions = self._members(module, node.value, {node.attr})
        return [place for place in functions if any(is_property(item) for item in place.node.decorator_list)]

    def _setters(self, name: str) -> list[Place[Function]]:
        """Every setter of this name: attributes count by name, whoever owns them."""
        found: list[Place[Function]] = []
        for path in sorted(self._set_names[name]):
            try:
                home = self.project.module(path)
            except SourceError:
                continue
            functions = (node for node in home.nodes(ast.FunctionDef) if node.name == name)
            found += [Place(home, node) for node in functions if any(map(is_setter, node.decorator_list))]
        return found

    def _special(self, module: Module, receiver: ast.AST | None, names: Iterable[str]) -> list[Place[Function]]:
        wanted = {*names} & self._specials if receiver is not None and names else set()
        return self._members(module, receiver, wanted) if wanted and receiver is not None else []

    def _members(self, module: Module, receiver: ast.AST, names: set[str]) -> list[Place[Function]]:
        """Methods of these names in the class of an object, its bases and its heirs."""
        kind = self.names.instance(module, receiver)
        lineage = [(place.module, place.node) for place in self.names.lineage(kind)]
        below = self.below(lineage[0][1]) if lineage else []
        return list(methods([*lineage, *below], names))


def implied(node: ast.AST) -> tuple[ast.AST | None, tuple[str, ...]]:
    """The object that syntax asks, and the methods by which it does."""
    if isinstance(node, ast.Subscript):
        kind = {ast.Load: "__getitem__", ast.Store: "__setitem__"}.get(type(node.ctx), "__delitem__")
        return node.value, (kind,)
    if isinstance(node, ast.withitem):
        return node.context_expr, ("__enter__", "__exit__", "__aenter__", "__aexit__")
    if isinstance(node, (ast.For, ast.comprehension)):
        return node.iter, ("__iter__", "__next__", "__getitem__")
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.comparators[0], ("__contains__", "__iter__")
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        name = OPERATORS.get(type(node.op), "")
        if isinstance(node, ast.BinOp):
            return node.left, (f"__{name}__",)
        return node.target, (f"__i{name}__", f"__{name}__")
    return None, ()


def methods(classes: Iterable[tuple[Module, ast.ClassDef]], names: set[str]) -> Iterator[Place[Function]]:
    for module, owner in classes:
        for node in owner.body:
            if isinstance(node, Function) and node.name in names:
                yield Place(module, node)


def is_property(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).endswith("property")


def is_setter(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter")


def wrapper_of(function: Place[Function]) -> ast.expr | None:
    """A decorator that may do more than the function it is put on."""
    for decorator in function.node.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        package = (function.module.resolve(made) or "").partition(".")[0]
        is_plain = getattr(made, "id", "") in PLAIN_DECORATORS or package in PLAIN_PACKAGES
        if not is_plain and not is_setter(made) and not is_property(made):
            return made
    return None


def is_super(func: ast.AST) -> bool:
    value = func.value if isinstance(func, ast.Attribute) else None
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "super"


def running_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what runs below it: not the bodies of functions and lambdas, which run when they are called."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        children: list[ast.AST] = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    elif isinstance(node, ast.Lambda):
        children = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from running_nodes(child)


def calls_made_by(module: Module, call: ast.Call) -> Iterator[ast.Call]:
    """The calls that a builtin makes of a function it is given: `map(f, xs)` and `sorted(xs, key=f)`."""
    if not module.scopes.is_builtin(call.func, *CALLING) and module.resolve(call.func) not in CALLING:
        return
    by_key = [keyword.value for keyword in call.keywords if keyword.arg in ("key", "func", "function")]
    is_first = last_name(call) in FIRST_CALLED
    for function in (*call.args[:1], *by_key) if is_first else by_key:
        is_plain = isinstance(function, ast.Constant) or module.scopes.is_builtin(function, *PURE_BUILTINS)
        if not is_plain:
            others = [ast.Starred(argument, ast.Load()) for argument in call.args if argument is not function]
            yield ast.copy_location(ast.Call(function, list[ast.expr](others), []), call)


def arguments_of(module: Module, node: ast.AST, function: Function) -> dict[str, frozenset[Token]]:
    """What each parameter of a function may be known by where a node runs it; a starred one may be any of them."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if not isinstance(node, ast.Call):
        receiver = node.value if isinstance(node, ast.Attribute) else implied(node)[0]
        if not names:
            return {}
        return {names[0]: tokens_of(module, receiver), f"{names[0]}{PARTS}": parts_given(module, receiver)}
    given: list[frozenset[Token]] = [tokens_of(module, argument) for argument in node.args]
    if names and names[0] in ("self", "cls"):
        given.insert(0, tokens_of(module, node.func.value) if isinstance(node.func, ast.Attribute) else frozenset())
    found = {**dict(zip(names, given, strict=False)), **parts_of_arguments(module, node, names)}
    by_name = {keyword.arg: tokens_of(module, keyword.value) for keyword in node.keywords}
    every = frozenset().union(*given, *by_name.values())
    if any(isinstance(argument, ast.Starred) for argument in node.args) or None in by_name:
        return dict.fromkeys([*names, *(item.arg for item in rest_of(function))], every)
    rest = dict.fromkeys((item.arg for item in (function.args.vararg, function.args.kwarg) if item), every)
    return {**rest, **found, **{name: tokens for name, tokens in by_name.items() if name}}


def parts_of_arguments(module: Module, call: ast.Call, names: list[str]) -> dict[str, frozenset[Token]]:
    """What may be a part of what each parameter is given."""
    given: list[ast.AST | None] = [*call.args]
    if names and names[0] in ("self", "cls"):
        given.insert(0, call.func.value if isinstance(call.func, ast.Attribute) else None)
    by_name = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    found = {**dict(zip(names, given, strict=False)), **by_name}
    return {f"{name}{PARTS}": parts_given(module, value) for name, value in found.items()}


def rest_of(function: Function) -> list[ast.arg]:
    """The parameters that are not given by their place."""
    arguments = function.args
    return [item for item in (arguments.vararg, *arguments.kwonlyargs, arguments.kwarg) if item]
