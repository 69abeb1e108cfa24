"""What stands in the way of an import at the top of its file."""

from __future__ import annotations

import ast
import builtins
import re

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.replaced import place, replacements
from fullgraph.codemods.topics.inner_imports.known import NEW_NAMES, REPLACED

Import = ast.Import | ast.ImportFrom
IMPORTS = (ast.Import, ast.ImportFrom)
ORDERS = re.compile(r"#\s*(?:noqa|type:|pylint:|isort:|pyright:|ruff:|mypy:|usort:)", re.I)
REASONS = re.compile(
    r"circular|cycl|lazy|lazily|avoid|defer|delay|optional|heavy|slow|only (?:if|when)|start-?up|import[- ]time|"
    r"import-outside-toplevel|PLC0415|on demand|late import|at run ?time",
    re.I,
)
ELSEWHERE = {
    "remote",
    "delayed",
    "udf",
    "task",
    "flow",
    "jit",
    "njit",
    "vectorize",
    "kernel",
    "script",
    "pure_callback",
}
FRAME = {"locals", "vars", "eval", "exec", "dir"}


def check_place(module: Module, node: Import) -> None:
    """Raise unless the import runs whenever its function does (and its loop, if any)."""
    here = where(module, node)
    for outer in module.ancestors(node):
        if isinstance(outer, (ast.Try, *TRY_STARS)):
            raise Unsure(f"{where(module, outer)}: stands in a `try`; it may be meant to fail")
        if isinstance(outer, (ast.If, ast.match_case)):
            line = where(module, outer.test if isinstance(outer, ast.If) else outer.pattern)
            raise Unsure(f"{line}: runs only under a condition")
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            raise Unsure(f"{where(module, outer)}: runs inside a `with`, which may be meant for it")
        if isinstance(outer, FUNCTIONS):
            check_function(module, node, outer)
            break
    if (reason := comment_on(module, node)) is not None:
        raise Unsure(f"{here}: a comment speaks of this import: {reason!r}")


TRY_STARS: tuple[type[ast.AST], ...] = (ast.TryStar,) if hasattr(ast, "TryStar") else ()


def check_function(module: Module, node: Import, function: ast.AST) -> None:
    """Raise for functions that may run where the file was never imported, or that look at their own names."""
    for decorator in getattr(function, "decorator_list", []):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(called, "attr", getattr(called, "id", "")) in ELSEWHERE:
            raise Unsure(f"{where(module, decorator)}: the decorator may run the function elsewhere")
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and module.scopes.is_builtin(call.func, *FRAME):
            raise Unsure(f"{where(module, call)}: the function looks at its own names")


def comment_on(module: Module, node: Import) -> str | None:
    """A comment right above the import, inside it or behind it; orders to linters do not count, unless they say why."""
    span = module.span(node)
    for line in NEWLINE.split(module.text[span.start : module.line_end(span.end)]):
        comment = line[line.find("#") :] if "#" in line else ""
        if comment and (not ORDERS.match(comment) or REASONS.search(comment)):
            return comment
    start = module.line_start(span.start)
    above = module.text[module.line_start(start - 1) : start].strip() if start else ""
    return above if above.startswith("#") else None


def check_names(module: Module, node: Import) -> None:
    """Raise unless each name means the same at the top of the file, and is used."""
    scope, here = module.scopes.around(node), where(module, node)
    if stars := module.scopes.within(module.tree, "*"):
        raise Unsure(f"{where(module, stars[0].node)}: what this binds is not known")
    for alias in node.names:
        local = alias.asname or alias.name.partition(".")[0]
        if len(module.scopes.within(scope, local)) != 1 or module.scopes.declared.get(scope, {}).get(local):
            raise Unsure(f"{here}: {local} is bound more than once here")
        if not any(isinstance(name.ctx, ast.Load) for name in module.scopes.names(scope, local)):
            raise Unsure(f"{here}: {local} is not used here; it may be imported for what the import does")
        if scope is not module.tree:
            check_top(module, local, meaning(module, node, alias))
        if len(module.imports.meanings[local] - {""}) > 1:
            raise Unsure(f"{here}: {local} is another import elsewhere in this file")
        if hasattr(builtins, local) and reads_elsewhere(module, scope, local):
            raise Unsure(f"{here}: {local} is a builtin that the file uses elsewhere")


def check_top(module: Module, local: str, meant: str) -> None:
    """Raise if the file gives the name another meaning at its top level, or only under a condition."""
    for binding in module.scopes.within(module.tree, local):
        statement = binding.node
        if not isinstance(statement, IMPORTS):
            raise Unsure(f"{where(module, statement)}: the name {local} is something else here")
        if statement not in module.tree.body:
            raise Unsure(f"{where(module, statement)}: {local} is imported only under a condition here")
        named = [alias for alias in statement.names if (alias.asname or alias.name.partition(".")[0]) == local]
        if any(meaning(module, statement, alias) != meant for alias in named):
            raise Unsure(f"{where(module, statement)}: the name {local} is another import here")


def meaning(module: Module, node: Import, alias: ast.alias) -> str:
    if isinstance(node, ast.ImportFrom):
        return f"{module.imports.origin(node)}.{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


def reads_elsewhere(module: Module, scope: ast.AST, name: str) -> bool:
    return any(found.id == name for found in module.scopes.names(module.tree, name)) and scope is not module.tree


def check_same(module: Module, project: Project, node: Import) -> None:
    """Raise for names that a module does not have in every Python, or that it may bind again as the program runs."""
    if not isinstance(node, ast.ImportFrom):
        return
    origin, here = module.imports.origin(node), where(module, node)
    path = project.path_of(origin)
    for alias in node.names:
        if path is None and alias.name in NEW_NAMES.get(origin, ()):
            raise Unsure(f"{here}: {origin} does not have {alias.name} in every Python")
        if path is None and alias.name in REPLACED.get(origin, ()):
            raise Unsure(f"{here}: {origin}.{alias.name} may be another object at the next call")
        if path is not None:
            check_bound_once(project, path, alias.name)


def check_bound_once(project: Project, path: str, name: str) -> None:
    """Raise if a variable of a module of the project is bound again, there or from outside."""
    other = project.module(path)
    bindings = other.scopes.within(other.tree, name)
    if len(bindings) > 1:
        raise Unsure(f"{where(other, bindings[-1].node)}: binds {name} again, which the function asks for anew")
    if bindings and isinstance(bindings[0].node, (*FUNCTIONS, ast.ClassDef, *IMPORTS)):
        return
    setting = re.compile(rb"\.%s\s*(?:[-+*/|&]|//|\*\*)?=(?!=)" % re.escape(name.encode()))
    if bindings and (found := project.matches(setting)):
        raise Unsure(f"{place(*found[0])}: may set {name}, which the function asks for anew at each call")


def check_replaced(module: Module, project: Project, node: Import) -> None:
    """Raise if tests replace what is imported: bound at the top, it would no longer be replaced."""
    if isinstance(node, ast.ImportFrom):
        patched = replacements(project)
        for alias in node.names:
            dotted = meaning(module, node, alias)
            if line := patched.get(dotted) or patched.get(".".join(dotted.split(".")[-2:])):
                raise Unsure(f"{line}: replaces {alias.name}, which the function asks for anew at each call")
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module.imports.origin(node)]
    for name in names:
        faked = re.compile(rb"sys\.modules[^\n]{0,40}['\"]" + re.escape(name.encode()) + rb"['\"]")
        if found := project.matches(faked):
            raise Unsure(f"{place(*found[0])}: exchanges the module {name}")
