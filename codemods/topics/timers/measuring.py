"""Which statements measure at the end of an interval, and which do something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.assignments import own_nodes, targets_of
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.timers.classes import Timer, Waits, is_clock

COMPOUND = (ast.If, ast.With, ast.Try, ast.TryStar, ast.For, ast.While, ast.Match)
TAKES_OUT = {"pop", "popleft", "popitem", "remove"}
PLAIN_CALLS = {"len", "int", "float", "str", "bool", "isinstance", "getattr", "round", "max", "min", "abs", "sum"}


class Measuring:
    """What the end of an interval does: measure, reset, or something that a call which does not measure must do too."""

    def __init__(self, module: Module, timer: Timer) -> None:
        self.module = module
        self.timer = timer
        self.waits = {id(call) for call in Waits(module).calls(own_nodes(timer.end), timer.owner)}
        self.attributes = self._timed_attributes()
        self.names: set[str] = set()
        size = -1
        while size != len(self.names) + len(self.attributes):
            size = len(self.names) + len(self.attributes)
            self._spread()

    def _timed_attributes(self) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(self.timer.owner):
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if value and any(is_clock(self.module, inner) for inner in ast.walk(value)):
                found |= {target.attr for target in targets_of(node) if isinstance(target, ast.Attribute)}  # type: ignore[arg-type]
        return found

    def _spread(self) -> None:
        for node in own_nodes(self.timer.end):
            if (
                isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))
                and node.value
                and self.is_timed(node.value)
            ):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in (inner for outer in targets for inner in ast.walk(outer)):
                    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                        self.names.add(target.id)
                    elif isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):
                        self.attributes.add(target.attr)

    def is_timed(self, node: ast.AST) -> bool:
        """Whether a value is made from a clock, or code waits or records."""
        return any(
            id(inner) in self.waits
            or is_clock(self.module, inner)
            or (isinstance(inner, ast.Name) and inner.id in self.names)
            or (isinstance(inner, ast.Attribute) and inner.attr in self.attributes)
            for inner in ast.walk(node)
        )

    def is_number(self, node: ast.AST | None) -> bool:
        """Whether a value looks like a time: arithmetic, a reading, or a name or attribute that holds one."""
        if isinstance(node, ast.BinOp):
            return self.is_number(node.left) or self.is_number(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "round"):
            return bool(node.args) and self.is_number(node.args[0])
        return isinstance(node, (ast.Name, ast.Attribute, ast.Call)) and (
            is_clock(self.module, node) or (not isinstance(node, ast.Call) and self.is_timed(node))
        )

    def is_measuring(self, node: ast.stmt) -> bool:
        """Whether a statement belongs to the measurement: it waits, reads, records, counts or uses the time."""
        if isinstance(node, ast.AugAssign):
            return True
        if isinstance(node, ast.Expr) and is_record(node.value):
            return True
        if isinstance(node, COMPOUND):
            return any(self.is_measuring(inner) for inner in inner_statements(node))
        if isinstance(node, (ast.Assert, ast.Raise, ast.Return)):
            return isinstance(node, ast.Return) and self.is_fresh(node)
        return self.is_timed(node) and not self.is_reset(node)

    def is_fresh(self, node: ast.Return) -> bool:
        """Whether a return statement measures by itself."""
        inner = list(ast.walk(node))
        return any(id(one) in self.waits or is_clock(self.module, one) for one in inner)

    def is_reset(self, node: ast.stmt) -> bool:
        """Whether it stores a plain value in the object: `self.running = False`."""
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            return False
        is_stored = all(isinstance(target, ast.Attribute) for target in targets_of(node))
        return is_stored and is_plain(node.value)

    def check_harmless(self, node: ast.stmt) -> None:
        """Unsure unless a statement that does not measure may be skipped."""
        if isinstance(node, COMPOUND):
            for inner in inner_statements(node):
                if self.is_reset(inner):
                    raise self.unsure(inner)
                if not self.is_measuring(inner):
                    self.check_harmless(inner)
            return
        if isinstance(node, (ast.Pass, ast.Return, ast.Assert, ast.Raise)) or is_text(node):
            return
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            is_local = all(isinstance(target, ast.Name) for target in targets_of(node))
            if is_local and (node.value is None or not self.calls_unknown(node.value)):
                return
        raise self.unsure(node)

    def calls_unknown(self, value: ast.expr) -> bool:
        calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
        known = (self.module.resolve(call.func) or getattr(call.func, "id", "") for call in calls)
        return not all(name in PLAIN_CALLS or name.startswith("torch.") for name in known)

    def check_measuring(self, node: ast.stmt) -> None:
        """Unsure if measuring also begins the next interval, or takes something out of a container."""
        begun = self.marks & {target.attr for target in stored_in(node) if isinstance(target, ast.Attribute)}
        if begun and not self.is_reset(node):
            place = where(self.module, node)
            raise Unsure(f"{place}: the next interval begins here; one that is not measured would be added to it")
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in TAKES_OUT:
                raise self.unsure(node)

    @cached_property
    def marks(self) -> set[str]:
        """Attributes that hold when an interval began: set from a clock outside of the method that ends it."""
        others = [node for node in self.timer.owner.body if node is not self.timer.end]
        found: set[str] = set()
        for node in (inner for other in others for inner in ast.walk(other)):
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if value and any(is_clock(self.module, inner) for inner in ast.walk(value)):
                found |= {target.attr for target in stored_in(node) if isinstance(target, ast.Attribute)}
        return found

    def unsure(self, node: ast.stmt) -> Unsure:
        line = self.module.code(node).splitlines()[0]
        return Unsure(f"{where(self.module, node)}: `{line}` does not measure, and may have to run in every call")


def inner_statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, [])
    for handler in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield from handler.body


def stored_in(node: ast.AST) -> Iterator[ast.expr]:
    """What an assignment, not one in place, stores into."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in targets_of(node):
            yield from (inner for inner in ast.walk(target) if isinstance(inner, (ast.Name, ast.Attribute)))


def is_record(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "record"


def is_plain(node: ast.expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
