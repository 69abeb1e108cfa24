"""What the users of a class should know: who can pass a device, and what else must then be there."""

from __future__ import annotations

import ast

from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import argument_names
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.signatures.constructions import constructions, parameter_of, passes
from fullgraph.codemods.topics.buffers.held import is_choice
from fullgraph.codemods.topics.buffers.making import COMPUTED
from fullgraph.codemods.topics.buffers.moving import target_of
from fullgraph.codemods.topics.buffers.owner import Buffers, Move
from fullgraph.codemods.topics.buffers.uses import Use, Uses
from fullgraph.codemods.topics.devices.method import first_argument

SHOWN = 4


def taken_device(buffers: Buffers, moves: list[Move]) -> str:
    """The parameter that says where the class makes what it moves; empty if there is none."""
    stores = [store for move in moves for store in buffers.made[move.attribute]]
    devices = [device for store in stores if store.made for device in store.made.placed]
    return next(filter(None, (parameter_behind(buffers, device) for device in devices)), "")


def parameter_behind(buffers: Buffers, device: ast.expr) -> str:
    """`device` of `device`, `torch.device(device)`, or of `self.device` where that is the parameter."""
    if isinstance(device, ast.Call) and len(device.args) == 1:
        return parameter_behind(buffers, device.args[0])
    name = device.attr if isinstance(device, ast.Attribute) else getattr(device, "id", "")
    if parameter_of(buffers.module, buffers.owner, name):
        return name
    kept = [store.value for store in buffers.stores if store.attribute == name]
    given = argument_names(buffers.entry) if buffers.entry else set()
    found = (node.id for value in kept for node in ast.walk(value) if isinstance(node, ast.Name) and node.id in given)
    return next(found, "")


def tell_taken(project: Project, buffers: Buffers, name: str) -> str:
    """That the premise is false, and who could pass the device."""
    module, owner = buffers.module, buffers.owner
    parameter = parameter_of(module, owner, name)
    said = f"{owner.name} takes `{name}` already ({where(module, owner)})"
    calls = list(constructions(project, module, owner))
    without = [str(place) for place in calls if parameter and not passes(place.node, parameter)]
    if without:
        return f"{said}; not passed at {', '.join(without)}"
    return f"{said}; passed at {', '.join(map(str, calls))}" if calls else said


def goes_where_it_is(buffers: Buffers, move: Move, name: str) -> bool:
    """Whether a move goes to the device that the class keeps: a move that never does anything."""
    target = target_of(move.call)
    return target is not None and buffers.own_attribute(move.method, target) == name


def notes_on(project: Project, uses: Uses, names: set[str], parameter: str) -> tuple[str, ...]:
    """Where to pass the device, and what changes for whoever does."""
    module, owner = uses.module, uses.buffers.owner
    concerned = [use for use in uses.all if use.attribute in names]
    inits = [f"{heir.name} ({where(other, heir)})" for other, heir in heirs(project, owner) if has_init(heir)]
    places: list[tuple[str, list[str]]] = [
        (f"`{parameter}=` can be passed at", [str(place) for place in constructions(project, module, owner)]),
        ("does not pass it on yet:", inits),
        ("then computed there, which may differ in the last bit:", computed(uses.buffers, names)),
    ]
    changes: list[tuple[str, list[Use]]] = [
        ("then copies to it what comes from the CPU:", [use for use in concerned if takes_value(uses, use)]),
        ("then waits for the device, which it reads:", [use for use in concerned if use.kind == "read"]),
        ("then needs arguments on that device too:", [use for use in concerned if meets_given(uses, use)]),
    ]
    places += [(text, [said(uses, use) for use in found]) for text, found in changes]
    return tuple(f"{text} {listed(found)}" for text, found in places if found)


def computed(buffers: Buffers, names: set[str]) -> list[str]:
    """Where the tensors are made whose numbers a device works out for itself."""
    made = [store.made for name in sorted(names) for store in buffers.made[name] if store.made]
    calls = [call for one in made for call in one.calls if buffers.module.resolve(call.func) in COMPUTED]
    return [where(buffers.module, call) for call in calls]


def said(uses: Uses, use: Use) -> str:
    return f"`{use.method.name}` ({where(uses.module, use.node)})"


def listed(places: list[str]) -> str:
    """The first place of each kind, and how many more there are."""
    first = list({place.partition(" ")[0]: place for place in reversed(places)}.values())[::-1]
    more = f" and {len(first) - SHOWN} more" if len(first) > SHOWN else ""
    return ", ".join(first[:SHOWN]) + more


def takes_value(uses: Uses, use: Use) -> bool:
    """Whether a method, once the object is set up, puts something into a tensor that may come from elsewhere."""
    statement = uses.module.statement(use.node)
    is_put = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Constant)
    return use.kind == "written" and is_put and use.method.name not in uses.buffers.creators


def meets_given(uses: Uses, use: Use) -> bool:
    """Whether a tensor is computed with something that the method was given, or takes it in at several places."""
    if use.kind not in ("direct", "written"):
        return False
    given = argument_names(use.method) - {first_argument(use.method)}
    names = [node for node in met_by(uses, use) if isinstance(node, ast.Name) and node.id in given]
    return any(is_tensor(uses.module, name) for name in names)


def met_by(uses: Uses, use: Use) -> list[ast.AST]:
    """What must be on one device with a tensor: `copy_` and an item that is set by a number are not so strict."""
    node, parent = use.node, uses.module.parent(use.node)
    if isinstance(parent, (ast.BinOp, ast.AugAssign)):
        inside = set(ast.walk(node))
        return [other for other in ast.walk(parent) if other not in inside]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") != "copy_":
        return list(node.args)
    is_choice_of = isinstance(node, ast.Subscript) and is_choice(uses.module, node.slice)
    return [parent.value] if is_choice_of and isinstance(parent, ast.Assign) else []


def is_tensor(module: Module, name: ast.Name) -> bool:
    """Whether an argument may be a tensor: annotated so, or not at all."""
    notes = [binding.annotation for binding in module.scopes.bindings(name)]
    return all(note is None or "Tensor" in ast.unparse(note) for note in notes)


def has_init(kind: ast.ClassDef) -> bool:
    return any(getattr(node, "name", "") == "__init__" for node in kind.body)


def tell_sharing(uses: Uses, held: list[Move], parameter: str) -> str:
    """What is shared once a move copies nothing any more, and who writes to it."""
    text = (
        f"with `{parameter}` set, `{held[0].method.name}` hands out the tensors themselves, not copies of them, "
        "as it does on one and the same device already"
    )
    names = {move.attribute for move in held}
    writes = [use for use in uses.all if use.attribute in names and use.kind == "written"]
    for use in writes:
        if use.method.name not in uses.buffers.creators:
            place = where(uses.module, use.node)
            return f"{text}: `{use.method.name}` writes to them ({place}), and whoever kept one sees it"
    return text
