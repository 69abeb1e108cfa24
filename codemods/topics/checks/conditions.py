"""From a question about tensors to one tensor that holds the answer."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.imports import is_bound_otherwise
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.tensors.infer import Tensors
from fullgraph.codemods.syntax.tensors.tables import BOOL_ELEMENTWISE
from fullgraph.codemods.topics.checks.joining import is_harmless, limits
from fullgraph.codemods.topics.checks.questions import (
    asks,
    looks_seen,
    operand,
    read_of,
    reads_number,
    seen_operands,
    without_not,
    without_reading,
)
from fullgraph.codemods.topics.checks.statics import is_exact, is_float, is_huge, is_plain, is_pure
from fullgraph.codemods.topics.checks.values import COMPARED, Supposing, holds_tensor, is_tensor

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
NUMBERS = "(int, float)"
OPPOSITES: dict[type[ast.cmpop], str] = {ast.Is: "is not", ast.IsNot: "is", ast.Eq: "!=", ast.NotEq: "=="}


@dataclass(frozen=True)
class Answer:
    """A tensor by its text. `is_atom`: whether an operator or a method can be put to it without parentheses."""

    text: str
    is_atom: bool
    is_bool: bool
    opposite: Answer | None = None

    @property
    def bracketed(self) -> str:
        return self.text if self.is_atom else f"({self.text})"

    def turned(self) -> Answer:
        """The opposite; `~` means that of bools only."""
        if self.opposite:
            return self.opposite
        if self.is_bool:
            return Answer(f"~{self.bracketed}", False, True, self)
        return Answer(f"{self.bracketed}.logical_not()", True, True, self)


@dataclass(frozen=True)
class Condition:
    """`guards`: the Python questions that must all be answered with yes before the tensor is asked.

    `supposed`: what must be of which kind for that, where the text does not say it.
    """

    passed: Answer
    guards: tuple[str, ...] = ()
    supposed: tuple[tuple[str, str], ...] = ()


class Reader:
    """Reads the tests of one module. `observed` says of a test that it was seen to ask for a tensor's value."""

    def __init__(self, module: Module, tensors: Tensors, observed: Callable[[ast.expr], bool]) -> None:
        self.module = module
        self.tensors = tensors
        self.observed = observed
        self._is_seen = False
        self._supposed: tuple[tuple[str, str], ...] = ()

    def condition(self, test: ast.expr, passes_on: bool) -> Condition:
        """The tensor that is true where the check is passed; Unsure where there is none for sure."""
        self._is_seen = self.observed(test) and len(seen_operands(test)) == 1
        self._supposed = ()
        if any(isinstance(inner, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for inner in ast.walk(test)):
            raise Unsure(f"{self.place(test)}: the test binds a name or waits")
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, passes_on = test.operand, not passes_on
        if isinstance(test, ast.BoolOp) and not all(map(self.is_tensor, test.values)):
            return self.guarded(test, passes_on)
        if equal := self.equal(test):
            sides = " == ".join(f"{side}.shape" for side in equal)
            found = Answer(f"({' == '.join(equal)}).all()", True, True)
            return Condition(found if passes_on else found.turned(), (sides,))
        found = self.answer(test)
        return Condition(found if passes_on else found.turned(), (), self._supposed)

    def guarded(self, test: ast.BoolOp, passes_on: bool) -> Condition:
        """Python questions and tensors in one `and` or `or`: the tensors decide only if the others let them."""
        asked = [value for value in test.values if self.is_tensor(value)]
        others = [value for value in test.values if value not in asked]
        if not asked:
            raise Unsure(self.doubt(test))
        for other in others:
            is_first = test.values.index(other) < test.values.index(asked[0])
            if not (is_pure(self.module, other) if is_first else self.is_free(other)):
                raise Unsure(f"{self.place(other)}: `{self.code(other)}` may do something when it is asked")
        is_and = isinstance(test.op, ast.And)
        found = self.joined(asked, "&" if is_and else "|") if len(asked) > 1 else self.answer(asked[0])
        guards = (self.guard(other, is_and) for other in others)
        implied = {f"{name} is not None" for name, _ in self._supposed}
        needed = tuple(guard for guard in guards if guard not in implied)
        return Condition(found if passes_on else found.turned(), needed, self._supposed)

    def is_free(self, node: ast.expr) -> bool:
        """Whether a Python question can be asked where it is not now: a flag, and no tensor whose truth may fail."""
        name = without_not(node)
        what = self.tensors.known(self.module, name).what
        return is_plain(name) and (what == "other" or (isinstance(name, ast.Attribute) and what != "tensor"))

    def guard(self, node: ast.expr, wanted: bool) -> str:
        """A Python question, put so that yes is what lets the tensor decide."""
        while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node, wanted = node.operand, not wanted
        if not wanted and isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITES:
            return f"{self.code(node.left)} {OPPOSITES[type(node.ops[0])]} {self.code(node.comparators[0])}"
        text = self.code(node)
        is_loose = isinstance(node, (ast.BoolOp, ast.IfExp, ast.Lambda))
        text = f"({text})" if is_loose else text
        return text if wanted else f"not {text}"

    # Answers

    def answer(self, node: ast.expr) -> Answer:
        """The tensor whose truth is that of an expression."""
        whole, node = node, without_reading(self.module, node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.answer(node.operand).turned()
        if isinstance(node, ast.BoolOp):
            return self.joined(node.values, "&" if isinstance(node.op, ast.And) else "|")
        if isinstance(node, ast.Compare) and reads_number(self.module, node):
            return self.compared(node)
        if isinstance(node, ast.Call) and self.module.resolve(node.func) == "torch.allclose":
            arguments = ", ".join(self.code(one) for one in (*node.args, *node.keywords))
            return Answer(f"{self.code(node.func)[: -len('allclose')]}isclose({arguments}).all()", True, True)
        if isinstance(node, ast.Compare) and len(node.ops) != 1:
            raise Unsure(f"{self.place(node)}: a chain of comparisons")
        if not self.is_known(node, whole):
            raise Unsure(self.doubt(node))
        return Answer(self.code(node), isinstance(node, ATOMS), self.is_bool(node))

    def joined(self, values: list[ast.expr], sign: str) -> Answer:
        """Several answers in one. Those behind the first are asked in any case then, so that must be harmless."""
        first, *later = values
        for value in later:
            if not is_harmless(self.module, value, first):
                raise Unsure(f"{self.place(value)}: `{self.code(value)}` may fail where it is not asked now")
            self.suppose_numbers(limits(self.module, value))
        found = [self.answer(value) for value in values]
        if not all(answer.is_bool for answer in found):
            raise Unsure(f"{self.place(first)}: not all of these are known to be bools")
        return Answer(f" {sign} ".join(answer.bracketed for answer in found), False, True)

    # Numbers that are read

    def compared(self, node: ast.Compare) -> Answer:
        """A comparison of a number that is read, made by the tensor: in the same precision, that of Python."""
        tensor, other = read_of(self.module, node.left), node.comparators[0]
        is_left = tensor is not None
        if tensor is None:
            tensor, other = read_of(self.module, other), node.left
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARED or tensor is None or read_of(self.module, other):
            raise Unsure(f"{self.place(node)}: a comparison that a tensor may not make alike")
        if not self.is_known(tensor, node):
            raise Unsure(self.doubt(tensor))
        if not is_pure(self.module, other) or is_huge(other):
            raise Unsure(f"{self.place(other)}: nothing says that `{self.code(other)}` is a number")
        text = self.code(tensor) if isinstance(tensor, ATOMS) else f"({self.code(tensor)})"
        is_whole = self.tensors.known(self.module, tensor).kind == "int" and not is_float(other)
        text = text if is_exact(other) or is_whole else f"{text}.double()"
        sides = (text, self.code(other)) if is_left else (self.code(other), text)
        return Answer(f" {COMPARED[type(node.ops[0])]} ".join(sides), False, True)

    # What is known

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether an operand of `and` or `or` asks for the value of a tensor."""
        before = self._supposed
        try:
            self.answer(node)
        except Unsure:
            return isinstance(node, ast.BoolOp) and any(map(self.is_tensor, node.values))
        finally:
            self._supposed = before
        return True

    def is_known(self, node: ast.expr, whole: ast.expr) -> bool:
        """Whether a value is a tensor: it was seen to break a graph, or the text says it, or compiled code can ask."""
        if (self._is_seen and looks_seen(node)) or is_tensor(self.module, self.tensors, node):
            return True
        supposing = Supposing(self.tensors)
        if not asks(self.module, whole) or not is_tensor(self.module, supposing, node):
            return False
        self.suppose(supposing.asked, "Tensor")
        return True

    def suppose_numbers(self, nodes: list[ast.expr]) -> None:
        """Compiled code asks for a number where the text names none; a property may do something when it is asked."""
        asked = [node for node in nodes if not self.tensors.known(self.module, node).is_number]
        for node in asked:
            is_run = isinstance(node, ast.Attribute) and node.attr in self.tensors.names.getters
            if is_run or is_bound_otherwise(self.module, "isinstance"):
                raise Unsure(f"{self.place(node)}: nothing says that `{self.code(node)}` is a number")
        self.suppose(asked, NUMBERS)

    def suppose(self, nodes: list[ast.expr], kind: str) -> None:
        self._supposed = tuple(dict.fromkeys([*self._supposed, *((self.code(node), kind) for node in nodes)]))

    def is_bool(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and type(node.ops[0]) in COMPARED
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self.is_bool(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr)):
            return self.is_bool(node.left) and self.is_bool(node.right)
        if isinstance(node, ast.Call) and last_name(node) in BOOL_ELEMENTWISE:
            return True
        if isinstance(node, ast.Call) and last_name(node) in ("any", "all"):
            owner = operand(self.module, node)
            return owner is not None and self.is_bool(owner)
        return self.tensors.known(self.module, node).kind == "bool"

    def equal(self, node: ast.expr) -> tuple[str, ...] | None:
        """The two tensors of `torch.equal`, by names that can be asked twice."""
        if not isinstance(node, ast.Call) or self.module.resolve(node.func) != "torch.equal" or node.keywords:
            return None
        is_named = len(node.args) == 2 and all(map(is_plain, node.args))
        if not is_named or not all(holds_tensor(self.module, self.tensors, side) for side in node.args):
            raise Unsure(f"{self.place(node)}: `torch.equal` of what is not a tensor with a name")
        return tuple(map(self.code, node.args))

    # Words

    def code(self, node: ast.AST) -> str:
        """An expression on one line, as it is written where that is one line."""
        text = self.module.code(node)
        return text if "\n" not in text and "\r" not in text else ast.unparse(node)

    def place(self, node: ast.AST) -> str:
        return f"{self.module.path}:{getattr(node, 'lineno', 0)}"

    def doubt(self, node: ast.AST) -> str:
        return f"{self.place(node)}: nothing says for sure that `{self.code(node)}` is a tensor"
