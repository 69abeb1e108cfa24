"""Where a counter would not see the calls, or must not stand."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.compiled import entry_point
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.compile_requests.requests import Form, Request
from fullgraph.codemods.topics.compile_requests.wrappers import outermost


def check(project: Project, request: Request) -> None:
    """Raise, with the line, where the calls cannot be counted."""
    module, node = request.module, request.node
    at = where(module, node)
    if module.path.endswith(".ipynb"):
        raise Unsure(f"{at}: a notebook may not find the file that counts")
    if not imports_torch(module):
        raise Unsure(f"{at}: torch is not imported for sure, at the top level")
    if module.enclosing(node, ast.JoinedStr):
        raise Unsure(f"{at}: this stands inside an f-string")
    if request.form is Form.LATER:
        raise Unsure(f"{at}: this compiles nothing yet; what it is applied to later cannot be seen here")
    statement = module.statement(node)
    is_dropped = isinstance(statement, ast.Expr) and statement.value is outermost(request)
    if request.form is Form.CALL and is_dropped:
        raise Unsure(f"{at}: what is compiled here is dropped, so nobody calls it")
    if request.form is Form.IN_PLACE:
        check_in_place(request, at, is_dropped)
    check_target(project, request, at)


def imports_torch(module: Module) -> bool:
    """Whether an import at the top level loads torch: the counter's own import would."""
    found = [node for node in module.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [name for node in found for name in (getattr(node, "module", ""), *(alias.name for alias in node.names))]
    return any((name or "").partition(".")[0] == "torch" for name in names)


def check_in_place(request: Request, at: str, is_statement: bool) -> None:
    receiver = request.target
    while isinstance(receiver, ast.Attribute):
        receiver = receiver.value
    if not is_statement or not isinstance(receiver, ast.Name):
        raise Unsure(f"{at}: the module that compiles itself here has no name to count it by")


def check_target(project: Project, request: Request, at: str) -> None:
    """Raise for what does not run when it is called: classes, generators, coroutines; and for `*args`."""
    if isinstance(request.target, ast.Starred):
        raise Unsure(f"{at}: what is compiled here stands behind a `*`")
    names = Definitions(project)
    found = names.denoted(request.module, request.target) or entry_point(names, request.module, request.target)
    node = request.target if isinstance(request.target, (ast.ClassDef, Function)) else found[1] if found else None
    if isinstance(node, ast.ClassDef):
        raise Unsure(f"{at}: a class is compiled here, and making an object of it is no call of compiled code")
    if isinstance(node, ast.AsyncFunctionDef) or (isinstance(node, ast.FunctionDef) and yields(node)):
        raise Unsure(f"{at}: {node.name} runs when it is iterated or awaited, not when it is called")


def yields(function: ast.FunctionDef) -> bool:
    """Whether the function itself is a generator: what functions inside it yield does not count."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            todo += ast.iter_child_nodes(node)
    return False
