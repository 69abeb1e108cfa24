"""The callables that a module compiles, under the names by which they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.compiled import asked_in
from fullgraph.codemods.syntax.definitions import Definitions, owner_of_self
from fullgraph.codemods.syntax.places import Place, only_function
from fullgraph.codemods.topics.boundaries.layers import torch_class
from fullgraph.codemods.topics.boundaries.screen import SWITCHED_ON

Kind = Literal["attribute", "method", "global", "local"]
WITH_GRAPHS = {"reduce-overhead", "max-autotune"}
IMPLICIT = {"forward", "__call__", "__init__"}
SWITCH = ".triton.cudagraphs"
MODULES = {"torch.nn.Module", "torch.nn.modules.module.Module"}


@dataclass(frozen=True)
class Request:
    """One place that asks for compilation: what is compiled, and whether CUDA graphs are on.

    `graphs` is "on", "off", or as written where the text does not say.
    """

    node: ast.expr
    target: ast.AST
    graphs: str

    @property
    def line(self) -> int:
        return self.node.lineno


@dataclass(frozen=True)
class Compiled:
    """A compiled callable: `self.name` of a class, a method, a global or a local name of its home module."""

    module: Module
    name: str
    kind: Kind
    owner: ast.AST
    requests: tuple[Request, ...]

    @property
    def line(self) -> int:
        return self.requests[0].line

    @property
    def where(self) -> str:
        return f"{self.module.path}:{self.line}"

    @property
    def has_graphs(self) -> bool:
        return any(request.graphs != "off" for request in self.requests)

    def __str__(self) -> str:
        return f"self.{self.name}" if self.kind in ("attribute", "method") else self.name


Named = tuple[Kind, ast.AST, str]


def compiled_callables(module: Module, project: Project) -> list[Compiled]:
    """Every callable that the module compiles and gives a name to, in the order of the text."""
    found: dict[tuple[ast.AST, str], Compiled] = {}
    for named, request in requests(module, project):
        if named is not None:
            kind, owner, name = named
            before = found.get((owner, name))
            together = (*before.requests, request) if before else (request,)
            found[owner, name] = Compiled(module, name, kind, owner, together)
    return list(found.values())


def unnamed_requests(module: Module, project: Project) -> list[str]:
    """Where the module compiles with CUDA graphs what it gives no name to: an item of a list, a result, `forward`."""
    found = [request for named, request in requests(module, project) if named is None and request.graphs != "off"]
    return [f"{module.path}:{request.line}" for request in found]


def requests(module: Module, project: Project) -> Iterator[tuple[Named | None, Request]]:
    for asked in asked_in(module):
        graphs = graphs_of(module, project, asked.settings)
        if isinstance(asked.target, FUNCTIONS):
            yield definition_name(module, asked.target), Request(asked.node, asked.target, graphs)
        elif (owner := asked.compiled_in_place) is None:
            yield assigned_name(module, project, asked.node), Request(asked.node, asked.target, graphs)
        elif is_torch_module(project, module, owner, graphs):
            yield name_of(module, owner), Request(asked.node, owner, graphs)


def definition_name(module: Module, function: Function) -> Named | None:
    """Under what a decorated function is called. `forward` is called by its object, whose name nobody knows here."""
    owner = module.scopes.around(function)
    if isinstance(owner, ast.ClassDef):
        plain = not any(getattr(item, "id", "") in ("staticmethod", "classmethod") for item in function.decorator_list)
        return ("method", owner, function.name) if plain and function.name not in IMPLICIT else None
    return "global" if isinstance(owner, ast.Module) else "local", owner, function.name


def assigned_name(module: Module, project: Project, call: ast.expr) -> Named | None:
    """The variable or attribute that a request is assigned to, also by way of a condition or the project's function."""
    node, parent = call, module.parent(call)
    while isinstance(parent, (ast.IfExp, ast.Call)) and passes_on(module, project, parent, node):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and parent.value is node:
        return name_of(module, parent.targets[0])
    if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
        return name_of(module, parent.target)
    return None


def passes_on(module: Module, project: Project, outer: ast.IfExp | ast.Call, inner: ast.AST) -> bool:
    if isinstance(outer, ast.IfExp):
        return inner is not outer.test
    dotted = module.resolve(outer.func)
    is_own = only_function(Definitions(project).denoted(module, outer.func)) is not None
    return inner in outer.args and (is_own or dotted == "typing.cast")


def name_of(module: Module, target: ast.AST) -> Named | None:
    """What `name` or `self.name` stands for: its kind, the scope or class that owns it, and the name."""
    if isinstance(target, ast.Name):
        scope = module.scopes.of(target)
        if isinstance(scope, (ast.Module, *FUNCTIONS)):
            return "global" if isinstance(scope, ast.Module) else "local", scope, target.id
    if isinstance(target, ast.Attribute) and (owner := class_of_self(module, target.value)):
        return ("attribute", owner, target.attr) if target.attr not in IMPLICIT else None
    return None


def class_of_self(module: Module, node: ast.AST) -> ast.ClassDef | None:
    """The class whose instance a method's first parameter is."""
    bindings = module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    owner = owner_of_self(module, bindings[0]) if len(bindings) == 1 else None
    return owner.node if owner else None


def is_torch_module(project: Project, module: Module, node: ast.expr, graphs: str) -> bool:
    """Whether `x.compile(...)` is torch's: by the class of `x`, or by what only torch takes."""
    names = Definitions(project)
    kind = names.instance(module, node)
    if kind is not None:
        if names.member(kind, "compile"):
            return False
        bases = [home.resolve(base) for home, owner in names.lineage(kind) for base in owner.bases]
        return any(base in MODULES for base in bases)
    if torch_class(names, module, node).startswith("torch.nn."):
        return True
    return module.imports.names_package("torch") and graphs == "on"


def graphs_of(module: Module, project: Project, asked: ast.expr) -> str:
    """Whether a request switches CUDA graphs on: "on", "off", or the expression that decides it."""
    given = {keyword.arg: keyword.value for keyword in getattr(asked, "keywords", [])}
    backend = constant(module, given.get("backend"))
    if isinstance(backend, str) and backend != "inductor":
        return "on" if backend == "cudagraphs" else "off"
    mode, options = given.get("mode"), given.get("options")
    value = constant(module, mode)
    if value in WITH_GRAPHS or switches_on(options) or is_switched_on(project):
        return "on"
    undecided = mode if mode is not None and value is UNKNOWN else options if is_unclear(options) else given.get(None)
    return module.code(undecided) if undecided is not None else "off"


UNKNOWN = object()


def constant(module: Module, node: ast.expr | None) -> object:
    """The constant that an expression is, also by the only assignment of its name; None if nothing is given."""
    if isinstance(node, ast.Name):
        bindings = module.scopes.bindings(node)
        node = (
            bindings[0].value if len(bindings) == 1 and bindings[0].how == "assign" and not bindings[0].path else node
        )
    if node is None:
        return None
    return node.value if isinstance(node, ast.Constant) else UNKNOWN


def switches_on(options: ast.expr | None) -> bool:
    if not isinstance(options, ast.Dict):
        return False
    pairs = zip(options.keys, options.values, strict=True)
    return any(
        getattr(key, "value", "") == "triton.cudagraphs" and getattr(v, "value", None) is True for key, v in pairs
    )


def is_unclear(options: ast.expr | None) -> bool:
    is_none = isinstance(options, ast.Constant)
    return options is not None and not is_none and not isinstance(options, ast.Dict)


def is_switched_on(project: Project) -> bool:
    return bool(switches(project))


def switches(project: Project) -> list[Place[ast.Assign]]:
    """Where the project switches CUDA graphs on for all that is compiled: `config.triton.cudagraphs = True`."""
    return project.worked_out(SWITCHED_ON, lambda: list(find_switches(project)))


def find_switches(project: Project) -> Iterator[Place[ast.Assign]]:
    for path in dict.fromkeys(path for path, _ in project.matches(SWITCHED_ON)):
        with suppress(SourceError):
            module = project.module(path)
            yield from (Place(module, node) for node in module.nodes(ast.Assign) if switches_all_on(node))


def switches_all_on(node: ast.Assign) -> bool:
    names = [ast.unparse(target) for target in node.targets]
    return getattr(node.value, "value", None) is True and any(f".{name}".endswith(SWITCH) for name in names)
