"""The lines that read rows at once, and the reads as items of the lists."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.syntax.effects.answers import what_changes
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.host_reads.look import Look, names_in, one_of
from fullgraph.codemods.topics.host_reads.rows import Row, is_items

AMIN, AMAX = ".amin(dim=1)", ".amax(dim=1)"
AMINMAX = {AMIN: AMAX, AMAX: AMIN}


@dataclass(frozen=True, eq=False)
class Listed:
    """One list that answers some reads: what it is made by, and what must hold. `tensor` is what becomes a list.

    `guard`: a condition of all the reads that is the same in every round, under which the list is made, too.
    """

    rows: tuple[Row, ...]
    tensor: str
    caveats: tuple[str, ...] = ()
    guard: str = ""

    @property
    def made(self) -> str:
        return f"{self.tensor}.tolist()"


def before_loop(look: Look, groups: list[Listed]) -> tuple[list[Edit], tuple[str, ...]]:
    """Lines that make the lists before the loop, and an item for each read; with what is to be said about it."""
    top = groups[0].rows[0].loop.home
    statement = outermost(look, groups, top if isinstance(top, ast.stmt) else look.module.statement(top))
    names = {group: name_of(look, group) for group in groups}
    edits = [edit for group in groups for edit in items(look, group, names[group])]
    reason = why_apart(look, groups) if look.in_all else ""
    is_one = look.in_all and len(groups) > 1 and not reason
    torch, imports = look.torch()
    lines: list[str] = []
    for part in [groups] if is_one else with_extremes(groups):
        made = stacked(torch, part) if len(part) > 1 else made_for(look, part[0])
        made += guarded(look, part)
        lines += look.laid_out(statement, ", ".join(names[group] for group in part), made, torch)
    needed = imports if any(f"{torch}.stack(" in line for line in lines) else ()
    return [insert_before(look.module, statement, lines), *needed, *edits], (reason,) if reason else ()


def guarded(look: Look, part: list[Listed]) -> str:
    """`if telemetry else []`, where nothing is read otherwise."""
    if len({group.guard for group in part}) > 1:
        raise Unsure(f"{where(look.module, part[0].rows[0].read.node)}: the reads stand under different conditions")
    return f" if {part[0].guard} else {'{}' if part[0].rows[0].keys else '[]'}" if part[0].guard else ""


def outermost(look: Look, groups: list[Listed], statement: ast.stmt) -> ast.stmt:
    """The statement before which the lists are made: an outer loop, where nothing in that can change them."""
    outer = look.module.parent(statement)
    while isinstance(outer, (ast.For, ast.While)) and statement in outer.body:
        if not all(stays(look, group, outer) for group in groups):
            break
        statement, outer = outer, look.module.parent(outer)
    return statement


def stays(look: Look, group: Listed, outer: ast.For | ast.While) -> bool:
    """Whether the list would be the same before this loop as in each of its rounds."""
    row, made = group.rows[0], ast.parse(f"{group.tensor}, {group.guard or None}", mode="eval").body
    stored = {node.id for node in ast.walk(outer) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    slices = [node.slice for node in ast.walk(made) if isinstance(node, ast.Subscript)]
    asked = [*slices, *made.elts[1:]]  # type: ignore[attr-defined]
    is_plain = row.keys is None and isinstance(row.owner, ast.Name) and look.known(row.owner).is_tensor
    is_fixed = not any(isinstance(node, (ast.Attribute, ast.Call)) for part in asked for node in ast.walk(part))
    if not is_plain or not is_fixed or names_in(made) & stored:
        return False
    return what_changes(look.project, look.module, row.owner, [outer]) is None


def with_extremes(groups: list[Listed]) -> list[list[Listed]]:
    """Each list on its own, but the smallest and the largest of the same rows together."""
    found: list[list[Listed]] = []
    for group in groups:
        other = AMINMAX.get(group.tensor[-len(AMIN) :])
        pair = group.tensor[: -len(AMIN)] + other if other and group.rows[0].keys is None else ""
        beside = next((part for part in found if len(part) == 1 and part[0].tensor == pair), None)
        if beside is None:
            found.append([group])
        else:
            beside.append(group)
            beside.sort(key=lambda each: each.tensor.endswith(AMAX))
    return found


def stacked(torch: str, groups: list[Listed]) -> str:
    """Several lists by one read."""
    first = groups[0].tensor
    if first.endswith(AMIN) and groups[1].tensor.endswith(AMAX):
        return f"{torch}.stack({first.removesuffix(AMIN)}.aminmax(dim=1)).tolist()"
    return f"{torch}.stack([{', '.join(group.tensor for group in groups)}]).tolist()"


def why_apart(look: Look, groups: list[Listed]) -> str:
    """Why the lists take more than one read; empty if one is enough."""
    rows = [group.rows[0] for group in groups]
    if len(groups) == 1:
        unknown = "one read per key: nothing says that their dtypes and shapes are the same"
        return unknown if rows[0].keys else ""
    parts = {group.tensor.removeprefix(look.operand(row.owner)) for group, row in zip(groups, rows, strict=True)}
    if any(row.keys or row.reduction or len(row.indices) > 1 for row in rows) or len(parts) > 1:
        return "one read per tensor: they are not read alike"
    found = [look.known(row.owner) for row in rows]
    is_seen = all(known.ndim is not None and known.kind and known.shape for known in found)
    if not is_seen or len({(known.ndim, known.kind, known.shape) for known in found}) > 1:
        return "one read per tensor: nothing says that their dtypes and shapes are the same"
    together = set.intersection(*(set(known.devices) for known in found))
    return "" if look.same_device or together else "one read per tensor: they may live on different devices"


def name_of(look: Look, group: Listed) -> str:
    row = group.rows[0]
    node, word = row.read.node, look.stem(row.source)
    if row.reduction:
        return look.new_name(node, f"{one_of(word)}_{row.reduction}s" if row.keys else f"{word}_{row.reduction}")
    names = look.list_names(node, word)
    return look.new_name(node, f"{names[-1]}s") if row.keys else look.new_name(node, *names)


def made_for(look: Look, group: Listed) -> str:
    """What makes the list; for all keys at once if there are several tensors."""
    keys = group.rows[0].keys
    if keys is None:
        return group.made
    filters = "".join(f" if {look.text(test)}" for test in getattr(keys.node, "ifs", []))
    loop = f"for {look.text(keys.node.target)} in {look.operand(keys.node.iter)}{filters}"
    return f"{{{key_of(look, group.rows[0])}: {group.made} {loop}}}"


def key_of(look: Look, row: Row) -> str:
    assert row.keys is not None
    target = row.keys.node.target
    return look.text(target.elts[0] if isinstance(target, ast.Tuple) else target)


def items(look: Look, group: Listed, name: str) -> list[Edit]:
    """Each read as an item of the list. Where a dict of tensors is gone through, the dict of lists takes its place."""
    row = group.rows[0]
    is_in_head = row.keys is not None and is_items(row.keys.node.iter) and is_only_read(group)
    edits = []
    for each in group.rows:
        indices = "".join(f"[{look.text(index)}]" for index in each.indices if names_in(index))
        owner = look.text(each.owner) if is_in_head else name if row.keys is None else f"{name}[{key_of(look, each)}]"
        edits.append(look.module.replace(replaced(look, each), owner + indices))
    heads = {each.keys.node.iter for each in group.rows if each.keys and is_in_head}
    return [*edits, *(look.module.replace(head, f"{name}.items()") for head in heads)]


def is_only_read(group: Listed) -> bool:
    """Whether nothing is done with the values of the dict but reading them here."""
    read = {id(inner) for row in group.rows for inner in ast.walk(row.read.node)}
    for row in group.rows:
        assert row.keys is not None
        inside = [inner for part in row.keys.body for inner in ast.walk(part) if isinstance(inner, ast.Name)]
        if any(inner.id == getattr(row.owner, "id", "") and id(inner) not in read for inner in inside):
            return False
    return True


def replaced(look: Look, row: Row) -> ast.AST:
    """The read, with the `bool()` around it where the list has `bool`s already."""
    call = look.module.parent(row.read.node)
    is_bool = isinstance(call, ast.Call) and look.module.scopes.is_builtin(call.func, "bool") and len(call.args) == 1
    is_known = row.reduction in ("all", "any") and look.known(row.owner).kind in ("bool", "float")
    return call if is_bool and is_known and call is not None else row.read.node
