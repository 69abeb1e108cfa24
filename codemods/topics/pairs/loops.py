"""Loops over a flat dict: the key is split into its pair where the loop body needs the pair."""

from __future__ import annotations

import ast

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS, FUNCTIONS, names_within
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.pairs.uses import Loop, Use

LONG = 100
NAMES = ("key", "flat_key", "flat_pair_key")


def loop_edits(use: Use, keys: set[ast.AST], stride: str) -> tuple[list[Edit], set[ast.AST]]:
    """The edits of one loop, and the key expressions in it that stay: they hold the flat key from now on."""
    assert use.loop is not None
    module, target = use.module, use.loop.target
    if isinstance(target, ast.Name):
        loads, stay = key_loads(module, use.loop, target)
        if not loads or (stay and loads <= keys):
            return [], loads
    names = [target] if isinstance(target, ast.Name) else list(target.elts)  # type: ignore[attr-defined]
    return split_key(module, use.loop, ", ".join(name.id for name in names), stride), set()


def key_loads(module: Module, loop: Loop, target: ast.Name) -> tuple[set[ast.AST], bool]:
    """The reads of a loop's variable, and whether all of them see what this loop gave it."""
    scope = module.scopes.of(target)
    mentions = module.scopes.names(scope, target.id)
    inside = body_nodes(module, loop.owner)
    others = [b.node for b in module.scopes.bound[scope][target.id] if b.node is not target]
    elsewhere: set[ast.AST] = set()
    for node in module.nodes(ast.For):
        is_around = node is loop.owner or node in module.ancestors(loop.owner)
        if not is_around and any(inner in others for inner in ast.walk(node.target)):
            elsewhere |= {inner for inner in body_nodes(module, node) if not runs_later(module, inner, scope)}
    loads: set[ast.AST] = {
        name for name in mentions if isinstance(name.ctx, ast.Load) and name not in elsewhere - inside
    }
    stay = loads <= inside and not any(other in inside for other in others)
    return loads, stay


def runs_later(module: Module, node: ast.AST, scope: ast.AST) -> bool:
    """Whether a name stands in an inner function, which may run when the loop around it is long over."""
    return isinstance(node, ast.Name) and module.enclosing(node, *FUNCTIONS) not in (scope, None)


def body_nodes(module: Module, owner: ast.For | ast.comprehension) -> set[ast.AST]:
    """The nodes that run while a loop's variable holds what the loop gave it."""
    if isinstance(owner, ast.For):
        return {node for statement in owner.body for node in ast.walk(statement)}
    comprehension = module.parent(owner)
    assert isinstance(comprehension, COMPREHENSIONS)
    return set(ast.walk(comprehension)) - set(ast.walk(owner.iter))


def split_key(module: Module, loop: Loop, names: str, stride: str) -> list[Edit]:
    """The loop receives the flat key; `divmod` gives the pair back before anything else runs."""
    key = free_name(module, loop.owner)
    pair = f"divmod({key}, {stride})"
    target = replace_word(module, loop.target, key)
    if isinstance(loop.owner, ast.For):
        return [target, insert_before(module, loop.owner.body[0], [f"{names} = {pair}"])]
    return [target, insert_clause(module, loop.owner, f"for {names} in [{pair}]")]


def insert_clause(module: Module, generator: ast.comprehension, clause: str) -> Edit:
    """A further `for` of a comprehension, behind this one, on its own line if this one has its own."""
    span = module.span(generator.iter)
    comprehension = module.parent(generator)
    assert comprehension is not None
    if "(" in module.text[module.span(generator.target).end : span.start]:
        raise Unsure(f"{module.path}:{generator.iter.lineno}: what the loop runs over stands in parentheses")
    word = module.text.rfind("for", 0, module.span(generator.target).start)
    before = module.text[module.line_start(word) : word]
    indent = module.indent(generator.iter)
    opened = module.span(comprehension).start
    has_room = len(module.text[module.line_start(span.end) : module.line_end(span.end)]) + len(clause) < LONG
    own_line = not before.strip() or (not has_room and module.line(opened) < module.line(span.end))
    return module.insert(span.end, f"\n{indent}{clause}" if own_line else f" {clause}")


def replace_word(module: Module, node: ast.expr, word: str) -> Edit:
    """A word in place of a node that may have had parentheses, where `for(i, j)in` needs none around it."""
    span = module.span(node)
    before, after = module.text[span.start - 1 : span.start], module.text[span.end : span.end + 1]
    left = " " if before.isidentifier() or before.isdigit() else ""
    right = " " if after.isidentifier() or after.isdigit() else ""
    return module.replace(node, f"{left}{word}{right}")


def free_name(module: Module, owner: ast.AST) -> str:
    """A name for the flat key that means nothing yet in the outermost function around."""
    functions = [outer for outer in module.ancestors(owner) if isinstance(outer, FUNCTIONS)]
    if isinstance(module.scopes.around(owner), ast.ClassDef):
        raise Unsure(f"{module.path}:{module.statement(owner).lineno}: the loop stands in a class body")
    taken = names_within(functions[-1] if functions else module.tree)
    numbered = (f"flat_key_{number}" for number in range(2, 100))
    return next(name for name in (*NAMES, *numbered) if name not in taken)
