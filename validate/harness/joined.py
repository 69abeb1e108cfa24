"""How wide tensors are that are joined before the first layer: `self.body(torch.cat([a, b], dim=-1))`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fullgraph.validate.drafting.evaluate import Layer, Scope, Thing, evaluate
from fullgraph.validate.drafting.facts import Facts
from fullgraph.validate.drafting.layers import facts_of_layer
from fullgraph.validate.drafting.subject import Subject

JOINS = {"torch.cat", "torch.concat", "torch.concatenate", "torch.hstack"}


def joined_widths(
    subject: Subject, scope: Scope, known: Mapping[str, Facts], sizes: Mapping[str, int]
) -> dict[str, int]:
    """The last dimension of every parameter that is joined. `sizes` are numbers of the config, by name.

    The layer says how wide all are together; what is left over is shared alike by those that nothing else is known of.
    """
    found: dict[str, int] = {}
    names = {one.name for one in subject.parameters}
    for parts, total in joins_into_layers(subject.node, scope, names):
        if not parts:
            continue
        told = {name: known[name].sizes.get(-1) or sizes.get(name) for name in parts if name in known}
        open_names = [name for name in parts if not told.get(name)]
        left = total - sum(told.get(name) or 0 for name in parts)
        if open_names and left > 0 and left % len(open_names) == 0:
            found |= {name: told.get(name) or left // len(open_names) for name in parts}
        elif not open_names and left == 0:
            found |= {name: width for name, width in told.items() if width}
    return found


def joins_into_layers(function: ast.AST, scope: Scope, parameters: set[str]) -> Iterator[tuple[list[str], int]]:
    """The parameters that are joined, and the width that the layer behind them takes."""
    assigned = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        given = node.args[0]
        given = assigned.get(given.id, given) if isinstance(given, ast.Name) else given
        width = width_of(evaluate(node.func, scope)) if is_join(given, scope) else None
        if width:
            yield joined_names(given, parameters), width


def width_of(layer: object) -> int | None:
    """What a layer takes; of a list of layers or a module of the user's, the first that takes anything."""
    is_list = isinstance(layer, Layer) and layer.kind == "ModuleList"
    held = list(layer.attributes.values()) if isinstance(layer, Thing) else layer if isinstance(layer, list) else []
    held = layer.args if is_list and isinstance(layer, Layer) else held
    if held or is_list:
        return next((width for one in held if (width := width_of(one))), None)
    return facts_of_layer(layer, 0).sizes.get(-1) if isinstance(layer, Layer) else None


def is_join(node: ast.AST, scope: Scope) -> bool:
    return isinstance(node, ast.Call) and scope.module.dotted(node.func) in JOINS and bool(node.args)


def joined_names(node: ast.AST, parameters: set[str]) -> list[str]:
    """Empty if anything is joined but parameters, as they are or scaled."""
    parts = node.args[0] if isinstance(node, ast.Call) else None
    found = [named_in(one, parameters) for one in parts.elts] if isinstance(parts, (ast.List, ast.Tuple)) else []
    return [name for name in found if name] if all(found) else []


def named_in(node: ast.expr, parameters: set[str]) -> str:
    """`feats` for `feats` and for `feats * scale`."""
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node]
    found = [one.id for one in sides if isinstance(one, ast.Name) and one.id in parameters]
    return found[0] if len(found) == 1 else ""
