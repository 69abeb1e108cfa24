"""One context for all iterations of a loop: only where the same object cannot be entered twice at once."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.topics.autocast.constant import check_pure, guards, is_computed, is_settled, names_in
from fullgraph.codemods.topics.autocast.homes import Home, before_loop, loops_around
from fullgraph.codemods.topics.autocast.once import home_of
from fullgraph.codemods.topics.autocast.regions import Region, within

PAUSES = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def home_of_context(project: Project, region: Region) -> Home | None:
    """Before the loop whose iterations can share the context; None if it is not made again and again."""
    module = region.module
    loops = list(loops_around(module, region.statement))
    if not loops:
        check_not_shared(project, region)
        return None
    if region.decision is not None and not is_settled(project, module, region.decision):
        return None
    value = value_of(region)
    home = before_loop(project, module, value, region.statement, loops)
    if home is not None:
        check_pure(project, module, value)
        check_tested(region, value, home.statement)
        for entered in region.withs:
            check_entered(region, entered, home.statement)
        check_dtype(region, home.statement)
    return home


def value_of(region: Region) -> ast.expr:
    """Everything that the context is made from, as one expression."""
    if isinstance(region.chosen, ast.If):
        return ast.IfExp(region.chosen.test, region.made, ast.Constant(None))
    return region.chosen


def check_tested(region: Region, value: ast.expr, loop: ast.stmt) -> None:
    """Raise if a test of what autocast is given decides whether it is made at all: it may not be made elsewhere."""
    names = {name.id for name in names_in(value)}
    for test in guards(region.module, region.statement, loop):
        if names & {name.id for name in names_in(test)}:
            raise Unsure(f"{where(region.module, test)}: `{ast.unparse(test)}` is tested first")


def check_not_shared(project: Project, region: Region) -> None:
    """Raise if the context is made anew in each call of a function, with a condition that cannot change."""
    decision = region.decision
    if decision is not None and is_computed(decision) and home_of(project, region.module, decision):
        function = region.module.enclosing(region.made, *FUNCTIONS)
        name = function.name if function else "the module"
        raise Unsure(
            f"{where(region.module, region.made)}: all calls of {name} would share one object, and a second thread or "
            "a call inside a call would enter it twice at once"
        )


def check_entered(region: Region, entered: ast.With, loop: ast.stmt) -> None:
    """Raise if one object could be entered again before it is left, or if something else holds it."""
    module = region.module
    if not within(module, entered, loop) or module.enclosing(entered, *FUNCTIONS) != module.enclosing(loop, *FUNCTIONS):
        raise Unsure(f"{where(module, entered)}: the context is entered outside the loop too")
    if any(item.optional_vars for item in entered.items):
        raise Unsure(f"{where(module, entered)}: the context is given another name")
    if pause := next((node for node in ast.walk(entered) if isinstance(node, PAUSES)), None):
        raise Unsure(f"{where(module, pause)}: other code runs while the context is entered")
    for other in [*module.ancestors(entered), *(node for node in ast.walk(entered) if node is not entered)]:
        if isinstance(other, ast.With) and enters_the_same(region, other):
            raise Unsure(f"{where(module, other)}: the same context would be entered twice at once")


def enters_the_same(region: Region, other: ast.With) -> bool:
    texts = {ast.unparse(value_of(region)), ast.unparse(region.made), region.name}
    return any(ast.unparse(item.context_expr) in texts for item in other.items)


def check_dtype(region: Region, loop: ast.stmt) -> None:
    """Raise if the dtype is not written, and what it is taken from may be something else before the loop."""
    if region.has_own_dtype:
        return
    module = region.module
    for outer in module.ancestors(region.statement):
        if outer is loop:
            break
        if isinstance(outer, ast.With):
            raise Unsure(f"{where(module, outer)}: the dtype is taken from the region around")
    if "set_autocast" in module.code(loop):
        raise Unsure(f"{where(module, loop)}: the loop sets how autocast works")
