"""What one method says about devices: which it compares, and what it moves."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import cached_property

from fullgraph.codemods.module import Function, Module
from fullgraph.codemods.syntax.assignments import argument_names, own_nodes

MOVES = {"to", "cuda", "cpu", "xpu", "hpu", "mtia", "ipu"}
SETTINGS = re.compile(r"\b(?:args?|cfg|conf|config|opts?|options|settings|hparams|params|accelerator|trainer|fabric)$")
ONLY_LOOKS = re.compile(r"next\(|iter\(|[\w.]+\.(?:parameters|buffers)\(\)$")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Devices:
    """The two devices that a test compares, as they can be written again: that of the state and that of the input.

    `by_identity`: tested with `is`, which is never true of two devices, so that the test says nothing.
    """

    old: str
    new: str
    test: ast.AST
    repeats_a_call: bool = False
    by_identity: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """`state.to(device)` whose result becomes the state. `device` is what it means; empty for `state.cuda()`."""

    state: str
    device: str
    name: str
    is_assigned: bool


def first_argument(method: Function) -> str:
    """What the method calls `self`; empty for a static or class method."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    names = {getattr(item, "id", "") for item in method.decorator_list}
    return arguments[0].arg if arguments and not names & {"staticmethod", "classmethod"} else ""


class Method:
    """One method, and what the names in it stand for."""

    def __init__(self, module: Module, owner: ast.ClassDef, method: Function) -> None:
        self.module = module
        self.owner = owner
        self.method = method
        self.me = first_argument(method)
        self.own = {self.me}
        self.nodes = list(own_nodes(method))
        self.stored = [node.id for node in self.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        self.aliases: dict[str, ast.expr] = {}
        for node in self.nodes:
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Assign, ast.NamedExpr)):
            target = node.target if isinstance(node, ast.NamedExpr) else node.targets[0]
            is_chain = isinstance(node.value, (ast.Attribute, ast.Name))
            if isinstance(target, ast.Name) and is_chain and self.is_bound_once(target.id):
                self.aliases[target.id] = node.value
        elif isinstance(node, (ast.For, ast.comprehension)) and self.mentions_me(node.iter):
            self.own |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}

    def is_bound_once(self, name: str) -> bool:
        return self.stored.count(name) == 1 and name not in argument_names(self.method)

    def mentions_me(self, node: ast.AST) -> bool:
        return any(isinstance(name, ast.Name) and name.id == self.me for name in ast.walk(node))

    # What an expression means

    def meaning(self, node: ast.expr, depth: int = 0) -> str:
        """The expression with local names for the same thing, and `.data`, taken out of it."""
        if isinstance(node, ast.NamedExpr):
            return self.meaning(node.value, depth)
        if isinstance(node, ast.Attribute):
            inner = self.meaning(node.value, depth)
            return inner if node.attr == "data" else f"{inner}.{node.attr}"
        if isinstance(node, ast.Name) and depth < 5 and node.id in self.aliases:
            return self.meaning(self.aliases[node.id], depth + 1)
        return ast.unparse(node)

    def is_own(self, meaning: str) -> bool:
        return re.split(r"\W", meaning, maxsplit=1)[0] in self.own or f"({self.me}." in meaning

    def is_input(self, meaning: str) -> bool:
        """Whether it begins with an argument or a local that is not the object's, and not a bag of settings."""
        first = re.split(r"\W", meaning, maxsplit=1)[0]
        is_local = first in argument_names(self.method) or first in self.stored
        return is_local and not self.is_own(meaning) and not SETTINGS.search(meaning.rpartition(".")[0])

    def device(self, node: ast.expr) -> tuple[str, str]:
        """How to write the device that a side of a comparison stands for, and its meaning; empty if it is none."""
        if isinstance(node, ast.NamedExpr):
            return ast.unparse(node.target), self.device(node.value)[1]
        if isinstance(node, ast.Attribute) and node.attr == "is_cuda":
            return f"{self.write(node.value)}.device", f"{self.meaning(node.value)}.device"
        if isinstance(node, ast.Attribute) and node.attr == "type":
            node = node.value
        meaning = self.meaning(node)
        return (self.write(node), meaning) if meaning.endswith(".device") else ("", "")

    def write(self, node: ast.expr) -> str:
        code = self.module.code(node)
        return code if "\n" not in code and "\r" not in code and "#" not in code else ast.unparse(node)

    # Tests

    def differ(self, test: ast.expr, truth: bool = True) -> Devices | None:
        """The devices that are not the same whenever the test comes out as `truth`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.differ(test.operand, not truth)
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == truth:
            found = (self.differ(value, truth) for value in test.values)
            return next(filter(None, found), None) or (self.only_input_is_cuda(test) if truth else None)
        telling = (ast.NotEq, ast.IsNot) if truth else (ast.Eq, ast.Is)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], telling):
            return self.pair(test.left, test.comparators[0], test)
        return None

    def only_input_is_cuda(self, test: ast.BoolOp) -> Devices | None:
        """`x.is_cuda and not self.mean.is_cuda`."""
        on = [value for value in test.values if getattr(value, "attr", "") == "is_cuda"]
        off = [value.operand for value in test.values if isinstance(value, ast.UnaryOp)]
        off = [value for value in off if getattr(value, "attr", "") == "is_cuda"]
        return self.pair(on[0], off[0], test) if on and off else None

    def pair(self, left: ast.expr, right: ast.expr, test: ast.AST) -> Devices | None:
        for own, other in ((left, right), (right, left)):
            old, old_meaning = self.device(own)
            new, new_meaning = self.device(other)
            if old and new and self.is_own(old_meaning) and self.is_input(new_meaning):
                calls = [ast.unparse(node) for node in ast.walk(own) if isinstance(node, ast.Call)]
                repeats = not all(ONLY_LOOKS.match(call) for call in calls)
                by_identity = isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))
                return Devices(old, new, test, repeats or "(" in new, by_identity)
        return None

    @cached_property
    def tests(self) -> list[Devices]:
        """Every comparison of the two kinds of devices in the method, whatever hangs on it."""
        compared = [
            self.pair(node.left, node.comparators[0], node) for node in self.nodes if isinstance(node, ast.Compare)
        ]
        both = [self.only_input_is_cuda(node) for node in self.nodes if isinstance(node, ast.BoolOp)]
        return [devices for devices in (*compared, *both) if devices]

    # Moves

    def moves(self, statement: ast.AST) -> list[Move]:
        """The moves of own state that one simple statement makes."""
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if (
                getattr(call.func, "id", "") == "setattr"
                and len(call.args) == 3
                and self.meaning(call.args[0]) == self.me
            ):
                return self.moved(call.args[2], None)
            return [replace(move, is_assigned=False) for move in self.moved(call, None)]
        if isinstance(statement, ast.AnnAssign) and statement.value:
            return self.moved(statement.value, statement.target)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self.moved(statement.value, statement.targets[0])
        return []

    def moved(self, value: ast.expr, target: ast.expr | None) -> list[Move]:
        """What is moved by a value: a call, or several in a tuple or a comprehension. It must come from its target."""
        if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple) and len(value.elts) == len(target.elts):
            return [move for pair in zip(value.elts, target.elts, strict=True) for move in self.moved(*pair)]
        if isinstance(value, COMPREHENSIONS) and target:
            element = value.value if isinstance(value, ast.DictComp) else value.elt
            from_itself = self.meaning(target) in self.meaning(value.generators[0].iter)
            return self.moved(element, None) if from_itself and self.is_own(self.meaning(target)) else []
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in MOVES):
            return []
        state = self.meaning(value.func.value)
        if not self.is_own(state) or (target and not self.keeps(target, state)):
            return []
        given = [*value.args, *(keyword.value for keyword in value.keywords if keyword.arg == "device")]
        devices = [self.meaning(item) for item in given]
        found = next((item for item in devices if item.endswith(".device")), devices[0] if devices else "")
        return [Move(state, found, value.func.attr, True)] if found or value.func.attr != "to" else []

    def keeps(self, target: ast.expr, state: str) -> bool:
        """Whether an assignment puts the state back where it was. A local name or another dict is not that place."""
        if isinstance(target, ast.Subscript):
            return self.is_own(self.meaning(target))
        return isinstance(target, ast.Attribute) and self.meaning(target) == state

    def follows(self, move: Move, devices: Devices) -> bool:
        """Whether a move goes where the tested input is: to its device, to the input itself, or by `.cuda()`."""
        new = self.meaning(ast.parse(devices.new, mode="eval").body)
        return not move.device or move.device in (new, new.removesuffix(".device"))
