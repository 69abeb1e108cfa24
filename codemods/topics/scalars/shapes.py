"""Shapes that depend on values and are used as such: nothing of fixed shape stands for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.topics.scalars.index_loops import of_nonzero, positions_of
from fullgraph.codemods.topics.scalars.masks import REDUCTIONS, is_mask
from fullgraph.codemods.topics.scalars.repair import SHAPES, Look, Repair
from fullgraph.codemods.topics.scalars.scatters import picks

OUTSIDE = "or computing them before the compiled function is called keeps them out of it"


def open_shapes(look: Look) -> Iterator[Repair]:
    """Positions and picked elements that go further than into a reduction, a masked write or a loop."""
    module = look.module
    for call in module.nodes(ast.Call):
        if look.holds(call) and is_positions(look, call) and not is_looped(look, call):
            message = f"the shape of {ast.unparse(call)} depends on values, which breaks the graph"
            reason = f"{look.where(call)}: the positions themselves are used; {SHAPES}, {OUTSIDE}"
            yield Repair(call, message, left_alone=reason)
    for chosen in module.nodes(ast.Subscript):
        if look.holds(chosen) and isinstance(chosen.ctx, ast.Load) and is_kept(look, chosen):
            message = f"the shape of {ast.unparse(chosen)} depends on values, which breaks the graph"
            yield Repair(
                chosen, message, left_alone=f"{look.where(chosen)}: the elements themselves are used; {SHAPES}"
            )


def is_positions(look: Look, call: ast.Call) -> bool:
    is_where = look.module.resolve(call.func) == "torch.where" and len(call.args) == 1 and not call.keywords
    return is_where or of_nonzero(look.module, call) is not None


def is_looped(look: Look, call: ast.Call) -> bool:
    """Whether a loop goes through the positions: that is judged by itself."""
    loop = look.module.enclosing(call, ast.For)
    return loop is not None and positions_of(look.module, loop.iter) is not None and call in set(ast.walk(loop.iter))


def is_kept(look: Look, chosen: ast.Subscript) -> bool:
    """Whether what a mask picks is neither reduced nor written back at once."""
    if not is_mask(look, chosen.slice) or not look.is_tensor(chosen.value):
        return False
    parent = look.module.parent(chosen)
    statement = look.module.statement(chosen)
    is_reduced = isinstance(parent, ast.Attribute) and parent.attr in REDUCTIONS
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    mask = ast.unparse(chosen.slice)
    is_written_back = any(picks(target, mask) for target in targets)
    return not is_reduced and not is_written_back
