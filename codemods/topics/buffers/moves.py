"""What becomes of a move once the tensor is where it goes: it stays, copies all the same, or is dropped."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.arguments import add_keyword
from fullgraph.codemods.topics.buffers.moving import target_of
from fullgraph.codemods.topics.buffers.owner import Buffers, Move


def add_copy(module: Module, move: Move) -> Edit:
    """`copy=True`: a copy where the tensor goes, also if it is there."""
    if getattr(move.call.func, "attr", "") != "to":
        raise Unsure(f"{where(module, move.call)}: `{module.code(move.call.func)}()` cannot be asked for a copy")
    if any(keyword.arg in ("copy", None) for keyword in move.call.keywords):
        raise Unsure(f"{where(module, move.call)}: the move says already whether it copies")
    return add_keyword(module, move.call, "copy=True")


def drop(module: Module, move: Move) -> Edit:
    """The tensor without the move."""
    name = module.span(move.call.func)
    dot = module.text.rindex(".", name.start, name.end)
    return module.replace(Span(dot, module.span(move.call).end), "")


def is_idle(buffers: Buffers, move: Move, parameter: str) -> bool:
    """Whether a move goes to `self.device`, where the class, which keeps what it was given, made the tensor."""
    target = target_of(move.call)
    others = {keyword.arg for keyword in move.call.keywords} - {"device", "non_blocking"}
    is_plain = getattr(move.call.func, "attr", "") == "to" and len(move.call.args) <= 1 and not others
    if target is None or buffers.own_attribute(move.method, target) != parameter or not is_plain:
        return False
    is_all_made = all(store.made for store in buffers.stores if store.attribute == move.attribute and not store.is_item)
    return is_all_made and keeps_given(buffers, parameter)


def keeps_given(buffers: Buffers, parameter: str) -> bool:
    """Whether `self.device` is the parameter `device`, always."""
    stores = [store for store in buffers.stores if store.attribute == parameter]
    if buffers.is_dataclass:
        return not stores
    if len(stores) != 1 or stores[0].method is not buffers.entry:
        return False
    value = stores[0].value
    if isinstance(value, ast.Call) and buffers.module.resolve(value.func) == "torch.device" and len(value.args) == 1:
        value = value.args[0]
    return isinstance(value, ast.Name) and value.id == parameter
