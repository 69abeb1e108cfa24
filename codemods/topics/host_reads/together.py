"""Several numbers of one tensor, or of several, read side by side: `x.min().item()` and `x.max().item()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fullgraph.codemods.codemod import Unsure
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.syntax.placing import insert_before
from fullgraph.codemods.syntax.tensors.infer import has_complex
from fullgraph.codemods.syntax.tensors.known import Kind
from fullgraph.codemods.syntax.tensors.tables import SAME_REDUCTIONS, SUMS
from fullgraph.codemods.topics.host_reads.beside import Number, number_of, runs
from fullgraph.codemods.topics.host_reads.look import Batch, Look
from fullgraph.codemods.topics.host_reads.paths import runs_before
from fullgraph.codemods.topics.host_reads.reads import Read

EXTREMES = {"min": "min", "amin": "min", "max": "max", "amax": "max"}
FLOATS_ONLY = {"mean", "std", "var"}


def batch_together(look: Look, found: list[Read]) -> Iterator[Batch]:
    """The reads that stand side by side: in one statement, or in statements that follow each other."""
    numbers = [number for read in found if (number := number_of(look, read))]
    for run in runs(look, numbers):
        by_root: dict[str, list[Number]] = {}
        for number in run:
            by_root.setdefault(ast.dump(number.root), []).append(number)
        for group in by_root.values():
            yield from batch_group(look, group)
        if look.in_all:
            yield from batch_all(look, [number for number in run if number.read.node not in look.claimed])


# Numbers of one tensor


def batch_group(look: Look, group: list[Number]) -> Iterator[Batch]:
    """Different numbers of one tensor: the smallest and the largest by `aminmax`, others stacked."""
    distinct = {ast.dump(number.read.tensor): number for number in group}
    if len(distinct) < 2:
        return
    directs = [number.direct for number in distinct.values()]
    kinds = {kind_of(look, number, directs) for number in group}
    if set(directs) <= EXTREMES.keys() and len({EXTREMES[direct] for direct in directs}) == 2:
        made, order = aminmax_of(look, group)
    elif len(kinds) == 1 and "" not in kinds and all(look.known(number.read.tensor).ndim == 0 for number in group):
        made, order = stack_of(look, list(distinct.values()))
    else:
        return
    yield from batch_numbers(look, group, made, order)


def kind_of(look: Look, number: Number, directs: Sequence[str]) -> Kind:
    """The kind of a number; `mean` and the like only work on floats, so that `max` beside it is a float too."""
    kind = look.known(number.read.tensor).kind
    is_float = bool(FLOATS_ONLY & set(directs)) and number.direct in SAME_REDUCTIONS | SUMS
    return "float" if is_float and not kind and not has_complex(look.module) else kind


def aminmax_of(look: Look, group: list[Number]) -> tuple[str, list[str]]:
    torch, _ = look.torch()
    root = look.text(group[0].root)
    order = {EXTREMES[number.direct]: ast.dump(number.read.tensor) for number in group}
    return f"{torch}.stack({root}.aminmax()).tolist()", [order["min"], order["max"]]


def stack_of(look: Look, numbers: list[Number]) -> tuple[str, list[str]]:
    torch, _ = look.torch()
    texts = ", ".join(look.text(number.read.tensor) for number in numbers)
    return f"{torch}.stack([{texts}]).tolist()", [ast.dump(number.read.tensor) for number in numbers]


def batch_numbers(look: Look, group: list[Number], made: str, order: list[str]) -> Iterator[Batch]:
    """The batch that reads these numbers by `made`, which gives them in this order."""
    look.claimed |= {number.read.node for number in group}
    texts = [f"`{look.text(number.read.tensor)}`" for number in group]
    texts = list(dict.fromkeys(texts))
    message = f"{', '.join(texts[:-1])} and {texts[-1]} are read one by one"
    try:
        caveats = check(look, group)
        edits = (*look.torch()[1], *written(look, group, made, order))
    except Unsure as unsure:
        yield Batch(group[0].read.node, message, left_alone=str(unsure))
        return
    yield Batch(group[0].read.node, message, edits, tuple(caveats))


def check(look: Look, group: list[Number]) -> list[str]:
    """Caveats about reading all of them before the first; Unsure where that gives other numbers."""
    first, last = group[0].statement, group[-1].statement
    block = look.module.block(first)
    before: list[ast.AST] = [*block[block.index(first) : block.index(last)]]
    before += runs_before(look.module, group[-1].read.node, last)
    caveats: list[str] = []
    for number in {ast.dump(number.root): number for number in group}.values():
        caveats += look.check_unchanged(number.root, before, "between the reads")
        is_seen = look.known(number.root).is_tensor or is_of_torch(look, number)
        if not is_seen:
            caveats.append(f"nothing says that `{look.text(number.root)}` is a tensor")
    return caveats


def is_of_torch(look: Look, number: Number) -> bool:
    """Whether torch itself is asked: `torch.max(x)` takes nothing but tensors."""
    return isinstance(number.read.tensor, ast.Call) and bool(look.module.resolve(number.read.tensor.func))


# Numbers of several tensors


def batch_all(look: Look, numbers: list[Number]) -> Iterator[Batch]:
    """Numbers of different tensors in one statement, if they are seen to be of one kind and on one device."""
    by_statement: dict[ast.stmt, list[Number]] = {}
    for number in numbers:
        by_statement.setdefault(number.statement, []).append(number)
    for group in by_statement.values():
        distinct = list({ast.dump(number.read.tensor): number for number in group}.values())
        if len(distinct) < 2:
            continue
        reason = why_apart(look, distinct)
        if reason:
            texts = [f"`{look.text(number.read.tensor)}`" for number in distinct]
            message = f"{', '.join(texts[:-1])} and {texts[-1]} are read one by one"
            yield Batch(group[0].read.node, message, left_alone=reason)
        else:
            made, order = stack_of(look, distinct)
            yield from batch_numbers(look, group, made, order)


def why_apart(look: Look, numbers: list[Number]) -> str:
    """Why the numbers cannot be stacked; empty if they can."""
    place = f"{look.module.path}:{numbers[0].read.node.lineno}"
    found = [look.known(number.read.tensor) for number in numbers]
    for number, known in zip(numbers, found, strict=True):
        text = look.text(number.read.tensor)
        if not known.kind:
            return f"{place}: nothing says which dtype `{text}` has"
        if known.ndim != 0:
            return f"{place}: nothing says that `{text}` has no dimension"
    if len({known.kind for known in found}) > 1:
        return f"{place}: a stack of these has one dtype, and they are {', '.join(known.kind for known in found)}"
    together = found[0].devices
    for number, known in zip(numbers[1:], found[1:], strict=True):
        if not look.same_device and not together & known.devices:
            return (
                f"{place}: `{look.text(number.read.tensor)}` may live on another device (same_device=true: it does not)"
            )
        together |= known.devices
    return ""


# What is written


def written(look: Look, group: list[Number], made: str, order: list[str]) -> list[Edit]:
    """`low, high = ...` in the place of two assignments, or a line before the first statement."""
    torch = look.torch()[0]
    first, last = group[0].statement, group[-1].statement
    if targets := plain_targets(look, group):
        names = ", ".join(targets[dump] for dump in order)
        span = Span(look.module.span(first).start, look.module.span(last).end)
        lines = look.laid_out(first, names, made, torch)
        indent, unit = look.module.indent(first), look.module.indent_unit
        text = "\n".join(
            line.replace("\t", unit) if number == 0 else indent + line.replace("\t", unit)
            for number, line in enumerate(lines)
        )
        return [look.module.replace(span, text)]
    values = {ast.dump(number.read.tensor): number for number in group}
    named = {dump: look.new_name(first, word_for(look, values[dump].read.tensor)) for dump in order}
    lines = look.laid_out(first, ", ".join(named.values()), made, torch)
    edits = [look.module.replace(number.read.node, named[ast.dump(number.read.tensor)]) for number in group]
    return [insert_before(look.module, first, lines), *edits]


def word_for(look: Look, tensor: ast.expr) -> str:
    word = look.stem(tensor)
    return word if isinstance(tensor, ast.Call) else f"{word}_value"


def plain_targets(look: Look, group: list[Number]) -> dict[str, str]:
    """The variable of each number, if the statements are plain assignments and nothing else stands between them."""
    found: dict[str, str] = {}
    pairs = [pair for statement in dict.fromkeys(number.statement for number in group) for pair in assigned(statement)]
    reads = {number.read.node: ast.dump(number.read.tensor) for number in group}
    for target, value in pairs:
        if not isinstance(target, ast.Name) or value not in reads:
            return {}
        found[reads[value]] = target.id
    spans = [look.module.span(number.statement) for number in group]
    gaps = [look.module.text[one.end : other.start] for one, other in pairwise(spans) if one != other]
    is_bare = all(not gap.strip(" \t\r\n\f") and gap.strip(" \t\f") for gap in gaps)
    is_bare = is_bare and all(look.module.begins_line(number.statement) for number in group)
    return found if is_bare and len(set(found.values())) == len(pairs) == len(group) else {}


def assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value; through `a, b = c, d`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return [(ast.Tuple([], ast.Store()), ast.Constant(None))]
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]
