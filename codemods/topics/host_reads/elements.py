"""`s.accum.item()` in a loop over `s`: one number from every element, and what must hold to stack them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.flow import last_name
from fullgraph.codemods.syntax.loops import call_name
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.tensors.known import Device, Known
from fullgraph.codemods.syntax.tensors.tables import FACTORIES, LIKE
from fullgraph.codemods.syntax.tensors.usage import is_in_sight, put_into
from fullgraph.codemods.topics.host_reads.look import Look, names_in
from fullgraph.codemods.topics.host_reads.paths import check_way_out, is_conditional, leaves_early, skips
from fullgraph.codemods.topics.host_reads.reads import Loop, Read, loops_around


@dataclass(frozen=True, eq=False)
class Elements:
    """Reads of one expression in one loop, whose value the loop's own variables decide."""

    look: Look
    reads: tuple[Read, ...]
    loop: Loop

    @property
    def tensor(self) -> ast.expr:
        return self.reads[0].tensor

    @property
    def node(self) -> ast.Call:
        return self.reads[0].node

    @property
    def source(self) -> ast.expr:
        """What the loop goes through."""
        return self.loop.node.iter

    @cached_property
    def known(self) -> Known:
        return self.look.known(self.tensor)

    @property
    def is_whole(self) -> bool:
        """Whether the read is all that a list comprehension, or a generator that is used up, makes."""
        home = self.loop.home
        return isinstance(home, (ast.ListComp, ast.GeneratorExp)) and home.elt is self.node

    @cached_property
    def is_variable(self) -> bool:
        """Whether the element itself is read, and nothing else is done with it."""
        if not isinstance(self.tensor, ast.Name):
            return False
        read = {id(inner) for read in self.reads for inner in ast.walk(read.node)}
        scope = self.look.module.scopes.of(self.tensor)
        mentions = self.look.module.scopes.names(scope, self.tensor.id)
        others = [name for name in mentions if id(name) not in read and not self._is_target(name)]
        return not any(self._is_reached(name) for name in others)

    def _is_target(self, name: ast.Name) -> bool:
        return any(inner is name for inner in ast.walk(self.loop.node.target))

    def _is_reached(self, name: ast.Name) -> bool:
        """Whether a mention may be of this loop's element: not if another loop binds it there."""
        around = [loop for loop in loops_around(self.look.module, name) if name.id in loop.names]
        is_other_target = (
            not isinstance(name.ctx, ast.Load) and self.look.module.enclosing(name, ast.For) is not self.loop.node
        )
        return not is_other_target and (not around or around[0].node is self.loop.node)


def elements(look: Look, found: list[Read]) -> Iterator[Elements]:
    """Every read that depends on the element of a loop, with the others of the same expression in that loop."""
    groups: dict[tuple[ast.AST, str], list[Read]] = {}
    loops: dict[ast.AST, Loop] = {}
    for read in found:
        loop = loop_of(look, read)
        if loop is not None:
            loops[loop.node] = loop
            groups.setdefault((loop.node, ast.dump(read.tensor)), []).append(read)
    for (node, _), group in groups.items():
        yield Elements(look, tuple(group), loops[node])


def loop_of(look: Look, read: Read) -> Loop | None:
    """The innermost loop on whose variables a read depends; None if it depends on what is made inside that loop."""
    names = names_in(read.tensor)
    loop = next((loop for loop in loops_around(look.module, read.node) if loop.names & names), None)
    if loop is None or loop.is_async or not look.is_pure(read.tensor):
        return None
    if look.known(read.tensor).what not in ("", "tensor"):
        return None
    inner = [node for part in loop.body for node in ast.walk(part)]
    made = {node.id for node in inner if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return None if made & names else loop


def check(group: Elements) -> list[str]:
    """Caveats about the stack of all elements; Unsure where it may fail or give other numbers."""
    look, place = group.look, where(group.look.module, group.node)
    if end := leaves_early(look.module, group.loop):
        raise Unsure(f"{where(look.module, end)}: the loop may end before everything is read")
    if not group.is_whole:
        check_every_round(group)
    if not look.same_device and not any(is_fixed(group.loop, device) for device in group.known.devices):
        text = look.text(group.tensor)
        raise Unsure(f"{place}: the tensors `{text}` may live on different devices (same_device=true: they do not)")
    caveats = []
    if not group.known.is_tensor:
        caveats.append(f"nothing says that `{look.text(group.tensor)}` is a tensor")
    elif not group.known.kind and not is_uniform(look, group.tensor, group.loop):
        caveats.append(
            f"`{look.text(group.tensor)}` must have one dtype in every round: a stack of ints and floats is floats"
        )
    if group.known.is_tensor and group.known.ndim is None and not is_uniform(look, group.tensor, group.loop):
        caveats.append(f"`{look.text(group.tensor)}` must have one shape in every round: [] and [1] do not stack")
    return caveats


def is_uniform(look: Look, node: ast.expr, loop: Loop) -> bool:
    """Whether an expression is made from one tensor, of which every round takes another part: its dtype stays."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_torch = bool(look.module.resolve(node.func))
            others = [*node.args[is_torch:], *(keyword.value for keyword in node.keywords)]
            if any(names_in(other) & loop.names for other in others) or (is_torch and not node.args):
                return False
            node = node.args[0] if is_torch else node.func.value
        elif isinstance(node, ast.Subscript) and look.known(node.value).is_tensor:
            node = node.value
        else:
            source = item_source(look, loop, node.id) if isinstance(node, ast.Name) else None
            node = source[0] if source else node
            is_one = look.known(node).is_tensor or is_made_alike(look, node)
            return is_one and not names_in(node) & loop.names


def is_made_alike(look: Look, node: ast.expr) -> bool:
    """Whether all tensors of a list are made by one expression: `[zeros_like(x) for _ in ranks]`."""
    bindings = look.module.scopes.bindings(node) if isinstance(node, ast.Name) else []
    made = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(node, ast.Name) or not isinstance(made, ast.ListComp) or not look.known(made.elt).is_tensor:
        return False
    if not isinstance(made.elt, ast.Call) or last_name(made.elt) not in LIKE | FACTORIES:
        return False
    counters = {name for generator in made.generators for name in names_in(generator.target)}
    is_kept = is_in_sight(look.module, node) and not put_into(look.module, node)
    return is_kept and not counters & names_in(made.elt)


def check_every_round(group: Elements) -> None:
    """Raise unless the read is made in every round of its loop."""
    look, loop = group.look, group.loop
    top = loop.home
    is_filtered = isinstance(top, COMPREHENSIONS) and any(generator.ifs for generator in top.generators)
    is_skipped = all(is_conditional(look.module, read.node, top) for read in group.reads)
    if is_filtered or is_skipped or skips(look.module, loop):
        place = where(look.module, group.node)
        raise Unsure(f"{place}: `{look.text(group.tensor)}` is not read in every round of the loop")
    for read in group.reads:
        check_way_out(look.module, read.node, top)
    if isinstance(loop.home, COMPREHENSIONS) and len(loop.home.generators) > 1:
        raise Unsure(f"{where(look.module, group.node)}: the comprehension has several loops")


def is_fixed(loop: Loop, device: Device) -> bool:
    """Whether what a device is known by is the same in every round."""
    scope, text = device
    if scope is not None:
        return scope is not loop.home and text not in loop.names and not is_made_in(loop, text)
    try:
        return not names_in(ast.parse(text.removeprefix("device="), mode="eval")) & loop.names
    except SyntaxError:
        return False


def is_made_in(loop: Loop, name: str) -> bool:
    inner = (node for part in loop.body for node in ast.walk(part))
    return any(isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in inner)


def item_source(look: Look, loop: Loop, name: str) -> tuple[ast.expr, ast.expr] | None:
    """The collection of which a variable is the element, and the node of it in the head of the loop.

    `xs` for `x` in `for x in xs`, `enumerate(xs)`, `zip(xs, ys)`; `d` for `v` in `d.values()`, `d.items()`.
    """
    target, source = loop.node.target, loop.node.iter
    if isinstance(target, ast.Name):
        return (source, source) if target.id == name else None
    if not isinstance(target, ast.Tuple) or not isinstance(source, ast.Call):
        return None
    place = next((number for number, part in enumerate(target.elts) if getattr(part, "id", "") == name), -1)
    if call_name(source) == "enumerate" and place == 1 and look.module.scopes.is_builtin(source.func, "enumerate"):
        return source.args[0], source.args[0]
    is_zip = look.module.scopes.is_builtin(source.func, "zip") and 0 <= place < len(source.args)
    if is_zip and not any(isinstance(argument, ast.Starred) for argument in source.args):
        return source.args[place], source.args[place]
    is_items = isinstance(source.func, ast.Attribute) and source.func.attr == "items" and place == 1 and not source.args
    return (source, source) if is_items else None
