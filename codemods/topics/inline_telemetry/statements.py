"""What one statement does for telemetry: it logs, it only looks, or it does something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.extraction.extractable import nodes_below, nodes_of
from fullgraph.codemods.syntax.flow import COLLECTS, Flow, is_in_place, last_name, mentions, root
from fullgraph.codemods.topics.telemetry import ENDS, ITERATORS, LOGS, REDUCERS, WORD, WORK

KEEPS = re.compile(r"telemetry|stats?|statistics|metrics?|logs|monitor|diagnostics?|report|debug")
"""Words in the names of what telemetry is kept in."""
LOOKS = {"detach", "cpu", "float", "double", "item", "flatten", "view", "reshape", "numel", "size", "dim", "pow", "to"}
LOOKS |= {"square", "log", "exp", "clone", "isnan", "isinf", "isfinite", "any", "all", "quantile", "argmax", "argmin"}
LOOKS |= {"count_nonzero", "softmax", "log_softmax", "squeeze", "unsqueeze", "items", "keys", "values", "get", "format"}
LOOKS |= {"join", "div", "mul", "sub", "eq", "ne", "gt", "lt", "ge", "le", "histc", "cosine_similarity", "long", "int"}
LOOKS |= ENDS | REDUCERS | ITERATORS
BREAKS = ENDS - {"numpy"}
NO_WORK = ("torch.distributed", "torch.nn.functional", "torch.autograd", "torch.compile", "torch.cuda")
LOOKING = ("torch", "math", "time", "numpy")


class Statements:
    """The statements of one function, by the names and shapes in them."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function

    def is_quiet(self, node: ast.stmt) -> bool:
        """Whether a statement is a log, or only looks and keeps what it sees in names of its own."""
        if isinstance(node, ast.Pass) or self.is_sink(node):
            return True
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return all(map(is_local, targets)) and (node.value is None or self.only_looks(node.value))
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Call) and self._collects(node.value)
        if isinstance(node, (ast.If, ast.For)):
            heads = [node.test] if isinstance(node, ast.If) else [node.iter]
            blocks = [*node.body, *node.orelse]
            return all(map(self.only_looks, heads)) and all(self.is_quiet(inner) or skips(inner) for inner in blocks)
        if isinstance(node, ast.With):
            names = [self.module.resolve(getattr(item.context_expr, "func", item.context_expr)) for item in node.items]
            return set(names) <= {"torch.no_grad", "torch.inference_mode"} and all(map(self.is_quiet, node.body))
        return False

    def _collects(self, call: ast.Call) -> bool:
        is_local_list = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        return is_local_list and last_name(call) in COLLECTS and all(map(self.only_looks, call.args))

    def has_sink(self, statement: ast.stmt) -> bool:
        return any(isinstance(node, ast.stmt) and self.is_sink(node) for node in nodes_of([statement]))

    def is_sink(self, node: ast.stmt) -> bool:
        """A call that logs, or a host value that is put into something named like telemetry."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            if not arguments or not all(map(self.only_looks, arguments)):
                return False
            collects = isinstance(call.func, ast.Attribute) and last_name(call) in COLLECTS and speaks(call.func.value)
            return self.logs(call) or (collects and any(map(self.is_host_value, arguments)))
        if isinstance(node, ast.Assign):
            is_kept = all(
                isinstance(target, (ast.Subscript, ast.Attribute)) and speaks(target) for target in node.targets
            )
            is_other = not any(root(target) == root(inner) for target in node.targets for inner in ast.walk(node.value))
            return is_kept and is_other and self.only_looks(node.value) and self.is_host_value(node.value)
        return False

    def logs(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Name):
            return self.module.scopes.is_builtin(call.func, "print")
        dotted = self.module.resolve(call.func) or ""
        return last_name(call) in LOGS and not dotted.startswith("torch.")

    def fills(self, statement: ast.stmt) -> set[str]:
        """The local containers that a statement puts something into, those of telemetry left out."""
        calls = (node for node in nodes_of([statement]) if isinstance(node, ast.Call) and last_name(node) in COLLECTS)
        filled = [call.func.value for call in calls if isinstance(call.func, ast.Attribute)]
        filled += [node for node in nodes_of([statement]) if isinstance(node, ast.Subscript) and is_stored(node)]
        return {root(node) for node in filled if not speaks(node)}

    # Values

    @cached_property
    def ends(self) -> set[ast.AST]:
        return {node for node in nodes_of(self.function.body) if isinstance(node, ast.Call) and self.is_end(node)}

    @cached_property
    def on_host(self) -> set[str]:
        return Flow(self.function).spread(set(), self.ends)

    def is_host_value(self, node: ast.expr) -> bool:
        return mentions(node, self.on_host, self.ends)

    def is_end(self, call: ast.Call) -> bool:
        """Whether a call brings a tensor's values to the host, as far as its shape tells."""
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in ENDS and not call.args
        inner = call.args[0] if len(call.args) == 1 else None
        reduces = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in REDUCERS
        return reduces and self.module.scopes.is_builtin(call.func, "float")

    def breaks(self, nodes: Sequence[ast.AST]) -> Iterator[ast.Call]:
        """The calls that break a graph (torch 2.13): reads of values, and logs."""
        for node in (inner for outer in nodes for inner in nodes_below(outer)):
            if isinstance(node, ast.Call) and self.is_end(node) and last_name(node) != "numpy":
                yield node
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and self.logs(node.value):
                yield node.value

    def only_looks(self, node: ast.AST) -> bool:
        """Whether an expression reads and computes, as far as the names of what it calls tell."""
        inner = list(ast.walk(node))
        waits = any(isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)) for part in inner)
        return not waits and all(self.is_look(part) for part in inner if isinstance(part, ast.Call))

    def is_look(self, call: ast.Call) -> bool:
        name = last_name(call)
        if is_in_place(call) or name in WORK:
            return False
        if dotted := self.module.resolve(call.func):
            return dotted.startswith(tuple(f"{top}." for top in LOOKING)) and not dotted.startswith(NO_WORK)
        if isinstance(call.func, ast.Name):
            return not self.module.scopes.bindings(call.func)
        return name in LOOKS


def is_local(target: ast.expr) -> bool:
    """Whether an assignment sets plain names, or an item of one."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return all(map(is_local, target.elts))
    return isinstance(target, ast.Name) or (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name))


def is_stored(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store)


def skips(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Continue, ast.Break))


def keeps(name: str) -> bool:
    """Whether a word of the name says that it holds telemetry; `log` does so at the end, not in `log_probs`."""
    words = [word.lower() for word in WORD.findall(name)]
    return words[-1:] == ["log"] or any(map(KEEPS.fullmatch, words))


def speaks(node: ast.AST) -> bool:
    """Whether one of the names of `a.b[0]` holds telemetry."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute) and keeps(node.attr):
            return True
        node = node.value
    return isinstance(node, ast.Name) and keeps(node.id)
