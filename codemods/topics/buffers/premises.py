"""What must hold before a class can be told where to make its tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import SourceError
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.definitions import Definitions
from fullgraph.codemods.syntax.heirs import heirs
from fullgraph.codemods.syntax.places import Place, only_class, where
from fullgraph.codemods.syntax.signatures.constructor import called, is_init_call
from fullgraph.codemods.topics.buffers.making import FACTORIES, RANDOM, SHARING
from fullgraph.codemods.topics.buffers.moving import target_of
from fullgraph.codemods.topics.buffers.owner import Buffers, inner_nodes, is_container
from fullgraph.codemods.topics.buffers.uses import Uses

MADE_OTHERWISE = ("__setstate__", "__reduce__", "__reduce_ex__", "__copy__", "__deepcopy__")
CALM_BASES = {"torch.nn.Module", "object", "abc.ABC", "typing.Generic", "typing.Protocol"}
"""Base classes whose `__init__` calls no method of a subclass."""

SCRIPTS = {"torch.jit.script", "torch.jit.script_if_tracing"}


def check(project: Project, uses: Uses, names: set[str], is_stored: bool) -> None:
    """Raise for whatever could go wrong once the tensors are elsewhere."""
    check_stores(uses, names)
    check_uses(uses, names)
    check_class(project, uses.buffers)
    check_heirs(project, uses.buffers, names)
    check_users(project, uses.buffers, names)
    if is_stored:
        check_making(project, uses.buffers)


def check_stores(uses: Uses, names: set[str]) -> None:
    buffers, module = uses.buffers, uses.module
    for move in buffers.moves:
        if move.keeps and move.attribute in names:
            raise Unsure(f"{where(module, move.call)}: `{move.method.name}` moves `{move.attribute}` for good")
    for store in buffers.stores:
        if store.attribute not in names:
            continue
        if is_brought_home(module, store.value):
            raise Unsure(f"{where(module, store.value)}: `{store.attribute}` is brought to the CPU on purpose")
        if store.made and store.made.refused:
            node, reason = store.made.refused[0]
            raise Unsure(f"{where(module, node)}: {reason}")
        if store.made and store.made.placed:
            raise Unsure(f"{where(module, store.value)}: `{store.attribute}` has a device of its own")
        is_kept = not store.is_item or store.attribute in buffers.containers
        if is_kept and not store.made and not is_container(store.value) and makes_somewhere(module, store.value):
            raise Unsure(f"{where(module, store.value)}: `{store.attribute}` is made in a way that cannot be followed")


def is_brought_home(module: Module, value: ast.expr) -> bool:
    """`self.x.cpu()` or `self.x.to("cpu")`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    target = target_of(value)
    is_named = isinstance(target, ast.Constant) and str(target.value).startswith("cpu")
    return value.func.attr == "cpu" or (value.func.attr == "to" and is_named)


def makes_somewhere(module: Module, value: ast.expr) -> bool:
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(module.resolve(call.func) in FACTORIES | RANDOM | SHARING for call in calls)


def check_uses(uses: Uses, names: set[str]) -> None:
    module = uses.module
    for use in uses.all:
        if use.attribute in names and use.kind == "refused":
            raise Unsure(f"{where(module, use.node)}: `{one_line(module, use.node)}` works on the CPU only")
    for method, node in met_strangers(uses, names):
        raise Unsure(f"{where(module, node)}: made in a way that cannot be followed, and `{method}` computes with it")
    for call in uses.fresh_tensors(names):
        text = one_line(module, call)
        raise Unsure(f"{where(module, call)}: `{text}` is made on the default device, and may meet these tensors")


def met_strangers(uses: Uses, names: set[str]) -> Iterator[tuple[str, ast.AST]]:
    """Attributes that hold a tensor of the class's own making, of which no more is known, and that meet these."""
    buffers = uses.buffers
    strange = {
        store.attribute: store.value
        for store in buffers.stores
        if store.attribute not in buffers.made and makes_somewhere(uses.module, store.value)
    }
    for method in buffers.methods.values():
        if strange and uses.direct_in(method) & names:
            read = {buffers.own_attribute(method, node) for node in inner_nodes(method)}
            yield from ((method.name, strange[name]) for name in sorted(read & strange.keys()))


def one_line(module: Module, node: ast.AST) -> str:
    text = " ".join(module.code(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def check_class(project: Project, buffers: Buffers) -> None:
    module, owner, entry = buffers.module, buffers.owner, buffers.entry
    scripted = [item for item in owner.decorator_list if module.resolve(called(item)) in SCRIPTS]
    if scripted:
        raise Unsure(f"{where(module, scripted[0])}: TorchScript compiles {owner.name}")
    for name in ("to", "cuda", "_apply"):
        if name in buffers.methods:
            raise Unsure(f"{where(module, buffers.methods[name])}: `{name}` may move the tensors for good")
    if "__new__" in buffers.methods:
        raise Unsure(f"{where(module, buffers.methods['__new__'])}: `__new__` takes the same arguments")
    for other, base in list(Definitions(project).lineage(Place(module, owner)))[1:]:
        if Buffers(other, base).made:
            raise Unsure(f"{where(other, base)}: {base.name} makes tensors too, and would not be told")
    if entry and entry.decorator_list:
        raise Unsure(f"{where(module, entry.decorator_list[0])}: a decorator may change what {entry.name} takes")


def check_heirs(project: Project, buffers: Buffers, names: set[str]) -> None:
    for other, heir in heirs(project, buffers.owner):
        for store in Buffers(other, heir).stores:
            if store.attribute in names and not store.is_item:
                raise Unsure(f"{where(other, store.value)}: {heir.name} makes `{store.attribute}` itself")


def check_users(project: Project, buffers: Buffers, names: set[str]) -> None:
    """No file that knows the class may hand one of its tensors to numpy."""
    for path in project.mentions(buffers.owner.name):
        try:
            other = project.module(path)
        except SourceError:
            continue
        for node in other.nodes(ast.Attribute):
            if (
                node.attr in names
                and other.enclosing(node, ast.ClassDef) is not buffers.owner
                and is_numpy(other, node)
            ):
                raise Unsure(
                    f"{where(other, node)}: `{one_line(other, node)}` goes to numpy, which needs it on the CPU"
                )


def is_numpy(module: Module, node: ast.AST) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return is_numpy(module, parent)
    if isinstance(parent, ast.Call) and node in parent.args:
        return (module.resolve(parent.func) or "").startswith("numpy.")
    return isinstance(parent, ast.Attribute) and parent.attr == "numpy"


def check_making(project: Project, buffers: Buffers) -> None:
    """The stored device is read outside `__init__`: every object must have it, and have it in time."""
    module, owner = buffers.module, buffers.owner
    for name in MADE_OTHERWISE:
        if name in buffers.methods and not buffers.is_dataclass:
            raise Unsure(f"{where(module, buffers.methods[name])}: `{name}` may make an object without __init__")
    for place in bare_objects(project, owner):
        raise Unsure(f"{place}: {owner.name} is made here without __init__")
    if not buffers.is_dataclass:
        check_order(project, buffers)


def bare_objects(project: Project, owner: ast.ClassDef) -> Iterator[Place[ast.Call]]:
    for path in project.mentions(owner.name):
        try:
            other = project.module(path)
        except SourceError:
            continue
        for call in other.nodes(ast.Call):
            if getattr(call.func, "attr", "") == "__new__" and owner.name in ast.unparse(call):
                yield Place(other, call)


def check_order(project: Project, buffers: Buffers) -> None:
    """No method that makes tensors may run before the device is stored, which is behind `super().__init__()`."""
    module, entry = buffers.module, buffers.entry
    assert entry is not None
    supers = [node for node in ast.walk(entry) if isinstance(node, ast.Expr) and is_init_call(node)]
    if not supers:
        return
    last = supers[-1]
    if last not in entry.body:
        raise Unsure(f"{where(module, last)}: `{one_line(module, last)}` does not always run")
    for node in ast.walk(entry):
        name = buffers.own_attribute(entry, node.func) if isinstance(node, ast.Call) else ""
        if name in buffers.creators and node.lineno < last.lineno:  # type: ignore[attr-defined]
            raise Unsure(f"{where(module, node)}: `{name}` runs before `{one_line(module, last)}`")
    for base in buffers.owner.bases:
        check_base(project, buffers, base)


def check_base(project: Project, buffers: Buffers, base: ast.expr) -> None:
    module = buffers.module
    plain = base.value if isinstance(base, ast.Subscript) else base
    if (module.resolve(plain) or getattr(plain, "id", "")) in CALM_BASES:
        return
    definitions = Definitions(project)
    found = only_class(definitions.denoted(module, plain))
    if found is None:
        raise Unsure(
            f"{where(module, base)}: {ast.unparse(base)} may call {buffers.owner.name}'s methods while it is set up"
        )
    for other, kind in definitions.lineage(found):
        parent = Buffers(other, kind)
        inits = [parent.methods[name] for name in ("__init__",) if name in parent.methods]
        for node in (node for init in inits for node in ast.walk(init)):
            name = parent.own_attribute(inits[0], node.func) if isinstance(node, ast.Call) else ""
            if name in buffers.creators - {"__init__"}:
                raise Unsure(f"{where(other, node)}: {kind.name} calls `{name}` before the device is known")
