"""What a call that does not measure leaves out, and what it gives back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.syntax.assignments import targets_of
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.timers.measuring import COMPOUND, Measuring, inner_statements

NUMBER = re.compile(r"(?:typing\.)?(?:float|Optional\[float\]|float \| None|Any)")


def region(measuring: Measuring, block: list[ast.stmt]) -> list[ast.stmt]:
    """From the first measuring statement to the end: inside the `if` that holds all of it, if there is one."""
    indices = [index for index, node in enumerate(block) if measuring.is_measuring(node)]
    if not indices:
        raise Unsure(f"{where(measuring.module, block[0])}: what is measured cannot be seen")
    first = block[indices[0]]
    if len(indices) == 1 and isinstance(first, ast.If) and not first.orelse:
        return [*region(measuring, first.body), *block[indices[0] + 1 :]]
    return block[indices[0] :]


def given_back(measuring: Measuring, statements: list[ast.stmt]) -> tuple[str, list[ast.Return]]:
    """What a call that does not measure returns, and the return statements whose number has to be kept for it.

    Empty for `return`; the object itself, a constant, or an attribute that `__init__` sets stay what they are.
    """
    returns = [node for outer in statements for node in returns_in(outer) if not is_none(node.value)]
    values = {ast.unparse(node.value): node.value for node in returns if node.value}
    if not values:
        return "", []
    me = measuring.timer.me
    text, value = next(iter(values.items()))
    if len(values) == 1 and (isinstance(value, ast.Constant) or text == me or is_kept(measuring, value)):
        return text, []
    said = measuring.timer.end.returns
    for node in returns:
        if not measuring.is_number(node.value) or (said and not NUMBER.fullmatch(ast.unparse(said))):
            raise Unsure(
                f"{where(measuring.module, node)}: what a call that does not measure should return is not clear"
            )
    return f"{me}.", returns


def returns_in(node: ast.stmt) -> Iterator[ast.Return]:
    if isinstance(node, ast.Return):
        yield node
    for inner in inner_statements(node):
        yield from returns_in(inner)


def is_none(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def is_kept(measuring: Measuring, value: ast.expr) -> bool:
    """Whether it is `self.x`, and `__init__` or the class itself sets `x` in any case."""
    if not isinstance(value, ast.Attribute) or getattr(value.value, "id", "") != measuring.timer.me:
        return False
    body = measuring.timer.owner.body
    inits = [node for node in body if getattr(node, "name", "") == "__init__"]
    places: list[ast.stmt] = [*body, *(inner for init in inits for inner in getattr(init, "body", []))]
    settings = [node for node in places if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value]
    return any(last_part(target) == value.attr for node in settings for target in targets_of(node))


def last_part(target: ast.expr) -> str:
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def check_skippable(measuring: Measuring, statements: list[ast.stmt]) -> None:
    """Unsure if a call that does not measure would leave out anything but the measurement and plain resets."""
    for node in statements:
        if measuring.is_reset(node):
            continue
        inner = [node, *all_inner(node)]
        for one in inner:
            if measuring.is_measuring(one) and not isinstance(one, COMPOUND):
                measuring.check_measuring(one)
        if isinstance(node, COMPOUND) or not measuring.is_measuring(node):
            measuring.check_harmless(node)


def all_inner(node: ast.stmt) -> Iterator[ast.stmt]:
    for inner in inner_statements(node):
        yield inner
        yield from all_inner(inner)
