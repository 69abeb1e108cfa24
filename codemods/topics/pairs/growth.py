"""What is put into a collection after it was made, and whether it leaves sight: then others may put in more."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import FUNCTIONS
from fullgraph.codemods.topics.pairs.annotations import meaning
from fullgraph.codemods.topics.pairs.shapes import Many, Nothing, Shape, join, without_bounds
from fullgraph.codemods.topics.pairs.uses import is_only_tested

if TYPE_CHECKING:
    from fullgraph.codemods.topics.pairs.values import Values

GROWS_BY_ONE = {"append", "add", "appendleft"}
GROWS = {*GROWS_BY_ONE, "insert", "extend", "update", "__setitem__", "extendleft"}
GROWERS = ("heapq.", "bisect.")
COPIES = (ast.For, ast.comprehension, ast.Compare, ast.Starred, ast.BinOp, ast.FormattedValue, ast.Subscript)


def grown(values: Values, shape: Many, mentions: Sequence[tuple[Module, ast.expr]]) -> Shape | None:
    """A collection with everything that is put into it later. Of one that leaves sight no number is certain."""
    found = join([shape, *(added(values, module, mention) for module, mention in mentions)])
    is_out = isinstance(shape.of, Many) or any(leaves_sight(values, module, mention) for module, mention in mentions)
    return without_bounds(found) if is_out else found


def added(values: Values, module: Module, mention: ast.expr) -> Shape | None:
    """What is put in here; None if that is not known."""
    method = module.parent(mention)
    call = module.parent(method) if method else None
    if isinstance(method, ast.Subscript) and isinstance(method.ctx, ast.Store) and method.value is mention:
        return None
    if not (isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and method.attr in GROWS):
        return Many(Nothing())
    if method.attr not in GROWS_BY_ONE or len(call.args) != 1:
        return None
    return Many(values.shape(module, call.args[0]))


def leaves_sight(values: Values, module: Module, mention: ast.expr) -> bool:
    """Whether a list gets a second name here, under which it may grow."""
    parent = module.parent(mention)
    if not isinstance(getattr(mention, "ctx", None), ast.Load) or isinstance(parent, COPIES):
        return False
    if isinstance(parent, ast.Attribute):
        return not isinstance(module.parent(parent), ast.Call)
    if isinstance(parent, ast.Return):
        return not (isinstance(mention, ast.Name) and isinstance(module.scopes.of(mention), FUNCTIONS))
    if isinstance(parent, ast.Call):
        return not keeps_its_arguments(values, meaning(module, parent.func) or "")
    return not is_only_tested(module, mention)


def keeps_its_arguments(values: Values, function: str) -> bool:
    """Whether a function comes from outside the project, where lists are not added to, but for a few."""
    parts = function.split(".")
    if len(parts) == 1:
        return hasattr(builtins, function)
    is_ours = any(values.project.path_of(".".join(parts[:length])) for length in range(1, len(parts)))
    return not is_ours and not function.startswith(GROWERS)
