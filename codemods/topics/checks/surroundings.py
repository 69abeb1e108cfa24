"""Where a check stands: what around it may catch what it raises, or is not compiled as it reads."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import own_nodes
from fullgraph.codemods.topics.checks.forms import Check, Link

TRIES = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
HARMLESS = (
    *("torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.inference_mode", "torch.autocast"),
    *("torch.amp.", "torch.cuda.amp.", "torch.profiler.", "torch.autograd.profiler."),
)


def check_surroundings(module: Module, function: Function, check: Check) -> None:
    """Unsure, with the line, where something around the check may catch its exception or hide it from torch."""
    check_function(module, function)
    for outer in module.ancestors(check.statement):
        if outer is function:
            return
        where = f"{module.path}:{getattr(outer, 'lineno', 0)}"
        if isinstance(outer, TRIES):
            raise Unsure(f"{where}: the check stands in a `try`, which may be what its exception is for")
        if isinstance(outer, (ast.With, ast.AsyncWith)) and not all(is_harmless(module, item) for item in outer.items):
            raise Unsure(f"{where}: a `with` around the check may catch its exception")
        if isinstance(outer, ast.Match):
            raise Unsure(f"{where}: the check stands in a `match`")


def check_function(module: Module, function: Function) -> None:
    where = f"{module.path}:{function.lineno}"
    if isinstance(function, ast.AsyncFunctionDef):
        raise Unsure(f"{where}: {function.name} is a coroutine")
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function)):
        raise Unsure(f"{where}: {function.name} is a generator")
    for decorator in function.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (module.resolve(named) or "").startswith("torch.jit."):
            raise Unsure(f"{where}: TorchScript compiles {function.name}")


def is_harmless(module: Module, item: ast.withitem) -> bool:
    """Whether a context manager is one of torch's that catch nothing."""
    manager = item.context_expr
    named = manager.func if isinstance(manager, ast.Call) else manager
    return (module.resolve(named) or "").startswith(HARMLESS)


def check_link(module: Module, link: Link) -> None:
    """Unsure where the exception carries another one."""
    if link.cause is not None and not (isinstance(link.cause, ast.Constant) and link.cause.value is None):
        raise Unsure(f"{module.path}:{link.cause.lineno}: the exception has a cause, which a graph cannot carry")


def doubt_about_statements(module: Module, link: Link) -> str:
    """What compiled code no longer does before it fails; preparing a message does not count."""
    for statement in link.before:
        is_local = isinstance(statement, (ast.Assign, ast.AnnAssign)) and all(
            isinstance(target, ast.Name)
            for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        )
        if not is_local:
            code = module.code(statement).splitlines()[0]
            return f"{module.path}:{statement.lineno}: compiled code raises without `{code}`"
    return ""
