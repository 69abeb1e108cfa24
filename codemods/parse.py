"""From text to tree, also where the text is newer than the Python that runs this."""

from __future__ import annotations

import ast
import warnings

from fullgraph.codemods.model import SourceError
from fullgraph.codemods.source import Source


def parse(source: Source) -> tuple[ast.Module, str]:
    """The tree of a source, and the text of the same length that `ast` read."""
    try:
        return parse_any(source.parsed)
    except SyntaxError as error:
        raise SourceError(source.path, f"line {error.lineno}: {error.msg}") from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise SourceError(source.path, f"cannot be parsed: {str(error) or 'it needs too much memory'}") from error


def parse_any(text: str) -> tuple[ast.Module, str]:
    """As `parse`. Syntax newer than the Python that runs this is read through LibCST."""
    try:
        return parse_text(text), text
    except SyntaxError as error:
        from fullgraph.codemods.newer_syntax import blank_newer_syntax

        older = blank_newer_syntax(text)
        if older is None:
            raise
        try:
            return parse_text(older), older
        except SyntaxError:
            raise error from None


def parse_text(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
