"""A question about one place: which codemods could have an answer there?"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.codemods.codemod import Codemod
from fullgraph.codemods.model import Span
from fullgraph.codemods.module import Module


def reaching(interested: Sequence[Codemod], module: Module, near: Span) -> list[Codemod]:
    """The codemods whose findings may stand at these characters.

    A finding lies within one statement of the module, and a codemod that says where findings could begin has none in
    a statement without a hit.
    """
    spans = [span for span in statement_spans(module) if span.start <= near.end and near.start <= span.end]
    if not spans:
        return []
    if module.path.endswith(".ipynb"):
        return list(interested)  # hits count in the file's bytes, which are not the text of its cells
    first, last = (byte_offset(module, at) for at in (spans[0].start, spans[-1].end))
    return [codemod for codemod in interested if may_begin(codemod, module.source.raw, first, last)]


def statement_spans(module: Module) -> list[Span]:
    """Where the statements of the module stand, each with its decorators."""
    return [Span(beginning(module, node), module.span(node).end) for node in module.tree.body]


def beginning(module: Module, node: ast.stmt) -> int:
    """Where a statement begins: with the line of its first decorator, if it has any."""
    decorators = getattr(node, "decorator_list", None)
    return module.line_start(module.span(decorators[0]).start) if decorators else module.span(node).start


def byte_offset(module: Module, offset: int) -> int:
    source = module.source
    return len(source.prefix) + len(source.text[:offset].encode(source.encoding))


def may_begin(codemod: Codemod, raw: bytes, first: int, last: int) -> bool:
    hits = codemod.hits(raw)
    return hits is None or any(first <= hit <= last for hit in hits)
