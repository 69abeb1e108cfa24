"""`x[i].item()` in a loop over `i`: which tensor, which index, which loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.tensors.tables import BOOL_REDUCTIONS
from fullgraph.codemods.topics.host_reads.look import Look, names_in
from fullgraph.codemods.topics.host_reads.reads import Loop, Read, bare, loops_around

ROW_REDUCTIONS = {
    **{name: name for name in BOOL_REDUCTIONS},
    "max": "amax",
    "min": "amin",
    "amax": "amax",
    "amin": "amin",
}
"""Reductions of a row whose result is the same number, bit by bit, if all rows are reduced at once."""


@dataclass(frozen=True, eq=False)
class Row:
    """A read of one element of `owner`, or of a reduced row of it, in a loop that counts through the elements.

    `loop` is the outermost of the loops that count; `keys` a loop inside it that goes through the keys of `owner`.
    """

    read: Read
    owner: ast.expr
    indices: tuple[ast.expr, ...]
    reduction: str
    loop: Loop
    keys: Loop | None
    counting: tuple[Loop, ...]

    @property
    def source(self) -> ast.expr:
        """The tensor, or the dict that holds it."""
        if self.keys is None:
            return self.owner
        call = self.keys.node.iter
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and is_items(call):
            return call.func.value
        assert isinstance(self.owner, ast.Subscript)
        return self.owner.value

    @property
    def same_as(self) -> tuple[str, ...]:
        """Equal for reads that one list can answer."""
        fixed = ["" if names_in(index) else ast.dump(index) for index in self.indices]
        return (ast.dump(self.owner), self.reduction, *fixed, ast.dump(self.keys.node) if self.keys else "")


def row_of(look: Look, read: Read) -> Row | None:
    """The read as a row; None if it is none. Unsure if it is, but its index is not a plain count."""
    loops = list(loops_around(look.module, read.node))
    node, reduction = reduced(read.tensor)
    counters = {name: loop for loop in reversed(loops) for name in counted(look, loop)}
    owner, indices = peel(look, node, counters)
    if not indices or not loops:
        return None
    used = [counters[name] for index in indices for name in names_in(index)]
    loop = next(loop for loop in reversed(loops) if loop in used)
    inside = loops[: loops.index(loop)]
    keys = [inner for inner in inside if inner.names & names_in(owner)]
    if len(keys) > 1 or loop.names & names_in(owner) or (keys and not is_key_loop(keys[0], owner)):
        return None
    if not look.is_pure(owner):
        return None
    return Row(read, owner, tuple(indices), reduction, loop, keys[0] if keys else None, (*used, *keys))


def reduced(node: ast.expr) -> tuple[ast.expr, str]:
    """`mask[i]` and `all` of `mask[i].all()`."""
    is_bare = isinstance(node, ast.Call) and not node.args and not node.keywords
    if is_bare and isinstance(node.func, ast.Attribute) and node.func.attr in ROW_REDUCTIONS:  # type: ignore[attr-defined]
        return bare(node.func.value), node.func.attr  # type: ignore[attr-defined]
    return node, ""


def counted(look: Look, loop: Loop) -> set[str]:
    """The names that a loop counts with: of `range` and `enumerate`, not bound again inside the loop."""
    call, target = loop.node.iter, loop.node.target
    if not isinstance(call, ast.Call) or loop.is_async:
        return set()
    if look.module.scopes.is_builtin(call.func, "range") and isinstance(target, ast.Name):
        name = target.id
    elif look.module.scopes.is_builtin(call.func, "enumerate") and isinstance(target, ast.Tuple):
        first = target.elts[0]
        name = first.id if isinstance(first, ast.Name) else ""
    else:
        return set()
    stored = (inner for node in loop.body for inner in ast.walk(node) if isinstance(inner, ast.Name))
    is_bound = any(inner.id == name and not isinstance(inner.ctx, ast.Load) for inner in stored)
    return set() if is_bound or not name else {name}


def peel(look: Look, node: ast.expr, counters: dict[str, Loop]) -> tuple[ast.expr, list[ast.expr]]:
    """The tensor and the indices of `x[i]`, `x[i, 0]` or `x[i][j]`; no indices where some are not plain counts.

    `x[i][j]` is peeled twice only if `x` is seen to be a tensor: it may be a list of them.
    """
    indices: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not all(is_count(part, counters) for part in parts):
            break
        if indices and not look.known(node.value).is_tensor:
            break
        indices = [*parts, *indices]
        node = node.value
    has_counter = any(names_in(index) for index in indices)
    return (node, indices) if has_counter else (node, [])


def is_count(index: ast.expr, counters: dict[str, Loop]) -> bool:
    """A counter, a whole number, or a sum of these."""
    if isinstance(index, ast.Name):
        return index.id in counters
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        return is_count(index.operand, counters)
    if isinstance(index, ast.BinOp) and isinstance(index.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)):
        return is_count(index.left, counters) and is_count(index.right, counters)
    return isinstance(index, ast.Constant) and type(index.value) is int


def is_key_loop(loop: Loop, owner: ast.expr) -> bool:
    """Whether a loop goes through keys (`d[k]` in `for k in d`) or through items (`v` in `for k, v in d.items()`)."""
    target = loop.node.target
    if isinstance(target, ast.Name):
        return isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Name) and owner.slice.id == target.id
    is_pair = (
        isinstance(target, ast.Tuple) and len(target.elts) == 2 and all(isinstance(e, ast.Name) for e in target.elts)
    )
    return is_pair and isinstance(owner, ast.Name) and owner.id == target.elts[1].id and is_items(loop.node.iter)  # type: ignore[attr-defined]


def is_items(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items"


def why_not(look: Look, read: Read) -> str:
    """Why the read of a tensor's element in a loop is not a plain count; empty if it is no such read."""
    loops = list(loops_around(look.module, read.node))
    node, _ = reduced(read.tensor)
    if not loops or not isinstance(node, ast.Subscript) or not look.known(node.value).is_tensor:
        return ""
    index, place = node.slice, where(look.module, read.node)
    counters = {name: loop for loop in loops for name in counted(look, loop)}
    if peel(look, node, counters)[1]:
        return ""
    bound = set().union(*(loop.names for loop in loops)) | stored_in(loops)
    if not names_in(index) & bound and look.is_pure(index):
        return ""
    if not look.is_pure(index):
        return f"{place}: the index `{look.text(index)}` may have effects of its own"
    return f"{place}: the index `{look.text(index)}` depends on data"


def stored_in(loops: Sequence[Loop]) -> set[str]:
    """Every name that is bound in the outermost loop."""
    nodes = (inner for node in loops[-1].body for inner in ast.walk(node))
    return {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}


def check_names(look: Look, row: Row) -> None:
    """Raise where the tensor is not there before the loop."""
    bound = {name for home in homes_inside(look, row) for name in home}
    if bound & names_in(row.owner) - (row.keys.names if row.keys else set()):
        raise Unsure(f"{where(look.module, row.loop.node.target)}: `{look.text(row.owner)}` is made inside the loop")


def homes_inside(look: Look, row: Row) -> list[set[str]]:
    """The names of comprehensions around the loop, which are not there in the line before."""
    inside = [outer for outer in look.module.ancestors(row.read.node) if isinstance(outer, COMPREHENSIONS)]
    return [
        {node.id for generator in outer.generators for node in ast.walk(generator.target) if isinstance(node, ast.Name)}
        for outer in inside
    ]
