"""Functions that are kept out of compiled code: which are, and how to write it."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.model import Edit, Since, Span
from fullgraph.codemods.module import Function, Module, Scope
from fullgraph.codemods.syntax.assignments import assigned_values, own_nodes
from fullgraph.codemods.syntax.flow import root

DISABLE = "torch.compiler.disable"
DISABLE_SINCE, REASON_SINCE = Since("torch.compiler.disable", "2.1"), "2.8"
DISABLERS = {
    DISABLE,
    "torch._dynamo.disable",
    "torch._dynamo.decorators.disable",
    "torch._dynamo.eval_frame.disable",
    "torch._disable_dynamo",
    "torch._compile._disable_dynamo",
}
IMPORTS = (ast.Import, ast.ImportFrom)
PROTOCOLS = {"typing.Protocol", "typing_extensions.Protocol"}
NO_BODY = {"overload", "abstractmethod", "abstractproperty"}


def is_disabled(module: Module, scope: Scope) -> bool:
    """Whether a decorator, however spelled, keeps a function out of compiled code; on a class it does so for all."""
    if any(is_disabler(module, item) for item in scope.decorator_list) or is_wrapped(module, scope):
        return True
    outer = module.enclosing(scope, ast.ClassDef)
    return outer is not None and is_disabled(module, outer)


def is_wrapped(module: Module, scope: Scope) -> bool:
    """Whether `name = torch.compiler.disable(name)` follows in the same scope."""
    home = module.parent(scope)
    values = assigned_values(home, scope.name) if home else iter([])
    calls = (value for value in values if isinstance(value, ast.Call) and is_disabler(module, value.func))
    return any(root(argument) == scope.name for call in calls for argument in call.args)


def is_disabler(module: Module, node: ast.AST, depth: int = 0) -> bool:
    """`torch.compiler.disable`, called or not, a partial of it, or a module's own name for it."""
    if isinstance(node, ast.Call):
        is_partial = module.resolve(node.func) == "functools.partial" and bool(node.args)
        return is_disabler(module, node.args[0] if is_partial else node.func, depth + 1)
    if module.resolve(node) in DISABLERS:
        return True
    if isinstance(node, ast.Name) and depth < 5:
        return any(is_disabler(module, value, depth + 1) for value in assigned_values(module.tree, node.id))
    return False


def disable(module: Module, function: Function, reason: str = "") -> tuple[Edit, ...]:
    """The edits that put the decorator on a function, innermost; Unsure where it must not stand."""
    check_can_be_disabled(module, function)
    spelling, imports = spell_disable(module, function, reason)
    start = module.span(function).start
    # The word `def` is replaced, not only preceded: a new import may have to be inserted at the same place.
    decorated = module.replace(Span(start, start + 3), f"@{spelling}\n{module.indent(function)}def")
    return (*imports, decorated)


def check_can_be_disabled(module: Module, function: Function) -> None:
    """Unsure, with the line that makes it so, unless the decorator can stand on the function."""
    where = f"{module.path}:{function.lineno}"
    if isinstance(function, ast.AsyncFunctionDef):
        raise Unsure(f"{where}: a coroutine; the decorator would hide it from inspect and asyncio")
    for node in own_nodes(function):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            line = f"{module.path}:{node.lineno}"
            raise Unsure(f"{line}: a generator; the decorator would hide it from inspect")
    if outer := module.enclosing(function, ast.FunctionDef, ast.AsyncFunctionDef):
        raise Unsure(f"{where}: stands inside {outer.name}, so that it would be decorated anew at each call")
    if function.name in ("__init__", "__new__"):
        raise Unsure(f"{where}: a constructor; name the method that does the work instead")
    owner = module.parent(function)
    if isinstance(owner, ast.ClassDef) and any(module.resolve(base) in PROTOCOLS for base in owner.bases):
        raise Unsure(f"{module.path}:{owner.lineno}: a Protocol; the classes that fit it do not inherit the decorator")
    for decorator in function.decorator_list:
        check_decorator(module, decorator)
    for call in module.nodes(ast.Call):
        is_handed = any(isinstance(item, ast.Name) and item.id == function.name for item in call.args)
        if is_handed and (module.resolve(call.func) or "").startswith("torch.jit."):
            raise Unsure(f"{module.path}:{call.lineno}: handed to torch.jit, which does not know the decorator")


def check_decorator(module: Module, decorator: ast.expr) -> None:
    where = f"{module.path}:{decorator.lineno}"
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    if (module.resolve(func) or "").startswith("torch.jit."):
        raise Unsure(f"{where}: handed to torch.jit, which does not know the decorator")
    if (module.resolve(func) or "").rpartition(".")[2] in NO_BODY:
        raise Unsure(f"{where}: only a signature; the functions that fill it do not inherit the decorator")


def spell_disable(module: Module, statement: ast.stmt, reason: str = "") -> tuple[str, tuple[Edit, ...]]:
    """How to write the decorator at or above a statement, with the import that it may need."""
    spelling, imports = spell_name(module, statement)
    if reason:
        quote = "'" if module.text.count("'") > module.text.count('"') else '"'
        spelling += f"(reason={quote}{reason}{quote})"
    return spelling, imports


def spell_name(module: Module, statement: ast.stmt) -> tuple[str, tuple[Edit, ...]]:
    """How to write `torch.compiler.disable` there. Torch must be imported above, for sure."""
    above = [node for node in module.tree.body if node.lineno < statement.lineno]
    loaded = [node for node in above if isinstance(node, IMPORTS) and loads_torch(module, node)]
    if not loaded:
        lines = [node.lineno for node in module.nodes(*IMPORTS) if loads_torch(module, node)] or [statement.lineno]
        raise Unsure(f"{module.path}:{lines[0]}: torch is not imported for sure where the function is defined")
    bound = {alias.asname or alias.name.partition(".")[0] for node in loaded for alias in node.names}
    spelling = module.imports.spelling(DISABLE)
    if spelling and spelling.partition(".")[0] in bound:
        return spelling, ()
    if is_bound_otherwise(module, "torch") or module.imports.meanings.get("torch", {"torch"}) != {"torch"}:
        raise Unsure(f"{module.path}:{loaded[0].lineno}: the name torch is used for something else in this file")
    return DISABLE, () if "torch" in bound else module.imports.require("torch")[1]


def loads_torch(module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [module.imports.origin(node)]
    return any(name.split(".")[0] == "torch" for name in names)
