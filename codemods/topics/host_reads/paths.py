"""How a read is reached: in every round of a loop, or only sometimes; and whether the loop goes through to its end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.host_reads.reads import LOOPS, SCOPES, Loop

CONSUMERS = ("list", "tuple", "set", "frozenset", "sum", "max", "min", "sorted", "dict")
"""They go through an iterator to its end."""

HARMLESS = {f"torch.{name}" for name in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")}
HARMLESS |= {"contextlib.nullcontext", "torch.profiler.record_function", "torch.autograd.profiler.record_function"}
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Assert)


def is_conditional(module: Module, node: ast.AST, top: ast.AST) -> bool:
    """Whether a node below `top` may not run although `top` does. Loops that may be empty do not count."""
    child: ast.AST = node
    for outer in module.ancestors(node):
        if outer is top:
            return isinstance(outer, ast.Assert) and child is outer.msg
        if is_choice(outer, child):
            return True
        child = outer
    return False


def is_choice(outer: ast.AST, child: ast.AST) -> bool:
    if isinstance(outer, (ast.If, ast.IfExp, ast.While)):
        return child is not outer.test or isinstance(outer, ast.While)
    if isinstance(outer, ast.BoolOp):
        return child is not outer.values[0]
    if isinstance(outer, ast.Compare):
        return len(outer.ops) > 1 and child in outer.comparators[1:]
    if isinstance(outer, ast.Assert):
        return child is outer.msg
    if isinstance(outer, COMPREHENSIONS):
        return any(generator.ifs for generator in outer.generators) and not isinstance(child, ast.comprehension)
    return isinstance(outer, (ast.Try, ast.ExceptHandler, ast.match_case, ast.Lambda))


def skips(module: Module, loop: Loop) -> ast.AST | None:
    """A `continue` that ends a round of the loop early."""
    found = (node for node in running(loop.body) if isinstance(node, ast.Continue))
    return next((node for node in found if module.enclosing(node, *LOOPS, ast.While) is loop.node), None)


def leaves_early(module: Module, loop: Loop) -> ast.AST | None:
    """What ends the loop before it has gone through everything; a raised error does not count."""
    if isinstance(loop.home, ast.GeneratorExp):
        consumer = module.parent(loop.home)
        is_whole = isinstance(consumer, ast.Call) and module.scopes.is_builtin(consumer.func, *CONSUMERS)
        is_whole = is_whole or (isinstance(consumer, ast.Call) and getattr(consumer.func, "attr", "") == "join")
        return None if is_whole else consumer
    for node in running(loop.body):
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
            return node
        if isinstance(node, ast.Break):
            left = module.enclosing(node, *LOOPS, ast.While)
            if left is loop.node:
                return node
    return None


def running(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and what runs with them: not what is inside functions that are defined there."""
    for node in nodes:
        yield node
        if not isinstance(node, SCOPES):
            yield from running(list(ast.iter_child_nodes(node)))


def check_way_out(module: Module, node: ast.AST, top: ast.AST) -> None:
    """Raise where a read cannot be taken out of what stands between it and `top`."""
    for outer in module.ancestors(node):
        if outer is top:
            return
        if isinstance(outer, ast.Try) and outer.handlers:
            raise Unsure(f"{where(module, outer)}: errors of the read are caught in the loop")
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            check_with(module, outer)


def check_with(module: Module, node: ast.With | ast.AsyncWith) -> None:
    for item in node.items:
        made = item.context_expr
        dotted = module.resolve(made.func if isinstance(made, ast.Call) else made)
        if dotted not in HARMLESS:
            raise Unsure(f"{where(module, node)}: the read stands under `{ast.unparse(made)}`")


def check_room(module: Module, node: ast.AST) -> ast.stmt:
    """The statement before which a new line runs exactly when the node would run; Unsure if there is none."""
    statement = module.statement(node)
    if isinstance(module.parent(statement), ast.ClassDef):
        raise Unsure(f"{where(module, node)}: a new name in a class would be an attribute")
    if any(isinstance(outer, ast.Lambda) for outer in between(module, node, statement)):
        raise Unsure(f"{where(module, node)}: inside a lambda there is no line for it")
    if is_conditional(module, node, statement):
        raise Unsure(f"{where(module, node)}: it is not always evaluated, and there is no line before it that is not")
    is_header = isinstance(statement, ast.For) and is_below(module, node, statement.iter, statement)
    is_test = isinstance(statement, ast.If) and is_below(module, node, statement.test, statement)
    if isinstance(statement, ast.If) and is_elif(module, statement):
        raise Unsure(f"{where(module, node)}: there is no line before an `elif`")
    if not isinstance(statement, SIMPLE) and not is_header and not is_test:
        raise Unsure(f"{where(module, node)}: there is no line before it in which it could be read")
    return statement


def between(module: Module, node: ast.AST, top: ast.AST) -> Iterator[ast.AST]:
    for outer in module.ancestors(node):
        if outer is top:
            return
        yield outer


def is_below(module: Module, node: ast.AST, part: ast.AST, top: ast.AST) -> bool:
    return node is part or part in between(module, node, top)


def is_elif(module: Module, statement: ast.If) -> bool:
    start = module.span(statement).start
    return module.text[start : start + 4] == "elif"


def runs_before(module: Module, node: ast.AST, statement: ast.stmt) -> list[ast.AST]:
    """What a statement evaluates before it comes to a node, and what the node itself runs but the targets of loops."""
    found: list[ast.AST] = []
    start = module.span(node).start
    for outer in between(module, node, module.parent(statement) or statement):
        for part in ast.iter_child_nodes(outer):
            if isinstance(part, ast.expr) and module.span(part).end <= start and not is_target(part):
                found.append(part)
            if isinstance(part, ast.comprehension) and isinstance(outer, COMPREHENSIONS):
                found += [part.iter, *part.ifs]
    return [*found, *parts_of(node)]


def is_target(part: ast.expr) -> bool:
    return not isinstance(getattr(part, "ctx", ast.Load()), ast.Load)


def parts_of(node: ast.AST) -> list[ast.AST]:
    """What a comprehension runs; any other expression as it is."""
    if not isinstance(node, COMPREHENSIONS):
        return [node]
    values: list[ast.AST] = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inner = [part for value in values for part in parts_of(value)]
    return [*inner, *(part for generator in node.generators for part in (generator.iter, *generator.ifs))]
