"""What a compiled callable is called: the name it is kept by, unique in the project."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import DEFINITIONS
from fullgraph.codemods.syntax.compiled import asks_to_compile, target_of
from fullgraph.codemods.syntax.definitions import SAME_INSTANCE
from fullgraph.codemods.topics.compile_requests.requests import Form, Request
from fullgraph.codemods.topics.compile_requests.wrappers import WRAPPERS, last_name, outermost

OWN = ("self", "cls")


def choose_names(
    requests: Sequence[Request], candidates: Callable[[Request], Sequence[str]], written: Callable[[Request], str]
) -> dict[Request, str]:
    """For each request the name that is written there, else the first of its candidates that no other one wants.

    What one scope keeps by one name is one callable, whichever branch makes it. Where every candidate is taken, the
    last is numbered.
    """
    keepers = {request: (request.module.path, scope_of(request), candidates(request)[0]) for request in requests}
    wanted = {keeper: candidates(request) for request, keeper in keepers.items()}
    chosen = {keepers[request]: name for request in requests if (name := written(request))}
    asked = Counter(name for keeper, names in wanted.items() if keeper not in chosen for name in names)
    for keeper, names in wanted.items():
        if keeper not in chosen:
            chosen[keeper] = free_name(names, asked, {*chosen.values()})
    return {request: chosen[keeper] for request, keeper in keepers.items()}


def free_name(names: Sequence[str], asked: Mapping[str, int], taken: set[str]) -> str:
    for name in names:
        if asked[name] == 1 and name not in taken:
            return name
    numbered = (f"{names[-1]}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (names[-1], *numbered) if name not in taken)


def text_given_to(wrapper: ast.Call | None) -> str:
    """The text that a wrapper was given as its first argument."""
    given = wrapper.args[0] if wrapper and wrapper.args else None
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""


def scope_of(request: Request) -> str:
    """Where the callable is kept: what is set on `self` belongs to the class, anything else to its function."""
    module = request.module
    statement = module.statement(request.node)
    owner = module.enclosing(request.node, ast.ClassDef)
    targets = getattr(statement, "targets", [getattr(statement, "target", request.target)])
    is_own = any(isinstance(node, ast.Name) and node.id in OWN for node in ast.walk(targets[0]))
    return module.symbol(owner if owner and is_own else statement)


def base_name(request: Request) -> str:
    """The name of the function, or of what keeps the result, or of what is compiled, or of what is around it."""
    module = request.module
    if request.form is Form.DECORATOR:
        assert isinstance(request.target, DEFINITIONS)
        owner = module.parent(request.target)
        return f"{owner.name}.{request.target.name}" if isinstance(owner, ast.ClassDef) else request.target.name
    kept = kept_by(request)
    return kept or spoken(module, request.target) or module.symbol(request.node).strip("<>").rpartition(".")[2]


def kept_by(request: Request) -> str:
    """The name of what keeps the result of a call, as far as one is seen."""
    return kept_as(request.module, outermost(request)) if request.form is Form.CALL else ""


def kept_as(module: Module, node: ast.AST) -> str:
    """The variable, attribute, key or argument that takes the value; empty if nothing on the way says so."""
    parent = module.parent(node)
    if isinstance(parent, ast.Assign):
        return spoken(module, parent.targets[0])
    if isinstance(parent, (ast.AnnAssign, ast.NamedExpr)) and parent.value is node:
        return spoken(module, parent.target)
    if isinstance(parent, ast.keyword):
        return parent.arg or ""
    if isinstance(parent, ast.Tuple) and isinstance(above := module.parent(parent), ast.Assign):
        target = above.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(parent.elts):
            return spoken(module, target.elts[parent.elts.index(node)])  # type: ignore[arg-type]
    if isinstance(parent, ast.Dict):
        key = parent.keys[parent.values.index(node)] if node in parent.values else None
        said = as_word(key)
        return ".".join(filter(None, [kept_as(module, parent), said]))
    if parent is not None and passes_on(parent, node):
        return kept_as(module, parent)
    return ""


def passes_on(parent: ast.AST, node: ast.AST) -> bool:
    """Whether the value of the node becomes the value of what is around it, or one of its items."""
    if isinstance(parent, ast.IfExp):
        return parent.test is not node
    if isinstance(parent, ast.Attribute):
        return parent.attr in SAME_INSTANCE
    if isinstance(parent, ast.Call):
        return parent.func is node and isinstance(node, ast.Attribute)
    return isinstance(parent, (ast.BoolOp, ast.List, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.Tuple))


def spoken(module: Module, node: ast.AST) -> str:
    """What an expression is called: `net.head` for `self.net.head`, `scorer` for `Scorer(config).to(device)`."""
    if isinstance(node, ast.Name):
        owner = module.enclosing(node, ast.ClassDef) if node.id in OWN else None
        return snake(owner.name) if owner else "" if node.id in OWN else node.id.strip("_")
    if isinstance(node, ast.Attribute):
        is_torch = (module.resolve(node) or "").startswith("torch.")
        is_own = is_torch or (isinstance(node.value, ast.Name) and node.value.id in OWN)
        return ".".join(filter(None, ["" if is_own else spoken(module, node.value), node.attr.strip("_")]))
    if isinstance(node, ast.Subscript):
        return ".".join(filter(None, [spoken(module, node.value), as_word(node.slice)]))
    if isinstance(node, ast.Call) and (inner := inner_of(module, node)) is not None:
        return spoken(module, inner)
    if isinstance(node, ast.Call):
        is_same = isinstance(node.func, ast.Attribute) and node.func.attr in SAME_INSTANCE
        if is_same and isinstance(node.func, ast.Attribute):
            return spoken(module, node.func.value)
        return snake(spoken(module, node.func).rpartition(".")[2])
    return ""


def inner_of(module: Module, call: ast.Call) -> ast.AST | None:
    """What a wrapper holds or `torch.compile` compiles: it goes by that name."""
    if last_name(call.func) in WRAPPERS:
        return next(iter(call.args[1:]), None)
    return target_of(module, call) if asks_to_compile(module, call) else None


def as_word(node: ast.AST | None) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and re.fullmatch(r"[\w.-]+", value, re.ASCII) else ""


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
