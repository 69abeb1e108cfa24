"""Rewrite the signature of a function, and say so in the smallest edits."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fullgraph.codemods.difference import replacements
from fullgraph.codemods.model import Edit, Span
from fullgraph.codemods.module import NEWLINE, Module
from fullgraph.codemods.syntax.signatures.listed import Signature, read_signature


def rewrite_signature(
    module: Module, node: ast.FunctionDef, change: Callable[[Signature], Signature]
) -> tuple[Edit, ...]:
    """The edits that turn a function's signature into what `change` makes of it. Decorators are not part of it."""
    span = module.span(node)
    text = module.text[span.start : span.end]
    try:
        changed = str(change(read_signature(text)))
    except ValueError as error:
        raise ValueError(f"{module.path}:{node.lineno}: {error}") from error
    pieces = (
        (Span(span.start + where.start, span.start + where.end), new) for where, new in replacements(text, changed)
    )
    return tuple(module.replace(where, NEWLINE.sub("\n", new)) for where, new in pieces)
