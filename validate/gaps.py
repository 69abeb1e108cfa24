"""What of a changed place no run has shown: a branch never taken, a loop without a round, a list without items.

Where `if c: y = x` with its `else: y = -x` becomes `y = torch.where(c, x, -x)`, both branches must have run before:
otherwise "the `else` of line 3 (before) was never taken".
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fullgraph.validate.texts import lines_of

LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SILENT = (ast.Pass, ast.Global, ast.Nonlocal)
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
COMPILING = ("is_compiling", "is_dynamo_compiling", "is_exporting", "is_tracing", "is_scripting", "TYPE_CHECKING")
"""Questions that plain runs, in which lines are watched, never answer with yes."""


@dataclass(frozen=True)
class Gap:
    """`is_weighty`: changed code did not run. Otherwise only a condition was never seen both ways."""

    text: str
    is_weighty: bool


class Trace(Protocol):
    """What is known of a run of one file."""

    @property
    def lines(self) -> frozenset[int]: ...

    @property
    def steps(self) -> frozenset[tuple[int, int]]: ...

    @property
    def spots(self) -> frozenset[tuple[int, ...]] | None: ...


Block = tuple[ast.AST, str, Sequence[ast.AST]]
"""What a block belongs to, as what (body, orelse, ...), and the block."""


@dataclass(frozen=True)
class Leaf:
    """A statement without its blocks, the blocks that it lies in, outermost first, and the function."""

    statement: ast.stmt
    chain: tuple[Block, ...]
    function: str

    @property
    def key(self) -> str:
        return ast.dump(self.statement)

    @property
    def is_inline(self) -> bool:
        return bool(self.chain) and getattr(self.chain[-1][0], "lineno", 0) == self.statement.lineno


def find_gaps(
    trees: Mapping[str, ast.Module | None],
    code: Mapping[str, Sequence[int]],
    traces: Mapping[str, Trace],
    tested: Sequence[str] = (),
) -> Iterator[Gap]:
    """All gaps of one hunk: `code` has its lines by side, `tested` patterns of functions that are known anyway."""
    looks = {
        side: Look(side, tree, frozenset(code[side]), traces[side], tested) for side, tree in trees.items() if tree
    }
    for side, look in looks.items():
        other = next((one for name, one in looks.items() if name != side), None)
        yield from look.find_gaps(other)


class Look:
    """One side of a hunk."""

    def __init__(
        self, side: str, tree: ast.Module, code: frozenset[int], trace: Trace, tested: Sequence[str] = ()
    ) -> None:
        self.side = side
        self.code = code
        self.trace = trace
        self.names = {name for name, _ in functions_in(tree)}
        self.functions = [
            (name, function)
            for name, function in functions_in(tree)
            if self.is_changed(lines_of(function)) and not any(re.fullmatch(one, name[1:]) for one in tested)
        ]

    def is_changed(self, lines: range) -> bool:
        return any(line in self.code for line in lines)

    def ran(self, node: ast.AST) -> bool:
        return not self.trace.lines.isdisjoint(lines_of(node))  # type: ignore[arg-type]

    def ran_leaf(self, leaf: Leaf) -> bool:
        """Of a block on the line of its header, the line does not tell."""
        statement = leaf.statement
        if leaf.is_inline and not isinstance(statement, HeaderOnly):
            return self.ran(statement) and self.evaluated(statement)
        return self.ran(statement)

    def find_gaps(self, other: Look | None) -> Iterator[Gap]:
        """What is the same on the other side, and ran there no more than here, is no gap."""
        idle = Counter(leaf.key for leaf in other.leaves() if not other.ran_leaf(leaf)) if other else Counter()
        parts = {ast.dump(part) for part in other.choices()} if other else set()
        for name, function in self.functions:
            if not self.entered(function.body):
                if other is None or name not in other.names:
                    yield Gap(f"`{function.name}` is {STATES[self.side]} and never ran", False)
                continue
            yield from self.idle_leaves(name, function, idle)
            yield from self.headers(function, parts)

    def leaves(self) -> Iterator[Leaf]:
        for name, function in self.functions:
            yield from self.leaves_in(function.body, (), name)

    def leaves_in(self, block: Sequence[ast.AST], chain: tuple[Block, ...], name: str) -> Iterator[Leaf]:
        for statement in reachable(block):
            inner = list(blocks_of(statement))
            if isinstance(statement, ast.stmt):
                leaf = HeaderOnly(statement) if inner else statement
                if is_noticed(leaf) and self.is_changed(lines_of(leaf)):
                    yield Leaf(leaf, chain, name)
            for label, held in inner:
                yield from self.leaves_in(held, (*chain, (statement, label, held)), name)

    def idle_leaves(self, name: str, function: ast.AST, idle: Counter[str]) -> Iterator[Gap]:
        for leaf in self.leaves_in(function.body, (), name):  # type: ignore[attr-defined]
            if self.ran_leaf(leaf):
                continue
            if idle[leaf.key] > 0:
                idle[leaf.key] -= 1
                continue
            if not any(is_for_compiling(owner) for owner, _, block in leaf.chain if not self.entered(block)):
                yield Gap(self.tell(leaf), True)

    def entered(self, block: Sequence[ast.AST]) -> bool:
        return any(self.ran(one) for one in block)

    def tell(self, leaf: Leaf) -> str:
        """The outermost block that never ran, or the statement itself."""
        for owner, label, block in leaf.chain:
            if not self.entered(block):
                return self.name_block(owner, label, block)
        return f"line {leaf.statement.lineno} ({self.side}) never ran"

    def name_block(self, owner: ast.AST, label: str, block: Sequence[ast.AST]) -> str:
        line = getattr(owner, "lineno", 0) or block[0].lineno  # type: ignore[attr-defined]
        place = f"line {line} ({self.side})"
        if isinstance(owner, LOOPS) and label == "body":
            return f"the loop in {place} had no round"
        if isinstance(owner, ast.ExceptHandler) or label == "handlers":
            return f"the `except` of {place} was never entered"
        if isinstance(owner, ast.If):
            return (
                f"the `if` in {place} was never true" if label == "body" else f"the `else` of {place} was never taken"
            )
        return f"what is below {place} never ran"

    # Conditions, loops and expressions whose own text has changed

    def headers(self, function: ast.AST, unchanged: set[str]) -> Iterator[Gap]:
        for part in self.choices_in(function):
            if ast.dump(part) not in unchanged:
                yield from self.look_at(part)

    def choices(self) -> Iterator[ast.AST]:
        for _, function in self.functions:
            yield from self.choices_in(function)

    def choices_in(self, function: ast.AST) -> Iterator[ast.AST]:
        """Conditions, loops and the like on changed lines, of statements that ran."""
        for statement in statements_in(function):
            yield from map(HeaderOnly, self.changed_handlers(statement))
            if not self.ran_header(statement):
                continue
            for part in header_of(statement):
                for node in expressions_in(part):
                    if is_choice(node) and self.is_changed(lines_of(node)):  # type: ignore[arg-type]
                        yield node
            if isinstance(statement, (ast.If, *LOOPS)) and self.is_changed(header_lines(statement)):
                yield HeaderOnly(statement)

    def changed_handlers(self, statement: ast.stmt) -> list[ast.ExceptHandler]:
        handlers = getattr(statement, "handlers", []) if self.ran(statement) else []
        return [one for one in handlers if self.is_changed(header_lines(one))]

    def ran_header(self, statement: ast.stmt) -> bool:
        return not self.trace.lines.isdisjoint(header_lines(statement))

    def look_at(self, part: ast.AST) -> Iterator[Gap]:
        place = f"line {part.lineno} ({self.side})"  # type: ignore[attr-defined]
        if isinstance(part, HeaderOnly):
            yield from self.look_at_header(part.statement, place)
        elif isinstance(part, COMPREHENSIONS):
            item = part.key if isinstance(part, ast.DictComp) else part.elt
            if not self.evaluated(item):
                yield Gap(f"the comprehension in {place} had no item", True)
        elif isinstance(part, ast.IfExp):
            for one in (part.body, part.orelse):
                if not self.evaluated(one) and not asks_for_compiling(part.test):
                    yield Gap(f"`{short(one)}` in {place} was never evaluated", True)
        elif isinstance(part, ast.Lambda):
            if not self.evaluated(part.body):
                yield Gap(f"the lambda in {place} was never called", True)
        elif isinstance(part, ast.BoolOp) and not asks_for_compiling(part):
            idle = [one for one in part.values if not self.evaluated(one)]
            for one in idle[:1]:
                yield Gap(f"`{short(one)}` in {place} was never evaluated", has_call(one))

    def look_at_header(self, statement: Headed, place: str) -> Iterator[Gap]:
        body = statement.body  # type: ignore[union-attr]
        if isinstance(statement, (ast.ExceptHandler, *LOOPS)):
            if not self.entered(body):
                yield Gap(self.name_block(statement, "body", body), True)
        elif not is_for_compiling(statement) and body[0].lineno > statement.test.end_lineno:  # type: ignore[attr-defined]
            if not self.entered(body):
                yield Gap(f"the `if` in {place} was never true", False)
            elif not self.was_false(statement):  # type: ignore[arg-type]
                yield Gap(f"the `if` in {place} was never false", False)

    def was_false(self, statement: ast.If) -> bool:
        """Whether a line that is not below the `if` came after its condition; without steps nobody knows."""
        inside = {line for one in statement.body for line in lines_of(one)} | {*header_lines(statement)}
        left = [after for line, after in self.trace.steps if line in header_lines(statement)]
        return not left or any(after not in inside for after in left)

    def evaluated(self, node: ast.expr | ast.stmt) -> bool:
        """Whether an instruction of the expression was executed. Python folds constants: of those nothing is known."""
        if self.trace.spots is None or isinstance(node, ast.Constant):
            return True
        start, end = (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
        return any(start <= spot[:2] and spot[2:] <= end for spot in self.trace.spots)


STATES = {"before": "gone", "after": "new"}


Headed = ast.stmt | ast.ExceptHandler


class HeaderOnly(ast.stmt):
    """The header of a compound statement as a part of its own: its dump does not have the blocks."""

    _fields = ("kind", "parts")

    def __init__(self, statement: Headed) -> None:
        super().__init__()
        self.statement = statement
        self.kind = type(statement).__name__
        self.parts = list(header_of(statement))
        self.lineno = statement.lineno
        self.end_lineno = header_lines(statement)[-1]


def functions_in(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions by their qualified names."""
    for node in ast.iter_child_nodes(tree):
        name = f"{prefix}.{node.name}" if isinstance(node, DEFINITIONS) else prefix
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield name, node
        yield from functions_in(node, name)


def blocks_of(statement: ast.AST) -> Iterator[tuple[str, list[ast.AST]]]:
    """The blocks below a statement, but none of a function or a class: these run when they are called."""
    if isinstance(statement, DEFINITIONS):
        return
    for name, value in ast.iter_fields(statement):
        if isinstance(value, list) and value and isinstance(value[0], (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield name, value


def statements_in(function: ast.AST) -> Iterator[ast.stmt]:
    waiting = list(getattr(function, "body", []))
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, ast.stmt):
            yield one
        for _, block in blocks_of(one):
            waiting += block


def reachable(block: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The statements up to one after which none is reached."""
    for statement in block:
        yield statement
        if isinstance(statement, ENDS):
            return


def is_noticed(statement: ast.stmt) -> bool:
    """Whether Python notices that it runs."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    if isinstance(statement, HeaderOnly):
        return any(not isinstance(part, ast.Constant) for part in statement.parts)
    is_bare = isinstance(statement, ast.AnnAssign) and statement.value is None
    return not is_bare and not isinstance(statement, (*SILENT, *DEFINITIONS))


def header_of(statement: ast.AST) -> Iterator[ast.expr]:
    """The expressions of a statement itself."""
    if isinstance(statement, DEFINITIONS):
        return
    for value in (value for _, value in ast.iter_fields(statement)):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.expr):
                yield one
            elif isinstance(one, ast.withitem):
                yield one.context_expr


def header_lines(statement: Headed) -> range:
    """The lines of a statement without its blocks."""
    if not any(True for _ in blocks_of(statement)):
        return lines_of(statement)
    last = max([statement.lineno, *(part.end_lineno or 0 for part in header_of(statement))])
    return range(statement.lineno, last + 1)


def expressions_in(part: ast.AST) -> Iterator[ast.AST]:
    """An expression and what is in it, outermost first. What a lambda holds runs when that is called, and what stands
    beside `is_compiling()` when that is true."""
    yield part
    is_for_compiling = isinstance(part, ast.BoolOp) and isinstance(part.op, ast.And) and asks_for_compiling(part)
    if not isinstance(part, ast.Lambda) and not is_for_compiling:
        for child in ast.iter_child_nodes(part):
            yield from expressions_in(child)


def has_call(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def is_choice(node: ast.AST) -> bool:
    return isinstance(node, (*COMPREHENSIONS, ast.IfExp, ast.BoolOp, ast.Lambda))


def is_for_compiling(owner: ast.AST) -> bool:
    """Whether a statement asks if it is being compiled."""
    test = getattr(owner, "test", None)
    return test is not None and asks_for_compiling(test)


def asks_for_compiling(test: ast.expr) -> bool:
    return any(word in ast.unparse(test) for word in COMPILING)


def short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:37] + "..."
