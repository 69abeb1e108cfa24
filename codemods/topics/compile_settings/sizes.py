"""Sizes that change from call to call: told to torch where the compiled function is called.

`maybe_mark_dynamic` leaves all other sizes as they are, and compiles for one size where the code needs one;
`mark_dynamic` raises there. Inside compiled code both are errors (torch 2.13).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import product, takewhile

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.topics.compile_settings.hints import PERHAPS, SIMPLE
from fullgraph.codemods.topics.compile_settings.requests import Request, is_called_compiled

SIZE = re.compile(r"tensor '(\w+)' size mismatch at index (\d+)\.")
MARKS = {"torch._dynamo.mark_dynamic", "torch._dynamo.maybe_mark_dynamic"}
Size = tuple[str, int]
"""A parameter, and the dimension that changes."""


def changing_sizes(guards: Iterable[str]) -> list[Size]:
    """What changed from call to call, if that was nothing but sizes of parameters."""
    found = [SIZE.match(guard) for guard in guards]
    return sorted({(one[1], int(one[2])) for one in found if one}) if all(found) else []


def write_marks(project: Project, request: Request, sizes: list[Size]) -> tuple[Edit, ...]:
    """The marks before every call; none where they are there. Unsure where a call or an argument cannot be seen."""
    module, function = request.module, called_function(project, request)
    calls = calls_of(project, request)
    torch, imports = module.imports.require("torch")
    marks: dict[ast.stmt, dict[str, None]] = {}
    for call, (name, dimension) in product(calls, sizes):
        statement, given = statement_of(module, call), argument(module, function, call, name)
        if len(calls) > 1 and not is_tensor(project, module, given):
            raise Unsure(f"{module.path}:{call.lineno}: {given.id} is not seen to be a tensor")
        if not is_marked(module, statement, given.id):
            marks.setdefault(statement, {})[f"{torch}._dynamo.maybe_mark_dynamic({given.id}, {dimension})"] = None
    edits = [insert_before(module, statement, list(lines)) for statement, lines in marks.items()]
    return (*imports, *edits) if edits else ()


def called_function(project: Project, request: Request) -> Function:
    """The function that runs when what is compiled is called, from outside of compiled code alone."""
    home, function = request.entry or (request.module, None)
    if not isinstance(function, FUNCTIONS):
        raise Unsure("it cannot be seen what is called")
    if is_called_compiled(project, (home, function)):
        raise Unsure("compiled code calls it, and a mark there is an error")
    return function


def is_tensor(project: Project, module: Module, node: ast.expr) -> bool:
    """One call was seen to give a tensor; of several, each must be told by the text."""
    tensors: Tensors = project.worked_out(Tensors, lambda: Tensors(project))
    return tensors.known(module, node).is_tensor


def calls_of(project: Project, request: Request) -> list[ast.Call]:
    """Every call of what a request makes, by the one name that it has in its own file."""
    module, name = request.module, name_of(request)
    if len(module.scopes.within(module.tree, name)) != 1 or project.mentions(name) != [module.path]:
        raise Unsure(f"{name} may be called elsewhere")
    mentions = [one for one in module.scopes.names(module.tree, name) if isinstance(one.ctx, ast.Load)]
    calls = [parent for one in mentions if isinstance(parent := module.parent(one), ast.Call) and parent.func is one]
    if not calls or len(calls) != len(mentions):
        raise Unsure(f"{name} is not only called")
    return calls


def name_of(request: Request) -> str:
    """The name at the top of the file that the compiled function is called by."""
    module, statement = request.module, request.function or request.module.statement(request.asked.node)
    if statement in module.tree.body:
        if request.function is not None:
            return request.function.name
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and statement.value is request.asked.node:
            return target.id
    raise Unsure("what is compiled has no name at the top of the file")


def statement_of(module: Module, call: ast.Call) -> ast.stmt:
    """The statement of a call, if the call surely runs with it and there is room before it."""
    statement = module.statement(call)
    around = takewhile(lambda outer: outer is not statement, module.ancestors(call))
    is_plain = isinstance(statement, SIMPLE) and not any(isinstance(outer, PERHAPS) for outer in around)
    if not is_plain or any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement)):
        raise Unsure(f"{module.path}:{call.lineno}: there is no room for a mark before the call")
    return statement


def argument(module: Module, function: Function, call: ast.Call, name: str) -> ast.Name:
    """The variable that a call gives for a parameter which must be given."""
    plain = [*function.args.posonlyargs, *function.args.args]
    required = [one.arg for one in plain[: len(plain) - len(function.args.defaults)]]
    required = required[1:] if required[:1] == ["self"] else required
    is_open = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    if name in required and not is_open:
        named = next((one.value for one in call.keywords if one.arg == name), None)
        place = required.index(name)
        given = named or (call.args[place] if place < len(call.args) else None)
        if isinstance(given, ast.Name):
            return given
    raise Unsure(f"{module.path}:{call.lineno}: it cannot be seen in which variable {name} is")


def is_marked(module: Module, statement: ast.stmt, name: str) -> bool:
    """Whether a mark of a variable stands in the same block already."""
    for one in module.block(statement):
        call = one.value if isinstance(one, ast.Expr) else None
        is_mark = isinstance(call, ast.Call) and module.resolve(call.func) in MARKS
        if is_mark and isinstance(call, ast.Call) and call.args and getattr(call.args[0], "id", "") == name:
            return True
    return False
