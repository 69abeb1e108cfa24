"""Where a module makes autocast contexts, on what condition, and where it enters them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module

ENABLED_AT = {
    "torch.autocast": 2,
    "torch.amp.autocast": 2,
    "torch.amp.autocast_mode.autocast": 2,
    "torch.cuda.amp.autocast": 0,
    "torch.cuda.amp.autocast_mode.autocast": 0,
    "torch.cpu.amp.autocast": 0,
    "torch.cpu.amp.autocast_mode.autocast": 0,
}
"""The names of autocast, each with the position of `enabled` among its arguments."""

NOTHING = "contextlib.nullcontext"
NEAR = 200
OPENS_PARENTHESES = re.compile(r"(?:\bif|\bwith|=)\s*\(\s*$")


@dataclass(frozen=True)
class Region:
    """One autocast: the call that makes it, what decides about it, and the `with` statements that enter it.

    `chosen` is the expression that is entered or assigned: the call itself, or its choice against `nullcontext()`;
    with an `if` statement that assigns both it is that statement. `name` is the variable that holds it, if any.
    """

    module: Module
    made: ast.Call
    decision: ast.expr | None
    chosen: ast.expr | ast.If
    statement: ast.stmt
    withs: tuple[ast.With, ...]
    name: str = ""

    @property
    def is_choice(self) -> bool:
        """Whether it is either autocast or nothing at all."""
        return self.chosen is not self.made

    @property
    def is_reversed(self) -> bool:
        """Whether a true condition means no autocast."""
        if isinstance(self.chosen, ast.IfExp):
            return self.chosen.orelse is self.made
        return isinstance(self.chosen, ast.If) and assigned(self.chosen.orelse) is self.made

    @property
    def has_own_dtype(self) -> bool:
        """Whether the dtype is written, and not read from what is set when the context is made."""
        place = 1
        is_given = any(keyword.arg == "dtype" for keyword in self.made.keywords) or len(self.made.args) > place
        return is_given or ENABLED_AT[self.module.resolve(self.made.func) or ""] == 0


def wrapped(module: Module, node: ast.expr) -> Span:
    """An expression's characters, with the parentheses around it that are its own."""
    span, text = module.span(node), module.text
    while opening := OPENS_PARENTHESES.search(text, max(0, span.start - NEAR), span.start):
        start = text.rindex("(", opening.start(), opening.end())
        end = span.end + len(text[span.end :]) - len(text[span.end :].lstrip())
        if text[end : end + 1] != ")":
            break
        span = Span(start, end + 1)
    return span


def is_autocast(module: Module, node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) in ENABLED_AT


def is_nothing(module: Module, node: ast.AST | None) -> bool:
    """Whether it is `nullcontext()`, which gives nothing to `as`."""
    return isinstance(node, ast.Call) and module.resolve(node.func) == NOTHING and not (node.args or node.keywords)


def regions(module: Module) -> Iterator[Region]:
    """Every autocast that is made and entered in one function, in the order of the text."""
    for made in module.nodes(ast.Call):
        if is_autocast(module, made) and (region := region_of(module, made)):
            yield region


def region_of(module: Module, made: ast.Call) -> Region | None:
    chosen: ast.expr = made
    decision = enabled_by(module, made)
    outer = module.parent(made)
    if isinstance(outer, ast.IfExp) and outer.test is not made:
        if decision is not None or not is_nothing(module, outer.orelse if outer.body is made else outer.body):
            return None
        chosen, decision = outer, outer.test
        outer = module.parent(chosen)
    if isinstance(outer, ast.withitem):
        entered = module.parent(outer)
        return Region(module, made, decision, chosen, entered, (entered,)) if isinstance(entered, ast.With) else None
    targets = outer.targets if isinstance(outer, ast.Assign) else [getattr(outer, "target", None)]
    if isinstance(outer, (ast.Assign, ast.AnnAssign)) and len(targets) == 1 and isinstance(targets[0], ast.Name):
        return assigned_region(module, made, decision, chosen, outer, targets[0])
    return None


def enabled_by(module: Module, made: ast.Call) -> ast.expr | None:
    """What is given as `enabled`, if anything."""
    place = ENABLED_AT[module.resolve(made.func) or ""]
    if any(isinstance(argument, ast.Starred) for argument in made.args[: place + 1]):
        return None
    if len(made.args) > place:
        return made.args[place]
    return next((keyword.value for keyword in made.keywords if keyword.arg == "enabled"), None)


def assigned_region(
    module: Module, made: ast.Call, decision: ast.expr | None, chosen: ast.expr, assignment: ast.stmt, name: ast.Name
) -> Region | None:
    """A context that a variable holds, if the function does nothing with the variable but enter it."""
    whole: ast.expr | ast.If = chosen
    statement: ast.stmt = assignment
    choice = module.parent(assignment)
    if isinstance(choice, ast.If) and chosen is made and decision is None and is_assigned_choice(module, choice):
        whole, decision, statement = choice, choice.test, choice
    own = [assigned for assigned in module.scopes.bindings(name) if within(module, assigned.node, statement)]
    if len(own) != len(module.scopes.bindings(name)):
        return None
    scope = module.scopes.of(name)
    reads = [mention for mention in module.scopes.names(scope, name.id) if isinstance(mention.ctx, ast.Load)]
    entered = [module.parent(item) for read in reads if isinstance(item := module.parent(read), ast.withitem)]
    withs = tuple(node for node in entered if isinstance(node, ast.With))
    if len(withs) != len(reads) or not withs:
        return None
    return Region(module, made, decision, whole, statement, withs, name.id)


def is_assigned_choice(module: Module, choice: ast.If) -> bool:
    """Whether both branches do nothing but assign one variable: autocast in one, nothing in the other."""
    names = {target_of(choice.body), target_of(choice.orelse)}
    values = (assigned(choice.body), assigned(choice.orelse))
    return len(names) == 1 and "" not in names and any(is_nothing(module, value) for value in values)


def assigned(block: list[ast.stmt]) -> ast.expr | None:
    """The value of the only statement of a block, if that is an assignment."""
    return block[0].value if len(block) == 1 and isinstance(block[0], ast.Assign) else None


def target_of(block: list[ast.stmt]) -> str:
    only = block[0] if len(block) == 1 else None
    targets = only.targets if isinstance(only, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def within(module: Module, node: ast.AST, outer: ast.AST) -> bool:
    return node is outer or outer in module.ancestors(node)
