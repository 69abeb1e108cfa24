"""What the flag of a compiled callable is called: by the name that it is kept under, unique in the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.project import Project
from codemods.syntax.assignments import FUNCTIONS
from codemods.topics.compiled_calls.naming import kept_as, scope_of, snake, spoken
from codemods.topics.compiled_calls.requests import COUNTED, Form, Request, last_name, requests_of
from codemods.topics.gates.gate_text import GATED

UNNAMED = ("forward", "__call__")
IMPLICIT = re.compile(r"\.(?:forward|__call__)$")
COMPILED = re.compile(r"^_*compiled?_|_compiled?$")


def flags_of(project: Project) -> dict[Request, str]:
    """A flag for every request, as `demand`. What one scope keeps by one name has one, whichever branch makes it."""
    return project.worked_out(flags_of, lambda: choose_flags(requests_of(project)))


def choose_flags(requests: Sequence[Request]) -> dict[Request, str]:
    keepers = {request: (request.module.path, scope_of(request), short_name(request)) for request in requests}
    chosen = {keepers[request]: written for request in requests if (written := written_flag(request))}
    shorts = [short for _, _, short in dict.fromkeys(keepers.values())]
    for keeper, request in {keeper: request for request, keeper in reversed(keepers.items())}.items():
        if keeper not in chosen:
            longer = [keeper[2]] if shorts.count(keeper[2]) == 1 else []
            chosen[keeper] = free_flag([*longer, *longer_names(request, keeper[2])], set(chosen.values()))
    return {request: chosen[keeper] for request, keeper in keepers.items()}


def free_flag(names: Sequence[str], taken: set[str]) -> str:
    numbered = (f"{names[-1]}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (*names, *numbered) if name not in taken)


def longer_names(request: Request, short: str) -> list[str]:
    """`controller_demand` by the class, the function or the file around it; then by the whole path."""
    module = request.module
    inner = request.target if request.form is Form.DECORATOR else request.node
    owner = module.enclosing(inner, ast.ClassDef) or module.enclosing(inner, *FUNCTIONS)
    place = snake(owner.name) if owner else module.name.rpartition(".")[2] or "main"
    return [f"{place}_{short}", f"{module.name.replace('.', '_')}_{place}_{short}"]


def written_flag(request: Request) -> str:
    """The flag that it has already: the text given to `gated`, in the form in which flags are compared."""
    gate = gate_of(request)
    flag = gate.args[0] if gate and gate.args else None
    return str(flag.value).removeprefix("COMPILE_").lower() if isinstance(flag, ast.Constant) else ""


def short_name(request: Request) -> str:
    """`demand` for `self.demand = ...`; what is called without being named lends its owner's name."""
    name = IMPLICIT.sub("", long_name(request))
    if name in UNNAMED and (owner := request.module.enclosing(request.node, ast.ClassDef)):
        name = owner.name
    word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return snake(COMPILED.sub("", word) or word) or "model"


def long_name(request: Request) -> str:
    """The name of the function, or of what keeps the result, or of what is compiled, or of what is around it."""
    module, target = request.module, request.target
    if request.form is Form.DECORATOR:
        owner, name = module.parent(target), getattr(target, "name", "")
        return f"{owner.name}.{name}" if isinstance(owner, ast.ClassDef) else name
    kept = kept_as(module, outermost(request)) if request.form is Form.CALL else ""
    imported = (module.resolve(target) or "").rpartition(".")[2]
    return kept or imported or spoken(module, target) or module.symbol(request.node).strip("<>").rpartition(".")[2]


def outermost(request: Request) -> ast.AST:
    """The request, with the gate and the counter that stand around it."""
    node: ast.AST = request.node
    parent = request.module.parent(node)
    while isinstance(parent, ast.Call) and last_name(parent.func) in (GATED, COUNTED) and node in parent.args:
        node, parent = parent, request.module.parent(parent)
    return node


def gate_of(request: Request) -> ast.Call | None:
    """The `gated("FLAG", ...)` that stands there already."""
    module = request.module
    if request.form is Form.DECORATOR:
        found = list(getattr(request.target, "decorator_list", []))
    elif request.form is Form.IN_PLACE:
        siblings = module.block(module.statement(request.node))
        calls = [node.value for node in siblings if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        receiver = ast.dump(request.target)
        found = [call for call in calls if any(ast.dump(given) == receiver for given in call.args)]
    else:
        found = [node for node in module.ancestors(request.node) if isinstance(node, ast.expr)]
    return next((node for node in found if isinstance(node, ast.Call) and last_name(node.func) == GATED), None)
