"""Everything that is known about the arguments of one function, from all places that say something about them."""

from __future__ import annotations

import ast

from fullgraph.validate.drafting.documented import annotated_shape, shapes_in
from fullgraph.validate.drafting.evaluate import Array, Layer, Scope, Thing
from fullgraph.validate.drafting.facts import BATCH, Dim, Facts, shape_of
from fullgraph.validate.drafting.flow import fitting_extent
from fullgraph.validate.drafting.layers import IMAGE, facts_of_call, facts_of_layer
from fullgraph.validate.drafting.parameters import Parameter
from fullgraph.validate.drafting.seen import Seen
from fullgraph.validate.drafting.subject import Subject
from fullgraph.validate.drafting.uses import Uses
from fullgraph.validate.drafting.values import Guesser


def guesser_for(subject: Subject, scope: Scope, seen: Seen) -> Guesser:
    """Knows what is written about the arguments, and what they were in a call that was captured."""
    parameters = subject.parameters
    for one in parameters:
        plain = Guesser(scope, False)
        made = seen.value(one, plain) or (plain.value(one) if one.annotation and one.is_needed else None)
        if made and made.is_module:
            scope.names[one.name] = made.worth
    uses = Uses(subject.node, scope, [one.name for one in parameters])
    guesser = Guesser(scope, False, facts_for(subject, parameters, uses, scope))
    guesser.keys, guesser.tensors, guesser.limits = uses.keys, uses.tensors, uses.limits
    guesser.choices, guesser.width = choices_in(subject.node), own_width(scope)
    guesser.objects = {path.partition(".")[0] for path in uses.facts if "." in path}
    return guesser


def own_width(scope: Scope) -> int | None:
    """The length of the vectors that the object keeps: what is put in is mostly as wide."""
    thing = scope.names.get("self")
    held = thing.attributes.values() if isinstance(thing, Thing) else []
    return next(
        (one.shape[0] for one in held if isinstance(one, Array) and len(one.shape) == 1 and one.shape[0] > 1), None
    )


def facts_for(subject: Subject, parameters: list[Parameter], uses: Uses, scope: Scope) -> dict[str, Facts]:
    """Annotations first, then the code, then docstrings. What torch itself asks for is in a table."""
    layer = scope.names.get("self")
    if isinstance(layer, Layer):
        return {one.name: facts_of_layer(layer, position) for position, one in enumerate(parameters)}
    if subject.function.module.name.startswith("torch."):
        return {one.name: facts_of_call(subject.node.name, position, []) for position, one in enumerate(parameters)}
    sizes: dict[str, Dim] = {}
    tensors = [one.name for one in parameters if one.name in uses.tensors or "Tensor" in one.written]
    told = documented(subject, tensors, scope, sizes)
    inner = {name: facts for name, facts in uses.facts.items() if "." in name}
    found = {name: with_fitting_extent(name, facts, subject, scope) for name, facts in inner.items()}
    for one in parameters:
        facts = annotated_shape(one.annotation, one.module.dotted, scope, sizes) or Facts()
        facts = facts.plus(uses.facts[one.name]).plus(told.get(one.name, Facts()))
        found[one.name] = with_fitting_extent(one.name, facts, subject, scope)
    return found


def documented(subject: Subject, tensors: list[str], scope: Scope, sizes: dict[str, Dim]) -> dict[str, Facts]:
    texts = [ast.get_docstring(subject.node) or ""]
    if subject.owner and isinstance(subject.owner.node, ast.ClassDef):
        texts.append(ast.get_docstring(subject.owner.node) or "")
    for text in map(without_examples, texts):
        found = shapes_in(text, tensors, scope, sizes) if text else {}
        if found:
            return found
    return {}


def without_examples(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">>>", "...")))


def with_fitting_extent(name: str, facts: Facts, subject: Subject, scope: Scope) -> Facts:
    """An image as big as the network behind it needs it."""
    pixels = [position for position, size in facts.sizes.items() if position >= 2 and size == IMAGE]
    if not pixels or facts.dims:
        return facts

    def shape(extent: int) -> list[int]:
        sized = Facts(rank=facts.rank, sizes={**facts.sizes, **dict.fromkeys(pixels, extent)})
        return [4 if dim == BATCH else int(dim) for dim in shape_of(sized)]

    extent = fitting_extent(subject.node, scope, name, shape)
    return Facts(sizes=dict.fromkeys(pixels, extent)).plus(facts)


def choices_in(node: ast.AST) -> dict[str, str]:
    """`if mode == "mean"` tells a string that the parameter may be."""
    found: dict[str, str] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and isinstance(inner.left, ast.Name) and len(inner.comparators) == 1:
            values = inner.comparators[0]
            options = values.elts if isinstance(values, (ast.Tuple, ast.List, ast.Set)) else [values]
            for option in options:
                if isinstance(option, ast.Constant) and isinstance(option.value, str):
                    found.setdefault(inner.left.id, option.value)
    return found
