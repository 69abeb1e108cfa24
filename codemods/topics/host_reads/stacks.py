"""Elements read at once: `torch.stack(...).tolist()` or `x.tolist()`, and the loops that go through the numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit
from fullgraph.codemods.module import Module
from fullgraph.codemods.scopes import COMPREHENSIONS
from fullgraph.codemods.syntax.dropping import drop_statements
from fullgraph.codemods.syntax.places import where
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.topics.host_reads.elements import Elements, check, elements, item_source
from fullgraph.codemods.topics.host_reads.gathering import (
    counter_of,
    gathered,
    guard_of,
    is_items_call,
    is_list,
    is_simple_range,
    word_for,
)
from fullgraph.codemods.topics.host_reads.lists import one_by_one
from fullgraph.codemods.topics.host_reads.look import Batch, Look, names_in
from fullgraph.codemods.topics.host_reads.paths import check_room, is_conditional, leaves_early, runs_before
from fullgraph.codemods.topics.host_reads.reads import Read

NO_BRACKETS = (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.Call, ast.List, ast.Tuple, ast.Dict)


def batch_elements(look: Look, found: list[Read]) -> Iterator[Batch]:
    """The reads of elements, loop by loop."""
    for group in elements(look, found):
        look.claimed |= {read.node for read in group.reads}
        if is_no_smell(group):
            continue
        message = one_by_one(look, [group.tensor])
        try:
            yield tensor_loop(group, message) or stack_loop(group, message)
        except Unsure as unsure:
            yield Batch(group.node, message, left_alone=str(unsure))


def is_no_smell(group: Elements) -> bool:
    """Whether the reads may be none of tensors: of what numpy has too, or under a condition."""
    look = group.look
    if group.known.is_tensor or tensor_source(group):
        return False
    has_arrays = look.module.imports.names_package("numpy") and not look.same_device
    return has_arrays or all(is_conditional(look.module, read.node, group.loop.home) for read in group.reads)


# A loop over a tensor


def tensor_source(group: Elements) -> tuple[ast.expr, ast.expr] | None:
    """The tensor whose elements are read, and nothing else is done with them; with its node in the head."""
    found = item_source(group.look, group.loop, getattr(group.tensor, "id", "")) if group.is_variable else None
    return found if found and group.look.known(found[0]).is_tensor else None


def tensor_loop(group: Elements, message: str) -> Batch | None:
    """`for v in x` of a tensor goes through numbers instead, if only numbers are wanted."""
    look = group.look
    found = tensor_source(group)
    if found is None:
        return None
    source, head = found
    if end := leaves_early(look.module, group.loop):
        raise Unsure(f"{where(look.module, end)}: the loop may end early, and `{look.text(source)}` may be large")
    around = [group.loop.node.iter, *group.loop.body]
    caveats = look.check_unchanged(source, around, "in the loop")
    flat = "" if look.known(source).ndim == 1 else ".flatten()"
    text = f"{look.operand(source)}{flat}.tolist()"
    if group.is_whole and source is group.source and is_single(group.loop.home):
        return Batch(group.node, message, (replace_whole(group, text),), tuple(caveats))
    if renamed := counted_as(group):
        named = [look.module.replace(group.loop.node.target, renamed.targets[0].id)]  # type: ignore[attr-defined]
        edits = [look.module.replace(head, text), *named, drop_statements(look.module, [renamed])]
    else:
        edits = [look.module.replace(head, text), *items(group, getattr(group.tensor, "id", ""))]
    return Batch(group.node, message, tuple(edits), tuple(caveats))


def counted_as(group: Elements) -> ast.Assign | None:
    """The `i = index.item()` that begins each round and is all that is done with `index`: the loop can bind `i`."""
    module, loop = group.look.module, group.loop.node
    first = loop.body[0] if isinstance(loop, ast.For) and len(loop.body) > 1 else None
    target = first.targets[0] if isinstance(first, ast.Assign) and len(first.targets) == 1 else None
    if not isinstance(first, ast.Assign) or not isinstance(target, ast.Name) or first.value is not group.reads[0].node:
        return None
    if len(group.reads) > 1 or not isinstance(loop.target, ast.Name) or is_used_outside(group):
        return None
    names = module.scopes.names(module.scopes.of(target), target.id)
    return first if stands_alone(module, first) and all(loop in module.ancestors(name) for name in names) else None


def stands_alone(module: Module, statement: ast.stmt) -> bool:
    end = module.span(statement).end
    return module.begins_line(statement) and not module.text[end : module.line_end(end)].strip()


def is_single(home: ast.AST) -> bool:
    """Whether a comprehension has one loop and no test."""
    return isinstance(home, COMPREHENSIONS) and len(home.generators) == 1 and not home.generators[0].ifs


def items(group: Elements, text: str) -> list[Edit]:
    return [group.look.module.replace(read.node, text) for read in group.reads]


def replace_whole(group: Elements, text: str) -> Edit:
    """The comprehension gives way to an expression; a generator's brackets may be those of the call."""
    module, home = group.look.module, group.loop.home
    is_bracketed = module.code(home).startswith("(") or (" if " in text and needs_brackets(group))
    return module.replace(home, f"({text})" if is_bracketed else text)


def needs_brackets(group: Elements) -> bool:
    return not isinstance(group.look.module.parent(group.loop.home), NO_BRACKETS)


# A loop over anything else


def stack_loop(group: Elements, message: str) -> Batch:
    """All tensors stacked before the loop, and the loop over the numbers."""
    look = group.look
    caveats = check(group)
    torch, imports = look.torch()
    flat = "" if group.known.ndim == 0 else ".flatten()"
    make = f"{torch}.stack({{}}){flat}.tolist()"
    if group.is_whole:
        edits, more = whole(group, make)
    else:
        edits, more = part_by_part(group, make)
    return Batch(group.node, message, (*imports, *edits), (*caveats, *more))


def whole(group: Elements, make: str) -> tuple[list[Edit], list[str]]:
    """`torch.stack([s.accum for s in states]).tolist() if states else []` in the place of the comprehension."""
    guard = guard_of(group)
    stacked = make.format(gathered(group))
    if guard is not None:
        return [replace_whole(group, f"{stacked} if {guard} else []" if guard else stacked)], []
    look, home = group.look, group.loop.home
    statement = check_room(look.module, home)
    caveats = look.check_unchanged(group.tensor, runs_before(look.module, home, statement), "in this statement")
    name = look.new_name(group.node, f"{word_for(group)}_tensors")
    lines = look.laid_out(statement, name, gathered(group))
    text = f"{make.format(name)} if {name} else []"
    return [insert_before(look.module, statement, lines), replace_whole(group, text)], caveats


def part_by_part(group: Elements, make: str) -> tuple[list[Edit], list[str]]:
    """A list before the loop, and its numbers beside the loop's elements."""
    look, loop = group.look, group.loop
    top = loop.home
    statement = top if isinstance(top, ast.stmt) else check_room(look.module, top)
    around = [loop.node.iter, *loop.body] if loop.is_statement else runs_before(look.module, top, statement)
    caveats = look.check_unchanged(group.tensor, around, "in the loop")
    word = word_for(group)
    guard = guard_of(group)
    name = look.new_name(group.node, *look.list_names(group.node, word))
    gather = gathered(group)
    torch = make.partition(".stack")[0]
    if guard is None:
        every = look.new_name(group.node, f"{word}_tensors")
        lines = look.laid_out(statement, every, gather)
        lines += look.laid_out(statement, name, f"{make.format(every)} if {every} else []", torch)
    else:
        made = make.format(gather) + (f" if {guard} else []" if guard else "")
        lines = look.laid_out(statement, name, made, torch)
    edits, more = beside(group, name, word)
    return [insert_before(look.module, statement, lines), *edits], [*caveats, *more]


def beside(group: Elements, name: str, word: str) -> tuple[list[Edit], list[str]]:
    """The head of the loop with the numbers in it, and the reads as these numbers."""
    look, node = group.look, group.loop.node
    source, target = node.iter, look.text(node.target)
    if group.is_variable and (edit := numbers_instead(group, name)):
        return [edit, *items(group, look.text(group.tensor))], []
    if counter := counter_of(look, group):
        check_goes_twice(look, source.args[0])  # type: ignore[attr-defined]
        return items(group, f"{name}[{counter}]"), []
    value = look.new_name(group.node, word, f"{word}_value")
    used = set().union(*(names_in(part) for part in rest_of(group)))
    is_alone = not group.loop.names & used and not is_used_outside(group)
    if is_alone:
        head = [look.module.replace(node.target, value), look.module.replace(source, name)]
        return [*head, *items(group, value)], []
    if is_simple_range(look, source):
        head = [
            look.module.replace(node.target, f"{target}, {value}"),
            look.module.replace(source, f"enumerate({name})"),
        ]
        return [*head, *items(group, value)], []
    check_goes_twice(look, source)
    caveats = look.check_unchanged(source, group.loop.body, "in the loop")
    both = f"({target}), {value}" if isinstance(node.target, ast.Tuple) and target[:1] != "(" else f"{target}, {value}"
    head = [look.module.replace(node.target, both), look.module.replace(source, f"zip({look.operand(source)}, {name})")]
    return [*head, *items(group, value)], caveats


def check_goes_twice(look: Look, source: ast.expr) -> None:
    if not is_list(look, source) and not is_items_call(source):
        raise Unsure(f"{where(look.module, source)}: `{look.text(source)}` may be an iterator, which runs only once")


def numbers_instead(group: Elements, name: str) -> Edit | None:
    """The numbers in the place of the collection, where nothing but numbers is wanted of its elements."""
    look = group.look
    found = item_source(look, group.loop, look.text(group.tensor))
    if found is None:
        return None
    source = found[1]
    if is_items_call(source) and isinstance(group.loop.node.target, ast.Tuple):
        owner = look.operand(source.func.value)  # type: ignore[attr-defined]
        keys = owner if look.known(source.func.value).what == "dict" else f"{owner}.keys()"  # type: ignore[attr-defined]
        return look.module.replace(source, f"zip({keys}, {name})")
    return look.module.replace(source, name)


def is_used_outside(group: Elements) -> bool:
    """Whether a variable of a `for` is mentioned outside it."""
    module, node = group.look.module, group.loop.node
    if not group.loop.is_statement:
        return False
    targets = [name for name in ast.walk(node.target) if isinstance(name, ast.Name)]
    mentions = [name for target in targets for name in module.scopes.names(module.scopes.of(target), target.id)]
    return any(node not in module.ancestors(name) for name in mentions)


def rest_of(group: Elements) -> list[ast.AST]:
    """What runs in a round besides the reads."""
    inside = {id(inner) for read in group.reads for inner in ast.walk(read.node)}
    nodes = (inner for part in group.loop.body for inner in ast.walk(part))
    return [node for node in nodes if isinstance(node, ast.Name) and id(node) not in inside]
