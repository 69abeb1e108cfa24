"""The edits of one boundary: the helper behind what compiles, and every direct call through it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import Module
from fullgraph.codemods.project import Project
from fullgraph.codemods.syntax.assignments import FUNCTIONS
from fullgraph.codemods.syntax.places import Place, where
from fullgraph.codemods.syntax.signatures.width import is_too_long
from fullgraph.codemods.topics.boundaries.clones import clone_span, superfluous_clone
from fullgraph.codemods.topics.boundaries.helper import Boundary, Copies, Helper, name_boundary
from fullgraph.codemods.topics.boundaries.importing import import_boundary
from fullgraph.codemods.topics.boundaries.mentions import check_heirs
from fullgraph.codemods.topics.boundaries.regression import write_test
from fullgraph.codemods.topics.boundaries.requests import Compiled
from fullgraph.codemods.topics.boundaries.steps import trains
from fullgraph.codemods.topics.boundaries.survey import Survey
from fullgraph.codemods.topics.boundaries.uses import Uses, uses_of


@dataclass(frozen=True)
class Rewrite:
    """All edits of a boundary, and the clones that go away with it."""

    edits: tuple[Edit, ...]
    clones: tuple[Place[ast.Call], ...]


def write_boundaries(project: Project, seen: Survey, compiled: Compiled, always: bool, tests: str) -> Rewrite:
    """The boundary of a callable. Where a backward pass may be awaited, those of all callables, together.

    A mark of one boundary would take away what another callable's forward has saved, unless that one is noted too.
    """
    own = write_boundary(project, seen, compiled, always, tests)
    if not trains(project):
        return own
    if seen.unnamed:
        raise Unsure(f"{seen.unnamed[0]}: a mark may fall between a forward of what is compiled here and its backward")
    others = [one for one in seen.callables if one is not compiled and seen.may_wait(project, one)]
    all_of_them = [own, *(write_boundary(project, seen, one, always, tests) for one in others)]
    edits = sorted(dict.fromkeys(edit for one in all_of_them for edit in one.edits))
    return Rewrite(tuple(edits), own.clones)


def write_boundary(project: Project, seen: Survey, compiled: Compiled, always: bool, tests: str) -> Rewrite:
    """Unsure, with the line, where not every call can be seen or sent through the boundary."""
    uses = uses_of(project, compiled)
    if uses.doubts:
        raise Unsure(uses.doubts[0])
    if not uses.calls:
        raise Unsure(f"{compiled.where}: no direct call of it is seen")
    check_heirs(project, compiled)
    anchor = place_behind(compiled)
    check_order(compiled, uses, anchor)
    homes = tuple(sorted({one.module.path for one in seen.callables}))
    name = uses.boundary.node.name if uses.boundary else name_boundary(project, compiled)
    form = Helper(project, Boundary(compiled, name, "never", homes), anchor).form
    clones = {call.node: clone for call in uses.calls if (clone := superfluous_clone(call, form))}
    keeping = {call.node: always or call.node in clones or seen.outlives(call.node) for call in uses.calls}
    has_keep = takes_keep(uses) if uses.boundary else len(set(keeping.values())) > 1
    copies: Copies = "where asked" if has_keep else "always" if any(keeping.values()) else "never"
    if form.objects and copies != "never":
        raise Unsure(f"{compiled.where}: it gives a {form.objects[0]}, whose tensors the boundary cannot copy")
    helper = Helper(project, Boundary(compiled, name, copies, homes), anchor)
    edits: list[Edit] = []
    if uses.boundary is None:
        edits.append(insert_behind(compiled, anchor, helper.text))
        edits += helper.edits
        edits += write_test(project, tests, helper, uses) if tests else ()
    for call in uses.calls:
        more = f"{helper.signature.keep}=False" if has_keep and not keeping[call.node] else ""
        edits += send_through(compiled, call, name, more, clones.get(call.node))
    edits += import_boundary(project, compiled, uses, name)
    return Rewrite(tuple(dict.fromkeys(edits)), tuple(clones.values()))


def takes_keep(uses: Uses) -> bool:
    assert uses.boundary is not None
    return any(item.arg == "keep" for item in uses.boundary.node.args.kwonlyargs)


# Where the helper goes


def place_behind(compiled: Compiled) -> ast.stmt:
    """The statement behind which the helper stands: from there on the callable is what it will be."""
    module, node = compiled.module, compiled.requests[-1].node
    if compiled.kind in ("attribute", "method"):
        outer = [item for item in module.ancestors(node) if module.parent(item) is compiled.owner]
        assert isinstance(outer[0], ast.stmt)
        return outer[0]
    statement = module.statement(node)
    bindings = [binding.node for binding in module.scopes.within(compiled.owner, compiled.name)]
    while module.parent(statement) is not compiled.owner:
        block = {inner for item in module.block(statement) for inner in ast.walk(item)}
        if all(binding in block for binding in bindings):
            return statement
        outer_statement = module.parent(statement)
        while not isinstance(outer_statement, ast.stmt):
            assert outer_statement is not None
            outer_statement = module.parent(outer_statement)
        statement = outer_statement
    return statement


def check_order(compiled: Compiled, uses: Uses, anchor: ast.stmt) -> None:
    """Unsure if a call runs before the helper is defined, or the helper has no line of its own."""
    module = compiled.module
    end = module.span(anchor).end
    rest = module.text[end : module.line_end(end)].strip()
    if not module.begins_line(anchor) or (rest and not rest.startswith("#")):
        raise Unsure(f"{where(module, anchor)}: it shares its line with another statement")
    if compiled.kind in ("attribute", "method"):
        return
    for home, call in uses.calls:
        is_here = home is module and runs_with(home, call, compiled.owner)
        if is_here and module.span(call).start < end:
            raise Unsure(f"{where(home, call)}: it is called before the boundary could stand")


def runs_with(module: Module, node: ast.AST, owner: ast.AST) -> bool:
    """Whether a node runs when the owner's own statements do, not when a function inside is called."""
    scope = module.scopes.around(node)
    while scope is not owner and not isinstance(scope, (*FUNCTIONS, ast.Lambda, ast.Module)):
        scope = module.scopes.around(scope)
    return scope is owner


def insert_behind(compiled: Compiled, anchor: ast.stmt, text: str) -> Edit:
    """The helper with its blank lines: one around it, two at the top level."""
    module = compiled.module
    end = module.line_end(module.span(anchor).end)
    blank = 2 if not module.indent(anchor) else 1
    before = "" if module.text[:end].endswith(("\n", "\r")) else "\n"
    rest = module.text[end:].replace("\r\n", "\n").replace("\r", "\n")
    there = len(rest) - len(rest.lstrip("\n"))
    block = module.block(anchor)
    follows = bool(rest.strip()) and (compiled.kind in ("attribute", "method") or block[-1] is not anchor)
    after = "\n" * (max(0, blank - there) if follows else 0)
    last = "" if before else "\n"
    return module.insert(end, f"{before}" + "\n" * blank + text + last + after)


# The calls


def send_through(
    compiled: Compiled, call: Place[ast.Call], name: str, more: str, clone: Place[ast.Call] | None
) -> list[Edit]:
    """One call by way of the boundary, with an argument more or a clone less."""
    module, node = call
    end = module.span(node.func).end
    old = node.func.attr if isinstance(node.func, ast.Attribute) else module.code(node.func)
    edits = [module.replace(Span(end - len(old), end), name)]
    gone = clone_span(module, clone.node) if clone else None
    if gone:
        edits.append(module.replace(gone, ""))
    grown = len(name) - len(old) + (len(more) + 2 if more else 0) - (gone.end - gone.start if gone else 0)
    return edits + give_more(module, node, more, grown)


def give_more(module: Module, node: ast.Call, more: str, grown: int) -> list[Edit]:
    """One argument more; a call on one line is opened if it would grow too long."""
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    close = module.span(node).end - 1
    opening = module.text.index("(", module.span(node.func).end) + 1
    is_flat = module.line(opening) == module.line(close)
    if given and is_flat and is_too_long(module, opening, grown):
        indent = module.indent(node)
        opened = module.insert(opening, f"\n{indent}{module.indent_unit}")
        return [opened, module.insert(close, (f", {more}" if more else "") + f"\n{indent}")]
    if not more:
        return []
    if not given:
        return [module.insert(close, more)]
    if len(given) == 1 and isinstance(given[0], ast.GeneratorExp):
        raise Unsure(f"{where(module, node)}: the only argument is a generator without parentheses of its own")
    last = max(module.span(item).end for item in given)
    tail = module.text[last:close]
    if "#" in tail:
        raise Unsure(f"{where(module, node)}: a comment stands behind the last argument")
    bare = tail.rstrip()
    if not bare.endswith(","):
        return [module.insert(last + len(bare), f", {more}")]
    is_open = len(bare) < len(tail) and ("\n" in tail or "\r" in tail)
    gap = "\n" + module.indent(max(given, key=lambda item: module.span(item).end)) if is_open else " "
    return [module.insert(last + len(bare), f"{gap}{more}" + ("," if is_open else ""))]
