"""What torch must be told of a number that was read from a tensor: that a slice does not count from the end.

The backward of a slice is worked out for bounds that count from the start. Where the bound is a number in the graph,
inductor must know which of the two it is, or it raises GuardOnDataDependentSymNode (torch 2.13).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.compile_settings.constructs import SCALARS, Construct
from fullgraph.codemods.topics.compile_settings.fates import assigned_name, is_number

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
COUNTED = {"zeros", "ones", "empty", "rand", "randn", "arange", "new_zeros", "new_ones", "new_empty"}
"""What takes no negative number, so that torch knows it from there on."""

POSITIONS = {"argmax", "argmin", "count_nonzero"}
PERHAPS = (
    ast.IfExp,
    ast.BoolOp,
    ast.Lambda,
    ast.comprehension,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""Of these a part may not run with the statement."""

TOLD = {"torch._check", "torch._check_is_size"}

NEGATIVE = "compiled code raises where the bound of a slice is negative, which plain slicing allows"
SILENT = "in training inductor must know that the bound of a slice is not negative, and cannot be told here"


@dataclass(frozen=True)
class Hint:
    """A bound that torch has to be told of, before the statement with the slice. `is_sure`: it is never negative."""

    module: Module
    statement: ast.stmt
    bound: ast.expr
    is_sure: bool

    @property
    def text(self) -> str:
        return f"{self.module.code(self.bound)} >= 0"

    def write(self) -> tuple[Edit, ...]:
        """Plain code may slice with a negative bound: there nothing is checked unless it cannot fail."""
        torch, imports = self.module.imports.require("torch")
        check = f"{torch}._check({self.text})"
        asks = self.module.imports.spelling("torch.compiler.is_compiling") or f"{torch}.compiler.is_compiling"
        lines = [check] if self.is_sure else [f"if {asks}():", f"\t{check}"]
        return (*imports, insert_before(self.module, self.statement, lines))


def write_hints(constructs: Iterable[Construct], can_ask: bool) -> tuple[tuple[Edit, ...], list[str]]:
    """The checks that tell torch of bounds, and what is to be said of them."""
    hints, silent = hints_for(constructs, can_ask)
    doubts = [NEGATIVE] * any(not hint.is_sure for hint in hints)
    doubts += [f"{place}: {SILENT}" for place in dict.fromkeys(silent)]
    edits = tuple(edit for hint in hints for edit in hint.write())
    return tuple(dict.fromkeys(edits)), doubts


def hints_for(constructs: Iterable[Construct], can_ask: bool) -> tuple[list[Hint], list[str]]:
    """What is to be told, once for all slices of a block; and the lines with slices for which nothing can be.

    `can_ask`: whether plain code can tell that it is not compiled.
    """
    hints: dict[tuple[ast.stmt, str], Hint] = {}
    silent: list[str] = []
    for one, bound in bounds_of(constructs):
        statement = one.module.statement(bound)
        if is_told(one.module, bound, statement) or is_counted(one, bound, statement):
            continue
        hint = Hint(one.module, statement, bound, is_sure(one.module, bound))
        if not (hint.is_sure or can_ask) or not can_be_told(one.module, bound, statement):
            silent.append(f"{one.module.path}:{bound.lineno}")
            continue
        hints.setdefault((one.module.block(statement)[0], hint.text), hint)
    return list(hints.values()), silent


def bounds_of(constructs: Iterable[Construct]) -> Iterator[tuple[Construct, ast.expr]]:
    """Every bound of a slice that is a number from a tensor."""
    for one in constructs:
        fates = [fate for fate in one.fates if one.setting == SCALARS and fate.kind == "size"]
        yield from ((one, fate.bound) for fate in fates if fate.bound is not None)


def can_be_told(module: Module, bound: ast.expr, statement: ast.stmt) -> bool:
    """Whether the bound is made of names and sizes alone, so that it may be asked for twice, and there is room."""
    if not isinstance(statement, SIMPLE) or not is_steady(module, bound):
        return False
    within = takewhile(lambda outer: outer is not statement, module.ancestors(bound))
    if any(isinstance(outer, PERHAPS) for outer in within):
        return False
    try:
        insert_before(module, statement, ["", ""])
    except Unsure:
        return False
    return True


def is_steady(module: Module, node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return is_steady(module, node.left) and is_steady(module, node.right)
    is_read = isinstance(node, ast.Call) and not (
        getattr(node.func, "attr", "") == "size" or module.scopes.is_builtin(node.func, "len")
    )
    return isinstance(node, ast.Name) or (is_number(module, node) and not is_read)


def is_counted(one: Construct, bound: ast.expr, statement: ast.stmt) -> bool:
    """Whether torch learns it from the code: from a size that the very number is on the way, or from `max(k, 0)`."""
    value = value_behind(one.module, bound)
    if isinstance(value, ast.Call) and one.module.scopes.is_builtin(value.func, "max"):
        return any(isinstance(part, ast.Constant) and type(part.value) is int for part in value.args)
    sizes = [fate.node for fate in one.fates if fate.kind == "size" and isinstance(fate.node, ast.Call)]
    return any(is_size(one.module, call, bound) and is_on_the_way(one.module, call, statement) for call in sizes)


def is_size(module: Module, call: ast.Call, bound: ast.expr) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    rows = [part for part in call.args if isinstance(part, (ast.Tuple, ast.List))]
    given = [*call.args, *(part for row in rows for part in row.elts)]
    is_start = name == "arange" and len(call.args) > 1
    return name in COUNTED and not is_start and any(ast.dump(part) == ast.dump(bound) for part in given)


def is_on_the_way(module: Module, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether what stands there runs whenever a statement does, in the same call."""
    around = {statement, *module.ancestors(statement)}
    return any(one in around for one in module.block(module.statement(node)))


def is_told(module: Module, bound: ast.expr, statement: ast.stmt) -> bool:
    """Whether a check or an assertion of the same function is about this bound already."""
    function = module.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(function) if function else ():
        asked = node.test if isinstance(node, ast.Assert) else None
        if isinstance(node, ast.Call) and node.args and module.resolve(node.func) in TOLD:
            asked = node.args[0]
        is_least = isinstance(asked, ast.Compare) and isinstance(asked.ops[0], (ast.Gt, ast.GtE, ast.Eq))
        left = asked.left if is_least and isinstance(asked, ast.Compare) else asked
        if left is not None and ast.dump(left) == ast.dump(bound):
            return True
    return False


def is_sure(module: Module, bound: ast.expr) -> bool:
    """Whether a bound counts something, or is a position: whatever the values are, it is not negative."""
    value = value_behind(module, bound)
    while isinstance(value, ast.Call) and (isinstance(value.func, ast.Attribute) or value.args):
        name = getattr(value.func, "attr", "")
        if name in POSITIONS:
            return True
        inner = value.func.value if isinstance(value.func, ast.Attribute) else value.args[0]
        if name == "sum":
            return isinstance(inner, ast.Compare)
        if name != "item" and not module.scopes.is_builtin(value.func, "int"):
            return False
        value = inner
    return False


def value_behind(module: Module, node: ast.expr) -> ast.expr:
    """What a name was given, if it was given something once."""
    if not isinstance(node, ast.Name):
        return node
    bound = module.scopes.bindings(node)
    value = bound[0].value if len(bound) == 1 else None
    is_own = value is not None and assigned_name(module, module.parent(value), value) is not None
    return value if is_own and value is not None else node
