"""Two questions: may an expression have another value after some statements, and does one do more than read?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.effects.aliases import is_atomic, is_private
from fullgraph.codemods.syntax.effects.doubts import Doubt, Effect
from fullgraph.codemods.syntax.effects.following import Effects
from fullgraph.codemods.syntax.effects.reads import Reads
from fullgraph.codemods.syntax.effects.tokens import ANYTHING, PARTS, Token, variable


def what_changes(
    project: Project,
    module: Module,
    expression: ast.expr,
    statements: Iterable[ast.AST],
    pure: Sequence[str] = (),
    given: Sequence[ast.Name] = (),
) -> Doubt | None:
    """The first thing in the statements after which the expression may have another value; None if nothing can.

    Writes that are seen come before calls that cannot be followed. `pure` names functions that only read, as the user
    knows them. `given` are variables that may be bound to another object: the question is about any that they hold.
    """
    effects = effects_in(project, pure)
    unseen: Doubt | None = None
    try:
        reads = effects.reads(module, expression)
        reads = replace(reads, names=reads.names - {variable(module, name) for name in given})
        can_be_reached = any(is_open(module, token) for token in reads.contents)
        for effect in effects.of(module, statements):
            if meets(module, effect, reads):
                return effect.doubt()
            if effect.is_unknown and can_be_reached:
                unseen = unseen or effect.doubt()
    except Unsure as unsure:
        return Doubt(module.path, str(unsure), is_seen=False)
    return unseen


def impurity(project: Project, module: Module, call: ast.expr, pure: Sequence[str] = ()) -> Doubt | None:
    """Why an expression is not a read: the first thing it does beyond reading and computing; None if nothing."""
    unseen: Doubt | None = None
    try:
        for effect in effects_in(project, pure).of(module, [call]):
            if not effect.is_unknown:
                return effect.doubt()
            unseen = unseen or effect.doubt()
    except Unsure as unsure:
        return Doubt(module.path, str(unsure), is_seen=False)
    return unseen


def meets(module: Module, effect: Effect, reads: Reads) -> bool:
    """Whether an effect is about something that is read; what cannot be named may be anything that is open."""
    if is_shared_by(effect.binds, reads.names) or is_shared_by(effect.changes, reads.contents):
        return True
    if ANYTHING in effect.changes:
        return any(is_open(module, token) for token in reads.contents)
    if ANYTHING not in reads.contents:
        return False
    is_shared = any(home is None or isinstance(home, ast.Module) for home, _ in effect.binds)
    return is_shared or any(is_open(module, token) for token in effect.changes)


def is_shared_by(some: frozenset[Token], others: frozenset[Token]) -> bool:
    """Whether two sets have something in common; variables of modules are attributes of these, and count by name."""
    both = {token for token in some & others if not token[1].endswith(PARTS)}
    return bool(both) or bool(public_names(some) & public_names(others))


def public_names(tokens: frozenset[Token]) -> set[str]:
    return {name for home, name in tokens if name and (home is None or isinstance(home, ast.Module))}


def is_open(module: Module, token: Token) -> bool:
    """Whether code elsewhere could change what a token stands for without naming it here."""
    scope, name = token
    if scope is None or (scope is not module.tree and module.parent(scope) is None):
        return True
    mentions = module.scopes.names(scope, name)
    if isinstance(scope, ast.Module) and name.isupper():
        return False
    return not mentions or not (is_atomic(module, mentions[0]) or is_private(module, mentions[0]))


def effects_in(project: Project, pure: Sequence[str]) -> Effects:
    """The effects of a project's code, kept as long as the project is: functions are looked into once."""
    effects = project.worked_out((Effects, frozenset(pure)), lambda: Effects(project, pure))
    effects.be_patient()
    return effects
