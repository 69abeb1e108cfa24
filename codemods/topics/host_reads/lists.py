"""Rows read at once: the lists that stand before the loop, and the reads that become items of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.tensors.counters import is_whole, length_of
from fullgraph.codemods.syntax.tensors.tables import COUNTING, FACTORIES
from fullgraph.codemods.syntax.tensors.usage import is_used_as_array
from fullgraph.codemods.topics.host_reads.gathering import is_list
from fullgraph.codemods.topics.host_reads.listing import Listed, before_loop
from fullgraph.codemods.topics.host_reads.look import Batch, Look, names_in
from fullgraph.codemods.topics.host_reads.paths import (
    SIMPLE,
    between,
    check_room,
    check_way_out,
    is_conditional,
    leaves_early,
    runs_before,
    skips,
)
from fullgraph.codemods.topics.host_reads.reads import SCOPES, Read
from fullgraph.codemods.topics.host_reads.rows import (
    ROW_REDUCTIONS,
    Row,
    check_names,
    is_items,
    row_of,
    stored_in,
    why_not,
)

SMALL = 1024
"""So many numbers are read as quickly as one."""


def batch_rows(look: Look, found: list[Read]) -> Iterator[Batch]:
    """The reads of elements in loops that count, loop by loop."""
    by_loop: dict[ast.AST, list[Row]] = {}
    for read in found:
        row = row_of(look, read)
        if row is None:
            reason = why_not(look, read)
            if reason:
                look.claimed.add(read.node)
                yield Batch(read.node, one_by_one(look, [read.tensor]), left_alone=reason)
        elif look.known(row.owner).what in ("", "tensor"):
            by_loop.setdefault(place_of(look, row), []).append(row)
            look.claimed.add(read.node)
    for rows in by_loop.values():
        yield from batch_loop(look, rows)


def place_of(look: Look, row: Row) -> ast.AST:
    """What reads must have in common to be batched together: the loop, or the statement around comprehensions."""
    return row.loop.node if row.loop.is_statement or is_whole_list(look, row) else look.module.statement(row.loop.home)


def one_by_one(look: Look, tensors: list[ast.expr]) -> str:
    texts = list(dict.fromkeys(f"`{look.text(tensor)}`" for tensor in tensors))
    names = " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
    return f"{names} {'are' if len(texts) > 1 else 'is'} read one number at a time"


def batch_loop(look: Look, rows: list[Row]) -> Iterator[Batch]:
    """What one loop reads: together what can be read before it, and each of the others with its reason."""
    same: dict[tuple[str, ...], list[Listed]] = {}
    for part in alike(rows):
        try:
            group = listed(look, part)
            same.setdefault((*part[0].same_as, group.tensor), []).append(group)
        except Unsure as unsure:
            message = one_by_one(look, [row.read.tensor for row in part])
            yield Batch(part[0].read.node, message, left_alone=str(unsure))
    if not same:
        return
    kept = [merged(parts) for parts in same.values()]
    first = kept[0].rows[0]
    message = one_by_one(look, [group.rows[0].read.tensor for group in kept])
    try:
        edits, more = written(look, kept)
    except Unsure as unsure:
        yield Batch(first.read.node, message, left_alone=str(unsure))
        return
    caveats = tuple(dict.fromkeys(caveat for group in kept for caveat in group.caveats))
    yield Batch(first.read.node, message, tuple(edits), caveats, notes=more)


def alike(rows: list[Row]) -> list[list[Row]]:
    """The reads of one tensor in one loop, which one list can answer."""
    found: dict[tuple[ast.AST, tuple[str, ...]], list[Row]] = {}
    for row in rows:
        found.setdefault((row.loop.node, row.same_as), []).append(row)
    return list(found.values())


def merged(parts: list[Listed]) -> Listed:
    """One list for reads that several loops of a statement make of the same tensor."""
    rows = tuple(row for part in parts for row in part.rows)
    guard = parts[0].guard if len({part.guard for part in parts}) == 1 else ""
    return Listed(rows, parts[0].tensor, tuple(caveat for part in parts for caveat in part.caveats), guard)


def listed(look: Look, rows: list[Row]) -> Listed:
    """What makes the list, after all that must hold for it; Unsure otherwise."""
    row, known = rows[0], look.known(rows[0].owner)
    check_end(look, rows)
    caveats = [] if is_whole_list(look, row) else check_before(look, rows)
    is_plain = not row.reduction and sum(bool(names_in(index)) for index in row.indices) == 1
    is_array = is_plain and isinstance(row.owner, ast.Name) and is_used_as_array(look.module, row.owner)
    if not known.is_tensor and not is_array:
        caveats.append(f"nothing says that `{look.text(row.owner)}` is a tensor: a list of tensors has no `tolist`")
    return Listed(tuple(rows), made_by(look, rows), tuple(caveats), guard_of_all(look, rows))


def check_before(look: Look, rows: list[Row]) -> list[str]:
    """Caveats about reading the tensor before the loop; Unsure where that would not be the same."""
    row, top = rows[0], rows[0].loop.home
    statement = top if isinstance(top, ast.stmt) else check_room(look.module, top)
    check_names(look, row)
    for each in rows:
        check_way_out(look.module, each.read.node, top)
        check_conditions(look, each, look.known(row.owner).is_tensor)
    around = row.loop.running if row.loop.is_statement else runs_before(look.module, top, statement)
    when = "in the loop" if row.loop.is_statement else "in this statement"
    caveats = look.check_unchanged(row.source, around, when)
    if row.keys and ast.dump(row.keys.node.iter) != ast.dump(row.source):
        caveats += look.check_unchanged(row.keys.node.iter, around, when)
    return [*caveats, *check_there(look, row)]


def check_there(look: Look, row: Row) -> list[str]:
    """A caveat where the tensor is an item that nothing says is there in case the loop has no round."""
    if row.keys is not None:
        keys = row.keys.node.iter
        if ast.dump(keys) == ast.dump(row.source) or is_items(keys):
            return []
        func = keys.func if isinstance(keys, ast.Call) else None
        is_keys = isinstance(func, ast.Attribute) and func.attr == "keys"
        if is_keys and ast.dump(func.value) == ast.dump(row.source):  # type: ignore[union-attr]
            return []
        if not is_list(look, keys):
            place = where(look.module, keys)
            raise Unsure(f"{place}: `{look.text(keys)}` may be an iterator, which runs only once")
    elif not is_looked_up(look, row.owner) or is_seen_before(look, row):
        return []
    return [f"`{look.text(row.owner)}` must be there even if the loop has no round"]


def is_looked_up(look: Look, owner: ast.expr) -> bool:
    """Whether some part of an expression is an item that may be missing."""
    parts = (node for node in ast.walk(owner) if isinstance(node, ast.Subscript))
    return any(not look.known(part.value).is_tensor for part in parts)


def is_seen_before(look: Look, row: Row) -> bool:
    """Whether the tensor is asked for before the loop in any case: in its head, or in a statement before it."""
    module, dump = look.module, ast.dump(row.owner).replace("Store()", "Load()")
    top = row.loop.home if row.loop.is_statement else module.statement(row.loop.home)
    if any(ast.dump(node) == dump for node in ast.walk(row.loop.node.iter)):
        return True
    statement: ast.AST | None = top
    while isinstance(statement, ast.stmt):
        block = module.block(statement)
        for earlier in block[: block.index(statement)]:
            found = (node for node in ast.walk(earlier) if isinstance(node, ast.Subscript))
            same = (node for node in found if ast.dump(node).replace("Store()", "Load()") == dump)
            if any(isinstance(earlier, SIMPLE) and not is_conditional(module, node, earlier) for node in same):
                return True
        statement = module.parent(statement)
        if isinstance(statement, SCOPES):
            return False
    return False


def check_conditions(look: Look, row: Row, is_tensor: bool) -> None:
    """A read that is not made in every round may stand there because the tensor is not always one."""
    is_skipped = any(is_choice_inside(look, row)) or skips(look.module, row.loop) is not None
    if is_skipped and not is_tensor:
        place = where(look.module, row.read.node)
        raise Unsure(f"{place}: `{look.text(row.owner)}` is read under a condition, and may be no tensor otherwise")
    if is_skipped and row.keys:
        raise Unsure(f"{where(look.module, row.read.node)}: not every key is read")


def guard_of_all(look: Look, rows: list[Row]) -> str:
    """The condition of all reads, if it is the same in every round: a read that is switched off must stay so.

    Unsure where that cannot be asked before the loop.
    """
    tests = [fixed_tests(look, row) for row in rows]
    if not all(tests):
        return ""
    (test, is_body), *others = [test for each in tests for test in each]
    is_one = is_body and all((ast.dump(test), True) == (ast.dump(other), is_true) for other, is_true in others)
    if not is_one or not look.is_pure(test) or what_changes(look.project, look.module, test, rows[0].loop.running):
        place = where(look.module, rows[0].read.node)
        raise Unsure(f"{place}: whether `{look.text(rows[0].owner)}` is read hangs on `{look.text(test)}`")
    return look.text(test)


def fixed_tests(look: Look, row: Row) -> list[tuple[ast.expr, bool]]:
    """The conditions between the loop and the read that are the same in every round, and whether they must be true."""
    found: list[tuple[ast.expr, bool]] = []
    bound = row.loop.names | stored_in([row.loop])
    child: ast.AST = row.read.node
    for outer in between(look.module, row.read.node, row.loop.home):
        if isinstance(outer, (ast.If, ast.IfExp)) and child is not outer.test and not names_in(outer.test) & bound:
            inside = outer.body if isinstance(outer.body, list) else [outer.body]
            found.append((outer.test, child in inside))
        child = outer
    if (skip := skips(look.module, row.loop)) and isinstance(test := look.module.parent(skip), ast.If):
        found += [] if names_in(test.test) & bound else [(test.test, False)]
    return found


def is_choice_inside(look: Look, row: Row) -> Iterator[bool]:
    tops = [row.loop.home] if row.loop.is_statement else [look.module.statement(row.loop.home)]
    is_filter = not row.loop.is_statement and bool(row.loop.node.ifs)  # type: ignore[union-attr]
    if row.keys and not row.keys.is_statement and row.keys.home is not row.loop.home:
        yield is_conditional(look.module, row.keys.home, tops[0])
    else:
        yield is_conditional(look.module, row.read.node, tops[0])
    yield is_filter


def check_end(look: Look, rows: list[Row]) -> None:
    """A loop that may stop early must not read a large tensor to its end."""
    row = rows[0]
    ends = [end for loop in row.counting if (end := leaves_early(look.module, loop))]
    if not ends or is_small(look, rows):
        return
    end = ends[0]
    what = type(end).__name__.lower() if isinstance(end, (ast.Return, ast.Break, ast.Yield, ast.Await)) else "consumer"
    text = (
        f"its {what} may stop before everything is read" if what == "consumer" else f"`{what}` may end the loop early"
    )
    raise Unsure(f"{where(look.module, end)}: {text}, and `{look.text(row.owner)}` may be large")


def is_small(look: Look, rows: list[Row]) -> bool:
    """Whether the loop is seen to go through a few elements only, which are all that is read then."""
    bound = bound_of(look, rows[0]) if slice_of(look, rows) != ":" else None
    value = bound
    if isinstance(bound, ast.Name):
        found = look.tensors.names.statement(look.module, bound)
        value = found.node.value if found and isinstance(found.node, (ast.Assign, ast.AnnAssign)) else None
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value <= SMALL


# What makes the list


def made_by(look: Look, rows: list[Row]) -> str:
    """`x[:n, 0]`: all that the loop will ask for, and as flat as it asks."""
    row, known = rows[0], look.known(rows[0].owner)
    counting = [index for index in row.indices if names_in(index)]
    parts = [
        slice_of(look, rows) if index is counting[0] else ":" if names_in(index) else look.text(index)
        for index in row.indices
    ]
    while parts and parts[-1] == ":":
        parts.pop()
    subscript = f"[{', '.join(parts)}]" if parts else ""
    text = look.operand(row.owner) + subscript
    if row.reduction:
        depth = len(counting)
        flat = "" if known.ndim == len(row.indices) + 1 else f".flatten({depth})"
        return f"{text}{flat}.{ROW_REDUCTIONS[row.reduction]}(dim={depth})"
    is_flat = known.ndim == len(row.indices)
    deep = "" if len(counting) == 1 else str(len(counting) - 1)
    return text if is_flat else f"{text}.flatten({deep})"


def slice_of(look: Look, rows: list[Row]) -> str:
    """The part of the first dimension that the loop goes through, if that may be less than all of it."""
    row, bound = rows[0], bound_of(look, rows[0])
    if bound is None or length_of(look.module, bound) or not look.is_pure(bound):
        return ":"
    firsts = [next(index for index in each.indices if names_in(index)) for each in rows]
    if not all(isinstance(first, ast.Name) for first in firsts) or is_of_length(look, bound):
        return ":"
    text = look.text(bound)
    maker, _, size = look.known(row.owner).shape.partition(" ")
    if maker in FACTORIES | COUNTING and size == text:
        return ":"
    return f":{text}" if isinstance(bound, (ast.Name, ast.Constant)) else f": {text}"


def is_of_length(look: Look, bound: ast.expr) -> bool:
    """Whether a bound is a size of something by name: `B, T = x.shape`."""
    if not isinstance(bound, ast.Name):
        return False
    bindings = look.module.scopes.bindings(bound)
    return any(binding.path for binding in bindings) and is_whole(look.tensors.names, look.module, bound)


def bound_of(look: Look, row: Row) -> ast.expr | None:
    """`n` of the `range(n)` or `range(a, n)` that the first index counts through."""
    name = next(iter(names_in(next(index for index in row.indices if names_in(index)))))
    call = row.loop.node.iter
    is_range = isinstance(call, ast.Call) and look.module.scopes.is_builtin(call.func, "range")
    if name not in row.loop.names or not is_range or not isinstance(call, ast.Call) or not 1 <= len(call.args) <= 2:
        return None
    is_from_zero = len(call.args) == 1 or is_not_negative(call.args[0])
    return call.args[-1] if is_from_zero else None


def is_not_negative(start: ast.expr) -> bool:
    """Whether a loop that begins here counts from the front: an index below zero counts from the end of a tensor."""
    if isinstance(start, ast.Constant):
        return type(start.value) is int and start.value >= 0
    return isinstance(start, ast.Call) and getattr(start.func, "id", "") == "len"


# What is written


def written(look: Look, groups: list[Listed]) -> tuple[list[Edit], tuple[str, ...]]:
    """The list in the place of the comprehension, or lines before the loop."""
    first = groups[0].rows[0]
    if start := appended_to(look, groups):
        span = Span(look.module.span(start).start, look.module.span(first.loop.home).end)
        return [look.module.replace(span, f"{look.text(start.targets[0])} = {groups[0].made}")], ()
    if not is_whole_list(look, first):
        return before_loop(look, groups)
    made, home = groups[0].made, first.loop.home
    is_bracketed = look.module.code(home).startswith("(")
    return [look.module.replace(home, f"({made})" if is_bracketed else made)], ()


def appended_to(look: Look, groups: list[Listed]) -> ast.Assign | None:
    """The `found = []` before `for i in range(len(x)): found.append(x[i].item())`: both are the list itself."""
    module, row = look.module, groups[0].rows[0]
    home, call = row.loop.home, module.parent(row.read.node)
    if len(groups) > 1 or len(groups[0].rows) > 1 or not isinstance(home, ast.For) or not goes_through(look, row):
        return None
    block = module.block(home)
    start = block[block.index(home) - 1] if block.index(home) else None
    if not isinstance(start, ast.Assign) or not isinstance(call, ast.Call) or home.orelse or len(home.body) > 1:
        return None
    is_append = (
        module.parent(call) is home.body[0] and ast.unparse(call.func) == f"{ast.unparse(start.targets[0])}.append"
    )
    is_new = ast.unparse(start.value) == "[]" and isinstance(start.targets[0], ast.Name) and len(start.targets) == 1
    counters = [node for node in ast.walk(home.target) if isinstance(node, ast.Name)]
    names = [name for node in counters for name in module.scopes.names(module.scopes.of(node), node.id)]
    is_kept = any(home not in module.ancestors(name) for name in names)
    between_them = module.text[module.span(start).end : module.span(home).end]
    return start if is_append and is_new and not is_kept and "#" not in between_them else None


def is_whole_list(look: Look, row: Row) -> bool:
    """Whether a comprehension is the list itself: `[x[i].item() for i in range(len(x))]`."""
    home = row.loop.home
    if not isinstance(home, (ast.ListComp, ast.GeneratorExp)) or home.elt is not row.read.node:
        return False
    return len(home.generators) == 1 and not home.generators[0].ifs and goes_through(look, row)


def goes_through(look: Look, row: Row) -> bool:
    """Whether a loop reads each row of its tensor, from the first to the last."""
    bound = bound_of(look, row)
    is_plain = not row.keys and isinstance(row.indices[0], ast.Name)
    is_from_zero = isinstance(row.loop.node.iter, ast.Call) and len(row.loop.node.iter.args) == 1
    is_length = bound is not None and length_of(look.module, bound) == ast.unparse(row.owner)
    is_still = not isinstance(bound, ast.Name) or is_bound_once(look, row.owner)
    return is_plain and is_from_zero and is_length and is_still


def is_bound_once(look: Look, owner: ast.expr) -> bool:
    """Whether a length that was taken sooner still is the length: the variable has been the same tensor since."""
    return isinstance(owner, ast.Name) and len(look.module.scopes.bindings(owner)) == 1
