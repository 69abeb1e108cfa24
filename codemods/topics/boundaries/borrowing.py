"""Functions of the project that are given a compiled callable, and neither run it nor keep it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.definitions import SAME_INSTANCE, Definitions
from fullgraph.codemods.syntax.places import Place
from fullgraph.codemods.topics.boundaries.outputs import last_part

LOOKS = {"isinstance", "hasattr", "id", "type", "callable", "repr", "str", "print", "bool", "len"}
RUNS = {"forward", "__call__", "_call_impl", "_compiled_call_impl", "_orig_mod", "_torchdynamo_orig_callable"}
"""Attributes by which the callable, or what it was compiled from, is run."""
WRAPS = {"functools.wraps", "functools.update_wrapper"}
COUNTS = {"add", "discard", "remove", "clear", "__contains__"}


def is_borrowed(names: Definitions, module: Module, node: ast.expr) -> bool:
    """Whether a call takes an argument and lets go of it: `counted("name", self.net)` as a statement."""
    call = module.parent(node)
    if not isinstance(call, ast.Call) or not isinstance(module.parent(call), ast.Expr):
        return False
    try:
        return Borrowing(names).is_let_go(module, call, node)
    except (Unsure, SourceError):
        return False


@dataclass
class Borrowing:
    """Follows a value through functions. What they return may hold it; whoever asks looks at that, too."""

    names: Definitions
    seen: set[tuple[ast.AST, str]] = field(default_factory=set)

    def is_let_go(self, module: Module, call: ast.Call, node: ast.expr) -> bool:
        """Whether the function that is called neither runs an argument nor keeps it."""
        callee = self.names.called(module, call)
        name = parameter_of(callee, call, node) if callee else ""
        return callee is not None and bool(name) and self.is_free(callee.module, callee.node, name)

    def is_free(self, module: Module, function: Function, name: str) -> bool:
        """Whether a variable of a function is neither run nor kept, wherever it goes."""
        if (function, name) in self.seen:
            return True
        self.seen.add((function, name))
        mentions = module.scopes.names(function, name)
        reads = [mention for mention in mentions if isinstance(mention.ctx, ast.Load)]
        return all(self.goes_nowhere(module, function, self.carrier(module, function, read)) for read in reads)

    def carrier(self, module: Module, function: Function, read: ast.expr) -> ast.AST:
        """What holds a value: the expression that reads it, or a function made around that."""
        outer = module.scopes.around(read)
        holder: ast.AST = read
        while outer is not function and not isinstance(outer, ast.Module):
            holder = outer if isinstance(outer, (*FUNCTIONS, ast.Lambda)) else holder
            outer = module.scopes.around(outer)
        return holder

    def goes_nowhere(self, module: Module, function: Function, node: ast.AST) -> bool:
        if isinstance(node, FUNCTIONS):
            made = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
            return all(module.resolve(item) in WRAPS for item in made) and self.is_free(module, function, node.name)
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute):
            return self.is_attribute_free(module, function, parent)
        if isinstance(parent, ast.Call):
            return node is not parent.func and self.passes(module, function, parent, node)
        if isinstance(parent, ast.keyword):
            call = module.parent(parent)
            return isinstance(call, ast.Call) and self.passes(module, function, call, node)
        if isinstance(parent, ast.Assign):
            return all(self.is_stored_within(module, function, target) for target in parent.targets)
        if isinstance(parent, ast.IfExp) and node is not parent.test:
            return self.goes_nowhere(module, function, parent)
        is_looked_at = isinstance(parent, (ast.Compare, ast.UnaryOp)) or getattr(parent, "test", None) is node
        return is_looked_at or isinstance(parent, (ast.Return, ast.Expr))

    def is_attribute_free(self, module: Module, function: Function, node: ast.Attribute) -> bool:
        """What is set on it stays with it, and so does what is read of it, but for what runs it or is it."""
        call = module.parent(node)
        if node.attr in SAME_INSTANCE and isinstance(call, ast.Call) and call.func is node:
            return self.goes_nowhere(module, function, call)
        is_run = isinstance(node.ctx, ast.Load) and node.attr in RUNS
        return not is_run or self.goes_nowhere(module, function, node)

    def is_stored_within(self, module: Module, function: Function, target: ast.expr) -> bool:
        """In a local name that goes nowhere, or on what the function was given itself."""
        if isinstance(target, ast.Attribute):
            return isinstance(target.value, ast.Name) and (function, target.value.id) in self.seen
        is_local = isinstance(target, ast.Name) and module.scopes.of(target) is function
        return is_local and self.is_free(module, function, target.id)  # type: ignore[attr-defined]

    def passes(self, module: Module, function: Function, call: ast.Call, node: ast.AST) -> bool:
        """Whether it goes nowhere as an argument: looked at, given to a function that lets go of it, or counted."""
        if module.scopes.is_builtin(call.func, *LOOKS) or module.resolve(call.func) in WRAPS:
            return True
        if module.scopes.is_builtin(call.func, "getattr"):
            asked = getattr(call.args[1], "value", None) if len(call.args) > 1 else None
            is_other = isinstance(asked, str) and asked not in RUNS and node is call.args[0]
            return is_other or self.goes_nowhere(module, function, call)
        if last_part(call.func) in COUNTS and self.names.called(module, call) is None:
            mentions = list(self.alike(call.func))
            return bool(mentions) and all(self.is_counted(home, mention) for home, mention in mentions)
        is_free = isinstance(node, ast.expr) and self.is_let_go(module, call, node)
        return is_free and self.goes_nowhere(module, function, call)

    def alike(self, method: ast.expr) -> Iterator[Place[ast.expr]]:
        """Everything that may be the container whose method this is, by its name."""
        name = last_part(method.value) if isinstance(method, ast.Attribute) else ""
        for home in self.names.project.modules_mentioning(name) if name else ():
            yield from (Place(home, item) for item in home.nodes(ast.Name, ast.Attribute) if last_part(item) == name)

    def is_counted(self, module: Module, node: ast.expr) -> bool:
        """Whether a container is but asked what it holds: nothing is taken out of it."""
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr in COUNTS
        return isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(parent, ast.Compare)


def parameter_of(callee: Place[Function], call: ast.Call, node: ast.expr) -> str:
    """The parameter that an argument is for; nothing if that cannot be said."""
    return next(iter(parameters_for(callee, call, {node})), "")


def parameters_for(callee: Place[Function], call: ast.Call, given: set[ast.AST]) -> set[str]:
    """The parameters that some arguments are for, as far as that can be said."""
    function = callee.node
    if isinstance(function, ast.AsyncFunctionDef) or any(isinstance(item, ast.Starred) for item in call.args):
        return set()
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    is_static = any(getattr(item, "id", "") == "staticmethod" for item in function.decorator_list)
    if isinstance(callee.module.parent(function), ast.ClassDef) and not is_static:
        names = names[1:]
    known = {*names, *(item.arg for item in function.args.kwonlyargs)}
    by_name = {keyword.arg for keyword in call.keywords if keyword.value in given and keyword.arg in known}
    by_place = {name for name, item in zip(names, call.args, strict=False) if item in given}
    return by_place | {name for name in by_name if name}
