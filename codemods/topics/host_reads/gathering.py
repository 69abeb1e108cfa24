"""The tensors that a loop reads as one list, and what is true where there are any."""

from __future__ import annotations

import ast

from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.topics.host_reads.elements import Elements, item_source
from fullgraph.codemods.topics.host_reads.look import CLOSED, Look, names_in, one_of


def gathered(group: Elements) -> str:
    """A list of the tensors: the collection itself, or a comprehension over the loop."""
    look, loop, home = group.look, group.loop, group.loop.home
    generators = home.generators if isinstance(home, COMPREHENSIONS) and group.is_whole else []
    is_plain = len(generators) < 2 and not any(generator.ifs for generator in generators)
    found = item_source(look, loop, getattr(group.tensor, "id", "")) if is_plain else None
    source = found[0] if found else None
    if source is not None and is_items_call(source):
        return f"list({look.operand(source.func.value)}.values())"  # type: ignore[attr-defined]
    if source is not None and look.known(source).what == "list" and look.is_pure(source):
        return look.text(source)
    if source is not None and source is loop.node.iter:
        return f"list({look.text(source)})"
    loops = " ".join(generator_text(look, generator) for generator in generators)
    return f"[{look.text(group.tensor)} {loops or head_text(group)}]"


def generator_text(look: Look, generator: ast.comprehension) -> str:
    tests = "".join(f" if {look.text(test)}" for test in generator.ifs)
    return f"for {look.text(generator.target)} in {look.operand(generator.iter)}{tests}"


def head_text(group: Elements) -> str:
    """The head of the loop, without the counter of `enumerate` where only the element is wanted."""
    look, node = group.look, group.loop.node
    counter = counter_of(look, group)
    if counter and counter not in names_in(group.tensor):
        target, source = node.target.elts[1], node.iter.args[0]  # type: ignore[attr-defined]
        return f"for {look.text(target)} in {look.operand(source)}"
    counted = node.iter.args[0] if counter else node.iter  # type: ignore[attr-defined]
    if counter and is_list(look, counted) and not (names_in(node.target) - {counter}) & names_in(group.tensor):
        return f"for {counter} in range(len({look.text(counted)}))"
    return f"for {look.text(node.target)} in {look.operand(node.iter)}"


def guard_of(group: Elements) -> str | None:
    """What is true where there is anything to stack; nothing if there always is; None if it takes a line to know."""
    look, home = group.look, group.loop.home
    if isinstance(home, COMPREHENSIONS) and (len(home.generators) > 1 or home.generators[0].ifs):
        return None
    source = group.source
    if (
        isinstance(source, ast.Call)
        and isinstance(source.func, ast.Attribute)
        and source.func.attr in ("items", "values")
    ):
        source = source.func.value
        return look.operand(source) if look.known(source).what == "dict" and look.is_pure(source) else None
    if isinstance(source, ast.Call) and look.module.scopes.is_builtin(source.func, "enumerate") and source.args:
        source = source.args[0]
    if isinstance(source, (ast.List, ast.Tuple)) and source.elts:
        return ""
    return look.text(source) if isinstance(source, CLOSED) and is_list(look, source) else None


def is_list(look: Look, source: ast.expr) -> bool:
    """Whether a collection is seen to be a list, which may be gone through twice and is false when it is empty."""
    return look.is_pure(source) and look.known(source).what in ("list", "dict")


def is_items_call(node: ast.expr) -> bool:
    is_bare = isinstance(node, ast.Call) and not node.args
    return is_bare and getattr(node.func, "attr", "") in ("items", "values")  # type: ignore[attr-defined]


def counter_of(look: Look, group: Elements) -> str:
    """`i` of `for i, s in enumerate(states)`."""
    node = group.loop.node
    is_enumerate = isinstance(node.iter, ast.Call) and look.module.scopes.is_builtin(node.iter.func, "enumerate")
    is_plain = is_enumerate and isinstance(node.iter, ast.Call) and len(node.iter.args) == 1 and not node.iter.keywords
    first = node.target.elts[0] if is_plain and isinstance(node.target, ast.Tuple) else None
    return first.id if isinstance(first, ast.Name) else ""


def is_simple_range(look: Look, source: ast.expr) -> bool:
    is_range = isinstance(source, ast.Call) and look.module.scopes.is_builtin(source.func, "range")
    return is_range and len(source.args) == 1  # type: ignore[attr-defined]


def word_for(group: Elements) -> str:
    """What the numbers are called: after the tensor, or after the collection of which it is an element."""
    found = None
    if isinstance(group.tensor, ast.Name):
        found = item_source(group.look, group.loop, group.tensor.id)
    source = found[0] if found else group.tensor
    if isinstance(source, ast.Call) and is_items_call(source):
        source = source.func.value  # type: ignore[attr-defined]
    return one_of(group.look.stem(source))
